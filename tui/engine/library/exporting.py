"""Files of exported sessions: pictures beside them, and secrets that are counted or masked."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tui.domain.journal.blocks import Content, ImageBlock, attachments_of, file_ending
from tui.domain.journal.json_text import journal_json
from tui.domain.json_limits import parse
from tui.domain.text.labels import plural
from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_line
from tui.domain.text.secrets import mask_secrets
from tui.engine.library.conversation import Conversation
from tui.engine.library.session_export import as_markdown
from tui.errors import AttachmentNotFound
from tui.storage.export_file import create_once
from tui.storage.rescue import pictures_beside

MASK = "--mask-secrets"
_SPECIAL = late_pattern(r"[\\\[\]`*_<>]")


class ExportedSecrets(msgspec.Struct):
    """The secrets of an export, of one or more sessions."""

    masks: bool
    found: int = 0

    def titled(self, conversation: Conversation) -> Conversation:
        """The conversation with the title that its file is called by."""
        if not self.masks:
            return conversation
        name, label = conversation.listed.name, conversation.listed.label
        shown = {"name": mask_secrets(name).text, "label": mask_secrets(label).text}
        listed = msgspec.structs.replace(conversation.listed, **shown)
        return msgspec.structs.replace(conversation, listed=listed)

    def texts(self, pieces: Iterable[str]) -> Iterator[str]:
        """The pieces of a file, each with whole messages."""
        return map(self._checked, pieces)

    def objects(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Records as objects of JSON."""
        for each in records:
            found, text = self.found, self._checked(journal_json(each).decode())
            yield parse(text.encode()) if self.masks and self.found > found else each

    def _checked(self, text: str) -> str:
        masked, secrets = mask_secrets(text)
        self.found += secrets
        return masked if self.masks else text

    @property
    def words(self) -> str:
        """What is said of them; empty if there are none."""
        if not self.found:
            return ""
        secrets = plural(self.found, "secret")
        return f"Masked {secrets}." if self.masks else f"Found {secrets}; {MASK} masks them."


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
