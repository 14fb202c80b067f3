"""The files and pictures of a message."""

import pytest

from tui.domain.journal.message import (
    FileBlock,
    ImageBlock,
    attachments_of,
    byte_words,
    content_of,
    media_type_of,
    title_text,
    typed_text,
    whole_text,
)

PICTURE = ImageBlock("photo.png", "image/png", "ab" * 32, 120_000)
FILE = FileBlock("src/a.py", "print()\n", 8)


def test_a_prompt_with_nothing_beside_it_is_text():
    assert content_of("hello", ()) == "hello"


def test_files_and_pictures_are_blocks_beside_the_text_and_come_back():
    content = content_of("see @src/a.py", (FILE, PICTURE))
    assert attachments_of(content) == (FILE, PICTURE)
    assert typed_text(content) == "see @src/a.py"


def test_the_whole_text_has_the_text_of_a_file_and_the_label_of_a_picture():
    assert whole_text(content_of("see", (FILE, PICTURE))) == (
        "see\n[file: src/a.py, 8 bytes]\n```py\nprint()\n```\n[image: photo.png, 120 KB]"
    )


def test_a_title_is_what_was_typed_else_what_came_without_a_word():
    assert title_text(content_of("see @src/a.py", (FILE, PICTURE))) == "see @src/a.py"
    assert title_text(content_of(" ", (FILE, PICTURE))) == (
        "[file: src/a.py, 8 bytes] [image: photo.png, 120 KB]"
    )


def test_a_fence_is_longer_than_those_in_the_file():
    assert FileBlock("a.md", "````\nx\n````", 10).fenced.splitlines()[1] == "`````md"


def test_a_label_says_what_is_not_there():
    assert FileBlock("a", "x" * 2000, 5_000_000, cut=True).label == (
        "[file: a, first 2 KB of 5.0 MB]"
    )
    assert FileBlock("src", "a\nb", 5, cut=True, folder=True).label == (
        "[folder: src, first 2 of 5 entries]"
    )
    assert FileBlock("src", "a", 1, folder=True).label == "[folder: src, 1 entry]"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("size", "words"),
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


@pytest.mark.parametrize(
    ("data", "kind"),
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


@pytest.mark.parametrize("data", [b"", b"RIFF\x24\0\0\0WAVE", b"\x89PNG", b"GIF", b"BM", b"<svg>"])
def test_other_bytes_are_no_picture(data):
    assert media_type_of(data) is None
