"""A program on a terminal of its own: what a user would type and see."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pyte.screens import Char

from tests.terminal.emulator import Emulator
from tests.terminal.keys import sequence

SECONDS = 60

# The shell leads a session and opens the terminal, which makes it the controlling one.
_TAKE_TERMINAL = 'exec "$@" 0<>"$0" 1>&0 2>&0'


@dataclass(frozen=True, slots=True)
class Chunk:
    """What was read at once, and how many seconds after the start."""

    seconds: float
    data: bytes


def _default_signals() -> None:
    # What a shell starts in the background, a build say, ignores SIGINT, and so do its children;
    # what nohup starts ignores SIGHUP.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Program:
    """Starts ``argv`` on a pseudo-terminal; leaving the context kills it.

    The environment is the caller's, with TERM=xterm-256color and what ``environment`` changes;
    a value of None takes a variable away. ``found`` is what the terminal was set to before.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 100,
        rows: int = 30,
        environment: Mapping[str, str | None] | None = None,
        directory: str | None = None,
    ) -> None:
        self._changed = threading.Condition()
        self._chunks: list[Chunk] = []
        self._is_over = False
        self._emulator = Emulator(columns, rows, self.send)
        self._master, self._slave = pty.openpty()
        self._left, self._leave = os.pipe()
        self.found = self._last_attributes = termios.tcgetattr(self._slave)
        self._set_size(columns, rows)
        self._process = self._start(argv, environment or {}, directory)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _start(
        self, argv: Sequence[str], changes: Mapping[str, str | None], directory: str | None
    ) -> subprocess.Popen[bytes]:
        # argparse believes a size in the environment, as xdist has it.
        known = {**os.environ, "TERM": "xterm-256color", "COLUMNS": None, "LINES": None}
        wanted = {**known, **changes}
        environment = {name: value for name, value in wanted.items() if value is not None}
        self._started = time.perf_counter()
        return subprocess.Popen(
            ["/bin/sh", "-c", _TAKE_TERMINAL, os.ttyname(self._slave), *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_default_signals,  # noqa: PLW1509 - it takes no lock
            env=environment,
            cwd=directory,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    # What the user does

    def type(self, text: str) -> None:
        """Send text as it would come from a keyboard; ``\\r`` is Enter."""
        self.send(text.encode())

    def press(self, *keys: str) -> None:
        """Send keys as Textual names them, one after the other."""
        for key in keys:
            self.type(sequence(key))

    def paste(self, text: str) -> None:
        """Send text as a terminal does that was asked to mark pastes."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        with self._changed:
            self._emulator.resize(columns, rows)
        self._set_size(columns, rows)

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        self._close()

    # What the system does

    @property
    def pid(self) -> int:
        return self._process.pid

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    @property
    def is_stopped(self) -> bool:
        asked = ["/bin/ps", "-o", "stat=", "-p", str(self.pid)]
        return subprocess.run(asked, capture_output=True, text=True).stdout.startswith("T")

    def kill(self) -> None:
        """End it and whatever it started, at once, if it has not ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(SECONDS)
        self._close()

    def wait(self, seconds: float = SECONDS) -> int:
        """The exit status, once all that was written is on the screen; -N for a signal."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running\n{self._picture()}") from None
        self._close_slave()
        self._reader.join(seconds)
        return status

    # What can be seen

    @property
    def screen(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        with self._changed:
            return list(self._emulator.lines)

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    @property
    def cells(self) -> list[tuple[Char, ...]]:
        """The same with their looks, once the program has finished a picture."""
        with self._changed:
            return self._emulator.cells

    @property
    def raw(self) -> bytes:
        """All that was written to the terminal."""
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def chunks(self) -> list[Chunk]:
        with self._changed:
            return list(self._chunks)

    @property
    def is_alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return self._emulator.is_alternate

    @property
    def is_cursor_visible(self) -> bool:
        return self._emulator.is_cursor_visible

    @property
    def modes(self) -> frozenset[str]:
        """The numbers of the private modes that are set."""
        with self._changed:
            return frozenset(self._emulator.modes)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._started

    def attributes(self) -> list[Any]:
        """What the terminal is set to: as in ``termios.tcgetattr``."""
        if self._slave >= 0:
            self._last_attributes = termios.tcgetattr(self._slave)
        return self._last_attributes

    def until(
        self,
        condition: str | Callable[["Program"], object],
        what: str = "",
        seconds: float = SECONDS,
    ) -> None:
        """Wait until a regular expression is on the screen, or a predicate holds."""
        end = time.monotonic() + seconds
        while not self._holds(condition):
            if self._process.poll() is not None:
                # Nobody else has it open: what is left is read, and then the reader is at the end.
                self._close_slave()
            with self._changed:
                seen = len(self._chunks)
                # A predicate may look at other things than the screen.
                self._changed.wait_for(lambda seen=seen: len(self._chunks) > seen, 0.02)
                is_over = self._is_over and len(self._chunks) == seen
            if (is_over or time.monotonic() > end) and not self._holds(condition):
                raise AssertionError(f"never came: {what or condition}\n{self._picture()}")

    def _holds(self, condition: str | Callable[["Program"], object]) -> bool:
        if isinstance(condition, str):
            return re.search(condition, self.text) is not None
        return bool(condition(self))

    def _picture(self) -> str:
        status = self._process.poll()
        state = "running" if status is None else f"ended with {status}"
        return "\n".join([f"{state}; the last bytes: {self.raw[-200:]!r}", *self.screen])

    # The terminal itself

    def _read(self) -> None:
        while data := self._next():
            with self._changed:
                self._chunks.append(Chunk(self.seconds, data))
                self._emulator.feed(data)
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _next(self) -> bytes:
        """What the program wrote; empty once it cannot write any more, or nobody looks."""
        ready, _, _ = select.select([self._master, self._left], [], [])
        if self._left in ready:
            return b""
        try:
            return os.read(self._master, 65536)
        except OSError:  # nobody has the terminal open
            return b""

    def send(self, data: bytes) -> None:
        """Send bytes as a terminal does."""
        with contextlib.suppress(OSError):  # as a keyboard does when nobody listens any more
            while data:
                data = data[os.write(self._master, data) :]

    def _set_size(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, size)

    def _close_slave(self) -> None:
        if self._slave >= 0:
            self._last_attributes = termios.tcgetattr(self._slave)
            os.close(self._slave)
            self._slave = -1

    def _close(self) -> None:
        self._close_slave()
        if self._master < 0:
            return
        # The terminal hangs up only when nobody reads it.
        os.close(self._leave)
        self._reader.join(SECONDS)
        os.close(self._left)
        os.close(self._master)
        self._master = -1
