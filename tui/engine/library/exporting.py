"""Exports: a session as Markdown and as JSON, pictures beside it, secrets counted or masked."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from tui.domain.journal.message import Content, ImageBlock, Message, attachments_of, file_ending
from tui.domain.journal.records import NO_OFFSETS, Record, Reset, Settings, Todos
from tui.domain.journal.session import versions_json
from tui.domain.json_text import journal_json, parse
from tui.domain.secrets import mask_secrets
from tui.domain.text import late_pattern, make_visible_line, plural, whole_label
from tui.domain.views.markdown import Link, MarkdownMessages, heading, label_of
from tui.engine.library.conversation import ConversationEntry, StoredConversation
from tui.errors import AttachmentNotFound
from tui.storage.export_file import create_once
from tui.storage.rescue import pictures_beside

MASK = "--mask-secrets"
_SPECIAL = late_pattern(r"[\\\[\]`*_<>]")
_TITLE_BYTES = 80


class ExportedSecrets(msgspec.Struct):
    """The secrets of an export, of one or more sessions."""

    masks: bool
    found: int = 0

    def title(self, conversation: StoredConversation) -> str:
        """The title as far as every file system takes it; it may be empty."""
        title = whole_label(conversation.listed.name, conversation.listed.label)
        shown = mask_secrets(title).text if self.masks else title
        words = "-".join("".join(each if each.isalnum() else " " for each in shown).split())
        return words.encode()[:_TITLE_BYTES].decode(errors="ignore").rstrip("-")

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


def markdown_with_pictures(conversation: StoredConversation, path: Path) -> Iterator[str]:
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


def write_pictures(conversation: StoredConversation, content: Content, path: Path) -> None:
    """Write the pictures of a message beside a file. Raises ``StorageError``."""
    for each in attachments_of(content):
        if isinstance(each, ImageBlock):
            _write(conversation, each, pictures_beside(path))


def _write(conversation: StoredConversation, picture: ImageBlock, folder: Path) -> str:
    """Write a picture into a folder; gives the file's name, ``""`` if it is not kept any more."""
    try:
        data = conversation.reader.attachment(conversation.end.id, picture.sha256)
    except AttachmentNotFound:
        return ""
    name = picture.sha256 + file_ending(data)
    create_once(folder / name, data)
    return name


def as_markdown(conversation: StoredConversation, link: Link = label_of) -> Iterator[str]:
    """Format a conversation: its heading, then one piece a message, with ``link`` for pictures."""
    yield heading(conversation.listed, conversation.end)
    messages = MarkdownMessages(conversation.versions, link)
    for part in chain(conversation.parts(), map(ConversationEntry, conversation.cut_off)):
        text = messages.format(part.entry, is_earlier_version=part.is_earlier_version)
        if text:
            yield f"\n\n{text}"
    yield "\n"


def as_objects(conversation: StoredConversation) -> Iterator[dict[str, Any]]:
    """The records of a session behind its header, as objects of JSON that name the session.

    With the header they are a journal: the program imports it.
    """
    session = conversation.end

    def named(record: Record) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(record)
        return {"type": fields.pop("type"), "session_id": session.id, **fields}

    for part in conversation.parts():
        if isinstance(part.entry, Message):
            # A place in the journal means nothing outside of it.
            shown = named(msgspec.structs.replace(part.entry, after_at=None))
            versions = versions_json(conversation.versions, part.entry.id)
            yield {**shown, "live": part.is_live, **versions}
        elif isinstance(part.entry, Reset):
            yield named(part.entry)
    if session.summary:
        yield named(session.summary)
    if session.todos:
        yield named(Todos(session.todos))
    if session.settings != Settings():
        yield named(session.settings)
    state = session.state(session.updated_at or session.header.created_at)
    yield named(msgspec.structs.replace(state, offsets=NO_OFFSETS))
