"""A window of a journal's records, collected from its end towards its beginning."""

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import DamagedRecord, Partial, Record, Reset, State, Summary, decode
from tui.domain.journal.session import Entry

Placed = tuple[int, Record]
"""The offset of a record's line in bytes, and the record."""


class Window(msgspec.Struct):
    """The collected records, last first, with notes for the reader of the file.

    ``hidden`` are ids of messages that do not show: the ``replaced`` ones, and those shown by a
    later window. ``shown`` counts the others. The reader sets ``begun`` at the beginning of the
    file, and ``whole`` if nothing was skipped on the way there.
    """

    hidden: set[str] = msgspec.field(default_factory=set[str])
    replaced: set[str] = msgspec.field(default_factory=set[str])
    records: list[Placed] = msgspec.field(default_factory=list[Placed])
    messages: set[str] = msgspec.field(default_factory=set[str])
    shown: int = 0
    state: State | None = None
    reset: bool = False
    whole: bool = False
    begun: bool = False
    damaged: int = 0
    follower: Message | Partial | None = None
    """The message that was taken last, if it says what it follows."""
    follower_at: int = 0
    """The offset of its first record so far."""
    jumps: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """For a message that follows another one than that before it: the end of that one."""
    skipped_to: int | None = None
    """The end of such a message, until something before it is taken."""
    torn: bool = False
    """True if a message follows an earlier one and no ``state`` behind it counts the messages."""
    _chain: str | None = None

    def read(self, line: bytes) -> Record | None:
        """Decode a line; ``None`` for an unknown record or a damaged one, which is counted."""
        try:
            return decode(line)
        except DamagedRecord:
            self.damaged += 1
            return None

    def take(self, offset: int, record: Record) -> None:
        """Add the record before those added already."""
        self.records.append((offset, record))
        self.skipped_to = None
        match record:
            case Message():
                self._take_message(record)
                if self.follower is not None or record.after is not None:
                    self._note_follower(offset, record)
            case Partial():
                self._take_partial(record)
                if self.follower is not None or record.after is not None:
                    self._note_follower(offset, record)
            case State():
                self.state = self.state or record
            case Reset():
                self.reset = True
                self.follower = None
            case _:
                pass

    def complete_state(self, settings: int | None) -> None:
        """Put the offset of the settings into the last ``state``."""
        if self.state is None:
            return
        offsets = msgspec.structs.replace(self.state.offsets, settings=settings)
        completed = msgspec.structs.replace(self.state, offsets=offsets)
        self.records = [
            (offset, completed if record is self.state else record)
            for offset, record in self.records
        ]
        self.state = completed

    def leaves(self, record: Record) -> bool:
        """Tell if a record is before the last message taken, and not part of it."""
        return isinstance(record, Reset) or entry_id(record) not in (None, entry_id(self.follower))

    @property
    def in_answer(self) -> bool:
        """True while the first piece of an unfinished answer is still to be read."""
        return self._chain is not None

    def jump_to(self, end: int) -> None:
        """Skip to the message that the one taken last follows, which ends at an offset."""
        if self.follower is None:
            return
        self.jumps[entry_id(self.follower) or ""] = self.skipped_to = end
        while self.records[-1][0] < self.follower_at:
            # Of a version that is not live.
            _, record = self.records.pop()
            self.torn = self.torn or record is self.state
        self.torn = self.torn or self.state is None
        self.follower = None

    @property
    def resume(self) -> int:
        """The offset before which to read on."""
        return (self.begin or 0) if self.skipped_to is None else self.skipped_to

    @property
    def begin(self) -> int | None:
        """The offset of the first record; ``None`` without one."""
        return self.records[-1][0] if self.records else None

    def ids_from(self, place: int) -> set[str]:
        """Collect the ids of messages with a record at an offset or after it."""
        ids = (entry_id(record) for offset, record in self.records if offset >= place)
        return {message_id for message_id in ids if message_id is not None}

    def offset_of(self, entry: Entry) -> int:
        """Find the offset before which to read on: that of an entry's first record, or a jump.

        The first record of a streamed answer is its first piece.
        """
        for offset, record in reversed(self.records):
            if isinstance(entry, Message) and entry_id(record) == entry.id:
                return self.jumps.get(entry.id, offset)
            if record is entry:
                return offset
        raise LookupError(entry)

    def has_entries_before(self, place: int) -> bool:
        return any(
            offset < place and isinstance(record, Message | Partial | Reset | Summary)
            for offset, record in self.records
        )

    def _note_follower(self, offset: int, record: Message | Partial) -> None:
        if self.follower is None or entry_id(self.follower) != entry_id(record):
            self.follower = None if record.after is None else record
        self.follower_at = offset

    def _take_message(self, message: Message) -> None:
        # Pieces come right before their message: past another message none is missing.
        self._chain = None
        if message.id not in self.messages:
            self.messages.add(message.id)
            self.shown += message.id not in self.hidden
        if message.replaces:
            self._hide(message.replaces)

    def _take_partial(self, piece: Partial) -> None:
        finished = piece.message_id in self.messages or piece.message_id in self.hidden
        self._chain = None if finished or piece.at == 0 else piece.message_id
        if piece.replaces and not finished:
            self._hide(piece.replaces)

    def _hide(self, message_id: str) -> None:
        self.replaced.add(message_id)
        if message_id not in self.hidden:
            self.hidden.add(message_id)
            self.shown -= message_id in self.messages


def decoded(line: bytes) -> Record | None:
    """Decode a line; ``None`` for an unknown record or a damaged one."""
    try:
        return decode(line)
    except DamagedRecord:
        return None


def entry_id(record: Record | None) -> str | None:
    """Get the id of the message that a record belongs to; ``None`` without one."""
    match record:
        case Message():
            return record.id
        case Partial():
            return record.message_id
        case _:
            return None
