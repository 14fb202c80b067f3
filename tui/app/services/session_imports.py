"""Imports of other programs' sessions: the engine's verbs, for one store and one machine."""

from typing import TYPE_CHECKING

import msgspec

from tui.domain.text import damage_words, make_visible_line, plural
from tui.domain.timestamps import format_utc, utc_now
from tui.files import user_path
from tui.storage.protocol import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
