"""Sessions that came of a file while it was cut off, and are within others once it is whole."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from tui.domain.journal.message import Message
from tui.engine.imports.known_session import wording
from tui.engine.imports.session_ids import IMPORTED
from tui.errors import SessionDamaged, SessionNotFound
from tui.importers.stopping import checked
from tui.storage.protocol import SessionReader

_Key = tuple[str, int, str]


def within_others(
    store: SessionReader, earlier: Collection[str], new: Collection[str]
) -> Iterator[str]:
    """The earlier sessions that lie as they were imported, and are within one of the new ones."""
    for session_id in earlier if new else ():
        with suppress(SessionNotFound, SessionDamaged):
            is_left = store.stamp(session_id).where == "archived"
            if is_left and any(_is_within(store, session_id, each) for each in new):
                yield session_id


def _is_within(store: SessionReader, session_id: str, whole_id: str) -> bool:
    left: dict[_Key, str] = {}
    first = last = None
    for message in _messages(store, session_id):
        if not message.id.startswith(IMPORTED):
            return False
        left[_key(message)] = ""
        first, last = first or message, message
    if first is None or last is None:
        return False
    # These may be cut off within their words.
    left |= {_key(message): message.text for message in (first, last)}
    for message in _messages(store, whole_id):
        role, words, _ = key = _key(message)
        left.pop(key, None)
        left.pop((role, words, ""), None)
        for other, text in list(left.items()):
            if text and _is_part(text, message.text):
                del left[other]
    return not left


def _is_part(text: str, whole: str) -> bool:
    return whole.startswith(text.rstrip()) or whole.endswith(text.lstrip())


def _key(message: Message) -> _Key:
    """A message by its words and its time, if that is its own."""
    return message.role, wording(message), "" if message.metadata else message.timestamp


def _messages(store: SessionReader, session_id: str) -> Iterator[Message]:
    records = checked(store.journal(session_id).records())
    return (record for record in records if isinstance(record, Message))
