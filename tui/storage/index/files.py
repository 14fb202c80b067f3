"""Journals as the index reads them: their files, messages and names."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

from tui.domain.journal.message import Message
from tui.domain.journal.records import SessionHeader, State
from tui.domain.text import as_bytes
from tui.domain.timestamps import storable_ns
from tui.errors import SessionNotFound
from tui.storage.folders import Folder, Folders
from tui.storage.journal_lines import (
    Line,
    decoded,
    line_at,
    lines_backward,
    lines_forward,
    reader_of,
    whole_end,
)

SEARCHED = frozenset({Folder.SESSIONS.value, Folder.ARCHIVE.value})
_TAIL_BYTES = 64
_BITS = (1 << 63) - 1


class JournalStat(NamedTuple):
    """The stat of a journal, as SQLite can store it; a tuple, as a scan makes ten thousand."""

    session_id: str
    folder: str
    device: int
    inode: int
    size: int
    mtime_ns: int


class MessageLine(NamedTuple):
    """A message, with the offset and length of its line in bytes."""

    offset: int
    length: int
    message: Message


def scan(folders: Folders, among: Collection[Folder] = tuple(Folder)) -> list[JournalStat]:
    """Stat all journals, newest use first, each id in one folder only."""
    seen: dict[str, JournalStat] = {}
    for folder in sorted(among, key=list(Folder).index, reverse=True):
        for session_id, status in folders.statuses(folder, folders.ids(folder)):
            seen[session_id] = stat_of(session_id, folder.value, status)
    return sorted(seen.values(), key=attrgetter("mtime_ns"), reverse=True)


def look(folders: Folders, session_ids: Iterable[str]) -> list[JournalStat]:
    """Stat the journals of some sessions; missing ones are left out."""
    found: list[JournalStat] = []
    for session_id in session_ids:
        with suppress(SessionNotFound, FileNotFoundError):
            folder, path = folders.find(session_id)
            found.append(stat_of(session_id, folder.value, os.stat(path, follow_symlinks=False)))
    return found


def stat_of(session_id: str, folder: str, status: os.stat_result) -> JournalStat:
    """Make the stat of a journal: numbers of devices and files may have all 64 bits."""
    place = status.st_dev & _BITS, status.st_ino & _BITS, status.st_size
    return JournalStat(session_id, folder, *place, storable_ns(status.st_mtime_ns))


def tail_hash(descriptor: int, end: int) -> bytes:
    """Hash the last 64 bytes before an offset."""
    start = max(0, end - _TAIL_BYTES)
    return blake2b(os.pread(descriptor, end - start, start), digest_size=8).digest()


def message_key(message_id: str) -> int:
    """Hash a message's id to 64 bits: whole ids would be half of a large index."""
    return int.from_bytes(blake2b(as_bytes(message_id), digest_size=8).digest(), "big", signed=True)


def settled_end(descriptor: int, size: int) -> int:
    """Find the end of a journal's complete records: a torn last line may still be growing."""
    end = whole_end(reader_of(descriptor), size)
    # A record that lacks only its newline is complete: the next writer adds that.
    return size if any(read_searchable(descriptor, end, size)) else end


def read_searchable(descriptor: int, start: int, end: int) -> Iterator[MessageLine | State]:
    """Read the messages between two offsets, and the states, for the session's name."""
    for line in lines_forward(reader_of(descriptor), start, end):
        found = _searchable(line)
        if found is not None:
            yield found


def _searchable(line: Line) -> MessageLine | State | None:
    offset, data = line
    record = decoded(data)
    if isinstance(record, Message):
        return MessageLine(offset, len(data), record)
    return record if isinstance(record, State) else None


def read_searchable_backward(descriptor: int) -> Iterator[MessageLine | State | None]:
    """Read the message or state of each line, or ``None``, last line first."""
    return map(_searchable, lines_backward(reader_of(descriptor), os.fstat(descriptor).st_size))


def header_of(descriptor: int) -> SessionHeader | None:
    """Read the first line of a journal; ``None`` if it is damaged."""
    line = line_at(reader_of(descriptor), 0, os.fstat(descriptor).st_size)
    record = decoded(line or b"")
    return record if isinstance(record, SessionHeader) else None


def name_of(descriptor: int) -> str:
    """Read the name in a journal's last state."""
    states = (each for each in read_searchable_backward(descriptor) if isinstance(each, State))
    return next((state.name for state in states), "")


def message_at(descriptor: int, offset: int, length: int) -> Message | None:
    """Read the message of a line; ``None`` if that line is no message any more."""
    found = _searchable((offset, os.pread(descriptor, length, offset)))
    return found.message if isinstance(found, MessageLine) else None
