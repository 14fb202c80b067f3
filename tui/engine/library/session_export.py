"""A session as Markdown and as JSON, piece by piece, for files and pipes."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import NO_OFFSETS, Record, Reset, Settings, Todos
from tui.domain.journal.session import Session
from tui.domain.journal.versions import versions_json
from tui.domain.text.labels import whole_label
from tui.domain.views.markdown import Link, MarkdownMessages, heading, label_of
from tui.engine.library.conversation import Conversation, Part

_TITLE_BYTES = 80


def as_markdown(conversation: Conversation, link: Link = label_of) -> Iterator[str]:
    """Format a conversation: its heading, then one piece a message, with ``link`` for pictures."""
    yield heading(conversation.listed, conversation.end)
    messages = MarkdownMessages(conversation.versions, link)
    for part in chain(conversation.parts(), map(Part, conversation.cut_off)):
        text = messages.format(part.entry, is_earlier_version=part.is_earlier_version)
        if text:
            yield f"\n\n{text}"
    yield "\n"


def as_objects(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """The records of a session behind its header, as objects of JSON that name the session.

    With the header they are a journal: the program imports it.
    """
    for part in conversation.parts():
        if isinstance(part.entry, Message):
            yield _message(conversation, part, part.entry)
        elif isinstance(part.entry, Reset):
            yield _record(conversation, part.entry)
    for record in _other_records(conversation.end):
        yield _record(conversation, record)


def file_name(conversation: Conversation, ending: str) -> str:
    """A name for a file: the title and the id."""
    title, session_id = file_title(conversation), conversation.listed.id
    return f"{title}-{session_id}.{ending}" if title else f"{session_id}.{ending}"


def file_title(conversation: Conversation) -> str:
    """The title as far as every file system takes it; it may be empty."""
    listed = conversation.listed
    letters = (each if each.isalnum() else " " for each in whole_label(listed.name, listed.label))
    words = "-".join("".join(letters).split())
    return words.encode()[:_TITLE_BYTES].decode(errors="ignore").rstrip("-")


def _message(conversation: Conversation, part: Part, message: Message) -> dict[str, Any]:
    # A place in the journal means nothing outside of it.
    shown = msgspec.structs.replace(message, after_at=None)
    return {
        **_record(conversation, shown),
        "live": part.is_live,
        **versions_json(conversation.versions, message.id),
    }


def _other_records(session: Session) -> Iterator[Record]:
    if session.summary:
        yield session.summary
    if session.todos:
        yield Todos(session.todos)
    if session.settings != Settings():
        yield session.settings
    state = session.state(session.updated_at or session.header.created_at)
    yield msgspec.structs.replace(state, offsets=NO_OFFSETS)


def _record(conversation: Conversation, record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(record)
    return {"type": fields.pop("type"), "session_id": conversation.end.id, **fields}
