"""The files and pictures of a message."""

import pytest
from hypothesis import given
from msgspec.structs import asdict

from tests.attached import NOTES, picture, showing
from tests.strategies import messages
from tests.tables import each_row
from tui.domain.journal.message import (
    TEXT_BYTES,
    FileBlock,
    ImageBlock,
    Message,
    ToolCall,
    attachments_of,
    byte_words,
    content_of,
    joined,
    media_type_of,
    title_text,
    typed_text,
    whole_text,
    with_beginning,
    with_calls_as_text,
)

PICTURE = ImageBlock("photo.png", "image/png", "ab" * 32, 120_000)
FILE = FileBlock("src/a.py", "print()\n", 8)


def test_files_and_pictures_are_blocks_beside_the_text_with_labels_and_come_back():
    content = content_of("see @src/a.py", (FILE, PICTURE))
    assert attachments_of(content) == (FILE, PICTURE)
    assert typed_text(content) == title_text(content) == "see @src/a.py"
    assert whole_text(content_of("see", (FILE, PICTURE))) == (
        "see\n[file: src/a.py, 8 bytes]\n```py\nprint()\n```\n[image: photo.png, 120 KB]"
    )
    assert title_text(content_of(" ", (FILE, PICTURE))) == (
        "[file: src/a.py, 8 bytes] [image: photo.png, 120 KB]"
    )
    assert content_of("hello", ()) == "hello"
    assert FileBlock("a.md", "````\nx\n````", 10).fenced.splitlines()[1] == "`````md"

    assert FileBlock("a", "x" * 2000, 5_000_000, cut=True).label == (
        "[file: a, first 2 KB of 5.0 MB]"
    )
    assert FileBlock("src", "a\nb", 5, cut=True, folder=True).label == (
        "[folder: src, first 2 of 5 entries]"
    )
    assert FileBlock("src", "a", 1, folder=True).label == "[folder: src, 1 entry]"


@each_row(
    "block",
    [
        {"type": "image"},
        {"type": "image", "name": "a", "media_type": "b", "sha256": "../x", "size": 1},
        {"type": "file", "path": 1, "text": "", "size": 0},
        "text",
        None,
    ],
)
def test_blocks_of_other_programs_are_no_attachments(block):
    assert attachments_of([block]) == ()


@each_row(
    "size, words",
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1 KB"),
        (120_400, "120 KB"),
        (999_600, "1.0 MB"),
        (12_345_678, "12 MB"),
        (3_200_000_000, "3.2 GB"),
    ],
)
def test_a_size_is_said_in_few_words(size, words):
    assert byte_words(size) == words


@each_row(
    "data, kind",
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a\x01", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_a_picture_is_known_by_its_bytes(data, kind):
    assert media_type_of(data) == kind


@each_row("data", [b"", b"RIFF\x24\0\0\0WAVE", b"\x89PNG", b"GIF", b"BM", b"<svg>"])
def test_other_bytes_are_no_picture(data):
    assert media_type_of(data) is None


def message(content):
    return Message(id="m", role="assistant", content=content, timestamp="t")


@each_row(
    "content, text",
    [
        ("as it is\n", "as it is\n"),
        (None, ""),
        ([], ""),
        (["one", "two"], "one\ntwo"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "image", "data": "…"}, "seen"], "[image]\nseen"),
        ([{"text": 3}, {}], "[block]\n[block]"),
        ([1, None, ["x"]], "\n\n"),
    ],
)
def test_the_text_of_a_message_is_its_content_or_that_of_its_blocks(content, text):
    assert message(content).text == text


@given(messages())
def test_every_message_has_a_text(each):
    assert isinstance(each.text, str)


def test_the_longest_text_has_8_mib():
    assert TEXT_BYTES == 8 * 1024 * 1024


def test_a_message_cannot_be_changed():
    with pytest.raises(AttributeError):
        message("x").content = "y"


@each_row(
    "text, folded, title",
    [
        ("PASTE why does it fail?", ((0, 5),), " why does it fail?"),
        ("why? PASTE and PASTE", ((5, 10), (15, 20)), "why?  and "),
        ("PASTE", ((0, 5),), "PASTE"),
        ("why?", ((2, 90),), "wh"),
        ("why?", None, "why?"),
    ],
)
def test_a_title_has_no_paste_unless_that_is_all(text, folded, title):
    prompt = Message(id="m", role="user", content=text, timestamp="t", folded=folded)
    assert prompt.title_text == title


PHOTO = picture()


def says(role, text, **more):
    return Message("m", role, text, "2026-01-11T14:30:23.456Z", **more)


def spoken(messages):
    return [(each.role, each.text) for each in messages]


def test_neighbours_of_one_role_are_joined_but_no_calls_and_results():
    talk = [says("user", "One"), says("user", " "), says("user", "Two"), says("assistant", "Yes.")]
    assert spoken(joined(talk)) == [("user", "One\n\nTwo"), ("assistant", "Yes.")]
    called = says("assistant", "", tool_calls=(ToolCall("c", "f", None), ToolCall("d", "f", {})))
    talk = [called, says("tool", "1", tool_call_id="c"), says("tool", "2", tool_call_id="d")]
    assert joined(talk) == tuple(talk)


def test_calls_are_text_with_any_arguments_and_results_name_their_tools():
    calls = (
        ToolCall("c", "f", None),
        ToolCall("d", "g", "no object"),
        ToolCall("e", "h", {"ö": 1}),
    )
    (text,) = with_calls_as_text([says("assistant", None, tool_calls=calls)])
    lines = ["Called f with null.", 'Called g with "no object".', 'Called h with {"ö":1}.']
    assert text.text == "\n\n".join(lines)

    called = says("assistant", "", tool_calls=(ToolCall("c", "f", {}),))
    talk = [called, says("tool", "7", tool_call_id="c")]
    assert spoken(with_calls_as_text(talk))[1] == ("user", "Result of f:\n7")
    assert spoken(with_calls_as_text(talk[1:])) == [("user", "Result of a tool:\n7")]


def test_a_beginning_is_put_before_the_first_message():
    assert spoken(with_beginning("Be brief.", [says("user", "Hi"), says("assistant", "Yes.")])) == [
        ("user", "Be brief.\n\nHi"),
        ("assistant", "Yes."),
    ]
    assert with_beginning("Be brief.", []) == ()


def test_pictures_stay_files_become_text_and_texts_beside_them_are_joined():
    talk = [says("user", showing("One", PHOTO)), says("user", "Two"), says("user", "Three")]
    (only,) = with_beginning("Be brief.", joined(talk))
    block = {"type": "image", **asdict(PHOTO)}
    assert only.content == ["Be brief.\n\nOne", block, "Two\n\nThree"]
    assert only.attachments == (PHOTO,)

    (only,) = joined([says("user", showing("One", NOTES)), says("user", "Two")])
    assert only.content == f"One\n{NOTES.fenced}\n\nTwo"
