"""Conversion of a conversation of another program to the records of a journal."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import msgspec

from tui.domain.journal.message import TEXT_BYTES, Message, ToolCall
from tui.domain.journal.records import (
    NO_OFFSETS,
    DamagedRecord,
    Encoded,
    Import,
    Settings,
    State,
    Summary,
    Todos,
    encode,
)
from tui.domain.journal.todo import ITEM_CHARACTERS, MOST_ITEMS, TodoItem
from tui.domain.text import NAME_CHARACTERS
from tui.engine.imports.history import imported_message_id, version_id
from tui.engine.imports.known_sessions import KnownSession, extends, wording
from tui.importers.protocol import ForeignMessage, ForeignSummary, ForeignTodos, Heading, Item
from tui.importers.trees import AGAIN

ASSUMED = {"timestamp": "assumed"}
"""The metadata of a message whose time is its neighbour's."""
_SHORT_BYTES = 64 * 1024
_AHEAD = 100
"""Messages among which the time of the first one is looked for."""


class Versions:
    """The versions that one reading of a conversation finds.

    A journal is not rewritten: a message that says something else than before is a version of it,
    and so is each message that follows one.
    """

    def __init__(self, known: KnownSession) -> None:
        self._known = known
        self.latest: dict[str, str] = {}
        """The ids of the versions that were found, by those of their messages."""
        self._found: set[str] = set()

    def new_id(self, message: Message, parent: str) -> str:
        """Make the id of the version that a message is of a known one; ``""`` if it is none."""
        if message.id not in self._known or self.is_known(message, parent):
            return ""
        version = version_id(message, parent)
        self.latest[message.id] = version
        self._found.add(version)
        return version

    def is_known(self, message: Message, parent: str) -> bool:
        """Tell whether a message is there as it is, or only its end is new."""
        known = self._known
        is_moved = parent in self._found and not known.follows(message.id, parent)
        if message.id not in known or is_moved:
            return False
        if known.says(message):
            return True
        last = known.last
        if last is None or last.id != message.id:
            return False
        # The last one may be there as it was before it ended.
        return extends(message, last) or extends(last, message)

    def add_branch(self, message: Message) -> None:
        """Let what follows a new message be versions, as it stands where others stood before."""
        self._found.add(message.id)


