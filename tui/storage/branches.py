"""Branches of a journal: messages that do not follow the message before them.

Such a message names the one that it follows by its id, and by its offset as a hint. The records
between the two belong to other versions.
"""

from collections.abc import Iterable, Iterator

import msgspec

from tui.domain.journal.json_text import journal_json
from tui.domain.journal.message import Message
from tui.domain.journal.records import Partial, Record, Reset, State
from tui.storage.journal_window import decoded, entry_id
from tui.storage.lines import Line, Read, line_at, lines_backward, lines_forward, lines_with

AFTER = b'"after":'
_RESET = b'"reset"'


class Jump(msgspec.Struct, frozen=True):
    """A range of offsets that is not live: from the end of a message to one that follows it."""

    begin: int
    end: int

    def surrounds(self, place: int) -> bool:
        """Tell whether a record that ends at an offset is skipped."""
        return self.begin < place <= self.end


class Branches:
    """Finds the jumps of an open journal."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._size = size

    def end_of_parent(self, message: Message | Partial, place: int) -> int | None:
        """Find the end of the message that another one, which begins at ``place``, follows.

        For a first message, the beginning of the conversation. ``None`` if there is no such
        message since the last reset.
        """
        after = message.after or ""
        if not after:
            return self.begin_of_conversation(place)
        begin = message.after_at
        if begin is None or begin >= place or not self._begins(begin, after):
            begin = self.begin_of(after, place)
        if begin is None or self.end_of_reset(begin, place) is not None:
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
        """Map each message that does not follow the previous one to the end of its parent."""
        found: dict[str, int] = {}
        before = None
        for place, record in records:
            known = entry_id(record)
            if isinstance(record, Reset):
                before = None
            if not isinstance(record, Message | Partial) or known == before:
                continue
            if record.after is not None and record.after != (before or ""):
                end = self.end_of_parent(record, place)
                found.update({} if end is None else {_id_of(record): end})
            before = known
        return found

    def begin_of(self, message_id: str, before: int) -> int | None:
        """Find the offset of a message's first record; ``None`` if it has none before an offset."""
        for offset, line in lines_with(self._read, journal_json(message_id), before):
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
            around = [jump for jump in self.jumps(place, end) if jump.surrounds(place)]
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
        """Find the end of the last reset between two offsets."""
        for offset, line in lines_with(self._read, _RESET, end, begin):
            record = decoded(line)
            if isinstance(record, Reset):
                return offset + len(line) + 1
            if isinstance(record, State) and (record.offsets.reset or -1) < begin:
                # It knows of none, or of an earlier one.
                break
        return None

    def _begins(self, offset: int, message_id: str) -> bool:
        line = line_at(self._read, offset, self._size)
        record = decoded(line) if line is not None else None
        if isinstance(record, Partial) and record.at:
            return False
        return record is not None and entry_id(record) == message_id

    def _end_of(self, message_id: str, begin: int, before: int) -> int:
        """Find the end of the last record of a message that begins at an offset."""
        end = begin
        for offset, line in lines_forward(self._read, begin, before):
            record = decoded(line)
            known = entry_id(record) if record is not None else None
            if known == message_id:
                end = offset + len(line) + 1
            elif known is not None or isinstance(record, Reset):
                break
        return end


def _id_of(record: Message | Partial) -> str:
    return entry_id(record) or ""
