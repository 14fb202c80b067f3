"""Sessions that are here when an import comes to them: what they have, and others have of it."""

from array import array
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import (
    NO_SUMMARY,
    Partial,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
)
from tui.domain.journal.session import SessionEntry
from tui.domain.journal.todo import TodoItem
from tui.domain.timestamps import parse_utc
from tui.engine.imports.history import IMPORTED, History, scope_of
from tui.errors import SessionDamaged, SessionNotFound
from tui.importers.protocol import IN_WHOLE_SESSION, Conversation, ForeignMessage, Heading, Item
from tui.importers.stopping import checked
from tui.storage.protocol import EVERYWHERE, SessionFilter, SessionReader


def wording(message: Message) -> int:
    """Make a number of what a message says, which is the same only within one process."""
    if isinstance(message.content, str) and not message.tool_calls and not message.error:
        return hash(message.content)
    return hash(repr((message.content, message.tool_calls, message.error)))


def extends(longer: Message, shorter: Message) -> bool:
    """Tell whether a message has every word of another one, and maybe more behind them."""
    count = len(shorter.tool_calls)
    return (
        longer.text.startswith(shorter.text)
        and len(longer.tool_calls) >= count
        and all(map(_is_call, longer.tool_calls, shorter.tool_calls))
        and shorter.error in (None, longer.error)
    )


def _is_call(longer: ToolCall, shorter: ToolCall) -> bool:
    """Tell whether a call is another one, whose arguments may still have been on their way."""
    if (longer.id, longer.name) != (shorter.id, shorter.name):
        return False
    return not shorter.arguments or longer.arguments == shorter.arguments


class KnownSession:
    """A session that is added to, without the texts of its messages.

    Of each there is what it follows, and a number for what it says, in the order of the journal;
    small enough for any session.
    """

    def __init__(self, session_id: str = "") -> None:
        self.id = session_id
        self.name = self.model = ""
        self.todos = tuple[TodoItem, ...]()
        self.summaries: list[Summary] = []
        """In the order of the journal; also those that say that none counts."""
        self.last: Message | None = None
        """The message that was added last: the end of what is live."""
        self.has_settings = False
        self.is_own = False
        """True if it was continued here: it has a message that was not imported."""
        self.prompts = 0
        self._places: dict[str, int] = {"": 0}
        self._parents = array("q", [0])
        self._depths = array("q", [0])
        self.wordings = array("q", [0])
        """What each message says, as a number."""

    @classmethod
    def read(cls, store: SessionReader, session_id: str) -> "KnownSession":
        """Read a session. Raises ``SessionNotFound``, ``SessionDamaged``."""
        known = cls(session_id)
        for record in checked(store.journal(session_id).records()):
            match record:
                case SessionHeader():
                    known.model = record.model
                case Message():
                    known.add(record)
                case Summary():
                    known.summaries.append(record)
                case Todos():
                    known.todos = record.items
                case Settings():
                    known.has_settings = True
                case State():
                    known.name, known.model = record.name, record.model or known.model
                case Partial() | Reset():
                    known.is_own = True
                case _:
                    pass
        return known

    def __contains__(self, message_id: str) -> bool:
        return message_id != "" and message_id in self._places

    def __len__(self) -> int:
        return len(self._places) - 1

    @property
    def last_id(self) -> str:
        """The id of the last message; ``""`` if there is none."""
        return self.last.id if self.last else ""

    @property
    def live(self) -> int:
        """The number of messages from the beginning to the last one."""
        return self._depths[self._places[self.last_id]]

    def add(self, message: Message) -> None:
        """Add the next message of the journal.

        One that was added before gets another wording and stays in its place.
        """
        self.is_own = self.is_own or not message.id.startswith(IMPORTED)
        if message.id in self._places:
            self.wordings[self._places[message.id]] = wording(message)
            self.last = message if message.id == self.last_id else self.last
            return
        parent = self.last_id if message.after is None else message.after
        place = self._places[parent if parent in self._places else self.last_id]
        self._places[message.id] = len(self._parents)
        self._parents.append(place)
        self._depths.append(self._depths[place] + 1)
        self.wordings.append(wording(message))
        self.last = message
        self.prompts += message.role == "user"

    def is_live(self, message_id: str) -> bool:
        """Tell whether the last message follows a message, directly or not, or is it."""
        place = self._places.get(message_id)
        if place is None:
            return False
        at = self._places[self.last_id]
        while self._depths[at] > self._depths[place]:
            at = self._parents[at]
        return at == place

    def says(self, message: Message) -> bool:
        """Tell whether a message is there and has this wording."""
        place = self._places.get(message.id)
        return place is not None and self.wordings[place] == wording(message)

    def follows(self, message_id: str, parent: str) -> bool:
        """Tell whether a message is there and follows another one directly."""
        place = self._places.get(message_id)
        return place is not None and self._parents[place] == self._places.get(parent)

    def summary_to_repeat(self) -> Summary | None:
        """The summary to write again, so that the last one of the journal counts."""
        live = (each for each in reversed(self.summaries) if self.is_live(each.through))
        counts = next((each for each in live if each.through), NO_SUMMARY)
        last = self.summaries[-1] if self.summaries else NO_SUMMARY
        return None if counts == last else counts


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
            known = list[datetime]()
            if isinstance(item, ForeignMessage) and (time := parse_utc(item.timestamp)):
                same = told.get((item.content or "").strip(), ())
                known = [each for each in same if abs(each - time) < _APART]
            if is_whole or known:
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
