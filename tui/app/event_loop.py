"""An event loop whose threads never hold up the exit."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any


class DaemonThreads(ThreadPoolExecutor):
    """Runs what blocks, each in a thread that nothing waits for at the end.

    The threads of asyncio's own are joined: a name that is not resolved, a disk that does not
    answer would hold the program. What writes is waited for by whoever saves.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        work = partial(fn, *args, **options)
        threading.Thread(target=_carry_out, args=(future, work), daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's own
        """Wait for nothing."""


def _carry_out(future: Future[Any], work: Callable[[], Any]) -> None:
    if future.set_running_or_notify_cancel():
        with _Raised(future):
            future.set_result(work())


class _Raised:
    """Lets an error be raised where the future is awaited."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if error is not None:
            self._future.set_exception(error)
        return True


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop that can be left at any time."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonThreads())
    return loop
