"""Imports of other programs' sessions: those that are asked for, and automatic ones."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui.domain.text import damage_words, listed, make_visible_line, plural
from tui.domain.timestamps import format_utc, utc_now
from tui.domain.views.notice import Notice
from tui.errors import StorageError
from tui.files import user_path
from tui.storage import locks, state_files
from tui.storage.folders import Folders
from tui.storage.protocol import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tui.engine.imports.planning import Plan
    from tui.engine.imports.report import Outcome, Report
    from tui.importers.protocol import Places, Reader


class SessionImports(msgspec.Struct, frozen=True):
    """Finds and imports; all verbs block. The engine is imported with the first of them."""

    store: SessionStore
    places: "Callable[[], Places]"
    clock: "Callable[[], datetime]" = utc_now
    readers: "Sequence[Reader] | None" = None
    """``None`` for all."""

    def take_own(self, path: str) -> str:
        """Import a rescue file or a journal of this program; ``""`` for any other file.

        Gives the words about it. Raises ``StorageError``, ``UsageError`` and ``OSError``.
        """
        from tui.storage.rescue import import_file, is_session_file

        file = user_path(path)
        if not path or not is_session_file(file):
            return ""
        done = import_file(self.store, file, format_utc(self.clock()))
        title = make_visible_line(self.store.entry(done.session_id).label)
        damage = f". {damage_words(done.damaged, str(file))}" if done.damaged else ""
        return f'Imported "{title}" ({plural(done.messages, "message")}){damage}'

    def find(self, path: str, report: "Report") -> "Plan":
        """Plan an import of what is below a path, else of what is on this machine.

        Raises ``StorageError``, ``Stopped``, and ``OSError`` for what no file can be called.
        """
        from tui.engine.imports.planning import Wanted, make_plan

        named = (user_path(path),) if path else ()
        wanted = Wanted(None if path else self.places(), named)
        return make_plan(self.store, wanted, report, self.readers)

    def run(self, plan: "Plan", report: "Report") -> "Outcome":
        """Import; raises nothing."""
        from tui.engine.imports.running import run

        return run(self.store, plan, report)

    def offer(self) -> tuple[str, ...]:
        """Name the programs that have something to import, if nothing was ever imported.

        Raises ``StorageError``.
        """
        from tui.engine.imports.planning import found_in
        from tui.importers.readers import readers

        if any(True for _ in self.store.imports()):
            return ()
        places = self.places()
        known = readers() if self.readers is None else self.readers
        return tuple(each.title for each in known if any(True for _ in found_in(each, places, [])))


HOUR = 3600.0
_MOST_BYTES = 64 * 1024 * 1024
_CODE = "import os, runpy; os.nice(19); runpy.run_module('sibyl_tui', run_name='__main__')"
"""The command line at the lowest priority, which lets keys go first."""


class _Failure(msgspec.Struct, frozen=True):
    path: str
    reason: str


class _Program(msgspec.Struct, frozen=True):
    title: str
    added: int = 0
    extended: int = 0
    failures: tuple[_Failure, ...] = ()


class _Outcome(msgspec.Struct, frozen=True):
    """The part of ``import --json`` that is used here."""

    programs: tuple[_Program, ...] = ()
    unread: tuple[_Failure, ...] = ()
    error: str | None = None


class AutomaticImports(msgspec.Struct):
    """Imports from the chosen programs into one store; all verbs block.

    ``store`` names it, and ``flags`` choose it on the command line; ``root`` is its directory here.
    """

    root: Path
    store: str
    flags: Sequence[str]
    configured: Sequence[str]
    state_file: Path
    wrong: str = ""
    """Told last."""

    def programs(self) -> tuple[str, ...]:
        """Read which programs are chosen: another window may have changed that."""
        kept = state_files.read_ui_state(self.state_file)
        chosen = kept.auto_import if kept.auto_import_into == self.store else None
        return tuple(dict.fromkeys([*self.configured, *(chosen or "").split()]))

    def choose(self, programs: Sequence[str]) -> None:
        """Keep the choice, in place of an earlier one. Raises ``StorageError``."""
        changes = {"auto_import": " ".join(programs) or None, "auto_import_into": self.store}
        state_files.change_ui_state(self.state_file, changes)

    def run(self) -> tuple[bool, Sequence[Notice]]:
        """Import what is new, unless another window or program does.

        True if sessions were added or extended. The notices say what is new, and what is wrong if
        that has changed.
        """
        outcome: _Outcome | None = None
        if programs := self.programs():
            try:
                with locks.if_free(Folders(self.root).imports_lock) as is_free:
                    outcome = self._import(programs) if is_free else None
            except (StorageError, OSError) as error:
                outcome = _Outcome(error=str(error))
        if outcome is None:
            return False, ()
        new = [each for each in outcome.programs if each.added]
        news = listed([f"{plural(each.added, 'new session')} from {each.title}" for each in new])
        failures = [*outcome.unread, *(each for of in outcome.programs for each in of.failures)]
        reasons = [outcome.error] if outcome.error else []
        reasons += [f"{each.path}: {each.reason}" for each in failures]
        more = f" And {len(reasons) - 1} more: sibyl-tui import" if len(reasons) > 1 else ""
        before = self.wrong
        self.wrong = f"Not imported: {reasons[0]}{more}" if reasons else ""
        wrong = self.wrong if self.wrong != before else ""
        changed = any(each.added or each.extended for each in outcome.programs)
        return changed, [each for each in (Notice(news), Notice(wrong, "warning")) if each.text]

    def _import(self, programs: Sequence[str]) -> _Outcome | None:
        """Import by the command line in a process of its own; ``None`` if it was stopped."""
        from tui.programs import output_of
        from tui.storage.index.child import environment

        chosen = [word for each in programs for word in ("--from", each)]
        # -P: no modules from the current directory.
        command = [sys.executable, "-P", "-c", _CODE, "import", "--json", *self.flags, *chosen]
        done = output_of(
            command, _MOST_BYTES, HOUR, environment=environment(os.environ), ending=signal.SIGINT
        )
        if done.code is None:
            return None
        try:
            return msgspec.json.decode(done.data, type=_Outcome)
        except ValueError:
            words = f"exit code {done.code}. To see why: sibyl-tui import {' '.join(chosen)}"
            return _Outcome(error=words)
