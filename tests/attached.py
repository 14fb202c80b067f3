"""Pictures and files as messages have them."""

import hashlib
from base64 import b64decode
from typing import Any

from tui.domain.journal.message import Attachment, FileBlock, ImageBlock, content_of

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""
NOTES = FileBlock("notes.txt", "Buy milk.", 9)


def picture(name: str = "photo.png", data: bytes = PNG, size: int | None = None) -> ImageBlock:
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageBlock(name, "image/png", sha256, len(data) if size is None else size)


def numbered(number: int, size: int = 1000) -> ImageBlock:
    """Another picture for each number."""
    return picture(f"{number}.png", str(number).encode(), size)


def showing(text: str, *attachments: Attachment) -> str | list[Any]:
    return content_of(text, attachments)
