"""Maintenance of the index: creates, updates, rebuilds, empties it, and sets it aside."""

import os
import sqlite3
import time
from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tui.domain.json_text import ODD_VALUES
from tui.domain.timestamps import utc_now
from tui.errors import IndexBusy, StorageError
from tui.storage import locks
from tui.storage.disk import open_to_make, storage_errors
from tui.storage.folders import Folder, Folders
from tui.storage.index import database, ingest
from tui.storage.index.archive_list import Stamp, archive_stamp, is_listed, note_listed
from tui.storage.index.database import Unusable, unusable
from tui.storage.index.files import SEARCHED, JournalStat, look, scan
from tui.storage.protocol import Progress

FOLLOWED_HERE = 1024 * 1024
"""Bytes that a search indexes itself; more is left to a build."""

_FOLLOW_SECONDS = 0.1
_WAIT_SECONDS = 0.25
_ROUNDS = 3
_MENDED = frozenset({"missing", "older", "damaged"})
_CHANGING = Folder.SESSIONS, Folder.TRASH
_SEARCH = "a search"
_HARMLESS = frozenset({"locked", "out of reach"})


class _Seen(NamedTuple):
    """Journals and their rows; ``stamp`` is that of the archive, if all of it was looked at."""

    files: list[JournalStat]
    known: dict[str, ingest.IndexedJournal]
    stamp: Stamp | None = None

    @property
    def pending(self) -> ingest.Pending:
        """The journals that are not wholly indexed."""
        return ingest.unread(self.files, self.known)


