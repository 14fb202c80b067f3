"""A terminal with a clock: when a program's bytes were read, and not when they were understood.

The reading thread only stamps what comes; the emulator takes it in afterwards, in the thread that
waits. So the emulator's own slowness is charged to nobody.
"""

import os
import re
import select
import time
from collections.abc import Callable
from pathlib import Path

import pyte

from tests.benchmarks.table import MILLISECONDS
from tests.terminal.emulator import Emulator
from tests.terminal.program import SECONDS, Chunk, Program

COLUMNS, ROWS = 120, 40
_NANOSECONDS = 1_000_000


class QuickEmulator(Emulator):
    """The same, but only the rows that changed are read again."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], None]) -> None:
        super().__init__(columns, rows, answer)
        screens = (self._main, self._alternate)
        self._streams = {id(screen): pyte.Stream(screen) for screen in screens}
        self._seen = self._main

    @property
    def lines(self) -> list[str]:
        if not self._is_held:
            screen = self._screen
            dirty = screen.dirty if screen is self._seen else range(screen.lines)
            for row in dirty:
                cells = screen.buffer[row]
                text = "".join([cells[column].data for column in range(screen.columns)])
                self._shown[row] = text.rstrip()
            screen.dirty.clear()
            self._seen = screen
        return self._shown

    def _put(self, text: str) -> None:
        if text:
            self._streams[id(self._screen)].feed(text)


class TimedProgram(Program):
    """A program on a terminal whose every chunk has the time at which it was read."""

    def __init__(self, argv, **options) -> None:
        super().__init__(argv, columns=COLUMNS, rows=ROWS, **options)
        self._emulator = QuickEmulator(COLUMNS, ROWS, self.send)
        self._fed = 0

    def _read(self) -> None:
        while data := self._next():
            with self._changed:
                self._chunks.append(Chunk(self.seconds, data))
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    @property
    def screen(self) -> list[str]:
        self._catch_up()
        return self._emulator.lines

    @property
    def lines(self) -> list[str]:
        """The screen as it was when a condition held that was waited for."""
        return self._emulator.lines

    def seen(self, condition: str | Callable[["TimedProgram"], object], what: str = "") -> float:
        """Wait until something is on the screen; seconds from the start until it was read.

        What is asked is what the terminal shows after each chunk: nothing inside of an update
        that has not ended.
        """
        holds = _looking_for(condition) if isinstance(condition, str) else condition
        end = time.perf_counter() + SECONDS
        if holds(self):
            return self.seconds
        while True:
            chunk = self._feed_one(end)
            if chunk is None:
                raise AssertionError(f"never came: {what or condition}\n{self._picture()}")
            if holds(self):
                return chunk.seconds

    def press_until(self, condition, *keys: str, what: str = "") -> float:
        """Milliseconds from a press until what comes of it is on the screen."""
        self._catch_up()
        begin = self.seconds
        self.press(*keys)
        return (self.seen(condition, what) - begin) * MILLISECONDS

    def rest(self, seconds: float) -> None:
        """Let it run, and show what it shows."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self._feed_one(end)

    def settle(self, seconds: float, at_most: float = 5.0) -> None:
        """Wait until nothing was written for so long."""
        end = time.perf_counter() + at_most
        while time.perf_counter() < end:
            if self._feed_one(min(end, time.perf_counter() + seconds)) is None:
                return

    def exit(self, *keys: str) -> float:
        """Leave it by a key; milliseconds until the process has ended."""
        # Popen's own wait with a time-out looks only every 50 ms.
        ended = os.pidfd_open(self.pid)
        begin = time.perf_counter()
        self.press(*keys)
        select.select([ended], [], [], SECONDS)
        milliseconds = (time.perf_counter() - begin) * MILLISECONDS
        os.close(ended)
        self.wait()
        return milliseconds

    # What the kernel knows of it

    @property
    def written(self) -> int:
        """Bytes that went to the terminal so far."""
        with self._changed:
            return sum(len(chunk.data) for chunk in self._chunks)

    @property
    def processor_ms(self) -> float:
        """Milliseconds that its threads were on a processor."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        spent = (int((task / "schedstat").read_text().split()[0]) for task in tasks)
        return sum(spent) / _NANOSECONDS

    @property
    def memory_mb(self) -> float:
        """Megabytes of memory that it has mapped, what it shares with others too."""
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text("ascii")
        found = re.search(r"^Rss:\s+(\d+) kB", text, re.MULTILINE)
        return int(found[1]) / 1024 if found else 0.0

    @property
    def disk_bytes(self) -> int:
        """Bytes that it made the kernel write to a disk, or would have."""
        text = Path(f"/proc/{self.pid}/io").read_text("ascii")
        return int(re.search(r"^write_bytes: (\d+)", text, re.MULTILINE)[1])

    # The emulator, from behind

    def _feed_one(self, end: float) -> Chunk | None:
        """Show the next chunk; none if there is none before ``end``, or the program is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._chunks) > self._fed or self._is_over,
                max(0.0, end - time.perf_counter()),
            )
            if len(self._chunks) <= self._fed:
                return None
            chunk = self._chunks[self._fed]
        self._fed += 1
        self._emulator.feed(chunk.data)
        return chunk

    def _catch_up(self) -> None:
        while self._feed_one(0.0):
            pass


def _looking_for(pattern: str) -> Callable[[TimedProgram], object]:
    search = re.compile(pattern).search
    return lambda program: any(search(line) for line in program.lines)


def is_painted(program: TimedProgram) -> bool:
    """Whether anything is on the full screen."""
    return program.is_alternate and any(program.lines)
