"""Messages as strict servers accept them."""

from msgspec.structs import asdict

from tests.attached import NOTES, picture, showing
from tui.domain.journal.message import Message, ToolCall, joined, with_beginning, with_calls_as_text

PHOTO = picture()


def says(role, text, **more):
    return Message("m", role, text, "2026-01-11T14:30:23.456Z", **more)


def spoken(messages):
    return [(each.role, each.text) for each in messages]


def test_neighbours_of_one_role_are_joined_by_a_blank_line_and_blank_ones_vanish():
    talk = [says("user", "One"), says("user", " "), says("user", "Two"), says("assistant", "Yes.")]
    assert spoken(joined(talk)) == [("user", "One\n\nTwo"), ("assistant", "Yes.")]


def test_nothing_is_joined_with_tool_calls_before_it_or_with_results():
    called = says("assistant", "", tool_calls=(ToolCall("c", "f", None), ToolCall("d", "f", {})))
    talk = [called, says("tool", "1", tool_call_id="c"), says("tool", "2", tool_call_id="d")]
    assert joined(talk) == tuple(talk)


def test_calls_are_text_whatever_their_arguments_are():
    calls = (
        ToolCall("c", "f", None),
        ToolCall("d", "g", "no object"),
        ToolCall("e", "h", {"ö": 1}),
    )
    (text,) = with_calls_as_text([says("assistant", None, tool_calls=calls)])
    lines = ["Called f with null.", 'Called g with "no object".', 'Called h with {"ö":1}.']
    assert text.text == "\n\n".join(lines)


def test_a_result_names_its_tool_if_that_is_known():
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


def test_pictures_stay_and_texts_beside_them_are_joined():
    talk = [says("user", showing("One", PHOTO)), says("user", "Two"), says("user", "Three")]
    (only,) = with_beginning("Be brief.", joined(talk))
    block = {"type": "image", **asdict(PHOTO)}
    assert only.content == ["Be brief.\n\nOne", block, "Two\n\nThree"]
    assert only.attachments == (PHOTO,)


def test_files_become_text_in_their_place():
    (only,) = joined([says("user", showing("One", NOTES)), says("user", "Two")])
    assert only.content == f"One\n{NOTES.fenced}\n\nTwo"
