"""The journals of a data directory as bytes, to copy them from or into another store."""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from tui.domain.moves import Move
from tui.domain.timestamps import format_utc, storable_ns
from tui.errors import SessionExists, SessionNotFound, StorageError
from tui.files import open_regular
from tui.storage import disk
from tui.storage.attachments import AttachmentFiles
from tui.storage.copyable import Numbers, SessionNumber, StoredJournal
from tui.storage.file_holding import locked
from tui.storage.folders import Folder, Folders, move_to_free_name
from tui.storage.index.lazy_index import LazyIndex
from tui.storage.journal import OpenJournal, opened
from tui.storage.journal_lines import reader_of, whole_end
from tui.storage.json_lines import MoveLog
from tui.storage.scopes import ScopeLine, ScopeNumber, Scopes, ScopeTable
from tui.storage.writer import set_last_use

_BLOCK_BYTES = 1024 * 1024
_NO_SESSION = ""
"""The id in a line that only raises the highest number."""


class JournalFiles:
    """The ``Journals`` of a store of files."""

    def __init__(
        self,
        folders: Folders,
        scopes: Scopes,
        index: LazyIndex,
        clock: Callable[[], datetime],
    ) -> None:
        self._folders = folders
        self._scopes = scopes
        self._index = index
        self._clock = clock
        self._attachments = AttachmentFiles(folders, clock)
        self._moves = MoveLog(folders.moves)

    # --- reading

    def sizes(self) -> Mapping[str, int]:
        files = self._folders.names(*Folder)
        return {file.session_id: self._size(file.session_id, file.folder) for file in files}

    def find(self, session_id: str) -> StoredJournal:
        with self._opened(session_id) as (folder, descriptor):
            status, read = os.fstat(descriptor), reader_of(descriptor)
            held = self._folders.is_held(session_id)
            has_grown = os.fstat(descriptor).st_size != status.st_size
            # While its holder writes, a last line without newline may be half written.
            size = whole_end(read, status.st_size) if held or has_grown else status.st_size
            guess = partial(self._scopes.guess, session_id)
            header = OpenJournal(read, size, session_id, guess, held=held).header()
        return StoredJournal(header, folder.value, size, storable_ns(status.st_mtime_ns))

    def read(self, session_id: str, end: int) -> Iterator[bytes]:
        with self._opened(session_id) as (_, descriptor):
            position = 0
            while position < end:
                block = os.pread(descriptor, min(_BLOCK_BYTES, end - position), position)
                if not block:
                    raise StorageError(f"Session {session_id} became shorter while it was read.")
                position += len(block)
                yield block

    def numbers(self) -> Numbers:
        table = self._scopes.table()
        given = [
            SessionNumber(place.scope, place.ordinal, session_id)
            for session_id, place in table.places.items()
        ]
        # Those that the table lacks are in the journals.
        for session_id in [each for each in self.sizes() if each not in table.places]:
            with suppress(StorageError):
                header = self.find(session_id).header
                if header.ordinal:
                    given.append(SessionNumber(header.scope, header.ordinal, session_id))
        return Numbers(tuple(given), table.highest, table.active)

    def pictures(self) -> Mapping[str, Collection[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for sha256, session_ids in self._attachments.uses().items():
            for session_id in session_ids:
                found[session_id].append(sha256)
        return found

    # --- writing

    def add(self, journal: StoredJournal, blocks: Iterable[bytes]) -> None:
        folder = Folder(journal.place)
        path = self._folders.journal(journal.id, folder)
        doing = f"Cannot copy session {journal.id}"
        self._folders.prepare()
        self._folders.require(folder, doing)
        with disk.storage_errors(doing), locked(self._folders, journal.id):
            if self._folders.exists(journal.id):
                raise SessionExists(journal.id)
            self._scopes.ensure()
            try:
                disk.place_blocks(path, blocks, lambda: journal.used_ns)
                disk.sync_directory(path.parent)
            except FileExistsError as error:
                raise SessionExists(journal.id) from error
            self._note_pin(journal.id)
        self._index.changed(journal.id)

    def extend(self, journal: StoredJournal, begin: int, blocks: Iterable[bytes]) -> None:
        doing = f"Cannot copy session {journal.id}"
        folder = Folder(journal.place)
        self._folders.find(journal.id)
        self._folders.prepare()
        self._folders.require(folder, doing)
        with disk.storage_errors(doing), locked(self._folders, journal.id):
            found, path = self._folders.find(journal.id)
            _append(path, begin, blocks)
            set_last_use(path, journal.used_ns)
            self._note_pin(journal.id)
            if found is not folder:
                move_to_free_name(path, self._folders.journal(journal.id, folder))
            self._folders.note_growth(folder)
        self._index.changed(journal.id)

    def add_numbers(self, new: Numbers) -> None:
        self._folders.prepare()
        with disk.storage_errors("Cannot keep the numbers of sessions"), self._scopes.locked():
            lines = list(_lines(self._scopes.table(), new, format_utc(self._clock())))
            if lines:
                self._scopes.add(*lines)

    def use_pictures(self, session_id: str, used: Sequence[str]) -> Sequence[str]:
        self._folders.prepare()
        with disk.storage_errors("Cannot keep the picture"), self._scopes.locked():
            self._attachments.note(session_id, used)
        return [sha256 for sha256 in used if not self._attachments.is_intact(sha256)]

    def add_moves(self, moves: Sequence[Move]) -> None:
        self._folders.prepare()
        self._moves.add(*moves)

    # --- within

    def _size(self, session_id: str, folder: Folder) -> int:
        try:
            return os.lstat(self._folders.journal(session_id, folder)).st_size
        except OSError:
            # Moved or purged meanwhile.
            return 0

    @contextmanager
    def _opened(self, session_id: str) -> Generator[tuple[Folder, int]]:
        for _ in Folder:
            folder, path = self._folders.find(session_id)
            doing = f"Cannot read session {session_id}"
            with disk.storage_errors(doing), disk.odd_values(session_id):
                try:
                    descriptor = disk.open_to_read(path)
                except FileNotFoundError:
                    # Another program has moved it since: find it again.
                    continue
                try:
                    yield folder, descriptor
                finally:
                    os.close(descriptor)
            return
        raise SessionNotFound(session_id)

    def _note_pin(self, session_id: str) -> None:
        """Note for lists whether a session is pinned. The caller has locked it."""
        guess = partial(self._scopes.guess, session_id)
        _, path = self._folders.find(session_id)
        # An unreadable session has no pin.
        with suppress(StorageError), opened(path, session_id, guess, held=False) as journal:
            end = journal.tail(0).session
            pinned = end.settings.pinned
            if pinned == (session_id in self._scopes.table().pinned):
                return
            at = format_utc(self._clock())
            with self._scopes.locked():
                self._scopes.add(ScopeLine(end.header.scope, at, id=session_id, pinned=pinned))


def _append(path: Path, begin: int, blocks: Iterable[bytes]) -> None:
    descriptor = open_regular(path, os.O_RDWR | os.O_APPEND)
    try:
        if os.fstat(descriptor).st_size != begin:
            raise StorageError(f"{path} was changed meanwhile.")
        try:
            for block in blocks:
                disk.write_whole(descriptor, block)
            disk.sync_file(descriptor)
        except BaseException:
            disk.cut_back(descriptor, begin)
            raise
    finally:
        os.close(descriptor)


def _lines(table: ScopeTable, new: Numbers, at: str) -> Iterator[ScopeLine]:
    """Make the lines that the table of numbers lacks."""
    written = dict(table.highest)
    highest = {
        **written,
        **{key: max(written.get(key, 0), it) for key, it in new.every_highest.items()},
    }
    taken = set(table.places.values())
    for number in new.given:
        scope, ordinal = number.scope, number.ordinal
        if number.id in table.places:
            continue
        if ScopeNumber(scope, ordinal) in taken:
            ordinal = highest[scope] = highest.get(scope, 0) + 1
        taken.add(ScopeNumber(scope, ordinal))
        written[scope] = max(written.get(scope, 0), ordinal)
        yield ScopeLine(scope, at, ordinal, number.id)
    for scope, ordinal in highest.items():
        if ordinal > written.get(scope, 0):
            yield ScopeLine(scope, at, ordinal, _NO_SESSION)
    for scope, session_id in new.active.items():
        if table.chosen(scope) is None:
            yield ScopeLine(scope, at, active=session_id)
