"""Locks between programs: ``flock`` on files of their own, so that no rename drops a lock.

The kernel releases a lock when its holder dies. Lock files stay; only a purge unlinks one, while
holding it. Therefore a taker compares the file that it locked with the one of that name.
"""

import errno
import fcntl
import json
import os
import platform
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import msgspec

from tui.domain.journal.session import Holder
from tui.domain.timestamps import format_utc, parse_utc
from tui.errors import StorageError
from tui.files import UnfitFile
from tui.storage.disk import make_directory, open_to_make, storage_errors

PATIENCE = 0.25
"""Seconds during which a taker tries again: a mere query locks the file for a moment, too."""

_LONG_PATIENCE = 10.0
"""The same for a change of a file: each holder takes the time of two writes."""

_PAUSE = 0.01
_NOTE_BYTES = 4096
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
NO_LOCKS = (
    "its file system has no locks. Keep the sessions on another one:"
    " --data-dir FOLDER, or SIBYL_DATA_DIR"
)


class LockHeld(Exception):
    """The lock has another holder."""

    def __init__(self, holder: Holder) -> None:
        super().__init__(holder.process)
        self.holder = holder


class Lock(msgspec.Struct, eq=False):
    """A lock, held until ``release``."""

    path: Path
    descriptor: int

    @property
    def held(self) -> bool:
        return self.descriptor >= 0

    def note(self, now: datetime, work: str = "") -> None:
        """Write pid, host, time and work into the lock file, for others to read."""
        text = {
            "pid": os.getpid(),
            "host": platform.node(),
            "since": format_utc(now),
        } | ({"work": work} if work else {})
        # The lock itself is the kernel's: a full disk only leaves it unsigned.
        with suppress(OSError):
            # Not truncated first: ext4 then flushes the file at once.
            os.ftruncate(self.descriptor, os.pwrite(self.descriptor, json.dumps(text).encode(), 0))

    def release(self) -> None:
        """Give the lock up; a second call does nothing."""
        if self.held:
            descriptor, self.descriptor = self.descriptor, -1
            os.close(descriptor)

    def destroy(self) -> None:
        """Remove the lock file, then give the lock up."""
        os.unlink(self.path)
        self.release()


def take(path: Path, *, new: bool = False, patience: float = PATIENCE) -> Lock:
    """Take a lock within ``patience`` seconds, creating its file if needed.

    Raises ``LockHeld``; with ``new`` also ``FileExistsError`` if the file exists.
    """
    deadline = time.monotonic() + patience
    while True:
        lock = Lock(path, open_to_make(path, os.O_RDWR | (os.O_EXCL if new else 0)))
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


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Let nobody else change a file, which the caller does; its directory is made.

    Raises ``StorageError``, also for what the caller cannot write.
    """
    with storage_errors(f"Cannot write {path}"):
        make_directory(path.parent)
        with patiently(path.with_name(f".{path.name}.lock"), path):
            yield


@contextmanager
def patiently(path: Path, changed: Path) -> Generator[None]:
    """Hold the lock of a file that is changed, however many programs queue for it.

    Raises ``StorageError`` if it has been held too long.
    """
    try:
        lock = take(path, patience=_LONG_PATIENCE)
    except LockHeld as held:
        raise StorageError(f"{changed} has been locked too long ({held}).") from held
    try:
        yield
    finally:
        lock.release()


@contextmanager
def if_free(path: Path) -> Generator[bool]:
    """Hold a lock if nobody has it, and tell; its directory is made. Raises ``StorageError``."""
    lock: Lock | None = None
    with storage_errors(f"Cannot write {path}"):
        make_directory(path.parent)
        with suppress(LockHeld):
            lock = take(path, patience=0)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def holder_of(path: Path) -> Holder | None:
    """Read the holder of a lock; ``None`` if it is free. Never creates the file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        return None if _lock(descriptor, fcntl.LOCK_SH) else _read_note(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise UnfitFile(error.errno, NO_LOCKS) from error
        raise
    return True


def _leads_to(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_note(descriptor: int) -> Holder:
    try:
        note = json.loads(os.pread(descriptor, _NOTE_BYTES, 0))
        since, work = parse_utc(str(note["since"])), str(note.get("work", ""))
        return Holder(int(note["pid"]), str(note["host"]), since, work=work)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        # Just taken and not signed yet.
        return Holder(0, "unknown host", None)
