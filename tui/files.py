"""Bounded reads of files that other programs may have put there: regular files only.

A pipe would block the program, a device fill its memory. So each file is opened without blocking,
checked once it is open, and read up to a limit.
"""

import codecs
import errno
import os
import stat
from pathlib import Path
from typing import Any, TypeVar

from tui.domain import json_text

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
    stat.S_IFSOCK: "a socket",
}
_BLOCK = 1024 * 1024
_Value = TypeVar("_Value")


class UnfitFile(OSError):
    """A file that must not be read; ``strerror`` has the reason, ``filename`` its path."""


def system_text(text: str) -> str:
    """Pass on a text that the system takes as a path or an argument.

    Python raises ``ValueError`` for one with a null character or half a surrogate pair, which
    nobody expects of a file that is only not there. Here it is an ``UnfitFile``, as an
    ``OSError``: text of the user's or of another program goes through this function first.
    """
    try:
        is_fit = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        is_fit = False
    if not is_fit:
        raise UnfitFile(errno.EINVAL, "it has characters that no name can have", text)
    return text


def user_path(text: str) -> Path:
    """Make a path of a text, with ``~`` for the home. Raises ``UnfitFile``."""
    # Path.expanduser raises where there is no such home.
    return Path(os.path.expanduser(system_text(text)))  # noqa: PTH111


def open_regular(path: Path, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """Open a regular file; a symbolic link to one only with ``follow``.

    Raises ``UnfitFile`` with ``EINVAL`` for any other kind of file, and ``OSError``.
    """
    flags |= os.O_CLOEXEC | os.O_NONBLOCK
    flags = flags if follow else flags | os.O_NOFOLLOW
    descriptor = os.open(system_text(str(path)), flags, 0o600)
    try:
        check_regular(descriptor, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(descriptor: int, path: Path) -> None:
    """Raise ``UnfitFile`` unless an open file is a regular one."""
    check_kind(os.fstat(descriptor).st_mode, path)


def check_kind(mode: int, path: Path) -> None:
    """Raise ``UnfitFile`` unless this mode is that of a regular file."""
    kind = stat.S_IFMT(mode)
    if kind != stat.S_IFREG:
        name = _KINDS.get(kind, "something else")
        raise UnfitFile(errno.EINVAL, f"it is {name}, not a regular file", str(path))


def check_size(descriptor: int, path: Path, most: int) -> None:
    """Raise ``UnfitFile`` for an open file of more than ``most`` bytes."""
    if os.fstat(descriptor).st_size > most:
        raise _too_large(path, most)


def read_bounded(path: Path, most: int, *, follow: bool = False) -> bytes:
    """Read a regular file of at most ``most`` bytes.

    Raises ``UnfitFile`` for any other kind of file or a larger one, and ``OSError``.
    """
    descriptor = open_regular(path, follow=follow)
    try:
        check_size(descriptor, path, most)
        # Not by st_size: files of /proc have none, and others grow.
        data = bytearray()
        while block := os.read(descriptor, _BLOCK):
            data += block
            if len(data) > most:
                raise _too_large(path, most)
        return bytes(data)
    finally:
        os.close(descriptor)


def read_beginning(path: Path, most: int, *, follow: bool = False) -> tuple[bytes, int]:
    """Read at most ``most`` bytes of a regular file, and give its size with them.

    Raises ``UnfitFile`` for any other kind of file, and ``OSError``.
    """
    descriptor = open_regular(path, follow=follow)
    try:
        return beginning_of(descriptor, most)
    finally:
        os.close(descriptor)


def beginning_of(descriptor: int, most: int) -> tuple[bytes, int]:
    """Read at most ``most`` bytes of an open file, and give its size with them."""
    data = bytearray()
    while len(data) < most and (block := os.read(descriptor, most - len(data))):
        data += block
    return bytes(data), max(os.fstat(descriptor).st_size, len(data))


def text_encoding(data: bytes) -> str:
    """UTF-8, or UTF-16 by its mark."""
    return "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def text_beginning(data: bytes, size: int, errors: str = "strict") -> str:
    """Decode a file's beginning but for a character that is cut. Raises ``UnicodeDecodeError``."""
    decoder = codecs.getincrementaldecoder(text_encoding(data))(errors)
    return decoder.decode(data, final=size == len(data))


def read_json(path: Path, most: int, kind: type[_Value] = dict[str, Any]) -> _Value:
    """Read a file with one JSON value of a kind, by default an object.

    Raises ``UnfitFile`` also for JSON that is damaged or beyond its limits, and ``OSError``.
    """
    data = read_bounded(path, most)
    try:
        return json_text.converted(json_text.parse(data), kind)
    except ValueError as error:
        raise UnfitFile(errno.EILSEQ, f"it is damaged: {error}", str(path)) from error


def _too_large(path: Path, most: int) -> UnfitFile:
    reason = f"it is larger than {size_words(most)}"
    return UnfitFile(errno.EOVERFLOW, reason, str(path))


def size_words(size: int) -> str:
    """Format the size of a limit: ``64 KiB``."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"
