"""Asking on the terminal whether a tool may be run."""

from tui.cli.approval import ask_on_terminal
from tui.domain.approval import Question
from tui.domain.message import ToolCall

QUESTION = Question("s", ToolCall("c1", "write_todos", {"todos": []}), "does it")


async def test_where_there_is_no_terminal_it_is_denied_and_said(capsys):
    assert await ask_on_terminal(QUESTION) == "deny"
    assert "no terminal to ask on: write_todos" in capsys.readouterr().err
