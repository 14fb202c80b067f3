"""The plan of an import: the sources that are new or have changed, and their sessions.

Sources are found in their usual places, and below paths that a user has named.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from tui.domain.imports import FoundCounts
from tui.domain.timestamps import MILLISECOND_NS, from_milliseconds, parse_utc
from tui.engine.imports.history import FoundSource, History, SessionIds
from tui.engine.imports.report import Failure, Pace, Report
from tui.errors import SessionNotFound
from tui.files import read_beginning
from tui.importers import databases
from tui.importers.archives import BROKEN, DEPTH, ZIP, Archive, remove_left_behind
from tui.importers.folders import is_so
from tui.importers.protocol import Heading, Ledger, Places, Reader, Source
from tui.importers.readers import readers as all_readers
from tui.importers.stopping import check, checked, stopped_by
from tui.logs import error_name
from tui.storage.protocol import FINDABLE, SessionStore
from tui.storage.rescue import is_session_file

SOURCE_ERRORS = (OSError, ValueError, RecursionError, sqlite3.Error, *BROKEN)
"""Errors of a source that cannot be read, which end its reading and no more."""
_Each = TypeVar("_Each")
_log = logging.getLogger(__name__)
_HEAD_BYTES = 4096
_OWN = b'{"type":"session"'
OWN_FILE = "It is a session of sibyl-tui. Name the file itself to import it."
_DAMAGED = "The archive is damaged, or packed in an unknown way."
_TOO_DEEP = "It is an archive within archives. Unpack it first."
_PACKED = (ZIP, databases.MAGIC, b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""Begin files that are no text, whatever text is seen in them: also those of zstd and gzip."""


class SourceFailed(Exception):
    """A source could not be read any further."""


def guarded(items: Iterable[_Each]) -> Iterator[_Each]:
    """Iterate over what a reader reads; tells its errors from those of a store.

    Raises ``SourceFailed``.
    """
    try:
        yield from items
    except SOURCE_ERRORS as error:
        _log.info("reading failed: %s", error_name(error))
        raise SourceFailed(_reason(error)) from error


def _reason(error: Exception) -> str:
    told = error.strerror if isinstance(error, OSError) else None
    return told or str(error) or type(error).__name__


def found_in(reader: Reader, places: Places, unread: list[Failure]) -> Iterator[Source]:
    """Find the sources of a program in their usual places.

    Places that cannot be looked at are added to ``unread``.
    """
    places.unread.clear()
    errors = list[Exception]()
    try:
        yield from reader.find(places)
    except SOURCE_ERRORS as error:
        errors.append(error)
    for error in (*errors, *places.unread):
        name = error.filename if isinstance(error, OSError) else None
        unread.append(Failure(Path(name or places.home), _reason(error)))


def found_below(
    path: Path, readers: Iterable[Reader], unread: list[Failure], within: Archive | None = None
) -> Iterator[tuple[Reader, Source]]:
    """Find the sources that a path leads to: it is one, or a folder with some, or a whole home.

    What cannot be looked at is added to ``unread``. ``within`` is the archive of these.
    """
    readers = list(readers)
    # Path.is_dir raises for a name that is too long.
    if not os.path.isdir(path):  # noqa: PTH112
        if not is_session_file(path):
            yield from _recognised(path, readers, unread, within)
        return
    known: set[Path] = set()
    for reader in readers:
        # What cannot be looked at is told of the folders, once for all programs.
        for source in found_in(reader, Places(home=path, environment={}), []):
            known.add(source.path)
            yield reader, source
    owners: dict[Path, _Owner] = {}

    def tell(error: OSError) -> None:
        unread.append(Failure(Path(error.filename), _reason(error)))

    for name, folders, _ in os.walk(path, onerror=tell):
        check()
        folders.sort()
        folder = Path(name)
        if known.isdisjoint((folder, *folder.parents)):
            yield from _found_in_folder(folder, readers, owners, known, unread, within)


class _Owner(NamedTuple):
    """The program to which a folder is one conversation, and the files that it reads there."""

    reader: Reader
    parts: frozenset[Path]


