"""Threads for work that may never end, such as reading from a network disk that is gone."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

_Result = TypeVar("_Result")


async def in_daemon_thread(work: Callable[[], _Result]) -> _Result:
    """Do blocking work in a thread that does not outlive the program.

    ``asyncio.to_thread`` has threads that are joined before a program may end.
    """
    ended: Future[_Result] = Future()
    ended.set_running_or_notify_cancel()
    context = copy_context()

    def run() -> None:
        try:
            ended.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            ended.set_exception(error)

    threading.Thread(target=run, daemon=True, name="work").start()
    return await asyncio.wrap_future(ended)
