"""Approval of tool calls on the command line."""

import asyncio
import sys
import termios
import threading
from contextlib import suppress

from tui.cli import output
from tui.domain.views.approval import Choice, Question

_CHOICES = "y once, u until this turn ends, a always for this tool, n deny:"
_ANSWERS: dict[str, Choice] = {
    "y": "once",
    "yes": "once",
    "u": "until-quit",
    "a": "always",
    "always": "always",
}
"""Anything else denies."""


async def ask_on_terminal(question: Question) -> Choice:
    """Show the whole call on standard error and read the answer.

    Without a terminal the call is denied.
    """
    name = question.tool.title
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        output.tell(f"Denied the tool {name}: there is no terminal to ask on.")
        return "deny"
    with suppress(termios.error, OSError):
        # Input from before the question is no answer to it.
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    output.tell(f"Allow the tool {question.tool.title}?\n{question.text}\n{_CHOICES}")
    return _ANSWERS.get((await _line()).strip().lower(), "deny")


async def _line() -> str:
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def give(text: str) -> None:
        if not line.done():
            line.set_result(text)

    def read() -> None:
        with suppress(ValueError, OSError, RuntimeError):
            # A closed loop has nobody waiting.
            loop.call_soon_threadsafe(give, sys.stdin.readline())

    # A daemon thread, so that the program can end without Enter.
    threading.Thread(target=read, daemon=True, name="answer").start()
    return await line
