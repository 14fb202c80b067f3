"""The default store: one journal a session, in the data directory."""

import logging
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui.domain.imports import ImportLine, bytes_naming
from tui.domain.journal.records import (
    NO_OFFSETS,
    DamagedRecord,
    Encoded,
    Record,
    Restored,
    SessionHeader,
    Settings,
    checked_id,
    encode,
)
from tui.domain.journal.session import Holder, SessionEntry, Stamp
from tui.domain.moves import Batch, Move
from tui.domain.text import plural
from tui.domain.timestamps import utc_now
from tui.errors import ReadOnly, SessionExists, SessionNotFound, StorageError
from tui.logs import error_name, milliseconds_since
from tui.storage import disk, locks
from tui.storage.attachments import AttachmentFiles, checked_hash, only_match, used_pictures
from tui.storage.directory import Directory, FileCatalog
from tui.storage.drafts import Drafts
from tui.storage.file_holding import FileHolding, FileLease, locked
from tui.storage.folders import Folder, Folders, move_to_free_name
from tui.storage.index.lazy_index import LazyIndex
from tui.storage.journal import Journal
from tui.storage.journal_lines import lines_forward, reader_of
from tui.storage.json_lines import IMPORTS, MoveLog, new_batch
from tui.storage.protocol import Appended, Lease, Listing, Progress, SessionFilter, SessionStore
from tui.storage.scopes import ScopeLine, Scopes
from tui.storage.writer import JournalWriter, NewJournal, encode_lines, last_use, set_last_use

if TYPE_CHECKING:
    from tui.domain.search.query import SearchResult
    from tui.storage.copyable import Journals

_log = logging.getLogger(__name__)

Clock = Callable[[], datetime]