def _found_in_folder(
    folder: Path,
    readers: list[Reader],
    owners: dict[Path, _Owner],
    known: set[Path],
    unread: list[Failure],
    within: Archive | None,
) -> Iterator[tuple[Reader, Source]]:
    owner: _Owner | None = None
    # Of a folder without rights, its files tell.
    with suppress(OSError):
        if reader := _reader_of(folder, b"", readers):
            owner = _Owner(reader, frozenset(reader.parts(folder)))
    if owner is not None:
        yield owner.reader, Source.of(folder, *owner.parts)
    owner = owner or owners.get(folder.parent)
    if owner is not None:
        owners[folder] = owner
    for file in _files_in(folder, unread):
        if file in known or (owner is not None and file in owner.parts):
            continue
        for reader, source in _recognised(file, readers, unread, within):
            # What else its program has there is none of its conversations.
            if owner is None or reader.program != owner.reader.program:
                yield reader, source


def as_found(reader: Reader, source: Source) -> FoundSource:
    """Look at a source, to know later if it was changed. Raises ``OSError``."""
    status = (source.archive.file if source.archive else source.path).stat()
    return FoundSource(
        reader.program,
        str(source.shown),
        status.st_dev,
        status.st_ino,
        source.size,
        source.changed,
    )


def _recognised(
    path: Path, readers: list[Reader], unread: list[Failure], within: Archive | None
) -> Iterator[tuple[Reader, Source]]:
    check()
    try:
        head, _ = read_beginning(path, _HEAD_BYTES, follow=True)
        if head.startswith(_OWN) and is_session_file(path):
            unread.append(Failure(path, OWN_FILE))
            return
        if head.startswith(ZIP):
            yield from _found_in_archive(path, readers, unread, within)
        elif reader := _reader_of(path, head, readers):
            is_database = head.startswith(databases.MAGIC)
            yield (
                reader,
                databases.source(path) if is_database else Source.of(path, *reader.parts(path)),
            )
    except (OSError, sqlite3.Error) as error:
        unread.append(Failure(path, _reason(error)))
    except BROKEN:
        unread.append(Failure(path, _DAMAGED))
    except (ValueError, RecursionError):
        return


def _reader_of(path: Path, head: bytes, readers: list[Reader]) -> Reader | None:
    # What may be seen of texts in a database is not its beginning.
    head = next((mark for mark in _PACKED if head.startswith(mark)), head)
    return next((each for each in readers if each.recognises(path, head)), None)


def _found_in_archive(
    path: Path, readers: list[Reader], unread: list[Failure], within: Archive | None
) -> Iterator[tuple[Reader, Source]]:
    if within is not None and within.depth >= DEPTH:
        unread.append(Failure(path, _TOO_DEEP))
        return
    archive = Archive(path, within)
    failures: list[Failure] = []
    for reader, source in found_below(archive.folder, readers, failures, archive):
        yield reader, source if source.archive else replace(source, archive=archive)
    for reason in dict.fromkeys(archive.refused.values()):
        refused = [name for name, each in archive.refused.items() if each == reason]
        more = f" So do {len(refused) - 1} more of its files." if len(refused) > 1 else ""
        failures.append(Failure(archive.folder / refused[0].lstrip("/\\"), reason + more))
    unread.extend(replace(each, path=archive.shown(each.path)) for each in failures)


def _files_in(folder: Path, unread: list[Failure]) -> list[Path]:
    errors: list[OSError] = []
    files: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            files = sorted(Path(entry) for entry in entries if is_so(entry.is_file, errors))
    except OSError as error:
        # It was there when its parent was listed.
        errors.append(error)
    unread.extend(Failure(Path(error.filename), _reason(error)) for error in errors)
    return files


_DAY = 24 * 60 * 60
_SOON_DAYS = 7
_COUNTED_BYTES = 64 * 1024 * 1024
"""A source of several conversations that is larger is not read to count them."""
_SESSIONS = 2000
"""The sessions among whose projects programs are looked for that keep their files there."""
_LARGE = (
    "It is a database of more than 1 GiB, which is copied to be read. "
    "To import it: sibyl-tui import --large PATH"
)


class Wanted(msgspec.Struct, frozen=True):
    """The sources that a user wants imported."""

    places: Places | None = None
    """Where to look; ``None`` for ``paths`` alone."""
    paths: tuple[Path, ...] = ()
    programs: frozenset[str] | None = None
    """Only these; ``None`` for all."""
    since: datetime | None = None
    """Only what was changed since then."""
    again: bool = False
    """True if also sessions that were deleted here are wanted."""
    counted: bool = True
    """True if the sessions of exports and databases are counted, which reads them once more."""
    large: bool = False
    """True if also large databases are wanted, which are copied to be read."""
    tried: Collection[FoundSource] = frozenset()
    """Not wanted as long as they are as they were found then."""


