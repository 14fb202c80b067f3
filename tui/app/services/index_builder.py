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

import msgspec

from tui.domain.text import make_visible_line
from tui.logs import milliseconds_since

_log = logging.getLogger(__name__)
_SHOWN_FROM_BYTES = 1024 * 1024


class IndexBuilder(msgspec.Struct, eq=False):
    """Starts the builder when something may be new, and says how far it is.

    ``progressed`` gets ``indexing 42 %``, or who indexes while this waits, and an empty text at the
    end; ``failed`` why it cannot be had, once: it is done without then. Both are called by the
    event loop.
    """

    _root: Path
    _progressed: Callable[[str], None]
    _failed: Callable[[str], None]
    _starting: threading.Lock = msgspec.field(default_factory=threading.Lock)
    _process: subprocess.Popen[str] | None = None
    _task: asyncio.Task[None] | None = None
    _wanted: bool = False
    _is_over: bool = False

    def catch_up(self) -> None:
        """Have read what is new; if that is being done, once more after it."""
        self._wanted = not self._is_over
        if self._wanted and self._task is None:
            self._task = asyncio.create_task(self._run())

    def end(self) -> None:
        """Kill the builder; what it has committed stays."""
        with self._starting:
            self._is_over = True
            if self._process is not None:
                self._process.kill()

    async def _run(self) -> None:
        while self._wanted and not self._is_over:
            self._wanted = False
            begun = time.perf_counter()
            try:
                code, reason = await asyncio.to_thread(self._build, asyncio.get_running_loop())
            except OSError as error:
                code, reason = 1, str(error)
            _log.info("index builder: exit code %d, %d ms", code, milliseconds_since(begun))
            if self._is_over:
                return
            self._progressed("")
            if code:
                self._is_over = True
                last = reason.strip().rpartition("\n")[2]
                self._failed(last or f"The search index cannot be built: exit code {code}.")
        self._task = None

    def _build(self, loop: asyncio.AbstractEventLoop) -> tuple[int, str]:
        """Run the builder to its end; gives its exit code and what it said. Blocks."""
        from tui.storage.index import child

        with self._starting:
            if self._is_over:
                return 0, ""
            process = self._process = subprocess.Popen(  # noqa: S603 - ourselves
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
        with process:
            to_do = 0
            for line in process.stdout or ():
                if (progress := child.read_line(line)) is None:
                    continue
                done, total, builder = progress
                to_do = max(to_do, total - done)
                if builder or to_do > _SHOWN_FROM_BYTES:
                    at = f"indexing {min(99, 100 * done // max(1, total))} %"
                    # From a file that anybody may have written.
                    other = make_visible_line(builder.partition(" (")[0])
                    words = f"{other} is indexing" if other else at
                    # The program may have ended, and its loop with it.
                    with suppress(RuntimeError):
                        loop.call_soon_threadsafe(self._progressed, words)
            reason = process.stderr.read() if process.stderr else ""
        return process.returncode, reason