class FileStore(SessionStore):
    """A store of files: one journal a session, below ``root``.

    Threads may use it at once, each for another session.
    """

    def __init__(self, root: Path, clock: Clock = utc_now) -> None:
        self.root = root
        self._clock = clock
        self._folders = Folders(root)
        self._scopes = Scopes(self._folders)
        self._index = LazyIndex(root)
        self._directory = Directory(self._folders, self._scopes, self._index)
        self._holding = FileHolding(self._folders, self._scopes, clock)
        self._attachments = AttachmentFiles(self._folders, clock)
        self._moves = MoveLog(self._folders.moves)

    @property
    def journals(self) -> "Journals":
        # Late: only a copy to another store needs them.
        from tui.storage.journal_files import JournalFiles

        return JournalFiles(self._folders, self._scopes, self._index, self._clock)

    # --- holding

    def reserve(self, header: SessionHeader) -> Lease:
        return self._holding.create(header)

    def lease(self, session_id: str) -> Lease:
        return self._holding.lease(session_id)

    def holder(self, session_id: str) -> Holder | None:
        with disk.storage_errors(f"Cannot check the lock of session {session_id}"):
            return locks.holder_of(self._folders.lock(session_id))

    def obstacles(self) -> tuple[str, ...]:
        return self._folders.obstacles()

    # --- writing

    def append(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()
    ) -> Appended:
        held = self._holding.own(lease)
        if not records:
            return Appended(held.ordinal)
        self._index.changed(held.session_id)
        if held.folder is Folder.TRASH:
            raise SessionNotFound(held.session_id)
        with _logged_save(held, len(records)), _saving(held.session_id):
            self._note_pictures(held.session_id, used_pictures(records))
            if held.writer is None:
                self._publish(held, records, lines)
                appended = Appended(held.ordinal)
            else:
                self._number(held)
                if held.folder is Folder.ARCHIVE:
                    # Moved first: nothing may fail once the records are durable.
                    held.unmarked_restore = True
                    self._relocate(held, Folder.SESSIONS)
                restored = held.unmarked_restore
                if restored:
                    records, lines = (Restored(at=self.now()), *records), (b"", *lines)
                foreign = held.writer.append(records, lines)
                held.unmarked_restore, held.written = False, True
                appended = Appended(held.ordinal, restored, foreign)
        pins = [record.pinned for record in records if isinstance(record, Settings)]
        if pins:
            # The records are durable: what fails here only keeps the session from the top of lists.
            with suppress(StorageError, OSError):
                self._scopes.pin(held.session_id, self.now(), pinned=pins[-1])
        return appended

    def add_imported(
        self,
        header: SessionHeader,
        records: Iterable[Encoded],
        *,
        active: bool = False,
    ) -> None:
        session_id = header.id
        path = self._folders.journal(session_id, Folder.ARCHIVE)
        self._folders.prepare()
        self._folders.require(Folder.ARCHIVE, f"Cannot save session {session_id}")
        with _saving(session_id), locked(self._folders, session_id):
            if self._folders.exists(session_id):
                raise SessionExists(session_id)
            self._scopes.ensure()
            header = self._scopes.take_over(header, self.now(), active=active)
            journal = NewJournal(chain([(header, b"")], self._noted_pictures(session_id, records)))
            try:
                # ``note_imports`` syncs the folder, once for many sessions.
                disk.place_blocks(path, journal.blocks(), lambda: journal.last_use)
            except FileExistsError as error:
                raise SessionExists(session_id) from error
        self._index.changed(session_id)

    def extend(self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()) -> None:
        held = self._holding.own(lease)
        if held.folder is Folder.TRASH:
            raise SessionNotFound(held.session_id)
        if held.writer is None:
            raise ReadOnly(held.session_id)
        if not records:
            return
        self._index.changed(held.session_id)
        with _logged_save(held, len(records)), _saving(held.session_id):
            self._note_pictures(held.session_id, used_pictures(records))
            held.writer.append(records, lines)
            self._folders.note_growth(held.folder)

    def add_attachment(self, session_id: str, data: bytes) -> str:
        sha256 = checked_hash(data)
        self._folders.prepare()
        # Noted first: from then on no purge frees the picture.
        self._note_pictures(session_id, [sha256])
        self._attachments.keep(sha256, data)
        return sha256

    def attachment(self, session_id: str, sha256: str) -> bytes:  # noqa: ARG002 - all share them
        return self._attachments.read(sha256)

    def find_attachment(self, session_id: str, prefix: str) -> str:  # noqa: ARG002 - all share them
        return only_match(prefix, self._attachments.pictures())

    def imports(self, naming: str = "") -> Iterator[ImportLine]:
        with disk.storage_errors("Cannot read the log of imports"):
            try:
                descriptor = disk.open_to_read(self._folders.imports)
            except FileNotFoundError:
                return
            try:
                part, size = bytes_naming(naming), os.fstat(descriptor).st_size
                lines = lines_forward(reader_of(descriptor), 0, size)
                yield from IMPORTS.decoded(line for _, line in lines if part in line)
            finally:
                os.close(descriptor)

    def note_imports(self, lines: Sequence[ImportLine]) -> None:
        self._folders.prepare()
        with disk.storage_errors("Cannot write the log of imports"):
            # An archive that cannot be used has taken no session.
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                # No line is written before the name of its session is durable.
                disk.sync_directory(self._folders.of(Folder.ARCHIVE))
            IMPORTS.append(self._folders.imports, lines)

    def path(self, session_id: str) -> Path:
        """Find the path of a session's journal. Raises ``SessionNotFound``."""
        return self._folders.find(session_id)[1]

    def location(self, session_id: str) -> str:
        return str(self.path(session_id))

    # --- reading

    def journal(self, session_id: str) -> Journal:
        return Journal(partial(self._holding.journal, session_id))

    def stamp(self, session_id: str) -> Stamp:
        return self._folders.stamp(session_id)

    def list(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        return self._directory.page(wanted, cursor, limit)

    def count(self, wanted: SessionFilter) -> int:
        return self._directory.count(wanted)

    def entries(self, session_ids: Iterable[str]) -> tuple[SessionEntry, ...]:
        return tuple(self._directory.some(session_ids))

    def catalog(self, wanted: SessionFilter) -> FileCatalog:
        places = self._folders, self._scopes, self._index, self._directory
        return FileCatalog(*places, wanted, self.imports)

    def search_index(
        self, query: str, limit: int, seconds: float, wanted: Callable[[], bool] | None
    ) -> "SearchResult":
        return self._index.search.search(query, limit, seconds, wanted)

    def build_index(self, builder: str, *, anew: bool = False) -> Iterator[Progress]:
        return self._index.maintenance.build(builder, anew=anew)

    def catch_up_index(self, session_id: str) -> None:
        self._index.maintenance.catch_up(session_id)

    # --- moving

    def delete(self, session_id: str, batch: Batch | None = None) -> None:
        self._move(session_id, batch, Folder.TRASH, Folder.SESSIONS, Folder.ARCHIVE)

    def archive(self, session_id: str, batch: Batch | None = None) -> None:
        self._move(session_id, batch, Folder.ARCHIVE, Folder.SESSIONS)

    def restore(self, session_id: str, batch: Batch | None = None) -> None:
        with self._holding.borrowed(session_id, Folder.ARCHIVE, Folder.TRASH) as lease:
            undone = batch is not None and batch.reason == "undo"
            if lease.newer is None and lease.writer is not None and not undone:
                with disk.storage_errors(f"Cannot restore session {session_id}"):
                    self._number(lease)
                    lease.writer.append((Restored(at=self.now()),))
            with self._noted(lease, batch):
                self._relocate(lease, Folder.SESSIONS)
        self._index.changed(session_id)

    def purge(self, session_id: str) -> None:
        with self._holding.borrowed(session_id, Folder.TRASH) as lease:
            # All that is to follow is noted first: killed later, nobody would do it.
            with suppress(OSError, StorageError), self._scopes.locked():
                # Taking the lock rebuilds a missing scopes.jsonl, with this session's number.
                pass
            with suppress(StorageError):
                # The index forgets the words.
                self._index.maintenance.note_forgetting()
            with suppress(StorageError):
                # Doctor frees the pictures.
                self._attachments.expire(session_id)
            # A draft without a journal would be offered to a new session.
            Drafts(self.root).forget(session_id)
            path = self._folders.journal(session_id, Folder.TRASH)
            with disk.storage_errors(f"Cannot purge session {session_id}"):
                os.unlink(path)
                disk.sync_directory(path.parent)
                # While the id is locked: nobody uses it anew.
                left: StorageError | None = None
                try:
                    if self._attachments.used_by(session_id):
                        with disk.storage_errors("Cannot free the pictures"), self._scopes.locked():
                            self._attachments.forget(session_id)
                except StorageError as error:
                    left = error
                lease.lock.destroy()
        self._index.maintenance.forget()
        if left is not None:
            raise StorageError(
                f"Session {session_id} is purged, but its pictures are left: {left}."
                " sibyl-tui doctor --repair removes them."
            ) from left

    def moves(self) -> tuple[Move, ...]:
        return self._moves.read()

    # --- scopes

    def set_active(self, scope: str, session_id: str) -> None:
        checked_id(session_id)
        self._folders.prepare()
        with disk.storage_errors("Cannot record the active session"):
            self._scopes.choose(scope, session_id, self.now())

    def active(self, scope: str) -> str | None:
        kept = self._directory.active_sessions()(scope)
        if kept is not None:
            return kept
        # One that was imported as active, and never moved.
        chosen = self._scopes.table().chosen(scope)
        is_there = chosen and os.path.lexists(self._folders.journal(chosen, Folder.ARCHIVE))
        return chosen if is_there and all(move.id != chosen for move in self.moves()) else None

    # --- within

    def _note_pictures(self, session_id: str, pictures: Sequence[str]) -> None:
        """Note that a session uses pictures, before a message refers to them."""
        if pictures:
            with disk.storage_errors("Cannot keep the picture"), self._scopes.locked():
                self._attachments.note(session_id, pictures)

    def _noted_pictures(self, session_id: str, records: Iterable[Encoded]) -> Iterator[Encoded]:
        for record, line in records:
            self._note_pictures(session_id, used_pictures([record]))
            yield record, line

    def _publish(self, lease: FileLease, records: Sequence[Record], lines: Sequence[bytes]) -> None:
        beginning = lease.beginning
        if beginning is None:
            raise ReadOnly(lease.session_id)
        path = self._folders.journal(lease.session_id, Folder.SESSIONS)
        with self._scopes.locked():
            at = self.now()
            active = ScopeLine(beginning.scope, at, active=lease.session_id)
            lease.ordinal = self._scopes.give_number(lease.session_id, beginning.scope, at, active)
            header = msgspec.structs.replace(beginning, ordinal=lease.ordinal)
            own = encode(header)
            data, offsets = encode_lines((header, *records), 0, NO_OFFSETS, (own, *lines))
            disk.publish_or_replace(path, data, own=own)
        lease.writer, lease.written = JournalWriter(lease.session_id, path, offsets), True
        used = last_use(records)
        if used is not None:
            set_last_use(path, used)

    def _number(self, lease: FileLease) -> None:
        """Give a session its number if it was imported, and has none yet."""
        if lease.ordinal or not lease.scope:
            return
        with self._scopes.locked():
            lease.ordinal = self._scopes.give_number(lease.session_id, lease.scope, self.now())

    def _move(self, session_id: str, batch: Batch | None, target: Folder, *sources: Folder) -> None:
        with self._holding.borrowed(session_id, *sources) as lease, self._noted(lease, batch):
            self._relocate(lease, target)
        self._index.changed(session_id)

    @contextmanager
    def _noted(self, lease: FileLease, batch: Batch | None) -> Generator[None]:
        """Note the move of a session, also one that was only not synced."""
        source, batch = lease.folder, batch or new_batch("user")
        try:
            yield
        finally:
            if lease.folder is not source:
                target = lease.folder.value
                self._moves.add(batch.move(lease.session_id, source.value, target, self.now()))

    def _relocate(self, lease: FileLease, target: Folder) -> None:
        doing = f"Cannot move session {lease.session_id} to {target.value}"
        self._folders.require(target, doing)
        source = self._folders.journal(lease.session_id, lease.folder)
        path = self._folders.journal(lease.session_id, target)
        try:
            with disk.storage_errors(doing):
                self._folders.finish_move(lease.session_id, lease.folder)
                move_to_free_name(source, path)
        finally:
            # A move that was only not synced has happened all the same.
            if not os.path.lexists(source):
                lease.folder = target
                if lease.writer is not None:
                    lease.writer.path = path


@contextmanager
def _saving(session_id: str) -> Generator[None]:
    doing = f"Cannot save session {session_id}"
    try:
        with disk.storage_errors(doing):
            yield
    except DamagedRecord as error:
        raise StorageError(f"{doing}: a record is {error}") from error


@contextmanager
def _logged_save(lease: FileLease, count: int) -> Generator[None]:
    begun, before = time.perf_counter(), lease.size
    try:
        yield
    except (DamagedRecord, StorageError) as error:
        _log.info("save of %s failed: %s", lease.session_id, error_name(error))
        raise
    took, written = milliseconds_since(begun), lease.size - before
    records = plural(count, "record")
    _log.info("saved %s: %s, %d bytes, %d ms", lease.session_id, records, written, took)
