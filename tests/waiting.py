"""Waiting for what a test expects to see: for a condition, never for a time."""

import asyncio
import time
from collections.abc import Callable

SECONDS = 60


async def until(condition: Callable[[], object], what: object = "") -> None:
    """Let the program run until a condition holds; fails with ``what`` after ``SECONDS``."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what or condition}")
        await asyncio.sleep(0.005)
