"""Branches of a journal: messages that do not follow the message before them.

Such a message names the one that it follows by its id, and by its offset as a hint. The records
between the two belong to other versions.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Partial, Record, Reset, State
from tui.domain.json_text import journal_json
from tui.storage.journal_window import decoded, entry_id
from tui.storage.lines import (
    FIRST_BLOCK,
    Line,
    Read,
    line_at,
    lines_backward,
    lines_forward,
    lines_with,
)

AFTER = b'"after":'
_RESET = b'"reset"'
_CHECKED = 512 * 1024
# Not the name of a field, as in each ``state``.
_IS_RESET = re.compile(rb'"reset"\s*[,}]')


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
