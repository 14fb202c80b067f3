"""The plan of an import: the sources that are new or have changed, and their sessions."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from tui.domain.timestamps import MILLISECOND_NS, from_milliseconds
from tui.engine.imports.finding import SOURCE_ERRORS, as_found, found_below, found_in
from tui.engine.imports.history import FoundSource, History, is_gone
from tui.engine.imports.ids import imported_session_id
from tui.engine.imports.progress import Pace, Report
from tui.importers.protocol import Ledger, Places, Reader, Source
from tui.importers.readers import readers as all_readers
from tui.storage.protocol import SessionStore

_COUNTED_BYTES = 64 * 1024 * 1024
"""A source of several conversations that is larger is not read to count them."""


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
    unchanged: int
    """The number of sources that were imported before and are as they were."""
    sessions: int
    """All that are in its sources, as far as that is known without importing them."""
    new: int
    grown: int
    """Imported before, from a source that has changed."""
    gone: int
    """Deleted here by the user, and therefore not imported again."""
    bytes: int
    """To be read."""


class Plan(msgspec.Struct, frozen=True):
    """A plan of an import."""

    programs: tuple[ProgramPlan, ...]
    """Those of which something was found."""
    unknown: tuple[Path, ...]
    """Named paths where no program's files were found."""
    since: datetime | None = None
    again: bool = False

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
    chosen = [
        reader
        for reader in (all_readers() if readers is None else readers)
        if wanted.programs is None or reader.program in wanted.programs
    ]
    history = History.of(store)
    counts = {reader.program: _Count(store, history, wanted, reader) for reader in chosen}
    unknown: list[Path] = []
    pace = Pace(report, 0)
    for reader, source in _sources(chosen, wanted, unknown):
        pace.sessions += counts[reader.program].add(source)
        pace.begin(reader.title, 0)
    plans = (count.plan() for count in counts.values())
    programs = tuple(plan for plan in plans if plan.sources or plan.unchanged)
    return Plan(programs, tuple(unknown), wanted.since, wanted.again)


def _sources(
    readers: Sequence[Reader], wanted: Wanted, unknown: list[Path]
) -> Iterator[tuple[Reader, Source]]:
    if wanted.places is not None:
        for reader in readers:
            yield from ((reader, source) for source in found_in(reader, wanted.places))
    for path in wanted.paths:
        found = False
        for found in found_below(path.absolute(), readers):
            yield found
        if not found:
            unknown.append(path)


class _Count:
    """Counts the sources and sessions of one program."""

    def __init__(
        self, store: SessionStore, history: History, wanted: Wanted, reader: Reader
    ) -> None:
        self._store = store
        self._history = history
        self._wanted = wanted
        self._reader = reader
        self._planned: dict[str, PlannedSource] = {}
        self._unchanged = self._new = self._grown = self._gone = self._same = 0

    @property
    def _sessions(self) -> int:
        return self._new + self._grown + self._gone + self._same

    def add(self, source: Source) -> int:
        """Count a source, once, if it is there; gives the number of its sessions."""
        before = self._sessions
        if str(source.path) not in self._planned and not self._is_before(source):
            with suppress(OSError):
                self._add(source, as_found(self._reader, source))
        return self._sessions - before

    def _add(self, source: Source, found: FoundSource) -> None:
        gone = sum(is_gone(self._store, each) for each in self._history.sessions(found))
        if self._history.is_unchanged(found) and not (gone and self._wanted.again):
            self._unchanged += 1
            self._gone += gone
            self._same += len([*self._history.sessions(found)]) - gone
            return
        self._planned[found.path] = PlannedSource(self._reader, source, found)
        self._count(source, found, gone)

    def _count(self, source: Source, found: FoundSource, gone: int) -> None:
        ids = [*self._ids(source)]
        known = [*self._history.sessions(found)]
        if ids:
            new = len({each for each in ids if not self._history.was_imported(each)})
        else:
            new = int(not known)
        back = gone if self._wanted.again else 0
        self._new += new + back
        self._gone += gone - back
        self._grown += len(known) - gone

    def _ids(self, source: Source) -> Iterator[str]:
        """The sessions of a source that may have several, if it is quickly read."""
        if not self._reader.several or source.size > _COUNTED_BYTES:
            return
        try:
            for conversation in self._reader.read(source, Ledger()):
                heading = conversation.heading
                root = heading.root or heading.source_id
                if sum(1 for _ in conversation.items()):
                    yield imported_session_id(self._reader.program, root)
        except SOURCE_ERRORS:
            # The import says so.
            return

    def _is_before(self, source: Source) -> bool:
        changed = from_milliseconds(source.changed // MILLISECOND_NS)
        since = self._wanted.since
        return since is not None and changed is not None and changed < since

    def plan(self) -> ProgramPlan:
        sources = sorted(self._planned.values(), key=lambda each: each.source.changed)
        return ProgramPlan(
            program=self._reader.program,
            title=self._reader.title,
            sources=tuple(sources),
            unchanged=self._unchanged,
            sessions=self._sessions,
            new=self._new,
            grown=self._grown,
            gone=self._gone,
            bytes=sum(each.source.size for each in sources),
        )
