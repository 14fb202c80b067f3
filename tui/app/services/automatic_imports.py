"""Automatic imports: the programs chosen for them, and the process that imports their sessions."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tui.domain.text import listed, plural
from tui.domain.views.notice import Notice
from tui.errors import StorageError
from tui.storage import locks, ui_state
from tui.storage.folders import Folders

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

    @property
    def wrong(self) -> str:
        """What was not imported, and why; ``""`` if all was."""
        failures = [*self.unread, *(each for of in self.programs for each in of.failures)]
        reasons = [self.error] if self.error else []
        reasons += [f"{each.path}: {each.reason}" for each in failures]
        more = f" And {len(reasons) - 1} more: sibyl-tui import" if len(reasons) > 1 else ""
        return f"Not imported: {reasons[0]}{more}" if reasons else ""


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
        kept = ui_state.read(self.state_file)
        chosen = kept.auto_import if kept.auto_import_into == self.store else None
        return tuple(dict.fromkeys([*self.configured, *(chosen or "").split()]))

    def choose(self, programs: Sequence[str]) -> None:
        """Keep the choice, in place of an earlier one. Raises ``StorageError``."""
        changes = {"auto_import": " ".join(programs) or None, "auto_import_into": self.store}
        ui_state.change(self.state_file, changes)

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
        before, self.wrong = self.wrong, outcome.wrong
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