class PlannedSource(msgspec.Struct, frozen=True):
    """A source that is to be read."""

    reader: Reader
    source: Source
    found: FoundSource


class ProgramPlan(msgspec.Struct, frozen=True):
    """The part of a plan that is about one program."""

    program: str
    title: str
    sources: tuple[PlannedSource, ...]
    """To be read, the oldest first: what was said last is then the last of a session."""
    files: int
    """All that were found."""
    new_files: int
    """Never imported before."""
    unchanged: int
    """The number of sources that were imported before and are as they were."""
    sessions: int | None
    """All that are in its sources; ``None`` where only reading all of them would tell."""
    new_sessions: int | None
    gone: int
    """Sessions that the user has deleted here, and that are therefore not imported again."""
    expiring: int = 0
    """Sources that their program deletes by itself within a week."""

    @property
    def bytes(self) -> int:
        """To be read."""
        return sum(each.source.size for each in self.sources)

    @property
    def changed_files(self) -> int:
        """The number of sources that were imported before and are to be read again."""
        return len(self.sources) - self.new_files

    @property
    def counts(self) -> FoundCounts:
        """The counts as they are shown: sessions where they are known, else files."""
        if self.sessions is not None and self.new_sessions is not None:
            found = FoundCounts("session", self.sessions, self.new_sessions)
        else:
            found = FoundCounts("file", self.files, self.new_files, self.changed_files)
        return msgspec.structs.replace(found, deleted=self.gone, bytes=self.bytes)

    @property
    def warning(self) -> str:
        """Say how many sessions the program deletes soon; ``""`` if it deletes none."""
        if not self.expiring:
            return ""
        return f"{self.title} deletes {self.expiring} of these sessions within a week"


class Plan(msgspec.Struct, frozen=True):
    """A plan of an import."""

    programs: tuple[ProgramPlan, ...]
    """Those of which something was found."""
    unknown: tuple[Path, ...]
    """Named paths where no program's files were found."""
    unread: tuple[Failure, ...] = ()
    """Files and folders below named paths that could not be looked at."""
    since: datetime | None = None
    again: bool = False
    looked_for: tuple[str, ...] = ()
    """The titles of the programs that may be found; exports only where nothing else was wanted."""

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.programs)

    @property
    def sources(self) -> int:
        """The number of sources to be read."""
        return sum(len(each.sources) for each in self.programs)

    def only(self, programs: Collection[str]) -> "Plan":
        """The plan for some of the programs."""
        chosen = tuple(each for each in self.programs if each.program in programs)
        return msgspec.structs.replace(self, programs=chosen)


def make_plan(
    store: SessionStore,
    wanted: Wanted,
    report: Report = lambda _: True,
    readers: Sequence[Reader] | None = None,
) -> Plan:
    """Find the sources, and compare them with what was imported before. Blocks.

    Raises ``StorageError`` if the log of imports cannot be read, and ``Stopped``.
    """
    readers = all_readers() if readers is None else readers
    chosen = [
        each for each in readers if wanted.programs is None or each.program in wanted.programs
    ]
    remove_left_behind()
    history = History(store)
    counts = {reader.program: _Count(history, wanted, reader) for reader in chosen}
    unknown: list[Path] = []
    unread: list[Failure] = []
    pace = Pace(report, 0)
    with stopped_by(pace.step):
        for reader, source in _sources(store, chosen, readers, wanted, unknown, unread):
            if not wanted.large and _is_large(source):
                unread.append(Failure(source.shown, _LARGE))
                continue
            pace.files += counts[reader.program].add(source)
            pace.begin(reader.title, 0)
    plans = (count.plan() for count in counts.values())
    programs = tuple(plan for plan in plans if plan.sources or plan.unchanged)
    told = tuple(each for each in dict.fromkeys(unread) if not _is_here(store, each))
    titles = [each.title for each in chosen if not each.exported] or [each.title for each in chosen]
    return Plan(programs, tuple(unknown), told, wanted.since, wanted.again, tuple(titles))


def _is_large(source: Source) -> bool:
    with suppress(OSError):
        return source.size > databases.COPIED_BYTES and databases.is_database(source.path)
    return False


def _is_here(store: SessionStore, failure: Failure) -> bool:
    """Tell whether a file is left out that is a session of this store, or a copy of one."""
    with suppress(SessionNotFound):
        return failure.reason == OWN_FILE and bool(store.stamp(failure.path.stem))
    return False