class IndexMaintenance:
    """The writer of one index; a lock admits one program at a time.

    ``journals`` is the number of journals at the last full scan; ``is_behind`` is true if a build
    has more to do than the last ``follow`` did.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = Folders(root)
        self._path = root / database.NAME
        self._lock = root / "index.lock"
        self._forgetting = root / "index.forget"
        self.journals = 0
        self.is_behind = self._is_archive_behind = False

    @contextmanager
    def opened(self) -> Generator[sqlite3.Connection]:
        """Open the index for one search, created if missing or older. Raises ``Unusable``."""
        try:
            connection = database.connect(self._path)
        except Unusable as error:
            # A damaged one is reported first.
            if error.kind not in ("missing", "older"):
                raise
            with self._locked(0, _SEARCH) as held:
                if not held:
                    raise
                connection = self._usable()
        with closing(connection), as_unusable():
            yield connection

    def follow(
        self, connection: sqlite3.Connection, session_ids: Collection[str] | None = None
    ) -> ingest.Pending:
        """Bring the index up to date if that is little work; return the journals left over.

        With ``session_ids``, only these are looked at: a stat of ten thousand files takes long.
        """
        with self._locked(0, _SEARCH) as held:
            if held:
                pending = self._follow(connection, session_ids)
            else:
                pending = self._seen(connection, session_ids).pending
        self.is_behind = self._is_archive_behind or ingest.unread_bytes(pending) > FOLLOWED_HERE
        return pending

    def catch_up(self, session_id: str) -> None:
        """Add what was written to one session, if there is an index and that is little work."""
        with (
            suppress(Unusable, OSError),
            closing(database.connect(self._path)) as connection,
            as_unusable(connection),
        ):
            self.follow(connection, [session_id])

    def _seen(self, connection: sqlite3.Connection, session_ids: Collection[str] | None) -> _Seen:
        """Look at the journals, or at those of some sessions, and at their rows."""
        if session_ids is not None:
            files = look(self._folders, session_ids)
            return _Seen(files, ingest.known_sessions(connection, session_ids))
        # A listed archive needs no look at each file, and one that was listed may be too large for
        # that: a build does it then.
        listed = is_listed(connection, self._folders)
        if listed or (listed is not None and self._folders.is_large(Folder.ARCHIVE)):
            self._is_archive_behind = not listed
            files, known = scan(self._folders, _CHANGING), ingest.known_in(connection, _CHANGING)
            there = {file.session_id for file in files}
            archived = look(self._folders, known.keys() - there)
            restored = ingest.known_sessions(connection, there - known.keys())
            seen = _Seen([*files, *archived], known | restored)
        else:
            self._is_archive_behind = False
            seen = self._seen_all(connection)
        self.journals = len(seen.files)
        return seen

    def _seen_all(self, connection: sqlite3.Connection) -> _Seen:
        stamp = archive_stamp(self._folders)
        return _Seen(scan(self._folders), ingest.known_in(connection, tuple(Folder)), stamp)

    def _follow(
        self, connection: sqlite3.Connection, session_ids: Collection[str] | None
    ) -> ingest.Pending:
        deadline = time.monotonic() + _FOLLOW_SECONDS
        try:
            with as_unusable(connection):
                self._forget_if_asked(connection)
                pending = self._noted(connection, self._seen(connection, session_ids))
                if not pending or ingest.unread_bytes(pending) > FOLLOWED_HERE:
                    return pending
                for _ in ingest.Ingest(self._folders, connection).take(pending, deadline):
                    pass
        except Unusable as error:
            if error.kind not in _HARMLESS:
                raise
            return self._seen(connection, session_ids).pending
        files = [file for file, _ in pending]
        return ingest.unread(
            files, ingest.known_sessions(connection, [file.session_id for file in files])
        )

    def _noted(self, connection: sqlite3.Connection, seen: _Seen) -> ingest.Pending:
        ingest.Ingest(self._folders, connection).note(seen.files, seen.known)
        if seen.stamp is not None:
            note_listed(connection, seen.stamp, seen.files, seen.known)
        return seen.pending

    def check(self) -> None:
        """Set a damaged index aside, unless it is being written."""
        with self._locked(locks.PATIENCE, "a check") as held:
            if held:
                with suppress(Unusable, OSError):
                    if database.check(self._path) is not None:
                        database.set_aside(self._path)

    def build(self, builder: str, *, anew: bool = False) -> Iterator[Progress]:
        """Bring the index up to date, however long that takes; yields progress.

        Waits for another builder, and yields who that is; ``builder`` is what others wait for
        meanwhile. ``anew`` empties the index first. Raises ``StorageError`` if it fails.
        """
        while os.path.lexists(self._root):
            try:
                with self._alone(locks.PATIENCE, builder), self._built() as connection:
                    if anew:
                        database.clear(connection)
                    yield from self._build(connection)
            except IndexBusy as busy:
                yield Progress(0, 0, busy.builder)
                time.sleep(_WAIT_SECONDS)
            else:
                return

    def note_forgetting(self) -> None:
        """Mark the index to be emptied before the next write. Raises ``StorageError``."""
        if os.path.lexists(self._path):
            with storage_errors("Cannot remove a session from the search index"):
                os.close(open_to_make(self._forgetting, os.O_RDWR))

    def forget(self) -> None:
        """Empty the index, so that no purged words are left in it.

        If it is busy, the next writer does so first. Raises ``StorageError`` if not even a mark
        for that can be written.
        """
        if not os.path.lexists(self._path):
            return
        self.note_forgetting()
        with self._locked(locks.PATIENCE, "a purge") as held:
            if held:
                with suppress(StorageError), self._built() as connection:
                    self._forget_if_asked(connection)

    def _forget_if_asked(self, connection: sqlite3.Connection) -> None:
        if os.path.lexists(self._forgetting):
            database.clear(connection)
            database.remove_set_aside(self._path)
            os.unlink(self._forgetting)

    def set_aside(self) -> None:
        """Set a damaged index aside. Raises ``IndexBusy`` if it is being written, ``OSError``."""
        with self._alone(0, _SEARCH):
            database.set_aside(self._path)

    def _build(self, connection: sqlite3.Connection) -> Iterator[Progress]:
        follower = ingest.Ingest(self._folders, connection)
        for _ in range(_ROUNDS):
            self._forget_if_asked(connection)
            seen = self._seen_all(connection)
            pending = self._noted(connection, seen)
            total = sum(file.size for file in seen.files if file.folder in SEARCHED)
            before = total - ingest.unread_bytes(pending)
            yield Progress(before, total)
            if not pending:
                break
            with closing(follower.take(pending)) as parts:
                for read in parts:
                    yield Progress(min(before + read, total), total)
        connection.execute("pragma wal_checkpoint(truncate)")

    @contextmanager
    def _alone(self, patience: float, holder: str) -> Generator[None]:
        """Hold the lock, which names its holder. Raises ``IndexBusy``."""
        try:
            with storage_errors("The search index cannot be written"):
                lock = locks.take(self._lock, patience=patience)
        except locks.LockHeld as held:
            # One that has just taken it is not known yet.
            other, work = held.holder, held.holder.work or "a process"
            said = f"{work} ({other.process})" if other.pid else "another program"
            raise IndexBusy(said) from None
        try:
            lock.note(utc_now(), holder)
            yield
        finally:
            lock.release()

    @contextmanager
    def _built(self) -> Generator[sqlite3.Connection]:
        """Open the index for writing, made anew if need be. Raises ``StorageError``."""
        try:
            with (
                storage_errors("The search index cannot be built"),
                closing(self._usable()) as connection,
                as_unusable(connection),
            ):
                yield connection
        except Unusable as error:
            if error.kind == "damaged":
                with suppress(OSError):
                    database.set_aside(self._path)
            raise StorageError(f"The search index cannot be built: {error}") from error

    def _usable(self) -> sqlite3.Connection:
        """Open the index, or create an empty one in place of an unusable one."""
        try:
            return database.connect(self._path)
        except Unusable as error:
            if error.kind not in _MENDED:
                raise
            try:
                if error.kind == "damaged":
                    database.set_aside(self._path)
                else:
                    database.remove(self._path)
            except OSError as reason:
                raise Unusable("out of reach", os.strerror(reason.errno or 0)) from reason
            return database.create(self._path)

    @contextmanager
    def _locked(self, patience: float, holder: str) -> Generator[bool]:
        with ExitStack() as stack:
            try:
                stack.enter_context(self._alone(patience, holder))
            except StorageError:
                yield False
                return
            yield True


@contextmanager
def as_unusable(connection: sqlite3.Connection | None = None) -> Generator[None]:
    """Convert SQLite's errors to ``Unusable``, and roll back the connection."""
    try:
        yield
    except (sqlite3.Error, *ODD_VALUES) as error:
        # A changed row has values of any kind.
        if connection is not None and connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.rollback()
        raise unusable(error) from error
