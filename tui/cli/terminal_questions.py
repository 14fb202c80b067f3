"""Answers on the terminal, without the screen; questions of tool servers."""

import asyncio
import sys
import termios
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.cli import console

if TYPE_CHECKING:
    from tui.domain.server_questions import Answer, Field, ServerQuestion

_OPEN = "Open it in your browser? y opens, c waits for you to open it, n refuses:"
_FILL = "Answer? y asks for each value, n refuses:"


def forget_typed() -> None:
    """Drop what was typed before a question: it is no answer to it."""
    with suppress(termios.error, OSError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


async def read_line() -> str:
    """Read a line of standard input; may be cancelled."""
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


class TerminalQuestions:
    """Asks one question at a time."""

    def __init__(self) -> None:
        self._asking = asyncio.Lock()

    async def ask(self, question: "ServerQuestion") -> "Answer | None":
        """Put a question, and read the answer; ``None`` refuses."""
        async with self._asking:
            forget_typed()
            what = _OPEN if question.address else _FILL
            asked = (f"{question.server}: {question.message}", question.address, what)
            console.tell("\n".join(filter(None, asked)))
            choice = (await read_line()).strip().lower()
            if choice not in {"y", "yes"} and not (choice == "c" and question.address):
                return None
            if question.address:
                from tui.commands.viewers import open_outside

                refusal = "" if choice == "c" else await open_outside(question.address)
                if refusal:
                    console.tell(f"Not opened ({refusal}). Copy the address.")
                return {}
            values = {each.name: await _value(each) for each in question.fields}
            return {name: value for name, value in values.items() if value is not None}


async def _value(field: "Field") -> object:
    about = ", ".join(filter(None, (field.about, *(each.value for each in field.options))))
    while True:
        console.tell(f"{field.title}{f' ({about})' if about else ''} [{field.shown}]:")
        entry = (await read_line()).rstrip("\n")
        try:
            return field.value(field.entry(entry or field.shown))
        except ValueError as error:
            console.tell(str(error))
