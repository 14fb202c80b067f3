"""Appends to a journal durably, and cleans up after failed appends."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    NO_OFFSETS,
    Encoded,
    Offsets,
    Opened,
    Partial,
    Record,
    Restored,
    State,
    encode,
)
from tui.domain.timestamps import MILLISECOND_NS, parse_utc, storable_ns
from tui.errors import SessionDamaged, StorageError
from tui.files import open_regular, size_words
from tui.storage.disk import (
    JOURNAL_BYTES,
    NOT_PLAIN,
    cut_back,
    replace,
    sync_directory,
    sync_file,
    write_whole,
)
from tui.storage.journal_lines import Branches, decoded, entry_id, lines_forward, reader_of

_APPENDING = os.O_RDWR | os.O_APPEND
_MARK_BYTES = 64
_BLOCK_BYTES = 1024 * 1024


class Acknowledged(msgspec.Struct, frozen=True):
    """The state of a file known to be on disk: identity, length and last 64 bytes."""

    device: int
    inode: int
    size: int
    mark: bytes

    @classmethod
    def now(cls, descriptor: int) -> "Acknowledged":
        status = os.fstat(descriptor)
        mark = _mark(descriptor, status.st_size)
        return cls(status.st_dev, status.st_ino, status.st_size, mark)


class JournalWriter:
    """Appends to a journal of which this program holds the lease."""

    def __init__(self, session_id: str, path: Path, offsets: Offsets) -> None:
        self.path = path
        self._session_id = session_id
        self._offsets = offsets
        self._acknowledged = self._look()
        # The offset of a failed append, and the bytes that it may have left there.
        self._left: tuple[int, bytes] | None = None

    @property
    def size(self) -> int:
        """The bytes that are known to be on disk."""
        return self._acknowledged.size

    def append(self, records: Sequence[Record], lines: Sequence[bytes] = ()) -> tuple[Record, ...]:
        """Write records, some of them encoded before; on return they are durable.

        Returns the records that another program has added before them. Raises ``OSError`` or
        ``DamagedRecord``, and none of ``records`` counts then, and ``SessionDamaged`` if
        acknowledged bytes are gone.
        """
        try:
            descriptor = open_regular(self.path, _APPENDING)
        except OSError as error:
            if error.errno != errno.ENOENT and error.errno not in NOT_PLAIN:
                raise
            raise SessionDamaged(self._session_id, "its file is gone") from error
        try:
            return self._append(descriptor, records, lines)
        finally:
            os.close(descriptor)

    def _append(
        self, descriptor: int, records: Sequence[Record], lines: Sequence[bytes]
    ) -> tuple[Record, ...]:
        own = self._take_back(descriptor)
        before = os.fstat(descriptor)
        foreign = self._foreign(descriptor, before, len(own))
        # It closes a torn last line, which would swallow the next record.
        is_torn = before.st_size > 0 and os.pread(descriptor, 1, before.st_size - 1) != b"\n"
        closing = b"\n" if is_torn else b""
        place = before.st_size + len(closing)
        earlier = Branches(reader_of(descriptor), before.st_size)
        data, offsets = encode_lines(
            records, place, self._offsets, lines, lambda key: earlier.begin_of(key, place)
        )
        if place + len(data) > JOURNAL_BYTES:
            raise StorageError(
                f"Session {self._session_id} has reached the largest size"
                f" ({size_words(JOURNAL_BYTES)}). Continue in a new one."
            )
        used = before.st_mtime_ns
        self._left = before.st_size - len(own), own + closing + data
        try:
            self._write(descriptor, before.st_size, closing + data)
            used = max(last_use(records) or 0, used)
        finally:
            # Also after a failure: an append that was taken back is no use of the session.
            set_last_use(self.path, used)
        self._left = None
        self._offsets = offsets
        return foreign

    def _take_back(self, descriptor: int) -> bytes:
        """Remove the bytes of a failed append, which were never acknowledged and come again.

        Returns those that still cannot be removed; they are not another program's.
        """
        if self._left is None:
            return b""
        place, data = self._left
        found = os.pread(descriptor, len(data) + 1, place)
        if not found or not data.startswith(found):
            return b""
        cut_back(descriptor, place)
        return found if os.fstat(descriptor).st_size > place else b""

    def _foreign(self, descriptor: int, status: os.stat_result, own: int) -> tuple[Record, ...]:
        """Read the records that other programs have added, before this one's last ``own`` bytes."""
        known = self._acknowledged
        if status.st_size < known.size or _mark(descriptor, known.size) != known.mark:
            raise SessionDamaged(self._session_id, "its file was shortened or replaced")
        if (status.st_dev, status.st_ino) != (known.device, known.inode):
            # The name of another program's file may not be durable yet.
            sync_directory(self.path.parent)
        found: list[Record] = []
        end = status.st_size - own
        for place, line in lines_forward(reader_of(descriptor), known.size, end):
            record = decoded(line)
            if record is not None:
                found.append(record)
                self._offsets = self._offsets.following(record, place)
        return tuple(found)

    def _write(self, descriptor: int, size: int, data: bytes) -> None:
        try:
            write_whole(descriptor, data)
            if _is_synced(descriptor):
                self._acknowledged = Acknowledged.now(descriptor)
            else:
                replace(self.path, data, after=descriptor, length=size)
                self._acknowledged = self._look()
        except OSError:
            cut_back(descriptor, size)
            raise

    def _look(self) -> Acknowledged:
        descriptor = open_regular(self.path, _APPENDING)
        try:
            return Acknowledged.now(descriptor)
        finally:
            os.close(descriptor)