class Conversion:
    """Makes the records that a session lacks from the items of a conversation.

    ``known`` grows with them. ``before`` is a session of which this one is a fork.
    """

    def __init__(
        self,
        program: str,
        heading: Heading,
        known: KnownSession,
        time: str,
        before: KnownSession | None = None,
    ) -> None:
        self._program = program
        self._heading = heading
        self._known = known
        self._before = before
        self._said_before = set(before.wordings if before else ())
        self._versions = Versions(known)
        self._time = heading.created_at or heading.updated_at or time
        self.created = heading.created_at
        """When it began, as its program says; ``None`` if that is not so."""
        self._earlier = self._previous = ""
        self._last: ForeignMessage | None = None
        self._todos = known.todos
        self._settings: Settings | None = None
        self._model = ""
        self.messages = 0
        """Messages that were made."""
        self.news = 0
        """Those among them that the session before does not have."""
        self.cut = 0
        """Messages of which a part is left out, as they are beyond the limits."""

    def records(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Convert the items; records that the session has are left out."""
        for item in self._ended(self._begun(iter(items))):
            match item:
                case ForeignMessage():
                    yield from self._message(item)
                case ForeignSummary():
                    through = imported_message_id(self._program, item.through)
                    through = self._versions.latest.get(through, through)
                    summary = Summary(text=_cut(item.text, TEXT_BYTES), through=through)
                    if through in self._known and summary not in self._known.summaries:
                        self._known.summaries.append(summary)
                        yield summary, b""
                case ForeignTodos():
                    self._todos = tuple(
                        TodoItem(
                            e.content[:ITEM_CHARACTERS], e.status, e.active_form[:ITEM_CHARACTERS]
                        )
                        for e in item.items[:MOST_ITEMS]
                    )
                case Settings():
                    self._settings = item

    def _begun(self, items: Iterator[Item]) -> Iterator[Item]:
        """Find the time of the first messages: their neighbour's."""
        ahead = list(islice(items, _AHEAD))
        said = (item.timestamp for item in ahead if isinstance(item, ForeignMessage))
        times = [time for time in said if time]
        if times and self.created and self.created > max(times):
            # A copied or odd time: no conversation begins after its messages.
            self.created = None
        self._time = self.created or next(iter(times), self._time)
        return chain(ahead, items)

    def _ended(self, items: Iterator[Item]) -> Iterator[Item]:
        """Give the last message the time of the conversation's last change, if it has none."""
        updated = self._heading.updated_at
        waiting: list[Item] = []
        for item in items:
            if isinstance(item, ForeignMessage):
                yield from waiting
                waiting = []
            waiting.append(item)
        for item in waiting:
            is_open = isinstance(item, ForeignMessage) and not item.timestamp
            yield msgspec.structs.replace(item, timestamp=updated) if is_open else item

    def ending(self, ledger: Import) -> Iterator[Encoded]:
        """Make the records at the end of what was added; none if nothing has changed."""
        changed = self.messages > 0
        if changed and not self._heading.root:
            yield from self._end_again()
        changed = changed or bool(self._heading.name and not self._known.name)
        if self._todos != self._known.todos:
            changed = True
            self._known.todos = self._todos
            yield Todos(self._todos), b""
        if self._settings is not None and not self._known.has_settings:
            changed = True
            yield self._settings, b""
        if changed:
            yield ledger, b""
            yield from self.closing(ledger.at)

    def _end_again(self) -> Iterator[Encoded]:
        """Repeat the last message if what came before it is new: the end is what is live."""
        last = self._last
        if last is None or self._previous == self._known.last_id:
            return
        while imported_message_id(self._program, last.id) in self._known:
            last = msgspec.structs.replace(last, id=last.id + AGAIN)
        self._previous = self._earlier
        yield from self._message(last)

    def closing(self, now: str) -> Iterator[Encoded]:
        """Make the records after which a reader of the end knows the session."""
        repeated = self._known.summary_to_repeat()
        if repeated is not None:
            self._known.summaries.append(repeated)
            yield repeated, b""
        known = self._known
        state = State(
            name=known.name or self._heading.name[:NAME_CHARACTERS],
            model=known.model or self._named(self._heading.model) or self._model,
            prompt_count=known.prompts,
            message_count=known.live,
            total_count=len(known),
            updated_at=now,
            offsets=NO_OFFSETS,
        )
        yield state, b""

    def _message(self, item: ForeignMessage) -> Iterator[Encoded]:
        parent = self._parent(item)
        message, line = self._made(item), b""
        if not self._versions.is_known(message, parent):
            message, line = _encoded(message)
        # Prompts stay as they were typed, also once what was pasted into them is gone there.
        is_fixed = self._heading.prompts_only
        if not is_fixed and (version := self._versions.new_id(message, parent)):
            message, line = msgspec.structs.replace(message, id=version), b""
        self._earlier, self._previous, self._last = self._previous, message.id, item
        if message.id in self._known:
            yield from self._grown(message, item)
            return
        if parent != self._known.last_id:
            message, line = msgspec.structs.replace(message, after=parent), b""
            if parent and item.parent is None:
                self._versions.add_branch(message)
        self._add(message, item)
        yield message, line

    def _grown(self, message: Message, item: ForeignMessage) -> Iterator[Encoded]:
        """Write the last message again if it was still being written when it was imported."""
        last = self._known.last
        if last is None or last.id != message.id or not extends(message, last):
            return
        if message.status != last.status or not extends(last, message):
            message, line = _encoded(msgspec.structs.replace(message, after=last.after))
            self._add(message, item)
            yield message, line

    def _add(self, message: Message, item: ForeignMessage) -> None:
        self._known.add(message)
        self.messages += 1
        before = self._before
        is_known = before is not None and imported_message_id(self._program, item.id) in before
        self.news += not is_known or wording(message) not in self._said_before
        self.cut += (message.content, message.tool_calls) != (item.content, item.tool_calls)

    def _parent(self, item: ForeignMessage) -> str:
        if not item.parent:
            return self._previous if item.parent is None else ""
        if self._last is not None and item.parent == self._last.id:
            return self._previous
        parent = imported_message_id(self._program, item.parent)
        parent = self._versions.latest.get(parent, parent)
        return parent if parent in self._known else self._previous

    def _made(self, item: ForeignMessage) -> Message:
        content = None if item.content is None else _cut(item.content, TEXT_BYTES)
        self._time = item.timestamp or self._time
        if item.model:
            self._model = self._named(item.model)
        return Message(
            id=imported_message_id(self._program, item.id),
            role=item.role,
            content=content,
            timestamp=self._time,
            tool_calls=item.tool_calls,
            tool_call_id=item.tool_call_id,
            status=item.status or (None if content == item.content else "truncated"),
            error=item.error and _cut(item.error, _SHORT_BYTES),
            model=self._named(item.model or "") or None,
            # The tokens of a fork were paid for in the session that it is a fork of.
            usage=None if self._before else item.usage,
            metadata=None if item.timestamp else ASSUMED,
        )

    def _named(self, model: str) -> str:
        return f"{self._program}:{_cut(model, _SHORT_BYTES)}" if model else ""


def batches(records: Iterable[Encoded], size: int) -> Iterator[list[Encoded]]:
    """Group records such that the texts of each group have about ``size`` bytes."""
    batch: list[Encoded] = []
    total = 0
    for record, line in records:
        batch.append((record, line))
        total += len(line) or (len(record.text) if isinstance(record, Message | Summary) else 0)
        if total >= size:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _encoded(message: Message) -> tuple[Message, bytes]:
    try:
        return message, encode(message)
    except DamagedRecord:
        return _within_limits(message)


def _within_limits(message: Message) -> tuple[Message, bytes]:
    """Leave out the part that no journal may have: arguments too deep or too long, or all calls."""
    status = message.status or "truncated"
    calls = tuple(ToolCall(call.id, call.name, None) for call in message.tool_calls)
    for kept in (calls, ()):
        shorter = msgspec.structs.replace(message, tool_calls=kept, status=status)
        try:
            return shorter, encode(shorter)
        except DamagedRecord:
            continue
    shortest = Message(message.id, message.role, message.content, message.timestamp, status=status)
    return shortest, encode(shortest)


def _cut(text: str, most: int) -> str:
    """Cut a text that is longer than ``most`` bytes."""
    if len(text) * 4 <= most:
        return text
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")
