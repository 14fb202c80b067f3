"""The plan of an import: the sources that are new or have changed, and their sessions."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from tui.domain.timestamps import MILLISECOND_NS, from_milliseconds, parse_utc
from tui.domain.views.import_rows import FoundCounts
from tui.engine.imports.finding import OWN_FILE, SOURCE_ERRORS, as_found, found_below, found_in
from tui.engine.imports.history import FoundSource, History
from tui.engine.imports.outcome import Failure
from tui.engine.imports.progress import Pace, Report
from tui.engine.imports.session_ids import SessionIds
from tui.errors import SessionNotFound
from tui.importers import databases
from tui.importers.archives import remove_left_behind
from tui.importers.protocol import Heading, Ledger, Places, Reader, Source
from tui.importers.readers import readers as all_readers
from tui.importers.stopping import checked, stopped_by
from tui.storage.protocol import FINDABLE, SessionStore

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
    for path in wanted.paths:
        found, before = False, len(unread)
        for reader, source in found_below(path.absolute(), _owners(chosen, readers), unread):
            if reader in chosen:
                found = True
                yield reader, source
        if not found and len(unread) == before:
            unknown.append(path)


def _owners(chosen: Sequence[Reader], readers: Sequence[Reader]) -> list[Reader]:
    """All readers, as only all tell whose a file is. Of those that take the same, one is chosen."""
    kin = {reader.kin: reader for reader in reversed(chosen) if reader.kin}
    return [reader if reader in chosen else kin.get(reader.kin, reader) for reader in readers]


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
        known = {*self._history.sessions(found)}
        gone = set(filter(self._history.is_gone, known))
        self._gone |= gone
        wanted_back = bool(gone) and self._wanted.again
        is_unchanged = self._history.is_unchanged(found, self._reader.revision)
        if (is_unchanged and not wanted_back) or found in self._wanted.tried:
            self._unchanged += 1
            self._sessions |= known
            return
        self._planned[found.path] = PlannedSource(self._reader, source, found)
        self._new_files += wanted_back or not self._history.knows(found)
        self._is_counted &= self._wanted.counted and source.size <= _COUNTED_BYTES
        # A source that cannot be read: the import says so.
        with suppress(*SOURCE_ERRORS):
            for conversation in self._reader.read(source, Ledger()) if self._is_counted else ():
                has_words = bool(sum(1 for _ in checked(conversation.items())))
                if has_words and not ended_before(conversation.heading, self._wanted.since):
                    self._sessions.add(self._ids.of(self._reader.program, conversation.heading))

    def _is_new(self, session_id: str) -> bool:
        if self._history.was_imported(session_id):
            return self._wanted.again and session_id in self._gone
        return True

    def plan(self) -> ProgramPlan:
        reader, planned = self._reader, self._planned.values()
        sources = sorted(planned, key=lambda e: (reader.is_last(e.source.path), e.source.changed))
        new_sessions = sum(map(self._is_new, self._sessions))
        return ProgramPlan(
            program=reader.program,
            title=reader.title,
            sources=tuple(sources),
            files=len(self._seen),
            new_files=self._new_files,
            unchanged=self._unchanged,
            sessions=len(self._sessions) if self._is_counted else None,
            new_sessions=new_sessions if self._is_counted else None,
            gone=0 if self._wanted.again else len(self._gone),
            expiring=self._expiring,
        )
