"""Lines that the user types on the terminal."""

import asyncio
import sys
import termios
import threading
from contextlib import suppress


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
