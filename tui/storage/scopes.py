"""``scopes.jsonl``: the numbers of sessions in their scopes, the active ones, and the pinned ones.

A pin is a setting in the journal; its line here lets a list begin with it without opening journals.
Append-only, under ``scopes.lock``. A number is never given twice, whatever becomes of its session.
A line without its session is ignored; a missing file is rebuilt from the headers.
"""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import msgspec

from tui.domain.journal.records import VERSION, SessionHeader, is_session_id
from tui.errors import StorageError
from tui.files import read_bounded
from tui.storage import locks
from tui.storage.disk import replace, storage_errors
from tui.storage.folders import Folder, Folders, JournalFile
from tui.storage.journal import opened
from tui.storage.json_lines import JsonLines

_FILE_BYTES = 64 * 1024 * 1024
_PROJECT = "project:"
_Ordinal = Annotated[int, msgspec.Meta(ge=1, le=10**9)]


class ScopeLine(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A line of the file: a new session's number, a change of the active session, or a pin."""

    scope: str
    at: str
    ordinal: _Ordinal | None = None
    id: str | None = None
    active: str | None = None
    pinned: bool | None = None


_NOTHING = ScopeLine(scope="", at="")
"""The line of a file without numbers: an empty file counts as missing."""


class ScopeNumber(msgspec.Struct, frozen=True, gc=False):
    """A session's scope and its number there."""

    scope: str
    ordinal: int


_NOWHERE = ScopeNumber("", 0)


class ScopeTable(msgspec.Struct, frozen=True):
    """The contents of the file at one moment; ids are validated when they are used."""

    places: Mapping[str, ScopeNumber] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    highest: Mapping[str, int] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    active: Mapping[str, str] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    pinned: frozenset[str] = frozenset()

    def with_ordinal(self, scope: str, ordinal: int) -> list[str]:
        """Find the ids with this number; more than one only in a damaged file."""
        wanted = ScopeNumber(scope, ordinal)
        return [key for key, place in self.places.items() if place == wanted and is_session_id(key)]

    def chosen(self, scope: str) -> str | None:
        """Get the session of a scope that became active last."""
        session_id = self.active.get(scope)
        return session_id if session_id is not None and is_session_id(session_id) else None


LINES = JsonLines(msgspec.json.Decoder(ScopeLine))
_Stamp = tuple[int, int, int]


class Scopes:
    """A cache of the file, read again only when it has changed; journals' headers replace it."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._path = folders.scopes
        self._table = ScopeTable()
        self._stamp: _Stamp | None = None
        self._lines: list[ScopeLine] = []
        self._lines_at: tuple[int, ...] = ()
        """When the folders had changed as the headers were read."""

    def table(self) -> ScopeTable:
        """Read the file if it has changed; without one, the headers."""
        with storage_errors(f"Cannot read {self._path}"):
            stamp = self._current_stamp()
            if stamp is None:
                return fold_lines(self._headers())
            if stamp != self._stamp:
                self._table = self._read()
                self._stamp = stamp
        return self._table

    def guess(self, session_id: str) -> SessionHeader:
        """Make up a damaged header from the session's line."""
        return unknown_header(session_id, self.table().places.get(session_id, _NOWHERE))

    def _headers(self) -> list[ScopeLine]:
        """Read the headers, once a journal has come or gone: a line for each numbered session."""
        changed = tuple(map(self._folders.changed, Folder))
        if changed != self._lines_at:
            headers = [read_header(self._folders, each) for each in self._folders.scan(*Folder)]
            # An imported session has no number yet.
            known = [header for header in headers if header.scope and header.ordinal]
            self._lines = [
                ScopeLine(header.scope, header.created_at, header.ordinal, header.id)
                for header in sorted(known, key=lambda each: (each.created_at, each.ordinal))
            ]
            self._lines_at = changed
        return self._lines

    def _read(self) -> ScopeTable:
        try:
            return fold_lines(LINES.decoded_whole(read_bounded(self._path, _FILE_BYTES)))
        except OSError:
            # An unreadable file, a directory or a link hides no session.
            return fold_lines(self._headers())

    @contextmanager
    def locked(self) -> Generator[None]:
        """Lock the file against other writers; rebuild it if it is missing."""
        with locks.patiently(self._folders.scopes_lock, self._folders.scopes_lock):
            if self._current_stamp() is None and (lines := self._headers()):
                replace(self._path, LINES.encoded(lines))
            yield

    def ensure(self) -> None:
        """Write the file if it is missing: without it, each list reads all headers."""
        if self._current_stamp() is not None:
            return
        with self.locked():
            if self._current_stamp() is None:
                self.add(_NOTHING)

    def give_number(self, session_id: str, scope: str, at: str, *further: ScopeLine) -> int:
        """Give a session its number, or find the one that an earlier attempt gave it.

        ``further`` lines are written with a new one. The caller holds the lock.
        """
        table = self.table()
        place = table.places.get(session_id)
        if place is not None and place.scope == scope:
            return place.ordinal
        ordinal = table.highest.get(scope, 0) + 1
        self.add(ScopeLine(scope, at, ordinal, session_id), *further)
        return ordinal

    def take_over(self, header: SessionHeader, at: str, *, active: bool) -> SessionHeader:
        """Take over the number that a session had in its scope, and its being active, if free."""
        if not header.ordinal and not active:
            return header
        with self.locked():
            table = self.table()
            owners = set(table.with_ordinal(header.scope, header.ordinal)) - {header.id}
            header = msgspec.structs.replace(header, ordinal=0 if owners else header.ordinal)
            lines: list[ScopeLine] = []
            if header.ordinal and header.id not in table.places:
                lines.append(ScopeLine(header.scope, at, header.ordinal, header.id))
            if active and table.chosen(header.scope) is None:
                lines.append(ScopeLine(header.scope, at, active=header.id))
            if lines:
                self.add(*lines)
        return header

    def choose(self, scope: str, session_id: str, at: str) -> None:
        """Make a session the active one of a scope."""
        with self.locked():
            if self.table().active.get(scope) != session_id:
                self.add(ScopeLine(scope, at, active=session_id))

    def pin(self, session_id: str, at: str, *, pinned: bool) -> None:
        """Note for lists that a session was pinned or unpinned."""
        table = self.table()
        if pinned == (session_id in table.pinned):
            return
        scope = table.places[session_id].scope if session_id in table.places else ""
        with self.locked():
            self.add(ScopeLine(scope, at, id=session_id, pinned=pinned))

    def add(self, *lines: ScopeLine) -> None:
        """Append lines durably. The caller holds the lock."""
        LINES.append(self._path, lines)

    def _current_stamp(self) -> _Stamp | None:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return None
        # An empty file counts as missing: a power cut can keep the name and lose the data.
        if status.st_size == 0:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


def fold_lines(lines: Iterable[ScopeLine]) -> ScopeTable:
    """Fold lines in their order: the last one about a session or scope counts."""
    places: dict[str, ScopeNumber] = {}
    highest: dict[str, int] = {}
    active: dict[str, str] = {}
    pinned: dict[str, bool] = {}
    for line in lines:
        if line.ordinal is not None and line.id is not None:
            places[line.id] = ScopeNumber(line.scope, line.ordinal)
            if line.ordinal > highest.get(line.scope, 0):
                highest[line.scope] = line.ordinal
        if line.active is not None:
            active[line.scope] = line.active
        if line.pinned is not None and line.id is not None:
            pinned[line.id] = line.pinned
    kept = frozenset(session_id for session_id, is_pinned in pinned.items() if is_pinned)
    return ScopeTable(places, highest, active, kept)


def read_header(folders: Folders, file: JournalFile) -> SessionHeader:
    """Read the header of a session, or make one up."""
    unknown = partial(unknown_header, file.session_id)
    path = folders.journal(file.session_id, file.folder)
    try:
        with opened(path, file.session_id, unknown, held=False) as journal:
            return journal.header()
    except StorageError:
        return unknown()


def unknown_header(session_id: str, place: ScopeNumber = _NOWHERE) -> SessionHeader:
    """Make a header for a session whose own cannot be read."""
    _, is_project, path = place.scope.partition(_PROJECT)
    return SessionHeader(
        version=VERSION,
        id=session_id,
        created_at="",
        scope=place.scope,
        ordinal=place.ordinal,
        project_path=path if is_project else "",
        model="",
    )


def damaged_scopes(path: Path) -> int:
    """Count the lines that cannot be decoded. Raises ``OSError``."""
    return LINES.damaged(read_bounded(path, _FILE_BYTES))
