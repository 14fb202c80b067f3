"""The lines of a journal, the records that a reader collects from its end, and its branches.

Lines are read forwards and backwards, in blocks. Only a line feed ends one. A line longer than a
record may be is not kept in memory: a stand-in that is no record either takes its place, so that it
counts as damaged.

A branch is a message that does not follow the message before it. It names the one that it follows
by its id, and by its offset as a hint. The records between the two belong to other versions.
"""

import errno
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import DamagedRecord, Partial, Record, Reset, State, Summary, decode
from tui.domain.journal.session import Entry
from tui.domain.json_text import LINE_BYTES, journal_json
from tui.domain.text import late_pattern
from tui.files import UnfitFile

FIRST_BLOCK = 64 * 1024
LARGEST_BLOCK = 8 * 1024 * 1024
SEARCHED_BLOCK = 1024 * 1024
_FORWARD_BLOCK = 1024 * 1024
_TOO_LONG = b"\x00"
LINES = 5_000_000
"""The limit of one reading: more lines, however short, take too long."""
AFTER = b'"after":'
_RESET = b'"reset"'
_CHECKED = 512 * 1024
# Not the name of a field, as in each ``state``.
_IS_RESET = late_pattern(rb'"reset"\s*[,}]')

Line = tuple[int, bytes]
"""The offset of a line in bytes, and the line without its newline."""

Placed = tuple[int, Record]
"""The offset of a record's line in bytes, and the record."""
Read = Callable[[int, int], bytes]
"""Reads so many bytes of a journal from an offset on; fewer at its end, as ``os.pread`` does."""


def reader_of(descriptor: int) -> Read:
    """Make the function that reads an open file."""
    return lambda length, offset: os.pread(descriptor, length, offset)


