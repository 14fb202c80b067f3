"""The pictures of an exported session, in a folder beside its file."""

from collections.abc import Iterator
from pathlib import Path

from tui.domain.journal.blocks import Content, ImageBlock, attachments_of, file_ending
from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_line
from tui.engine.library.conversation import Conversation
from tui.engine.library.session_export import as_markdown
from tui.errors import AttachmentNotFound
from tui.storage.export_file import create_once
from tui.storage.rescue import pictures_beside

_SPECIAL = late_pattern(r"[\\\[\]`*_<>]")


def markdown_with_pictures(conversation: Conversation, path: Path) -> Iterator[str]:
    """Format a conversation for a file; its pictures are written meanwhile, and are links.

    Raises ``StorageError`` if one cannot be written.
    """
    # Imported late: the first screen does not need it.
    from urllib.parse import quote

    folder = pictures_beside(path)

    def link(picture: ImageBlock) -> str:
        name = _write(conversation, picture, folder)
        if not name:
            return picture.label
        words = _SPECIAL.sub(r"\\\g<0>", make_visible_line(picture.label[1:-1]))
        return f"![{words}]({quote(f'{folder.name}/{name}', errors='replace')})"

    return as_markdown(conversation, link)


def write_pictures(conversation: Conversation, content: Content, path: Path) -> None:
    """Write the pictures of a message beside a file. Raises ``StorageError``."""
    for each in attachments_of(content):
        if isinstance(each, ImageBlock):
            _write(conversation, each, pictures_beside(path))


def _write(conversation: Conversation, picture: ImageBlock, folder: Path) -> str:
    """Write a picture into a folder; gives the file's name, ``""`` if it is not kept any more."""
    try:
        data = conversation.reader.attachment(conversation.end.id, picture.sha256)
    except AttachmentNotFound:
        return ""
    name = picture.sha256 + file_ending(data)
    create_once(folder / name, data)
    return name
