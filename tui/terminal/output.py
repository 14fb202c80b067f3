"""A terminal writer that never blocks the program for long."""

import os
import select
import time
from collections.abc import Callable
from typing import TextIO

SECONDS_TO_TAKE = 2.0
"""The time after which a terminal that accepts nothing loses frames."""
SECONDS_PER_LOOK = 0.1
"""The interval at which a descriptor is looked at again."""
BYTES_PER_READ = 4096
# Cancels a sequence that was cut off, ends a synchronised update, and resets the style.
_AFTER_LOSS = b"\x18\x1b[?2026l\x1b[0m"


class Output:
    """The file that the writer thread writes frames to.

    That thread must neither end nor block for long: the screen waits for it, and all sessions
    with the screen. Output for a closed terminal is dropped. A terminal that accepts nothing for
    ``SECONDS_TO_TAKE``, as over a line that hangs, loses frames until it accepts something again;
    then ``lost`` is called. ``taken`` is called after each write with the number of texts in it.
    Both are called in the writer thread.
    """

    def __init__(
        self, file: TextIO, lost: Callable[[], None], taken: Callable[[int], None]
    ) -> None:
        self._encoding = file.encoding
        self._descriptor = file.fileno()
        self._own = _opened_again(self._descriptor)
        self._lost, self._taken = lost, taken
        self._queued: list[bytes] = []
        self._size = 0
        self._is_stuck = False
        self._is_closed = False

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> None:
        """Queue a text; it is written by ``flush`` at the latest."""
        data = text.encode(self._encoding, "replace")
        self._queued.append(data)
        self._size += len(data)
        if self._size >= BYTES_PER_READ:
            self.flush()

    def flush(self) -> None:
        """Write the queued texts, or lose them."""
        count, data = len(self._queued), b"".join(self._queued)
        self._queued, self._size = [], 0
        self._write(data)
        self._taken(count)

    def _write(self, data: bytes) -> None:
        if self._is_closed or not data:
            return
        if self._is_stuck:
            if not self._accepts(0):
                return
            self._is_stuck = False
            self._lost()
            data = _AFTER_LOSS + data
        self._send(data)

    def close(self, last: str) -> None:
        """Stop writing; a terminal that has lost frames gets ``last``."""
        if self._is_stuck and not self._is_closed:
            self._send(_AFTER_LOSS + last.encode())
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _send(self, data: bytes) -> None:
        target = self._descriptor if self._own is None else self._own
        try:
            while data:
                if not self._accepts(SECONDS_TO_TAKE):
                    self._is_stuck = True
                    return
                try:
                    data = data[os.write(target, data) :]
                except BlockingIOError:
                    # There is room for some bytes, but not for a character.
                    time.sleep(SECONDS_PER_LOOK)
        except OSError:
            self._is_closed = True

    def _accepts(self, seconds: float) -> bool:
        """Check whether the terminal accepts output within this time."""
        target = self._descriptor if self._own is None else self._own
        _, ready, _ = select.select([], [target], [], seconds)
        return bool(ready)


def _opened_again(descriptor: int) -> int | None:
    """Open the terminal again without blocking: the flag would change the shell's descriptor too.

    ``None`` where the terminal's name cannot be opened, as in some containers.
    """
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(descriptor), flags)
    except OSError:
        return None
