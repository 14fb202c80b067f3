"""Crash-safe writes: files that appear whole or not at all, and are durable on return.

Only ``os``-level calls, so that each step of a write can be made to fail in a test. Temporary
names begin with ``.`` and end in ``.tmp``; no list shows them.
"""

import errno
import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from tui.domain.json_text import ODD_VALUES
from tui.errors import SessionDamaged, StorageError, StorageFull
from tui.files import UnfitFile, check_regular, check_size, open_regular

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
TEMPORARY = ".tmp"
JOURNAL_BYTES = 2 * 1024**3
"""The size limit of a journal: appending stops there, and larger files are not read."""

_COPY_BYTES = 1024 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Errors of a link, a pipe, a socket or a directory in the place of a file.
NOT_PLAIN = frozenset({errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.EISDIR, errno.ENOTDIR})
_NO_DIRECTORY_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP})
_NO_FULL_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOTTY})
# Errors of link(2) on file systems without hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


@contextmanager
def storage_errors(doing: str) -> Generator[None]:
    """Convert ``OSError`` to ``StorageError``; ``doing`` begins its message."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if isinstance(error, UnfitFile):
            reason = ": ".join(filter(None, (error.filename, error.strerror)))
        if error.filename and error.errno in NOT_PLAIN - {errno.ENOTDIR}:
            # The file to be moved away may be another than the one in ``doing``.
            reason = f"{error.filename} is not a regular file"
        kind = StorageFull if error.errno in _FULL else StorageError
        raise kind(f"{doing}: {reason}") from error


@contextmanager
def odd_values(session_id: str) -> Generator[None]:
    """Convert what an odd value in a session makes its readers raise to ``SessionDamaged``.

    Operations over many sessions name the one that failed, and go on.
    """
    try:
        yield
    except ODD_VALUES as error:
        reason = f"a value in it cannot be read ({type(error).__name__})"
        raise SessionDamaged(session_id, reason) from error


def open_to_read(path: Path, most: int = JOURNAL_BYTES) -> int:
    """Open a regular file of at most ``most`` bytes. Raises ``OSError`` for any other."""
    descriptor = open_regular(path)
    try:
        check_size(descriptor, path, most)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def reading(path: Path) -> Generator[int]:
    """Open a file as ``open_to_read`` does, and close it at the end."""
    descriptor = open_to_read(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def check_owner(path: Path, rights: int) -> None:
    """Raise ``StorageError`` for a file that is another user's, or gives others these rights."""
    found = path.lstat()
    if found.st_uid != os.getuid() or found.st_mode & rights:
        raise StorageError(f"Cannot read {path}: it is open to other users")


def open_to_make(path: Path, flags: int) -> int:
    """Open a file, created if it is missing, private to the user whatever the umask."""
    # O_NONBLOCK: opening a pipe without a reader would block.
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags, FILE_MODE)
    try:
        check_regular(descriptor, path)
        if os.fstat(descriptor).st_mode & FILE_MODE != FILE_MODE:
            os.fchmod(descriptor, FILE_MODE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write_whole(descriptor: int, data: bytes) -> None:
    """Write in one call; a short write is an error."""
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, "short write")


def sync_file(descriptor: int) -> None:
    """Flush a file's bytes to the disk itself."""
    if sys.platform == "darwin":
        _sync_fully(descriptor)
    else:
        os.fdatasync(descriptor)


def _sync_fully(descriptor: int) -> None:
    """Flush to the disk on macOS, where ``fsync`` only reaches the drive's cache."""
    assert sys.platform == "darwin"  # noqa: S101 - for the type
    import fcntl

    try:
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    except OSError as error:
        # Network file systems and some drives know ``fsync`` only.
        if error.errno not in _NO_FULL_SYNC:
            raise
        os.fsync(descriptor)


def cut_back(descriptor: int, size: int) -> None:
    """Truncate a file after a failed append, if possible."""
    try:
        os.ftruncate(descriptor, size)
    except OSError:
        # The next append closes a torn line, and reading copes with a whole one.
        return


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the file system can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if sys.platform == "darwin":
            _sync_fully(descriptor)
        else:
            os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync directories.
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(descriptor)


def make_directory(path: Path) -> None:
    """Make a private directory and its parents durably, unless it exists."""
    if path.is_dir():
        return
    if path.parent != path:
        make_directory(path.parent)
    path.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    if path.stat().st_mode & DIRECTORY_MODE != DIRECTORY_MODE:
        # The umask may have removed the user's own rights.
        path.chmod(DIRECTORY_MODE)
    sync_directory(path.parent)


