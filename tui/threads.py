"""Blocking work: it runs in daemon threads, so that whatever hangs does not hold up the end."""

import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

MOST = 128
"""More than so much work at once waits for its turn."""


class DaemonThreads(ThreadPoolExecutor):
    """Runs blocking calls in daemon threads, which end when nothing is left to do.

    asyncio and Python join the threads of their own executors: a hanging DNS request or disk would
    hold up the end of the program. Whoever saves waits for the write itself.
    """

    def __init__(self, most: int = MOST) -> None:
        super().__init__(most)
        self._most = most
        self._changing = threading.Lock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._running = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._changing:
            self._waiting.append((future, partial(fn, *args, **options)))
            if self._running == self._most:
                return future
            self._running += 1
        try:
            threading.Thread(target=self._serve, daemon=True, name="blocking work").start()
        except RuntimeError:
            # The system gives no more of them: one that is there does it, or nobody, also later.
            with self._changing:
                self._running -= 1
                if self._running or not self._waiting:
                    return future
                self._waiting.pop()
            raise
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's own
        """Wait for nothing."""

    def _serve(self) -> None:
        while True:
            with self._changing:
                if not self._waiting:
                    self._running -= 1
                    return
                future, work = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                future.set_exception(error)
            # Else what a call has made would live until the next one.
            del future, work


_THREADS = DaemonThreads()


def new_loop() -> "AbstractEventLoop":
    """Create an event loop whose ``to_thread`` uses these threads: it can end at any time."""
    # It brings libraries that the search for a local Ollama does without.
    import asyncio

    loop = asyncio.new_event_loop()
    loop.set_default_executor(_THREADS)
    return loop


def begin(name: str, work: Callable[[], object]) -> Future[None]:
    """Begin blocking work where there may be no event loop; the future only says when it has ended.

    An error is reported like that of any thread, by ``name``.
    """
    return _THREADS.submit(_reported, name, work)


def _reported(name: str, work: Callable[[], object]) -> None:
    thread = threading.current_thread()
    before, thread.name = thread.name, name
    try:
        work()
    except BaseException:  # noqa: BLE001 - it is reported
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), thread)))
    finally:
        thread.name = before
