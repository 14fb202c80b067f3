"""Leases of sessions in a data directory: who may write, and who reads meanwhile."""

import logging
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from tui.domain.journal.records import SESSION_NUMBERS, VERSION, SessionHeader, new_session_id
from tui.errors import (
    NewerVersion,
    ReadOnly,
    SessionBusy,
    SessionExists,
    SessionNotFound,
    StorageError,
)
from tui.storage import locks
from tui.storage.disk import storage_errors
from tui.storage.folders import Folder, Folders
from tui.storage.journal import OpenJournal, opened
from tui.storage.protocol import Lease
from tui.storage.scopes import Scopes
from tui.storage.writer import JournalWriter

_log = logging.getLogger(__name__)

_WHERE = {
    Folder.SESSIONS: "It is neither archived nor in the trash.",
    Folder.ARCHIVE: "It is archived.",
    Folder.TRASH: "It is in the trash.",
}


class FileLease(msgspec.Struct):
    """A session's lock, and the state of its journal.

    ``beginning`` is the header of one that was not written to, ``newer`` the version of a journal
    that is too new to append to; ``unmarked_restore`` is true while an archived session was moved
    back without a ``Restored`` record.
    """

    session_id: str
    lock: locks.Lock
    folder: Folder = Folder.SESSIONS
    scope: str = ""
    ordinal: int = 0
    writer: JournalWriter | None = None
    beginning: SessionHeader | None = None
    newer: int | None = None
    unmarked_restore: bool = False
    written: bool = False

    def __post_init__(self) -> None:
        _log.info("lease of %s taken", self.session_id)

    @property
    def size(self) -> int:
        """The bytes of the journal that are on disk."""
        return self.writer.size if self.writer is not None else 0

    def release(self) -> None:
        if self.lock.held:
            _log.info("lease of %s released", self.session_id)
        self.lock.release()


class FileHolding:
    """Leases the sessions of a data directory for one program, and opens their journals.

    Threads may use it at once.
    """

    def __init__(self, folders: Folders, scopes: Scopes, clock: Callable[[], datetime]) -> None:
        self._folders = folders
        self._scopes = scopes
        self._clock = clock
        self._leases: dict[str, FileLease] = {}
        self._lock = threading.Lock()

    def create(self, header: SessionHeader) -> FileLease:
        """Reserve a session under its id, or under a new one. Raises as ``SessionStore.create``."""
        self._folders.prepare()
        with storage_errors("Cannot reserve a session"):
            if header.id:
                lease = FileLease(header.id, _lock(self._folders, header.id))
                if self._folders.exists(header.id):
                    lease.release()
                    raise SessionExists(header.id)
            else:
                lease = self._reserve_new()
        lease.beginning = msgspec.structs.replace(header, id=lease.session_id)
        return self._keep(lease)

    def lease(self, session_id: str) -> FileLease:
        """Lease a session that is kept or archived. Raises as ``SessionStore.lease``."""
        lease = self._take(session_id, Folder.SESSIONS, Folder.ARCHIVE)
        if lease.newer is None:
            return self._keep(lease)
        lease.release()
        raise NewerVersion(session_id, lease.newer)

    def own(self, lease: Lease) -> FileLease:
        """Check that a lease is one of these and held. Raises ``ReadOnly``."""
        held = self._held(lease.session_id)
        if held is None or held is not lease:
            raise ReadOnly(lease.session_id)
        return held

    def _held(self, session_id: str) -> FileLease | None:
        """Find this program's lease on a session, if it holds one."""
        lease = self._leases.get(session_id)
        return lease if lease is not None and lease.lock.held else None

    def _keep(self, lease: FileLease) -> FileLease:
        """Register a lease, and sign its lock."""
        lease.lock.note(self._clock())
        with self._lock:
            alive = {name: other for name, other in self._leases.items() if other.lock.held}
            self._leases = {**alive, lease.session_id: lease}
        return lease

    @contextmanager
    def borrowed(self, session_id: str, *folders: Folder) -> Generator[FileLease]:
        """Lease a session for one operation, unless this program has a lease already."""
        held = self._held(session_id)
        if held is not None:
            self._require(session_id, folders)
            yield held
            return
        lease = self._take(session_id, *folders)
        lease.lock.note(self._clock())
        try:
            yield lease
        finally:
            lease.release()

    @contextmanager
    def journal(self, session_id: str) -> Generator[OpenJournal]:
        """Open a journal to read it. Raises ``SessionNotFound``."""
        own = self._held(session_id)
        # An unfinished answer from before a lease under which nothing was written is nobody's.
        held = self._folders.is_held(session_id) and (own is None or own.written)
        guess = partial(self._scopes.guess, session_id)
        with ExitStack() as stack:
            for _ in Folder:
                _, path = self._folders.find(session_id)
                try:
                    journal = stack.enter_context(opened(path, session_id, guess, held=held))
                except StorageError as error:
                    # Another program has moved it since: find it again.
                    if not isinstance(error.__cause__, FileNotFoundError):
                        raise
                else:
                    yield journal
                    return
        raise SessionNotFound(session_id)

    def _reserve_new(self) -> FileLease:
        while True:
            # As ``secrets`` does, without its import of OpenSSL: 5 ms.
            number = int.from_bytes(os.urandom(8), "big") % SESSION_NUMBERS
            session_id = new_session_id(self._clock(), number)
            if self._folders.exists(session_id):
                continue
            try:
                return FileLease(session_id, locks.take(self._folders.lock(session_id), new=True))
            except FileExistsError:
                continue

    def _take(self, session_id: str, *folders: Folder) -> FileLease:
        """Lock a session in one of these folders, and read the end of its journal."""
        self._require(session_id, folders)
        self._folders.prepare()
        with storage_errors(f"Cannot open session {session_id}"):
            lease = FileLease(session_id, _lock(self._folders, session_id))
            try:
                # Again: it may have been moved while this program waited for the lock.
                lease.folder, path = self._require(session_id, folders)
                with suppress(OSError):
                    # Not fatal: the next move of the session tries again.
                    self._folders.finish_move(session_id, lease.folder)
                with self.journal(session_id) as journal:
                    end = journal.tail(0).session
                lease.writer = JournalWriter(session_id, path, end.offsets)
            except (OSError, StorageError):
                lease.release()
                raise
        lease.scope, lease.ordinal = end.header.scope, end.header.ordinal
        lease.newer = end.header.version if end.header.version > VERSION else None
        return lease

    def _require(self, session_id: str, folders: Sequence[Folder]) -> tuple[Folder, Path]:
        folder, path = self._folders.find(session_id)
        if folder not in folders:
            raise SessionNotFound(session_id, where=_WHERE[folder])
        return folder, path


@contextmanager
def locked(folders: Folders, session_id: str) -> Generator[None]:
    """Lock a session for one operation without a lease. Raises ``SessionBusy``.

    A repair leaves the unfinished files of locked sessions alone.
    """
    lock = _lock(folders, session_id)
    try:
        yield
    finally:
        # As a purge: without it, each operation would leave a file.
        lock.destroy()


def _lock(folders: Folders, session_id: str) -> locks.Lock:
    try:
        return locks.take(folders.lock(session_id))
    except locks.LockHeld as held:
        _log.info("lease of %s is held by process %d", session_id, held.holder.pid)
        raise SessionBusy(session_id, str(held.holder)) from held
