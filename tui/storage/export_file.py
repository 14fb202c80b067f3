"""Files that a user asks for: whole or not at all, and over another only where that is meant.

They are written piece by piece, beside their name.
"""

import errno
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from tui.domain.text import without_surrogates
from tui.files import UnfitFile
from tui.storage import disk

_NEW = os.O_WRONLY | os.O_EXCL


def create(path: Path, pieces: Iterable[str]) -> None:
    """Write a new file. Raises ``FileExistsError`` if there is one, and ``OSError``."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    with _written_beside(path, pieces) as temporary:
        disk.link_or_rename(temporary, path)


def create_or_replace(path: Path, pieces: Iterable[str]) -> None:
    """Write a file, in the place of another if there is one. Raises ``OSError``."""
    meant = path.resolve()
    if meant.exists() and not meant.is_file():
        raise UnfitFile(errno.EINVAL, "It is not a regular file", str(path))
    with _written_beside(meant, pieces) as temporary:
        os.rename(temporary, meant)


def create_once(path: Path, data: bytes) -> None:
    """Write a file that is named by its contents, unless it is there. Raises ``StorageError``."""
    with disk.storage_errors(f"Cannot write a picture to {path.parent}"):
        path.parent.mkdir(mode=disk.DIRECTORY_MODE, exist_ok=True)
        with suppress(FileExistsError):
            disk.publish(path, data)


@contextmanager
def _written_beside(path: Path, pieces: Iterable[str]) -> Generator[Path]:
    temporary = disk.temporary_name(path)
    try:
        with _naming(path), os.fdopen(disk.open_to_make(temporary, _NEW), "wb") as file:
            for piece in pieces:
                file.write(without_surrogates(piece).encode())
        with _naming(path):
            yield temporary
    finally:
        with suppress(OSError):
            os.unlink(temporary)


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Let errors name the file that was meant, not the temporary one."""
    try:
        yield
    except OSError as error:
        # Its number makes it one of the same class.
        raise OSError(error.errno, error.strerror, str(path)) from error
