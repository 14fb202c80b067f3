"""``sibyl-tui import --watch``: imports again whenever other programs have written something."""

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tui.cli import console
from tui.cli.indexing import complete
from tui.cli.program import Program
from tui.cli.progress_line import ProgressLine
from tui.domain.text.labels import local_minute, plural
from tui.engine.imports.outcome import Failure, Outcome, failure_lines, program_lines
from tui.engine.imports.planning import Plan, Wanted, make_plan
from tui.engine.imports.progress import Stopped
from tui.engine.imports.running import run as run_import
from tui.errors import StorageError
from tui.storage import locks
from tui.storage.folders import Folders

if TYPE_CHECKING:
    from tui.engine.imports.history import FoundSource

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
                plan = make_plan(store, wanted, self._progress.goes_on)
            if plan.sources:
                outcome = run_import(store, plan, self._progress.show)
                self._progress.end()
        self._show(plan, outcome)
        self._is_busy = is_due or bool(plan.sources)
        if outcome.stopped:
            raise Stopped
        if outcome.error:
            return outcome.error
        self._tried.update(each.found for of in plan.programs for each in of.sources)
        if (is_due or outcome.sessions) and complete(store, "an import", waits=False):
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
