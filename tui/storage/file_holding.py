"""Leases of sessions in a data directory: who may write, and who reads meanwhile."""

import logging
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from tui.domain.journal.ids import SESSION_NUMBERS, new_session_id
from tui.domain.journal.records import VERSION
from tui.errors import NewerVersion, SessionBusy, SessionExists, SessionNotFound, StorageError
from tui.storage import locks
from tui.storage.beginning import Beginning
from tui.storage.directory import Directory
from tui.storage.disk import storage_errors
from tui.storage.file_lease import FileLease, HeldLeases
from tui.storage.folders import Folder, Folders
from tui.storage.open_journal import OpenJournal, opened
from tui.storage.writer import JournalWriter

_log = logging.getLogger(__name__)

_WHERE = {
    Folder.SESSIONS: "It is neither archived nor in the trash.",
    Folder.ARCHIVE: "It is archived.",
    Folder.TRASH: "It is in the trash.",
}


class FileHolding:
    """Leases the sessions of a data directory for one program, and opens their journals."""

    def __init__(
        self, folders: Folders, directory: Directory, clock: Callable[[], datetime]
    ) -> None:
        self.held = HeldLeases(clock)
        self._folders = folders
        self._directory = directory
        self._clock = clock

    def create(self, beginning: Beginning, session_id: str | None) -> FileLease:
        """Reserve a session under an id, or under a new one. Raises as ``SessionStore.create``."""
        self._folders.prepare()
        with storage_errors("Cannot reserve a session"):
            lease = self._reserve_new() if session_id is None else self._reserve(session_id)
        lease.beginning = beginning
        return self.held.keep(lease)

    def lease(self, session_id: str) -> FileLease:
        """Lease a session that is kept or archived. Raises as ``SessionStore.lease``."""
        lease = self._take(session_id, Folder.SESSIONS, Folder.ARCHIVE)
        if lease.newer is None:
            return self.held.keep(lease)
        lease.release()
        raise NewerVersion(session_id, lease.newer)

    @contextmanager
    def borrowed(self, session_id: str, *folders: Folder) -> Generator[FileLease]:
        """Lease a session for one operation, unless this program has a lease already."""
        held = self.held.find(session_id)
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
        with ExitStack() as stack:
            yield self._open(session_id, stack)

    def _reserve_new(self) -> FileLease:
        while True:
            session_id = new_session_id(self._clock(), _random_number())
            if self._folders.exists(session_id):
                continue
            try:
                return FileLease(session_id, locks.take(self._folders.lock(session_id), new=True))
            except FileExistsError:
                continue

    def _reserve(self, session_id: str) -> FileLease:
        lease = FileLease(session_id, _lock(self._folders, session_id))
        if not self._folders.exists(session_id):
            return lease
        lease.release()
        raise SessionExists(session_id)

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

    def _open(self, session_id: str, stack: ExitStack) -> OpenJournal:
        held = self._directory.held(session_id) and not self.held.unwritten(session_id)
        guess = partial(self._directory.guess, session_id)
        for _ in Folder:
            _, path = self._folders.find(session_id)
            try:
                return stack.enter_context(opened(path, session_id, guess, held=held))
            except StorageError as error:
                # Another program has moved it since: find it again.
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise
        raise SessionNotFound(session_id)


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


def _random_number() -> int:
    # As ``secrets`` does, without its import of OpenSSL: 5 ms.
    return int.from_bytes(os.urandom(8), "big") % SESSION_NUMBERS
