"""Private sessions: their bytes are in memory, and nothing of them reaches a disk."""

import os
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import msgspec

from tui.domain.journal.records import (
    NO_OFFSETS,
    PRIVATE,
    SESSION_NUMBERS,
    DamagedRecord,
    Offsets,
    Record,
    SessionHeader,
    checked_id,
    new_session_id,
)
from tui.domain.journal.session import SessionEntry, describe, title_question
from tui.errors import AttachmentNotFound, ReadOnly, SessionExists, SessionNotFound, StorageError
from tui.storage.attachments import checked_hash, only_match
from tui.storage.disk import odd_values
from tui.storage.journal import Journal, OpenJournal
from tui.storage.journal_lines import Branches
from tui.storage.protocol import Appended, JournalStore, Lease
from tui.storage.writer import encode_lines


class PrivateLease(msgspec.Struct, eq=False):
    """A private session, and the right to append to it."""

    session_id: str
    header: SessionHeader
    data: bytearray = msgspec.field(default_factory=bytearray)
    """The journal: empty before the first append, and longer after each."""
    offsets: Offsets = NO_OFFSETS
    pictures: dict[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    held: bool = True

    def release(self) -> None:
        self.held = False

    def read(self, length: int, offset: int) -> bytes:
        """Read as ``os.pread`` does."""
        return bytes(self.data[offset : offset + length])


class PrivateSessions(JournalStore):
    """Keeps the private sessions of a program: the verbs of ``SessionStore`` that they need."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._sessions: dict[str, PrivateLease] = {}
        self._ordinals = Counter[str]()

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the sessions in which something was said."""
        return [key for key, session in self._sessions.items() if session.data]

    def reserve(self, header: SessionHeader) -> Lease:
        number = int.from_bytes(os.urandom(8), "big") % SESSION_NUMBERS
        name = header.id or new_session_id(self._clock(), number, PRIVATE)
        if name in self._sessions:
            raise SessionExists(name)
        header = msgspec.structs.replace(header, id=name)
        self._sessions[name] = lease = PrivateLease(name, header)
        return lease

    def append(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()
    ) -> Appended:
        session = self._own(lease)
        if not records:
            return Appended(session.header.ordinal)
        place = len(session.data)
        if not place:
            self._ordinals[session.header.scope] += 1
            ordinal = self._ordinals[session.header.scope]
            session.header = msgspec.structs.replace(session.header, ordinal=ordinal)
            records, lines = (session.header, *records), (b"", *lines)
        begin_of = partial(Branches(session.read, place).begin_of, before=place)
        try:
            data, offsets = encode_lines(records, place, session.offsets, lines, begin_of)
        except DamagedRecord as error:
            raise StorageError(f"Cannot save session {lease.session_id}: {error}") from error
        session.offsets = offsets
        session.data += data
        return Appended(session.header.ordinal)

    def contents(self, lease: Lease) -> tuple[SessionHeader, Sequence[Record]]:
        """The header and the other records of a session."""
        session = self._own(lease)
        records = self.journal(lease.session_id).records() if session.data else ()
        return session.header, tuple(records)[1:]

    def journal(self, session_id: str) -> Journal:
        return Journal(partial(self._opened, session_id))

    def entry(self, session_id: str) -> SessionEntry:
        session = self.journal(session_id).load()
        title = title_question(session.all_messages)
        return describe(session, title, "open", self.now(), active=True)

    def add_attachment(self, session_id: str, data: bytes) -> str:
        sha256 = checked_hash(data)
        self._session(session_id).pictures[sha256] = data
        return sha256

    def attachment(self, session_id: str, sha256: str) -> bytes:
        try:
            return self.pictures(session_id)[sha256]
        except KeyError as error:
            raise AttachmentNotFound(sha256) from error

    def find_attachment(self, session_id: str, prefix: str) -> str:
        return only_match(prefix, self.pictures(session_id))

    def pictures(self, session_id: str) -> Mapping[str, bytes]:
        """The pictures of a session, by their hash; none of one that is gone."""
        known = self._sessions.get(session_id)
        return known.pictures if known else {}

    def forget(self, lease: Lease) -> None:
        """Destroy a session and its lease; does nothing if it is gone."""
        self._sessions.pop(lease.session_id, None)
        lease.release()

    def _session(self, session_id: str) -> PrivateLease:
        known = self._sessions.get(checked_id(session_id))
        if known is None:
            raise SessionNotFound(session_id)
        return known

    def _own(self, lease: Lease) -> PrivateLease:
        known = self._sessions.get(lease.session_id)
        if known is None or known is not lease or not known.held:
            raise ReadOnly(lease.session_id)
        return known

    @contextmanager
    def _opened(self, session_id: str) -> Generator[OpenJournal]:
        session = self._session(session_id)
        size = len(session.data)
        if not size:
            raise SessionNotFound(session_id)
        with odd_values(session_id):
            yield OpenJournal(session.read, size, session_id, lambda: session.header, held=True)
