"""How a turn is told, and a session shown, on the command line."""

import io
import json
import subprocess
import sys

import pytest

from tests.cli.conftest import Terminal
from tui.cli import console
from tui.cli.ask import JsonPrinter, TextPrinter
from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import SessionHeader, Summary, Todos
from tui.domain.journal.session import describe
from tui.domain.journal.todo import TodoItem
from tui.domain.views.markdown import MarkdownMessages, heading
from tui.engine.turns.events import (
    AnswerRestarted,
    AnswerStarted,
    MessagesLeftOut,
    NoticeGiven,
    RequestChanged,
    TextAdded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
)

CALL = ToolCall("c1", "read\x1b[31m", {"path": "\x9b2J"})
TIME = "2026-01-11T14:30:00.000Z"


def told(printer, *events, capsys):
    for event in events:
        printer.show(event)
    return capsys.readouterr()


def test_a_line_that_was_begun_is_ended_before_anything_else_is_told(capsys):
    printed = told(
        TextPrinter(),
        AnswerStarted("m1"),
        TextAdded("m1", "Reading."),
        ToolCalled(ToolCall("c1", "read", {"path": "a"})),
        ToolReturned(CALL, "Tool read is not available."),
        AnswerStarted("m2"),
        TextAdded("m2", "Sorry.\n"),
        TextAdded("m2", "half"),
        NoticeGiven("Restored session: s"),
        TurnEnded("s", "m2", "truncated"),
        capsys=capsys,
    )
    assert printed.out == "Reading.\nSorry.\nhalf\n"
    assert printed.err.splitlines() == [
        'Tool called: read {"path":"a"}',
        "Tool read is not available.",
        "Restored session: s",
        "The answer was truncated.",
    ]


@pytest.mark.parametrize("printer", [TextPrinter, JsonPrinter])
def test_settings_are_told_on_standard_error_and_nothing_of_a_tool_reaches_a_reader_raw(
    printer, capsys
):
    printed = told(printer(), RequestChanged("x does not take effort high."), capsys=capsys)
    assert (printed.out, printed.err) == ("", "x does not take effort high.\n")
    printed = told(printer(), ToolCalled(CALL), ToolReturned(CALL, "\x1b]0;x\x07"), capsys=capsys)
    assert not set("\x1b\x9b") & set(printed.out + printed.err)


LEFT_OUT = (
    "Earlier messages are not sent: the model's window is full."
    " In sibyl-tui, /compact summarises them.\n"
)


def test_text_that_was_thinking_is_told_where_it_cannot_be_taken_back(capsys):
    restarted = [TextAdded("m1", "Hm."), AnswerRestarted("m1"), TextAdded("m1", "Yes.\n")]
    printed = told(TextPrinter(), *restarted, capsys=capsys)
    assert printed.out == "Hm.\nYes.\n"
    assert printed.err == "The text so far was the model's thinking: its answer follows.\n"
    printed = told(JsonPrinter(), *restarted, capsys=capsys)
    kinds = [json.loads(line)["type"] for line in printed.out.splitlines()]
    assert kinds == ["delta", "restart", "delta"]


def test_messages_that_were_left_out_are_told_on_standard_error_and_at_the_end_of_json(capsys):
    printed = told(TextPrinter(), MessagesLeftOut(), TextAdded("m1", "Fine.\n"), capsys=capsys)
    assert (printed.out, printed.err) == ("Fine.\n", LEFT_OUT)
    ended = TurnEnded("s", "m1", "complete")
    printed = told(JsonPrinter(), MessagesLeftOut(), ended, capsys=capsys)
    assert json.loads(printed.out)["earlier_messages_left_out"] is True
    assert printed.err == LEFT_OUT
    assert "earlier_messages_left_out" not in told(JsonPrinter(), ended, capsys=capsys).out


def test_on_a_terminal_data_is_made_visible_and_in_a_pipe_it_is_as_it_is(monkeypatch):
    for stream, expected in ((Terminal(), "␛[31m\ufffd"), (io.StringIO(), "\x1b[31m\ufffd")):
        monkeypatch.setattr(sys, "stdout", stream)
        console.put("\x1b[31m\ud800")
        assert stream.getvalue() == expected


def test_streams_that_were_closed_swallow_what_is_printed(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    console.prepare()
    console.put_line("to nobody")
    console.tell("to nobody")


def test_markdown_shows_all_that_a_session_holds():
    header = SessionHeader(1, "s", TIME, "project:/shop", 1, "/shop", "m")
    fold = Fold(header)
    for record in (
        Message("m1", "user", "Hello", TIME),
        Message("m2", "assistant", "", TIME, tool_calls=(ToolCall("c1", "read", {"a": "日本"}),)),
        Message("m3", "tool", "content", TIME, tool_call_id="c1"),
        Message("m4", "assistant", "half", "never", status="failed", error="No key.", model="x:y"),
        Summary("They met.", "m1"),
        Todos((TodoItem("Sort", "completed", "Sorting"), TodoItem("Ship", "in_progress", "…"))),
    ):
        fold.add(record)
    session = fold.session()
    entry = describe(session, "Hello", "closed", TIME, active=True)
    messages = MarkdownMessages({})
    said = map(messages.format, session.loaded_messages)
    shown = "\n\n".join([heading(entry, session), *said])
    assert "## Summary\n\nThey met." in shown
    assert "- [x] Sort\n- [~] Ship" in shown
    assert '> read `{"a": "日本"}`' in shown
    assert "## Tool · " in shown
    assert "## x:y · unknown (failed)\n\nhalf\n\n> No key." in shown
    assert shown.endswith("> No key.")


def test_where_the_output_is_not_utf8_json_is_ascii_and_text_is_replaced(monkeypatch):
    written = io.TextIOWrapper(io.BytesIO(), "latin-1", errors="replace")
    monkeypatch.setattr(sys, "stdout", written)
    JsonPrinter().show(TextAdded("m1", "caf\xe9 \u4f1a\u8a71 \U0001f600"))
    line = written.buffer.getvalue()
    assert line.isascii()
    assert json.loads(line)["text"] == "caf\xe9 \u4f1a\u8a71 \U0001f600"
    written = io.TextIOWrapper(io.BytesIO(), "latin-1")
    monkeypatch.setattr(sys, "stdout", written)
    console.prepare()
    TextPrinter().show(TextAdded("m1", "caf\xe9 \u4f1a"))
    assert written.buffer.getvalue() == b"caf\xe9 ?"


_PROGRAM = """
import gc, sys
from tui import __main__
from tui.cli import console

put = console.put_line
console.put_line = lambda text="": put(f"{gc.isenabled()} {gc.get_freeze_count() > 1000}")
__main__.main()
"""


@pytest.mark.parametrize("command", [["sessions", "list"], ["sessions", "search", "nothing"]])
def test_a_command_collects_garbage_but_of_what_was_imported(tmp_path, command):
    arguments = ["--data-dir", str(tmp_path), *command]
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], stdout=subprocess.PIPE)
    assert done.stdout == b"True True\n"
