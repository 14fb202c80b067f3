"""Runs an import: sources are read, and their conversations written to the archive.

Durable before it is logged, which ``note_imports`` sees to: whoever is killed in between finds the
session at the next run, message by message, and adds only the rest.
"""

import logging
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from datetime import datetime
from typing import Any

import msgspec

from tui import errors
from tui.domain.imports import ImportLine, is_unknown, reason_words
from tui.domain.timestamps import utc_now
from tui.engine.imports import planning
from tui.engine.imports.history import History, SessionIds, beginning_ids
from tui.engine.imports.known_sessions import Rescues, within_others
from tui.engine.imports.planning import Plan, PlannedSource, ProgramPlan, ended_before, guarded
from tui.engine.imports.report import Failure, ImportedProgram, Outcome, Pace, Report, Stopped
from tui.engine.imports.writing import SessionWriter, Workbench
from tui.importers import databases, json_elements
from tui.importers.json_lines import BLANK, TOO_LONG, SourceChanged
from tui.importers.protocol import Conversation, Heading, Ledger
from tui.importers.stopping import stopped_by
from tui.storage.protocol import SessionStore

_log = logging.getLogger(__name__)

_REASONS = 3
_REMEMBERED = 4
"""First messages that tell a conversation from others that begin alike, if it is purged here."""
_DAMAGED = (json_elements.DAMAGED, databases.DAMAGED)
_UNREADABLE = (*_DAMAGED, TOO_LONG, json_elements.TOO_LARGE, "unreadable", "unfinished")
"""Reasons for which records are skipped, or their first words."""
_EMPTY = ("empty message", BLANK)
_NO_MESSAGES = "conversation without messages"
_STILL_OPEN = '"{}" is open. Close it and import again to add what is new.'
_OF_ONE_SESSION = (errors.NewerVersion, errors.SessionDamaged, errors.SessionNotFound)
"""Errors after which the other sessions of a source can still be imported."""


def run(
    store: SessionStore,
    plan: Plan,
    report: Report = lambda _: True,
    clock: Callable[[], datetime] = utc_now,
) -> Outcome:
    """Import the sources of a plan, one after another. Blocks, and raises nothing.

    A source that fails is counted, and read again by the next run.
    """
    done: list[ImportedProgram] = []
    stopped, error = False, ""
    try:
        pace = Pace(report, plan.bytes)
        history = History(store)
        ids, rescues = SessionIds(history), Rescues(history)
        bench = Workbench(store, ids, history, rescues, pace, clock, plan.again)
        with stopped_by(pace.step), closing(history):
            for program in plan.programs:
                done.append(ImportedProgram(program.program, program.title))
                _ProgramImport(bench, plan.since, program, done[-1]).run()
            pace.report()
    except Stopped:
        stopped = True
    except errors.StorageError as failed:
        error = str(failed)
    return Outcome(tuple(done), stopped, error, plan.unread)


def _read_whole(planned: PlannedSource, ledger: Ledger) -> Iterator[Conversation]:
    """Read a source. Raises ``OSError``, also for a file that became shorter on the way."""
    before = _length(planned)
    yield from planned.reader.read(planned.source, ledger)
    if _length(planned) < before:
        raise SourceChanged


def _damage(counts: Ledger) -> str:
    """Say that a source is damaged as a whole; ``""`` where only some of its records are."""
    reasons = set(counts.skipped)
    is_strange = reasons and all(is_unknown(each) or each in _EMPTY for each in reasons)
    is_broken = any(each.startswith(_UNREADABLE) for each in reasons)
    if not counts.read and (is_strange or is_broken):
        return f"Nothing in it could be read: {reason_words(counts.skipped, _REASONS)}."
    if any(counts.skipped[reason] for reason in _DAMAGED):
        return "A part of it is damaged; the rest is imported."
    return ""


def _length(planned: PlannedSource) -> int:
    status = planned.source.path.stat()
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


