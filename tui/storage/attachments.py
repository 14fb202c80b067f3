"""The pictures of messages: each is kept once, in a file that has its hash as its name."""

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tui.domain.text.patterns import late_pattern
from tui.errors import AttachmentNotFound
from tui.files import UnfitFile, read_bounded
from tui.storage.disk import make_directory, publish, storage_errors

ATTACHMENT_BYTES = 32 * 1024 * 1024
"""The size limit of one of them."""
_NAME = late_pattern(r"[0-9a-f]{64}", re.ASCII)
_PREFIX = late_pattern(r"[0-9a-f]{16,64}", re.ASCII)


class AttachmentFiles:
    """The folder ``attachments`` of a data directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, data: bytes) -> str:
        """Keep bytes, unless they are there; gives their SHA-256. Raises ``StorageError``."""
        sha256 = hashlib.sha256(data).hexdigest()
        with storage_errors("Cannot keep the picture"):
            make_directory(self._folder)
            with suppress(FileExistsError):
                publish(self._folder / sha256, data)
        return sha256

    def read(self, sha256: str) -> bytes:
        """Read what was kept. Raises ``AttachmentNotFound`` if it is not there or damaged."""
        if not _NAME.fullmatch(sha256):
            raise AttachmentNotFound(sha256)
        try:
            data = read_bounded(self._folder / sha256, ATTACHMENT_BYTES)
        except (FileNotFoundError, UnfitFile) as error:
            raise AttachmentNotFound(sha256) from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise AttachmentNotFound(sha256)
        return data

    def find(self, prefix: str) -> str:
        """Find the SHA-256 that begins with a prefix. Raises ``AttachmentNotFound``."""
        with storage_errors("Cannot look for the picture"):
            try:
                names = os.listdir(self._folder)
            except FileNotFoundError:
                names = []
        return only_match(prefix, filter(_NAME.fullmatch, names))


def only_match(prefix: str, names: Iterable[str]) -> str:
    """Get the one of some SHA-256 that begins with a prefix. Raises ``AttachmentNotFound``."""
    found = [name for name in names if name.startswith(prefix)]
    if len(found) != 1 or not _PREFIX.fullmatch(prefix):
        raise AttachmentNotFound(prefix)
    return found[0]