def _sources(
    store: SessionStore,
    chosen: Sequence[Reader],
    readers: Sequence[Reader],
    wanted: Wanted,
    unknown: list[Path],
    unread: list[Failure],
) -> Iterator[tuple[Reader, Source]]:
    if wanted.places is not None:
        # The directories of the sessions that were used last.
        paths = (each.project_path for each in store.list(FINDABLE, None, _SESSIONS).entries)
        projects = map(Path, dict.fromkeys(path for path in paths if path.startswith("/")))
        places = msgspec.structs.replace(wanted.places, projects=tuple(projects))
        for reader in chosen:
            for source in found_in(reader, places, unread):
                yield reader, source
    # Only all readers tell whose a file is; of those that take the same, one is chosen.
    kin = {reader.kin: reader for reader in reversed(chosen) if reader.kin}
    owners = [each if each in chosen else kin.get(each.kin, each) for each in readers]
    for path in wanted.paths:
        found, before = False, len(unread)
        for reader, source in found_below(path.absolute(), owners, unread):
            if reader in chosen:
                found = True
                yield reader, source
        if not found and len(unread) == before:
            unknown.append(path)


def ended_before(heading: Heading, since: datetime | None) -> bool:
    """Tell whether a conversation is known to have ended before a time."""
    ended = parse_utc(heading.updated_at)
    return since is not None and ended is not None and ended < since


class _Count:
    """Counts the sources of one program, and their sessions where a source may have several."""

    def __init__(self, history: History, wanted: Wanted, reader: Reader) -> None:
        self._history = history
        self._wanted = wanted
        self._reader = reader
        self._seen: set[str] = set()
        self._planned: dict[str, PlannedSource] = {}
        self._unchanged = self._new_files = 0
        self._sessions: set[str] = set()
        self._ids = SessionIds(history)
        self._gone: set[str] = set()
        self._is_counted = reader.several
        self._expiring = 0
        days = reader.deletion.days(wanted.places) if reader.deletion and wanted.places else 0
        self._kept_from = time.time() - (days - _SOON_DAYS) * _DAY if days else 0
        """Sources that were changed before are deleted soon; 0 if none are."""

    def add(self, source: Source) -> int:
        """Count a source, once, if it is there; gives the number of sources that it added."""
        before, since = len(self._seen), self._wanted.since
        changed = from_milliseconds(source.changed // MILLISECOND_NS)
        is_before = since is not None and changed is not None and changed < since
        if str(source.shown) not in self._seen and not is_before:
            with suppress(OSError):
                self._add(source, as_found(self._reader, source))
        return len(self._seen) - before

    def _add(self, source: Source, found: FoundSource) -> None:
        self._seen.add(found.path)
        if (deletion := self._reader.deletion) and source.changed / 1e9 < self._kept_from:
            self._expiring += source.path.match(deletion.pattern)
        imported = self._history.sessions(found)
        known = set(imported or ())
        gone = set(filter(self._history.is_gone, known))
        self._gone |= gone
        wanted_back = bool(gone) and self._wanted.again
        is_unchanged = self._history.is_unchanged(found, self._reader.revision)
        if (is_unchanged and not wanted_back) or found in self._wanted.tried:
            self._unchanged += 1
            self._sessions |= known
            return
        self._planned[found.path] = PlannedSource(self._reader, source, found)
        self._new_files += wanted_back or imported is None
        self._is_counted &= self._wanted.counted and source.size <= _COUNTED_BYTES
        # A source that cannot be read: the import says so.
        with suppress(*SOURCE_ERRORS):
            for conversation in self._reader.read(source, Ledger()) if self._is_counted else ():
                has_words = bool(sum(1 for _ in checked(conversation.items())))
                if has_words and not ended_before(conversation.heading, self._wanted.since):
                    self._sessions.add(self._ids.of(self._reader.program, conversation.heading))

    def plan(self) -> ProgramPlan:
        reader, planned = self._reader, self._planned.values()
        sources = sorted(planned, key=lambda e: (reader.is_last(e.source.path), e.source.changed))
        imported = self._history.beginnings
        wanted_back = self._gone if self._wanted.again else set[str]()
        new = [each for each in self._sessions if each not in imported or each in wanted_back]
        return ProgramPlan(
            program=reader.program,
            title=reader.title,
            sources=tuple(sources),
            files=len(self._seen),
            new_files=self._new_files,
            unchanged=self._unchanged,
            sessions=len(self._sessions) if self._is_counted else None,
            new_sessions=len(new) if self._is_counted else None,
            gone=0 if self._wanted.again else len(self._gone),
            expiring=self._expiring,
        )
