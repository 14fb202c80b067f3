"""``sibyl-tui import``: the sessions of other programs."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tui.cli import console
from tui.cli.indexing import complete
from tui.cli.program import Program
from tui.cli.progress_line import STOPPED, ProgressLine
from tui.domain.text import listed, local_minute, make_visible_line, plural
from tui.domain.timestamps import beginning_of_day
from tui.engine.imports.planning import Plan, ProgramPlan, Wanted, make_plan
from tui.engine.imports.report import Failure, Outcome, Stopped, failure_lines, program_lines
from tui.engine.imports.running import run as run_import
from tui.errors import StorageError, UsageError
from tui.importers.readers import PROGRAMS
from tui.storage import locks
from tui.storage.folders import Folders
from tui.storage.rescue import import_file, is_session_file

if TYPE_CHECKING:
    from tui.engine.imports.history import FoundSource

_NOT_FOUND = (
    "No program's sessions found in {}. sibyl-tui import --help lists the programs that are read."
)

_IMPORT = "an import"
"""What others wait for."""

_Json = dict[str, Any]


def run(chosen: Namespace) -> int:
    """Find, ask, import and tell; 1 if something could not be imported."""
    if chosen.watch and (chosen.again or chosen.json):
        raise UsageError("--watch cannot be combined with --again or --json.")
    program = Program.from_arguments(chosen)
    wanted = _wanted(program, chosen)
    # --from names another program.
    own = [] if chosen.sources else [path for path in wanted.paths if is_session_file(path)]
    others = tuple(path for path in wanted.paths if path not in own)
    sessions = [_import_own(program, path, dry_run=chosen.dry_run) for path in own]
    if others or not own:
        wanted = msgspec.structs.replace(wanted, paths=others)
        if chosen.watch:
            return Watch(program, wanted).run()
        return _import(program, chosen, wanted, sessions)
    if chosen.json:
        console.put_json(_plan_json(Plan((), ()), sessions, dry_run=chosen.dry_run), 2)
    return 0 if chosen.dry_run else complete(program.store, _IMPORT)


def _wanted(program: Program, chosen: Namespace) -> Wanted:
    paths = tuple(map(Path, chosen.paths))
    # Path.exists raises for a name that is too long.
    missing = [name for name in chosen.paths if not os.path.exists(name)]  # noqa: PTH110
    if missing:
        raise UsageError(f"No such file or folder: {missing[0] or '(an empty name)'}")
    return Wanted(
        places=None if paths else program.places(),
        paths=paths,
        programs=frozenset(each for name in chosen.sources for each in _named(name)) or None,
        since=beginning_of_day(chosen.since) if chosen.since is not None else None,
        again=chosen.again,
        # Only who is asked has to know.
        counted=chosen.dry_run or not _is_agreed(chosen),
        large=chosen.large,
    )


def _named(name: str) -> list[str]:
    """The program of a name, else all whose names begin so. Raises ``UsageError``."""
    found = [each for each in PROGRAMS if name and each.startswith(name)]
    if not found:
        raise UsageError(
            f'There is no program "{name}". sibyl-tui import --help lists the known ones.'
        )
    return [name] if name in found else found


def _is_agreed(chosen: Namespace) -> bool:
    """True if the user has said what to import, and is not asked."""
    return bool(chosen.all or chosen.sources or chosen.paths)


def _import_own(program: Program, path: Path, *, dry_run: bool) -> _Json:
    """Import a rescue file or a journal of this program."""
    if dry_run:
        console.tell(f"Session of sibyl-tui: {make_visible_line(str(path))}")
        return {"path": str(path)}
    done = import_file(program.store, path, program.now())
    console.tell(f"Imported session: {done.session_id} ({plural(done.messages, 'message')})")
    program.tell_damage(done.damaged, str(path))
    return {"path": str(path), "id": done.session_id, "messages": done.messages}


def _import(program: Program, chosen: Namespace, wanted: Wanted, sessions: list[_Json]) -> int:
    progress = ProgressLine()
    try:
        with progress.stopped_by_keys():
            plan = make_plan(program.store, wanted, progress.show_found)
    except Stopped:
        progress.end()
        console.tell("Nothing imported.")
        return STOPPED
    progress.end()
    if plan.unknown and not (plan.programs or sessions):
        raise UsageError(_NOT_FOUND.format(", ".join(map(str, plan.unknown))))
    nothing = (Failure(path, "No sessions to import were found in it.") for path in plan.unknown)
    plan = msgspec.structs.replace(plan, unread=(*plan.unread, *nothing))
    _tell_failures(plan.unread)
    if not chosen.json:
        _tell_plan(plan)
    if chosen.dry_run or not plan.sources:
        if chosen.json:
            console.put_json(_plan_json(plan, sessions, dry_run=chosen.dry_run), 2)
        unread = int(bool(plan.unread))
        return unread if chosen.dry_run else complete(program.store, _IMPORT) or unread
    if not _is_agreed(chosen):
        if not console.is_terminal(sys.stdin):
            raise UsageError(
                "import asks first. Without a terminal, add --all, --from NAME, a PATH or"
                " --dry-run."
            )
        if not console.confirmed(f"Import from {plural(plan.sources, 'file')}? (y/n) "):
            console.tell("Nothing imported.")
            return 0
    is_first = not any(True for _ in program.store.imports())
    with progress.stopped_by_keys():
        outcome = run_import(program.store, plan, progress.show)
    progress.end()
    if chosen.json:
        console.put_json(_outcome_json(plan, outcome, sessions), 2)
    else:
        _show(outcome)
        if is_first and outcome.sessions:
            console.put_line(_LATER)
    if outcome.error:
        console.tell(f"{outcome.error}\nThe import ended early. {_AGAIN}")
    elif outcome.stopped:
        console.tell(f"Stopped after {plural(outcome.sessions, 'session')}. {_AGAIN}")
    if outcome.stopped:
        return STOPPED
    if outcome.error:
        return 1
    # An import that was stopped while indexing finds nothing new, and continues here, too.
    return complete(program.store, _IMPORT) or int(not outcome.is_whole)


# --- again and again

_LOWEST = 19
_SHORTEST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0
_PAUSE_TIMES, _PAUSE_TIMES_BUSY = 100, 10
"""The pause by the processor time of a round: looking takes a hundredth of it, reading a tenth."""
_TRIED_SECONDS = 3600.0
"""The time after which sources that failed are tried again, changed or not, and the index."""


class Watch:
    """Looks for what is new, imports it, and says so in a line, round by round until Ctrl+C."""

    def __init__(self, program: Program, wanted: Wanted) -> None:
        self._program = program
        self._wanted = wanted
        self._progress = ProgressLine()
        self._tried: set[FoundSource] = set()
        self._tried_until = 0.0
        self._told: set[Failure] = set()
        self._is_busy = False
        self._added = self._extended = 0

    def run(self) -> int:
        """Import until Ctrl+C, then say what came in; 0."""
        began, error = self._program.now(), ""
        with suppress(OSError):
            os.nice(_LOWEST)
        with suppress(KeyboardInterrupt, Stopped):
            while True:
                begun, before = time.process_time(), error
                try:
                    error = self._round()
                except StorageError as failed:
                    error = str(failed)
                if error and error != before:
                    console.tell(f"{error}\nThe import is tried again every minute.")
                times = _PAUSE_TIMES_BUSY if self._is_busy else _PAUSE_TIMES
                pause = times * (time.process_time() - begun)
                pause = min(_LONGEST_PAUSE, max(_SHORTEST_PAUSE, pause))
                time.sleep(_LONGEST_PAUSE if error else pause)
        self._progress.end()
        counts = f"{plural(self._added, 'session')} added, {self._extended} extended"
        console.tell(f"Stopped. Since {local_minute(began)}: {counts}.")
        return 0

    def _round(self) -> str:
        """Import what is new, unless another program does; gives the reason if it ended early.

        Raises ``Stopped`` and ``StorageError``.
        """
        if is_due := time.monotonic() > self._tried_until:
            self._tried.clear()
            self._tried_until = time.monotonic() + _TRIED_SECONDS
        store, plan, outcome = self._program.store, Plan((), ()), Outcome((), stopped=False)
        wanted = msgspec.structs.replace(self._wanted, tried=self._tried)
        lock = Folders(self._program.data_directory).imports_lock
        with self._progress.stopped_by_keys(), locks.if_free(lock) as is_free:
            if is_free:
                plan = make_plan(store, wanted, lambda _: self._progress.is_wanted)
            if plan.sources:
                outcome = run_import(store, plan, self._progress.show)
                self._progress.end()
        self._show(plan, outcome)
        self._is_busy = is_due or bool(plan.sources)
        if outcome.stopped or not self._progress.is_wanted:
            raise Stopped
        if outcome.error:
            return outcome.error
        self._tried.update(each.found for of in plan.programs for each in of.sources)
        if (is_due or outcome.sessions) and complete(store, _IMPORT, waits=False):
            raise Stopped
        return ""

    def _show(self, plan: Plan, outcome: Outcome) -> None:
        failures = [*plan.unread, *(each for of in outcome.programs for each in of.failures)]
        for line in failure_lines([each for each in failures if each not in self._told]):
            console.tell(line)
        self._told.update(failures)
        if new := [each for each in outcome.programs if each.added or each.grown]:
            self._added += sum(each.added for each in new)
            self._extended += sum(each.grown for each in new)
            words = "; ".join(next(program_lines(each)) for each in new)
            console.put_line(f"{local_minute(self._program.now())}  {words}")


# --- words


def _tell_plan(plan: Plan) -> None:
    if not plan.programs:
        if not plan.unread:
            console.put_line(
                _NONE_SINCE if plan.since else _NONE_FOUND.format(listed(plan.looked_for, "or"))
            )
        return
    width = max(len(each.title) for each in plan.programs)
    for each in plan.programs:
        console.put_line(f"{each.title:{width}}  {each.counts.words}")
    for each in filter(None, (program.warning for program in plan.programs)):
        console.put_line(each)
    if not plan.sources:
        console.put_line("Nothing new to import.")


def _show(outcome: Outcome) -> None:
    for each in outcome.programs:
        for line in program_lines(each):
            console.put_line(line)
        _tell_failures(each.failures)
    if added := [each.program for each in outcome.programs if each.added]:
        console.put_line(_WHERE.format(added[0]))


_NONE_FOUND = (
    "No sessions found of {}.\n"
    "To import an export, such as that of ChatGPT, or a copied home: sibyl-tui import PATH"
)
_NONE_SINCE = "No sessions of other programs were changed since then."
_WHERE = (
    "They are in the archive: sibyl-tui sessions list --archived\n"
    "Every search finds them: sibyl-tui sessions search from:{} WORDS"
)
_LATER = "To import new ones automatically: /import in sibyl-tui, or sibyl-tui import --watch"
_AGAIN = "The same command continues, and adds nothing twice."


def _tell_failures(failures: Sequence[Failure]) -> None:
    for failure in failures:
        reason = make_visible_line(f"{failure.path}: {failure.reason}")
        console.tell(f"Cannot import {reason}")


def _plan_json(plan: Plan, sessions: list[_Json], *, dry_run: bool) -> _Json:
    return {
        "dry_run": dry_run,
        "programs": [_program_json(each) for each in plan.programs],
        "sessions": sessions,
        "unread": _failures_json(plan.unread),
    }


def _failures_json(failures: Sequence[Failure]) -> list[dict[str, str]]:
    return [{"path": str(failure.path), "reason": failure.reason} for failure in failures]


def _program_json(plan: ProgramPlan) -> _Json:
    return {
        "program": plan.program,
        "title": plan.title,
        "files": plan.files,
        "new_files": plan.new_files,
        "changed_files": plan.changed_files,
        "unchanged_files": plan.unchanged,
        "sessions": plan.sessions,
        "new_sessions": plan.new_sessions,
        "deleted": plan.gone,
        "deleted_there_within_week": plan.expiring,
        "bytes": plan.bytes,
    }


def _outcome_json(plan: Plan, outcome: Outcome, sessions: list[_Json]) -> _Json:
    planned = {each.program: _program_json(each) for each in plan.programs}
    done = [
        {
            **planned[each.program],
            "added": each.added,
            "extended": each.grown,
            "prompts_only": each.prompts_only,
            "found_whole": each.found_whole,
            "messages": each.messages,
            "read": each.ledger.read,
            "skipped": dict(each.ledger.skipped),
            "cut": each.cut,
            "replaced": each.replaced,
            "forks": [msgspec.structs.asdict(fork) for fork in each.forks],
            "failures": _failures_json(each.failures),
        }
        for each in outcome.programs
    ]
    return {
        "dry_run": False,
        "stopped": outcome.stopped,
        "error": outcome.error or None,
        "programs": done,
        "sessions": sessions,
        "unread": _failures_json(outcome.unread),
    }
