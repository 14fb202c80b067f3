"""``flock`` on files that nothing else is done with, so that no rename ever drops a lock.

The kernel releases a lock when its holder dies. Lock files stay; only a purge unlinks one, while
holding it, which is why a taker compares what it locked with what the name leads to.
"""

import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from tui.domain.journal.session import Holder
from tui.domain.timestamps import format_utc, parse_utc
from tui.storage.disk import open_to_make

PATIENCE = 0.25
"""Seconds for which a taker tries again: who only asks whether a lock is held locks it, too."""

_PAUSE = 0.01
_NOTE_BYTES = 4096


class LockHeld(Exception):
    """Somebody else holds the lock."""

    def __init__(self, holder: Holder) -> None:
        super().__init__(str(holder))
        self.holder = holder


class Lock:
    """A lock that is held until ``release``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @property
    def held(self) -> bool:
        return self.descriptor >= 0

    def note(self, now: datetime) -> None:
        """Write down for others who holds it since when."""
        text = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": format_utc(now),
        }
        # The lock is the kernel's; a full disk only leaves it without a signature.
        with suppress(OSError):
            # Not emptied first: ext4 writes back at once what was emptied and filled again.
            os.ftruncate(self.descriptor, os.pwrite(self.descriptor, json.dumps(text).encode(), 0))

    def release(self) -> None:
        """Give it up; harmless the second time."""
        if self.held:
            descriptor, self.descriptor = self.descriptor, -1
            os.close(descriptor)

    def destroy(self) -> None:
        """Remove the file itself, then give the lock up."""
        os.unlink(self.path)
        self.release()


def take(path: Path, *, new: bool = False, patience: float = PATIENCE) -> Lock:
    """Take a lock, making its file if needed.

    Raises ``LockHeld``; with ``new`` also ``FileExistsError`` if the file was there.
    """
    deadline = time.monotonic() + patience
    while True:
        lock = Lock(path, _open(path, new=new))
        try:
            if _lock(lock.descriptor, fcntl.LOCK_EX):
                if _leads_to(path, lock.descriptor):
                    return lock
                lock.release()
                continue
            holder = _read_note(lock.descriptor)
        except OSError:
            lock.release()
            raise
        lock.release()
        if time.monotonic() >= deadline:
            raise LockHeld(holder)
        time.sleep(_PAUSE)


def holder_of(path: Path) -> Holder | None:
    """Who holds a lock; asks without making the file, and lets go at once."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        return None if _lock(descriptor, fcntl.LOCK_SH) else _read_note(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path, *, new: bool) -> int:
    flags = os.O_RDWR | os.O_NONBLOCK
    return open_to_make(path, flags | (os.O_EXCL if new else 0))


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _leads_to(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_note(descriptor: int) -> Holder:
    try:
        note = json.loads(os.pread(descriptor, _NOTE_BYTES, 0))
        return Holder(int(note["pid"]), str(note["host"]), parse_utc(str(note["since"])))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        # The holder took it this moment and has not signed yet.
        return Holder(0, "unknown host", None)