def publish(path: Path, data: bytes) -> None:
    """Create a file whole or not at all, never over another.

    Raises ``FileExistsError`` if the name is taken.
    """
    temporary = temporary_name(path)
    try:
        _write_new(temporary, data)
        _link_or_copy(temporary, path, data)
    finally:
        _remove_quietly(temporary)
    try:
        sync_directory(path.parent)
    except OSError:
        # The name may not be durable: remove it, and the next attempt creates it anew.
        _remove_quietly(path)
        raise


def place_blocks(path: Path, blocks: Iterable[bytes], changed: Callable[[], int | None]) -> None:
    """Create a file whole or not at all, never over another, from blocks that are made meanwhile.

    Its bytes are durable on return; its name only once the caller has synced the directory.
    ``changed`` is asked after the last block for the time of the file's last change. Raises
    ``FileExistsError`` if the name is taken, and whatever the making of a block raises.
    """
    temporary = temporary_name(path)
    try:
        descriptor = open_to_make(temporary, os.O_WRONLY | os.O_EXCL)
        try:
            for block in blocks:
                write_whole(descriptor, block)
            moment = changed()
            if moment is not None:
                os.utime(temporary, ns=(moment, moment), follow_symlinks=False)
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        link_or_rename(temporary, path)
    finally:
        _remove_quietly(temporary)


def publish_or_replace(path: Path, data: bytes, own: bytes) -> None:
    """Create a file like ``publish``, or replace the leftover of an earlier attempt.

    A leftover begins with ``own``. Raises ``FileExistsError`` if the name is another file's.
    """
    try:
        publish(path, data)
    except FileExistsError:
        # An earlier attempt got further than it reported; none of it was acknowledged.
        with reading(path) as descriptor:
            found = os.pread(descriptor, len(own), 0)
        if found != own:
            raise
        replace(path, data)


def replace(path: Path, data: bytes, *, after: int | None = None, length: int = 0) -> None:
    """Replace a file atomically.

    The first ``length`` bytes of the descriptor ``after``, if there is one, precede ``data``.
    """
    temporary = temporary_name(path)
    try:
        _write_new(temporary, data, after=after, length=length)
        os.rename(temporary, path)
    except OSError:
        _remove_quietly(temporary)
        raise
    sync_directory(path.parent)


def move(source: Path, target: Path) -> None:
    """Move a file to another folder; at every moment at least one of its names exists.

    Raises ``FileExistsError`` if the target is another file.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        # A move that was killed half-way has left both names of the file.
        if not are_two_names(source, target):
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_to_free_name(source, target)
        sync_directory(target.parent)
        sync_directory(source.parent)
        return
    try:
        sync_directory(target.parent)
        os.unlink(source)
    except OSError:
        # Not moved: with both names the target could count.
        if os.path.lexists(source):
            _remove_quietly(target)
        raise
    sync_directory(source.parent)


def temporary_name(path: Path) -> Path:
    """Make a temporary name beside a file."""
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}{TEMPORARY}")


def are_two_names(one: Path, other: Path) -> bool:
    """Check that two paths are different names of one file.

    Not if one folder leads to the other: both may be its only name, and must not be removed.
    """
    if os.path.samestat(os.stat(one.parent), os.stat(other.parent)):
        return False
    return os.path.samestat(os.lstat(one), os.lstat(other))


def link_or_rename(source: Path, target: Path) -> None:
    """Give a new file its name. Raises ``FileExistsError`` if the name is taken."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_to_free_name(source, target)


def _rename_to_free_name(source: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source, target)


def _write_new(path: Path, data: bytes, *, after: int | None = None, length: int = 0) -> None:
    descriptor = open_to_make(path, os.O_WRONLY | os.O_EXCL)
    try:
        if after is not None:
            _copy(after, descriptor, length)
        write_whole(descriptor, data)
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def _copy(source: int, target: int, length: int) -> None:
    position = 0
    while position < length:
        block = os.pread(source, min(_COPY_BYTES, length - position), position)
        if not block:
            raise OSError(errno.EIO, "the file became shorter while it was read")
        write_whole(target, block)
        position += len(block)


def _link_or_copy(temporary: Path, path: Path, data: bytes) -> None:
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:
            _write_new(path, data)
        except FileExistsError:
            raise
        except OSError:
            _remove_quietly(path)
            raise


def _remove_quietly(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        # A leftover temporary file is harmless; doctor removes it.
        return
