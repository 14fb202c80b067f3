"""The pictures of messages: each is kept once, in a file that has its hash as its name."""

import hashlib
import re
from contextlib import suppress
from pathlib import Path

from tui.domain.text.patterns import late_pattern
from tui.errors import AttachmentNotFound
from tui.files import UnfitFile, read_bounded
from tui.storage.disk import make_directory, publish, storage_errors

ATTACHMENT_BYTES = 32 * 1024 * 1024
"""The size limit of one of them."""
_NAME = late_pattern(r"[0-9a-f]{64}", re.ASCII)


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
