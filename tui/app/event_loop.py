"""An event loop whose threads never hold up the exit."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any


class DaemonThreads(ThreadPoolExecutor):
    """Runs each blocking call in a daemon thread.

    asyncio joins the threads of its own executor: a hanging DNS request or disk would hold up
    the end. Whoever saves waits for the write itself.
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
    """Raises an error where the future is awaited."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if error is not None:
            self._future.set_exception(error)
        return True


def new_loop() -> asyncio.AbstractEventLoop:
    """Create an event loop that can end at any time."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonThreads())
    return loop
