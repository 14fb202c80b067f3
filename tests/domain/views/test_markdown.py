"""A conversation as Markdown."""

from tests.attached import NOTES, picture, showing
from tests.builders import answer, at, user
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Reset, Summary
from tui.domain.text import codes
from tui.domain.views.markdown import MarkdownMessages


def shown(*entries, versions=None, **options):
    messages = MarkdownMessages(versions or {})
    return [messages.format(entry, **options) for entry in entries]


def called(arguments):
    return answer("a", "I look.", tool_calls=(ToolCall("c", "read_file", arguments),))


def result(text):
    return Message("t", "tool", text, at(), tool_call_id="c")


def test_a_short_call_and_result_stand_there_long_ones_are_folded_under_the_tools_name():
    call, came = shown(called({"path": "a.py"}), result("```\n# no heading\n```"))
    assert call.endswith('I look.\n\n> read_file `{"path": "a.py"}`')
    assert codes(came) == ["```\n# no heading\n```"]
    assert "<details>" not in came

    call, came = shown(called({"text": "`" * 300}), result("line\n" * 50 + "end"))
    assert "<summary>read_file: 312 characters</summary>" in call
    assert "`" * 300 in codes(call)[0]
    assert "<summary>read_file: 51 lines</summary>" in came
    assert codes(came) == ["line\n" * 50 + "end"]
    assert came.endswith("</details>")

    call = ToolCall("c", "<b>", {"text": "x" * 300})
    assert "<summary>&lt;b&gt;: " in shown(answer("a", tool_calls=(call,)))[0]


def test_an_answer_that_was_cut_off_ends_its_block_and_a_failure_is_quoted():
    cut, _ = shown(answer("a", "```\ncode", status="interrupted"), user("u"))
    assert cut.endswith("```\ncode\n```")
    assert "(interrupted)" in cut.splitlines()[0]
    assert shown(answer("a", "", status="failed", error="one\ntwo"))[0].endswith("> one\n> two")


def test_versions_are_numbered_a_reset_is_a_line_and_a_summary_nothing():
    (text,) = shown(answer("a"), versions={"a": ("a", "b")}, is_earlier_version=True)
    assert "· version 1/2 · earlier version" in text.splitlines()[0]
    reset, summary = shown(Reset(at()), Summary("S", "a"))
    assert reset.startswith("---\n\n*Reset at ")
    assert summary == ""


def test_a_file_and_a_picture_are_below_the_text_also_where_that_leaves_a_block_open():
    (text,) = shown(user("m", showing("See:\n```\ncode", NOTES, picture())))
    body = text.split("\n\n", 1)[1]
    assert body == (
        "See:\n```\ncode\n```\n\n[file: notes.txt, 9 bytes]\n```txt\nBuy milk.\n```\n\n"
        "[image: photo.png, 70 bytes]"
    )
