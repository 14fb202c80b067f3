"""A file that is appended to, private to the user, and renamed when it is full."""

import os
from contextlib import suppress
from pathlib import Path

from tui.storage.disk import FILE_MODE, open_to_make

MOST_BYTES = 5 * 1024 * 1024
EARLIER = ".1"
"""Ends the name of the file before this one; there is one such file."""


class LogFile:
    """One file of entries. Several programs may append to it. Raises ``OSError``, as all here."""

    def __init__(self, path: Path, most: int = MOST_BYTES) -> None:
        self._path = path
        self._most = most
        self._descriptor = self._opened()

    def write(self, entry: bytes) -> None:
        """Append an entry."""
        if os.fstat(self._descriptor).st_size + len(entry) > self._most:
            # Another program may have renamed it already.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._descriptor), os.lstat(self._path)):
                    os.replace(self._path, f"{self._path}{EARLIER}")
            following = self._opened()
            os.close(self._descriptor)
            self._descriptor = following
        while entry:
            entry = entry[os.write(self._descriptor, entry) :]

    def close(self) -> None:
        os.close(self._descriptor)

    def _opened(self) -> int:
        descriptor = open_to_make(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            # Fails for a file of another user, who could read the entries.
            os.fchmod(descriptor, FILE_MODE)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
