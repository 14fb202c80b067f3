"""Waiting for what a test expects to see: for a condition, never for a time."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = 60


async def until(condition: Callable[[], object], what: object = "") -> None:
    """Let the program run until a condition holds; fails with ``what`` after ``SECONDS``."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what or condition}")
        await asyncio.sleep(0.005)


def wait_for(condition: Callable[[], object]) -> None:
    """Sleep until a condition holds, where no event loop runs."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """True for a process that runs; a zombie has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
