"""Writing that survives a crash: what is durable when, and what a failure leaves behind.

Only ``os``-level calls, so that each step of a write is one that can fail, be tested and be
named. Temporary names begin with ``.`` and end in ``.tmp``; nothing ever lists them.
"""

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tui.errors import StorageError, StorageFull
from tui.files import UnfitFile, check_regular, check_size, open_regular

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
TEMPORARY = ".tmp"
JOURNAL_BYTES = 2 * 1024**3
"""A larger journal is none of this program's: it appends no further."""

_COPY_BYTES = 1024 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# A link, a pipe, a socket or a directory in the place of a file.
NOT_PLAIN = frozenset({errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.EISDIR, errno.ENOTDIR})
_NO_DIRECTORY_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP})
# What file systems without hard links answer to link(2).
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


@contextmanager
def storage_errors(doing: str) -> Generator[None]:
    """Turn the system's errors into ours; ``doing`` says what was being done, and to what."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if isinstance(error, UnfitFile):
            reason = ": ".join(filter(None, (error.filename, error.strerror)))
        if error.filename and error.errno in NOT_PLAIN - {errno.ENOTDIR}:
            # What is to be moved away is not what was being done.
            reason = f"{error.filename} is no plain file"
        kind = StorageFull if error.errno in _FULL else StorageError
        raise kind(f"{doing}: {reason}") from error


def open_to_read(path: Path, most: int = JOURNAL_BYTES) -> int:
    """Open a regular file of at most so many bytes; raises ``OSError`` for all else."""
    descriptor = open_regular(path)
    try:
        check_size(descriptor, path, most)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_to_append(path: Path) -> int:
    """Open a regular file that exists, to be read and appended to."""
    return open_regular(path, os.O_RDWR | os.O_APPEND)


def open_to_make(path: Path, flags: int) -> int:
    """Open a file that is made if it is not there, private to the user whatever the umask."""
    # A pipe without a reader would hold who only writes to it.
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
    """Write in one call; a short write is an error, as nothing of it can be trusted."""
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, "short write")


def sync_file(descriptor: int) -> None:
    """Return only when a file's bytes are on the disk itself."""
    if sys.platform == "darwin":
        import fcntl

        # There fsync only reaches the drive's cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        return
    os.fdatasync(descriptor)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the file system knows how to."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems have no such thing: a name is durable there or never.
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(descriptor)


def make_directory(path: Path) -> None:
    """Make a private directory and what leads to it, durably; harmless if it is there."""
    if path.is_dir():
        return
    if path.parent != path:
        make_directory(path.parent)
    path.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    if path.stat().st_mode & DIRECTORY_MODE != DIRECTORY_MODE:
        # A umask may shut out the user, too.
        path.chmod(DIRECTORY_MODE)
    sync_directory(path.parent)


def publish(path: Path, data: bytes) -> None:
    """Make a new file appear whole or not at all, never over another.

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
        # Its name may not be durable: it was never there, and the next try makes it anew.
        _remove_quietly(path)
        raise


def publish_or_replace(path: Path, data: bytes, own: bytes) -> None:
    """Make a new file as ``publish`` does, also over what an earlier try left of it.

    ``own`` is how that begins. Raises ``FileExistsError`` if the name is taken by another.
    """
    try:
        publish(path, data)
    except FileExistsError:
        # An earlier try got further than it could tell; nothing of it was acknowledged.
        if not _begins_with(path, own):
            raise
        replace(path, data)


def replace(path: Path, data: bytes, *, after: int | None = None, length: int = 0) -> None:
    """Put a new file in the place of another in one step.

    With a descriptor ``after``, its first ``length`` bytes come before ``data``.
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
    """Bring a file to another folder; at every moment at least one of the names is there.

    Raises ``FileExistsError`` if the target is another file.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        # An earlier move that was killed half-way left both names of one file.
        if not are_two_names(source, target):
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_to_free_name(source, target)
        return
    try:
        sync_directory(target.parent)
        os.unlink(source)
    except OSError:
        # It was not moved: with both names it might count as if it had been.
        if os.path.lexists(source):
            _remove_quietly(target)
        raise
    sync_directory(source.parent)


def temporary_name(path: Path) -> Path:
    """A name beside a file that nothing lists."""
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}{TEMPORARY}")


def are_two_names(one: Path, other: Path) -> bool:
    """Whether one file has two names; not if one folder has two, and the only name would go."""
    if os.path.samestat(os.stat(one.parent), os.stat(other.parent)):
        return False
    return os.path.samestat(os.lstat(one), os.lstat(other))


def _rename_to_free_name(source: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "already there", str(target))
    os.rename(source, target)
    sync_directory(target.parent)
    sync_directory(source.parent)


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


def _begins_with(path: Path, data: bytes) -> bool:
    descriptor = open_to_read(path)
    try:
        return os.pread(descriptor, len(data), 0) == data
    finally:
        os.close(descriptor)


def _remove_quietly(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        # A leftover temporary name harms nobody; doctor removes it.
        return
