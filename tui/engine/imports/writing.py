"""Writes a conversation of another program as a session, or what a session lacks of it."""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path

import msgspec

from tui.domain.imports import PROMPTS_ONLY
from tui.domain.journal.message import Message
from tui.domain.journal.records import VERSION, Encoded, Import, Record, SessionHeader
from tui.domain.timestamps import MILLISECOND_NS, format_milliseconds, format_utc
from tui.engine.imports.conversion import Conversion, batches
from tui.engine.imports.history import History, SessionIds, fork_id, imported_message_id, scope_of
from tui.engine.imports.known_sessions import KnownSession, Rescues
from tui.engine.imports.planning import guarded
from tui.engine.imports.report import Fork, ImportedProgram, Pace
from tui.errors import SessionBusy, SessionNotFound
from tui.importers.protocol import Conversation, ForeignMessage, Item, Source
from tui.storage.protocol import Lease, SessionStore

_BATCH_BYTES = 1024 * 1024


class Workbench(msgspec.Struct, frozen=True):
    """Everything that the writers of one import share."""

    store: SessionStore
    ids: SessionIds
    history: History
    rescues: Rescues
    pace: Pace
    clock: Callable[[], datetime]
    again: bool
    """True if also sessions that were deleted here are wanted."""

    def now(self) -> str:
        return format_utc(self.clock())


class _Gone(Exception):
    """A session was deleted here by its user."""


class _NothingNew(Exception):
    """A session would have nothing that is not known."""


