"""Prompts left of deleted sessions, and sessions of cut files, which whole sessions here have."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from tui.domain.journal.message import Message
from tui.domain.journal.session import SessionEntry
from tui.domain.timestamps import parse_utc
from tui.engine.imports.history import History
from tui.engine.imports.known_session import wording
from tui.engine.imports.session_ids import IMPORTED, scope_of
from tui.errors import SessionDamaged, SessionNotFound
from tui.importers.protocol import IN_WHOLE_SESSION, Conversation, ForeignMessage, Heading, Item
from tui.importers.stopping import checked
from tui.storage.protocol import EVERYWHERE, SessionFilter, SessionReader

_APART = timedelta(minutes=10)
"""The most between the times of a prompt in a history and in its session, where it may wait."""
_MOST = 1_000_000


class Rescues:
    """Tells the prompts that are in no whole session, during one import."""

    def __init__(self, history: History) -> None:
        self._store = history.store
        self._history = history
        self._whole: dict[str, list[SessionEntry]] = {}

    def left(self, program: str, conversation: Conversation) -> Iterator[Item]:
        """The prompts of a conversation that no whole session here has; the others are counted."""
        heading, ledger = conversation.heading, conversation.ledger
        is_whole = self._history.is_whole(program, heading.source_id)
        told = {} if is_whole else self._told(scope_of(program, heading), heading)
        for item in conversation.items():
            if is_whole or _is_told(item, told):
                ledger.read -= 1
                ledger.skipped[IN_WHOLE_SESSION] += 1
            else:
                yield item

    def _told(self, scope: str, heading: Heading) -> dict[str, list[datetime]]:
        """The prompts of whole sessions of the same project and time, with their times."""
        if scope not in self._whole:
            self._whole[scope] = []
            for entry in self._store.list(SessionFilter(scope, EVERYWHERE), None, _MOST).entries:
                program, _, source_id = (entry.imported_from or "").partition(":")
                if self._history.is_whole(program, source_id):
                    self._whole[scope].append(entry)
        found: dict[str, list[datetime]] = {}
        for entry in self._whole[scope]:
            if not _meet(entry, heading):
                continue
            with suppress(SessionNotFound, SessionDamaged):
                for record in self._store.journal(entry.id).records():
                    time = parse_utc(record.timestamp) if isinstance(record, Message) else None
                    if isinstance(record, Message) and record.role == "user" and time:
                        found.setdefault(record.text.strip(), []).append(time)
        return found


def _is_told(item: Item, told: dict[str, list[datetime]]) -> bool:
    time = parse_utc(item.timestamp) if isinstance(item, ForeignMessage) else None
    if not isinstance(item, ForeignMessage) or time is None:
        return False
    return any(abs(each - time) < _APART for each in told.get((item.content or "").strip(), ()))


def _meet(entry: SessionEntry, heading: Heading) -> bool:
    """Tell whether a session and a conversation were at the same time, as far as that is known."""
    times = (entry.created_at, heading.updated_at, heading.created_at, entry.last_used_at)
    begun, ended, other_begun, other_ended = map(parse_utc, times)
    if not (begun and ended and other_begun and other_ended):
        return True
    return begun < ended + _APART and other_begun < other_ended + _APART


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
            said = message.text
            if text and (said.startswith(text.rstrip()) or said.endswith(text.lstrip())):
                del left[other]
    return not left


def _key(message: Message) -> _Key:
    """A message by its words and its time, if that is its own."""
    return message.role, wording(message), "" if message.metadata else message.timestamp


def _messages(store: SessionReader, session_id: str) -> Iterator[Message]:
    records = checked(store.journal(session_id).records())
    return (record for record in records if isinstance(record, Message))
