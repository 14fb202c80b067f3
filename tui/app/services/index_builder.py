"""The search index, brought up to date by a process of its own while the screen is there."""

import asyncio
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui.logs import milliseconds_since

_log = logging.getLogger(__name__)
_SHOWN_FROM_BYTES = 1024 * 1024


class IndexBuilder:
    """Starts the builder when something may be new, and says how far it is.

    ``progressed`` gets ``indexing 42 %``, and an empty text at the end; ``failed`` why it cannot
    be had, once: it is done without then. Both are called by the event loop.
    """

    def __init__(
        self, root: Path, progressed: Callable[[str], None], failed: Callable[[str], None]
    ) -> None:
        self._root = root
        self._progressed = progressed
        self._failed = failed
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._running = self._again = self._over = self._broken = False

    def catch_up(self) -> None:
        """Have read what is new; if that is being done, once more after it."""
        if self._over or self._broken:
            return
        if self._running:
            self._again = True
            return
        self._running = True
        loop = asyncio.get_running_loop()
        # A daemon, as asyncio joins its own threads before it lets a program end.
        threading.Thread(target=self._run, args=(loop,), daemon=True, name="index").start()

    def end(self) -> None:
        """Kill the builder; what it has committed stays."""
        with self._lock:
            self._over = True
            if self._process is not None:
                self._process.kill()

    # --- in the thread

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        code, reason, begun = 1, "", time.perf_counter()
        try:
            code, reason = self._build(loop)
        except OSError as error:
            reason = str(error)
        finally:
            _log.info("index builder: exit code %d, %d ms", code, milliseconds_since(begun))
            _tell(loop, self._take_end, code, reason)

    def _build(self, loop: asyncio.AbstractEventLoop) -> tuple[int, str]:
        with self._lock:
            if self._over:
                return 0, ""
            process = self._process = self._start()
        with process:
            to_do = 0
            for line in process.stdout or ():
                progress = _read(line)
                if progress is not None:
                    to_do = max(to_do, progress[1] - progress[0])
                    if to_do > _SHOWN_FROM_BYTES:
                        _tell(loop, self._progressed, f"indexing {_percent(*progress)} %")
            reason = process.stderr.read() if process.stderr else ""
        return process.returncode, reason

    def _start(self) -> "subprocess.Popen[str]":
        from tui.storage.index import child

        return subprocess.Popen(  # noqa: S603 - ourselves
            child.command(self._root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child.environment(os.environ),
            # A Ctrl+C in the terminal is not meant for it.
            process_group=0,
            text=True,
            errors="replace",
        )

    # --- in the event loop

    def _take_end(self, code: int, reason: str) -> None:
        with self._lock:
            self._process = None
        self._running = False
        if self._over:
            return
        self._progressed("")
        from tui.storage.index.child import BUSY

        again, self._again = self._again, False
        if code not in (0, BUSY):
            self._broken = True
            last = reason.strip().rpartition("\n")[2]
            self._failed(last or f"The search index cannot be built: exit code {code}.")
        elif again:
            self.catch_up()


def _read(line: str) -> tuple[int, int] | None:
    from tui.storage.index.child import read_line

    return read_line(line)


def _percent(done: int, total: int) -> int:
    return min(99, 100 * done // total) if total else 0


def _tell(loop: asyncio.AbstractEventLoop, take: Callable[..., None], *values: object) -> None:
    with suppress(RuntimeError):
        # The program has ended, and its loop with it.
        loop.call_soon_threadsafe(take, *values)