class SessionWriter:
    """Writes one conversation; ``result`` counts what came of it."""

    def __init__(
        self,
        bench: Workbench,
        source: Source,
        conversation: Conversation,
        result: ImportedProgram,
    ) -> None:
        self._bench = bench
        self._store = bench.store
        self._source = source
        self._conversation = conversation
        self._heading = conversation.heading
        self._result = result
        self._program = result.program

    def write(self) -> str:
        """Write what is new; gives the id of the session, ``""`` if the conversation has no words.

        A session that was continued here stays as it is: a fork of it takes what is new.
        """
        heading, history = self._heading, self._bench.history
        if heading.prompts_only and history.is_whole(self._program, heading.source_id):
            self.drain()
            return ""
        session_id = self._bench.ids.of(self._program, heading)
        original: KnownSession | None = None
        while True:
            try:
                if not self._is_there(session_id):
                    return self._add(session_id, original)
                own = self._extend(session_id, original)
            except _Gone:
                self._result.gone += self._has_news(original)
                return session_id
            if own is None:
                return session_id
            original = own
            session_id = fork_id(self._program, session_id)

    def _has_news(self, original: KnownSession | None) -> bool:
        """Read the conversation; tells whether a session that is gone would have been needed."""
        messages = [item.id for item in self._items() if isinstance(item, ForeignMessage)]
        if original is None:
            return True
        return any(imported_message_id(self._program, each) not in original for each in messages)

    def drain(self) -> None:
        """Read the conversation and write nothing."""
        for _ in self._items():
            pass

    def _items(self) -> Iterator[Item]:
        for item in guarded(self._read()):
            self._bench.pace.step()
            yield item

    def _read(self) -> Iterator[Item]:
        # Some readers open their files as soon as they are called.
        if self._heading.prompts_only:
            yield from self._bench.rescues.left(self._program, self._conversation)
        else:
            yield from self._conversation.items()

    def _is_there(self, session_id: str) -> bool:
        """Tell if a session is there. Raises ``_Gone`` if its user has deleted it."""
        try:
            where = self._store.stamp(session_id).where
        except SessionNotFound:
            if session_id in self._bench.history.beginnings and not self._bench.again:
                raise _Gone from None
            return False
        if where != "trashed":
            return True
        if not self._bench.again:
            raise _Gone
        self._store.restore(session_id)
        self._store.archive(session_id)
        self._result.added += 1
        return True

    def _add(self, session_id: str, original: KnownSession | None) -> str:
        """Add a session; gives its id, or that of the original if nothing is new."""
        conversion = self._conversion(KnownSession(), original)
        records = self._records(conversion)
        first = next(records, None)
        if first is None:
            return ""
        header = self._header(session_id, first, original, conversion.created)
        whole = chain([first], records, self._ending(conversion))
        try:
            self._store.add_imported(header, whole, active=self._heading.active)
        except _NothingNew:
            return original.id if original else ""
        self._result.added += 1
        self._result.prompts_only += self._heading.prompts_only
        self._result.messages += conversion.messages
        self._note(session_id, conversion, original)
        return session_id

    def _records(self, conversion: Conversion) -> Iterator[Encoded]:
        for record, line in conversion.records(self._items()):
            self._bench.pace.step(len(line))
            yield record, line

    def _ending(self, conversion: Conversion) -> Iterator[Encoded]:
        if not conversion.news:
            raise _NothingNew
        yield from conversion.ending(self._ledger())

    def _extend(self, session_id: str, original: KnownSession | None) -> KnownSession | None:
        """Add what a session lacks; gives the session instead if it was continued here.

        Raises ``SessionBusy`` for one that is open elsewhere and may still be continued.
        """
        try:
            lease = self._store.lease(session_id)
        except SessionBusy:
            known = KnownSession.read(self._store, session_id)
            if known.is_own:
                return known
            records = self._conversion(known, original).records(self._items())
            if next(records, None) is None:
                return None
            raise
        try:
            known = KnownSession.read(self._store, session_id)
            if known.is_own:
                return known
            is_found = not self._heading.prompts_only and known.name.startswith(PROMPTS_ONLY)
            known.name = "" if is_found else known.name
            conversion = self._conversion(known, original)
            records = self._records(conversion)
            waiting: list[Encoded] = []
            for batch in batches(records, _BATCH_BYTES):
                self._write(lease, waiting)
                waiting = [*batch, *conversion.closing(self._bench.now())]
            # In one write with the last messages: the next run would not know that it is missing.
            self._write(lease, [*waiting, *conversion.ending(self._ledger())])
        finally:
            lease.release()
        if conversion.messages:
            self._result.grown += 1
            self._result.found_whole += is_found
            self._note(session_id, conversion, original)
        return None

    def _write(self, lease: Lease, encoded: list[Encoded]) -> None:
        records: list[Record] = [record for record, _ in encoded]
        self._store.extend(lease, records, [line for _, line in encoded])
        self._result.messages += sum(isinstance(record, Message) for record in records)

    def _conversion(self, known: KnownSession, original: KnownSession | None) -> Conversion:
        time = format_milliseconds(self._source.changed // MILLISECOND_NS)
        return Conversion(self._program, self._heading, known, time, original)

    def _note(self, session_id: str, conversion: Conversion, original: KnownSession | None) -> None:
        self._bench.pace.sessions += 1
        self._result.cut += conversion.cut
        if original is not None:
            title = self._heading.name or self._store.entry(original.id).label
            fork = Fork(original.id, session_id, title)
            self._result.forks.append(fork)

    def _header(
        self, session_id: str, first: Encoded, original: KnownSession | None, created: str | None
    ) -> SessionHeader:
        folder, archive = self._heading.project_path, self._source.archive
        folder = str(archive.shown(Path(folder))) if folder and archive else folder
        heading = msgspec.structs.replace(self._heading, project_path=folder)
        begun = first[0].timestamp if isinstance(first[0], Message) else self._bench.now()
        return SessionHeader(
            version=VERSION,
            id=session_id,
            created_at=created or begun,
            scope=scope_of(self._program, heading),
            ordinal=0 if original else heading.ordinal,
            project_path=folder,
            model=f"{self._program}:{heading.model}" if heading.model else "",
            forked_from=original.id if original else None,
            imported_from=f"{self._program}:{heading.source_id}",
        )

    def _ledger(self) -> Import:
        ledger = self._conversation.ledger
        return Import(
            at=self._bench.now(),
            program=self._program,
            source_id=self._heading.source_id,
            path=str(self._source.shown),
            format_version=self._heading.version or None,
            size=self._source.size,
            read=ledger.read,
            skipped=dict(ledger.skipped),
            prompts_only=self._heading.prompts_only,
        )