def _is_synced(descriptor: int) -> bool:
    """Sync a file; after a failure it is unknown which bytes are on disk.

    A second sync would report success for pages that the kernel has given up.
    """
    try:
        sync_file(descriptor)
    except OSError:
        return False
    return True


def encode_lines(
    records: Sequence[Record],
    place: int,
    offsets: Offsets,
    lines: Sequence[bytes] = (),
    begin_of: Callable[[str], int | None] = lambda _: None,
) -> tuple[bytes, Offsets]:
    """Encode records as lines from the offset ``place`` on; complete the offsets in them.

    ``lines`` are those of the records that were encoded before, as in ``SessionStore.append``.
    ``begin_of`` finds messages that were written before.
    """
    encoded: list[bytes] = []
    begins: dict[str | None, int] = {}
    for record, known in zip(records, chain(lines, repeat(b"")), strict=False):
        begins.setdefault(entry_id(record), place)
        line = _line(record, known, offsets, lambda key: begins.get(key) or begin_of(key))
        offsets = offsets.following(record, place)
        place += len(line)
        encoded.append(line)
    return b"".join(encoded), offsets


class NewJournal(msgspec.Struct, eq=False):
    """The lines of a new journal, in blocks, from records that are made meanwhile."""

    _records: Iterable[Encoded]
    _latest: Message | None = None

    @property
    def last_use(self) -> int | None:
        """Of the records so far, in nanoseconds since 1970."""
        return last_use((self._latest,)) if self._latest else None

    def blocks(self) -> Iterator[bytes]:
        """Encode the records. Raises ``DamagedRecord``, and whatever their making raises."""
        offsets, place, begins = NO_OFFSETS, 0, dict[str | None, int]()
        block: list[bytes] = []
        size = 0
        for record, known in self._records:
            begins.setdefault(entry_id(record), place + size)
            line = _line(record, known, offsets, begins.get)
            offsets = offsets.following(record, place + size)
            # All times of imported messages have one form, and so the order of texts.
            if (
                isinstance(record, Message)
                and (not self._latest or record.timestamp > self._latest.timestamp)
                and parse_utc(record.timestamp)
            ):
                self._latest = record
            block.append(line)
            size += len(line)
            if size >= _BLOCK_BYTES:
                yield b"".join(block)
                block, place, size = [], place + size, 0
        yield b"".join(block)


def _line(
    record: Record, known: bytes, offsets: Offsets, begin_of: Callable[[str], int | None]
) -> bytes:
    match record:
        case State():
            return encode(msgspec.structs.replace(record, offsets=offsets))
        case Message(after=str() as after) | Partial(after=str() as after):
            begin = begin_of(after) if after else None
            return encode(msgspec.structs.replace(record, after_at=begin))
        case _:
            return known or encode(record)


def last_use(records: Sequence[Record]) -> int | None:
    """Get the time of the last record that is a use, in nanoseconds since 1970, or ``None``."""
    times: list[str] = []
    for record in records:
        match record:
            case Message():
                times.append(record.timestamp)
            case Opened(resumed=True) | Restored():
                times.append(record.at)
            case _:
                pass
    moments = [moment for text in times if (moment := parse_utc(text))]
    return storable_ns(int(max(moments).timestamp() * 1000) * MILLISECOND_NS) if moments else None


def _mark(descriptor: int, size: int) -> bytes:
    return os.pread(descriptor, min(size, _MARK_BYTES), max(0, size - _MARK_BYTES))


def set_last_use(path: Path, moment_ns: int) -> None:
    """Set the file's modification time to the session's last use."""
    try:
        os.utime(path, ns=(moment_ns, moment_ns), follow_symlinks=False)
    except OSError:
        # Only the order of lists: the records have the time of last use, too.
        return
