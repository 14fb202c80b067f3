"""Pictures and files as messages have them."""

import hashlib
from base64 import b64decode

from tui.domain.journal.blocks import FileBlock, ImageBlock, content_of

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""
NOTES = FileBlock("notes.txt", "Buy milk.", 9)


def picture(name="photo.png", data=PNG, size=None):
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageBlock(name, "image/png", sha256, len(data) if size is None else size)


def numbered(number, size=1000):
    """Another picture for each number."""
    return picture(f"{number}.png", str(number).encode(), size)


def showing(text, *attachments):
    return content_of(text, attachments)