def whole_end(read: Read, size: int) -> int:
    """Find the end of the last whole line: only a torn one follows."""
    end, block_size = size, 1
    while end > 0:
        start = max(0, end - block_size)
        newline = read(end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end, block_size = start, FIRST_BLOCK
    return 0


def lines_forward(read: Read, start: int, end: int) -> Iterator[Line]:
    """Read the lines between two offsets, including a last one without newline.

    Raises ``UnfitFile`` for too many lines.
    """
    count = 0
    position, block_size = start, FIRST_BLOCK
    offset = start
    rest = b""
    while position < end:
        # Growing steps: a long line is not searched again for each of its blocks.
        step = min(max(block_size, min(len(rest), LARGEST_BLOCK)), end - position)
        block = read(step, position)
        if not block:
            break
        position += len(block)
        block_size = min(block_size * 2, _FORWARD_BLOCK)
        if rest is _TOO_LONG and b"\n" not in block:
            offset = position - 1
            continue
        *lines, rest = (rest + block).split(b"\n")
        count = _counted(count + len(lines))
        for line in lines:
            yield offset, line
            offset += len(line) + 1
        if len(rest) > LINE_BYTES:
            offset, rest = position - 1, _TOO_LONG
    if rest:
        yield offset, rest


def lines_backward(read: Read, end: int) -> Iterator[Line]:
    """Read the whole lines before an offset, last first, in doubling blocks.

    Raises ``UnfitFile`` for too many lines.
    """
    count = 0
    position, block_size = end, FIRST_BLOCK
    rest = b""
    first = True
    while position > 0:
        step = min(block_size, position)
        position -= step
        block = read(step, position)
        block_size = min(block_size * 2, LARGEST_BLOCK)
        if rest is _TOO_LONG and b"\n" not in block:
            continue
        # No further line follows the newline that ends the last one.
        data = block.removesuffix(b"\n") if first else block + rest
        first = False
        rest, *lines = data.split(b"\n")
        count = _counted(count + len(lines))
        offset = position + len(data)
        for line in reversed(lines):
            offset -= len(line)
            yield offset, line
            offset -= 1
        if len(rest) > LINE_BYTES:
            rest = _TOO_LONG
    if end > 0:
        yield 0, rest


def line_at(read: Read, offset: int, size: int) -> bytes | None:
    """Read the line that begins at an offset; ``None`` if none begins there."""
    if offset < 0 or offset >= size:
        return None
    if offset and read(1, offset - 1) != b"\n":
        return None
    for _, line in lines_forward(read, offset, min(size, offset + LINE_BYTES + 1)):
        return line
    return None


def _counted(count: int) -> int:
    if count > LINES:
        raise UnfitFile(errno.EOVERFLOW, f"it has more than {LINES:,} lines")
    return count


def lines_with(read: Read, needle: bytes, end: int, begin: int = 0) -> Iterator[Line]:
    """Read the lines between two offsets that contain some bytes, last first.

    Searches whole blocks: the other lines, however many, are not split off. Of a line longer than a
    record may be, only parts are given, which are none either.
    """
    position, size, carried = end, FIRST_BLOCK, b""
    while position > begin:
        start = max(begin, position - max(size, len(carried)))
        data, size = read(position - start, start) + carried, min(2 * size, SEARCHED_BLOCK)
        # The line that begins before this block is searched with the next one.
        first = (data.find(b"\n") + 1 or len(data)) if start > begin else 0
        limit = len(data)
        while (found := data.rfind(needle, first, limit)) >= 0:
            line_end = data.find(b"\n", found, limit)
            limit = max(data.rfind(b"\n", first, found) + 1, first)
            yield start + limit, data[limit : line_end if line_end >= 0 else len(data)]
        position, carried = start, data[:first] if first <= LINE_BYTES else b""


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
    unfinished: str | None = None
    """The answer whose first piece is still to be read."""

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
        if self.skipped_to is not None:
            return self.skipped_to
        return self.records[-1][0] if self.records else 0

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
        self.unfinished = None
        if message.id not in self.messages:
            self.messages.add(message.id)
            self.shown += message.id not in self.hidden
        if message.replaces:
            self._hide(message.replaces)

    def _take_partial(self, piece: Partial) -> None:
        finished = piece.message_id in self.messages or piece.message_id in self.hidden
        self.unfinished = None if finished or piece.at == 0 else piece.message_id
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


class Jump(msgspec.Struct, frozen=True):
    """A range of offsets that is not live: from the end of a message to one that follows it."""

    begin: int
    end: int


class Branches:
    """Finds the jumps of an open journal."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._size = size
        # The ends of the resets between two offsets, where they were looked for.
        self._resets: list[int] = []
        self._searched: tuple[int, int] | None = None

    @cached_property
    def _begins(self) -> dict[str, int]:
        """The offset of each message's first record: for messages without a valid hint."""
        begins: dict[str, int] = {}
        for place, line in lines_forward(self._read, 0, self._size):
            known = entry_id(decoded(line))
            if known is not None:
                begins.setdefault(known, place)
        return begins

    def _looked_up(self, message_id: str, place: int) -> int:
        """Find where a message begins: nearby, else by reading the whole file, once."""
        near = None
        if "_begins" not in self.__dict__:
            near = self.begin_of(message_id, place, max(0, place - FIRST_BLOCK))
        return self._begins.get(message_id, place) if near is None else near

    def end_of_parent(self, message: Message | Partial, place: int) -> int | None:
        """Find the end of the message that another one, which begins at ``place``, follows.

        For a first message, the beginning of the conversation. ``None`` if there is no such
        message since the last reset.
        """
        after = message.after or ""
        if not after:
            return self.begin_of_conversation(place)
        begin = message.after_at
        if begin is None or begin >= place or not self._is_begin(begin, after):
            begin = self._looked_up(after, place)
        if begin >= place or self.end_of_reset(begin, place) is not None:
            return None
        return self._end_of(after, begin, place)

    def begin_of_conversation(self, before: int) -> int:
        """Find the end of the last reset before an offset, and of an answer that began before."""
        reset = self.end_of_reset(0, before) or 0
        for _, record in self._before(reset):
            if isinstance(record, Partial):
                return self._end_of(record.message_id, reset, before)
            if isinstance(record, Message):
                break
        return reset

    def parents(self, records: Iterable[tuple[int, Record]]) -> dict[str, int]:
        """Map each message that does not follow the previous one to the end of its parent.

        From all records of the journal.
        """
        found: dict[str, int] = {}
        ends: dict[str, int] = {}
        before = growing = ""
        previous: str | None = None
        for place, record in records:
            if previous and previous == growing:
                ends[growing] = place
            previous = entry_id(record)
            if isinstance(record, Reset):
                ends, before, growing = {}, "", ""
            if not isinstance(record, Message | Partial) or previous == before:
                continue
            after, message_id = record.after, _id_of(record)
            if after is not None and after != before:
                end = ends.get(after) if after else self.begin_of_conversation(place)
                found.update({} if end is None else {message_id: end})
            before, growing = message_id, "" if message_id in ends else message_id
        return found

    def begin_of(self, message_id: str, before: int, since: int = 0) -> int | None:
        """Find the offset of a message's first record; ``None`` if it has none between offsets."""
        for offset, line in lines_with(self._read, journal_json(message_id), before, since):
            record = decoded(line)
            if isinstance(record, Message) and record.id == message_id:
                return self._first_piece(message_id, offset)
        return None

    def jumps(self, begin: int, end: int) -> list[Jump]:
        """Find the jumps between two offsets, in file order, with the second as the end."""
        found: list[Jump] = []
        while end > begin:
            jump = self._last_jump(begin, end)
            if jump is None:
                break
            found.insert(0, jump)
            end = jump.begin
        return found

    def lines(self, begin: int, end: int) -> Iterator[Line]:
        """Read the live lines between two offsets."""
        for jump in self.jumps(begin, end):
            yield from lines_forward(self._read, begin, jump.begin)
            begin = max(begin, jump.end)
        yield from lines_forward(self._read, begin, end)

    def end_beside(self, place: int, end: int) -> int | None:
        """Find the end of the version that a record belongs to; ``None`` if it is live."""
        found = None
        while True:
            around = [jump for jump in self.jumps(place, end) if jump.begin < place <= jump.end]
            if not around:
                return found
            found = end = around[0].end

    def _last_jump(self, begin: int, end: int) -> Jump | None:
        for offset, line in lines_with(self._read, AFTER, end, begin):
            record = decoded(line)
            if not isinstance(record, Message | Partial) or record.after is None:
                continue
            place = self._first_piece(_id_of(record), offset)
            parent = self.end_of_parent(record, place)
            if parent is not None and self._is_jump(record.after, place):
                return Jump(parent, place)
        return None

    def _is_jump(self, after: str, place: int) -> bool:
        """Tell whether a message does not follow the one before it in the file."""
        for _, record in self._before(place):
            if isinstance(record, Reset):
                break
            known = entry_id(record)
            if known is not None:
                return known != after
        return after != ""

    def _first_piece(self, message_id: str, offset: int) -> int:
        for place, record in self._before(offset):
            known = entry_id(record)
            if known == message_id:
                offset = place
            elif known is not None or isinstance(record, Reset):
                break
        return offset

    def _before(self, offset: int) -> Iterator[tuple[int, Record]]:
        for place, line in lines_backward(self._read, offset):
            record = decoded(line)
            if record is not None:
                yield place, record

    def end_of_reset(self, begin: int, end: int) -> int | None:
        """Find the end of the last reset between two offsets.

        A ``state`` is believed only where looking takes long: a wrong one would hide messages.
        """
        first, last = self._searched or (end, end)
        if begin < first:
            self._resets[:0] = self._resets_between(begin, first)
        if end > last:
            self._resets += self._resets_between(last, end)
        self._searched = min(begin, first), max(end, last)
        place = bisect_right(self._resets, end)
        found = self._resets[place - 1] if place else 0
        return found if found > begin else None

    def _resets_between(self, begin: int, end: int) -> list[int]:
        ends: list[int] = []
        for at, line in lines_with(self._read, _RESET, end, begin):
            record = decoded(line) if _IS_RESET.search(line) or at < end - _CHECKED else None
            if isinstance(record, Reset):
                ends.insert(0, at + len(line) + 1)
            elif isinstance(record, State) and (record.offsets.reset or -1) < begin:
                # It knows of none, or of an earlier one.
                break
        return ends

    def _is_begin(self, offset: int, message_id: str) -> bool:
        record = decoded(line_at(self._read, offset, self._size) or b"")
        is_later_piece = isinstance(record, Partial) and record.at > 0
        return entry_id(record) == message_id and not is_later_piece

    def _end_of(self, message_id: str, begin: int, before: int) -> int:
        """Find the end of the last record of a message that begins at an offset."""
        end = begin
        for offset, line in lines_forward(self._read, begin, before):
            record = decoded(line)
            known = entry_id(record)
            if known == message_id:
                end = offset + len(line) + 1
            elif known is not None or isinstance(record, Reset):
                break
        return end


def _id_of(record: Message | Partial) -> str:
    return entry_id(record) or ""
