"""The journals as the index follows them: which there are, what they say and are called."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

from tui.domain.journal.message import Message
from tui.domain.journal.records import DamagedRecord, State, decode
from tui.errors import SessionNotFound
from tui.storage.folders import Folder, Folders
from tui.storage.lines import Line, lines_backward, lines_forward, whole_end

SEARCHED = frozenset({Folder.SESSIONS.value, Folder.ARCHIVE.value})
_TAIL_BYTES = 64


class Seen(NamedTuple):
    """A journal as a scan of its folder sees it; made ten thousand at a time."""

    session_id: str
    folder: str
    device: int
    inode: int
    size: int
    mtime_ns: int


class Saying(NamedTuple):
    """A message, and the line that it stands in."""

    offset: int
    length: int
    message: Message


def scan(folders: Folders) -> list[Seen]:
    """All journals, newest use first; an id counts in one folder only."""
    seen: dict[str, Seen] = {}
    for folder in reversed(Folder):
        for session_id, status in folders.statuses(folder, folders.ids(folder)):
            seen[session_id] = _seen(session_id, folder.value, status)
    return sorted(seen.values(), key=attrgetter("mtime_ns"), reverse=True)


def look(folders: Folders, session_ids: Iterable[str]) -> list[Seen]:
    """The journals of some sessions, as far as they are there."""
    found: list[Seen] = []
    for session_id in session_ids:
        with suppress(SessionNotFound, FileNotFoundError):
            folder, path = folders.find(session_id)
            found.append(_seen(session_id, folder.value, os.stat(path, follow_symlinks=False)))
    return found


def _seen(session_id: str, folder: str, status: os.stat_result) -> Seen:
    place = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    return Seen(session_id, folder, *place)


def tail_hash(descriptor: int, end: int) -> bytes:
    """What the last bytes before a place are known by."""
    start = max(0, end - _TAIL_BYTES)
    return blake2b(os.pread(descriptor, end - start, start), digest_size=8).digest()


def message_key(message_id: str) -> int:
    """A message's id as a number: all ids of a large index would be half of it."""
    encoded = message_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "big", signed=True)


def settled_end(descriptor: int, size: int) -> int:
    """How far a journal can be read: a torn last line may be one that is just being written."""
    end = whole_end(descriptor, size)
    # Whole but for its newline: the next writer closes it, and it does not change.
    return size if any(sayings(descriptor, end, size)) else end


def sayings(descriptor: int, start: int, end: int) -> Iterator[Saying | State]:
    """The messages between two places, and the states, which have the session's name."""
    for line in lines_forward(descriptor, start, end):
        saying = _saying(line)
        if saying is not None:
            yield saying


def _saying(line: Line) -> Saying | State | None:
    offset, data = line
    try:
        record = decode(data) if data else None
    except DamagedRecord:
        return None
    if isinstance(record, Message):
        return Saying(offset, len(data), record)
    return record if isinstance(record, State) else None


def sayings_backward(descriptor: int) -> Iterator[Saying | State | None]:
    """The message or the state of each line of a journal, or ``None``, the last one first."""
    return map(_saying, lines_backward(descriptor, os.fstat(descriptor).st_size))


def name_of(descriptor: int) -> str:
    """The name in a journal's last state."""
    states = (each for each in sayings_backward(descriptor) if isinstance(each, State))
    return next((state.name for state in states), "")


def message_at(descriptor: int, offset: int, length: int) -> Message | None:
    """The message of a line that was there; ``None`` if another is there now."""
    saying = _saying((offset, os.pread(descriptor, length, offset)))
    return saying.message if isinstance(saying, Saying) else None