class _ProgramImport(msgspec.Struct, eq=False):
    """Imports the sources of one program."""

    _bench: Workbench
    _since: datetime | None
    _plan: ProgramPlan
    _result: ImportedProgram

    def run(self) -> None:
        """Read all sources. Raises ``Stopped``, and ``StorageFull``."""
        for planned in self._plan.sources:
            self._bench.pace.begin(self._plan.title, planned.source.size)
            try:
                self._read(planned)
            except errors.StorageFull:
                raise
            except (planning.SourceFailed, errors.StorageError) as error:
                self._fail(planned, error)
            self._bench.pace.end()

    def _fail(self, planned: PlannedSource, error: Exception | str) -> None:
        _log.info("a source of %s failed", self._plan.program)
        self._result.failures.append(Failure(planned.source.shown, str(error)))

    def _read(self, planned: PlannedSource) -> None:
        """Import a source; a session is logged once the next one begins."""
        ledger, counts = Ledger(), Ledger()
        line: ImportLine | None = None
        is_whole, ended = True, False
        earlier = dict.fromkeys(self._bench.history.sessions(planned.found) or ())
        new: list[str] = []
        try:
            for conversation in guarded(_read_whole(planned, ledger)):
                if line is not None:
                    self._bench.history.record(line)
                    line = None
                writer = SessionWriter(self._bench, planned.source, conversation, self._result)
                added = self._result.added
                session_id = self._write(writer, planned, conversation.heading)
                earlier.pop(session_id or "", None)
                if session_id and self._result.added > added:
                    new.append(session_id)
                if session_id is None:
                    writer.drain()
                    is_whole = False
                    continue
                if not session_id and not conversation.ledger.total:
                    conversation.ledger.skipped[_NO_MESSAGES] += 1
                self._result.ledger.add(conversation.ledger)
                counts.add(conversation.ledger)
                line = None
                if session_id:
                    heading = conversation.heading
                    beginning = tuple(beginning_ids(planned.found.program, heading)[:_REMEMBERED])
                    line = self._line(
                        planned,
                        session_id,
                        source_id=heading.source_id,
                        root=heading.root,
                        beginning=beginning,
                        prompts_only=heading.prompts_only,
                    )
            self._result.ledger.add(ledger)
            counts.add(ledger)
            damage = _damage(counts)
            if damage:
                self._result.failures.append(Failure(planned.source.shown, damage))
            ended = is_whole and not damage
            if ended:
                self._put_away(planned, earlier, new)
        finally:
            last = line or (self._line(planned) if ended else None)
            if last is not None:
                self._bench.history.record(msgspec.structs.replace(last, whole=ended))

    def _put_away(
        self, planned: PlannedSource, earlier: Collection[str], new: Collection[str]
    ) -> None:
        """Move to the trash what came of a file that was cut off, and is in new sessions now."""
        for session_id in within_others(self._bench.store, earlier, new):
            with suppress(errors.SessionBusy, errors.SessionNotFound):
                self._bench.store.delete(session_id)
                self._result.replaced += 1
                self._bench.history.record(self._line(planned, session_id, replaced=True))

    def _write(self, writer: SessionWriter, planned: PlannedSource, heading: Heading) -> str | None:
        """Write a conversation; ``None`` if it is left to the next run."""
        if ended_before(heading, self._since):
            return None
        try:
            return writer.write()
        except errors.SessionExists:
            # Another import has just added it, maybe from a shorter source.
            return None
        except errors.SessionBusy as busy:
            self._fail(planned, _STILL_OPEN.format(self._bench.store.entry(busy.session_id).label))
            return None
        except _OF_ONE_SESSION as error:
            self._fail(planned, error)
            return None

    def _line(self, planned: PlannedSource, session_id: str = "", **facts: Any) -> ImportLine:
        """The line of a source, or of a session that came of it."""
        found = planned.found
        return ImportLine(
            at=self._bench.now(),
            program=found.program,
            path=found.path,
            device=found.device,
            inode=found.inode,
            size=found.size,
            mtime=found.mtime,
            revision=planned.reader.revision,
            id=session_id,
            **facts,
        )
