"""Imports of other programs' sessions: the engine's verbs, for one store and one machine."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui.storage.protocol import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui.engine.imports.outcome import Outcome
    from tui.engine.imports.planning import Plan
    from tui.engine.imports.progress import Report
    from tui.importers.protocol import Places, Reader


class SessionImports(msgspec.Struct, frozen=True):
    """Finds and imports; all verbs block. The engine is imported with the first of them."""

    store: SessionStore
    places: "Callable[[], Places]"
    readers: "Sequence[Reader] | None" = None
    """``None`` for all."""

    def find(self, path: str, report: "Report") -> "Plan":
        """Plan an import of what is below a path, else of what is on this machine.

        Raises ``StorageError``, ``Stopped``, and as ``Path.expanduser``.
        """
        from tui.engine.imports.planning import Wanted, make_plan

        named = (Path(path).expanduser(),) if path else ()
        wanted = Wanted(None if path else self.places(), named)
        return make_plan(self.store, wanted, report, self.readers)

    def run(self, plan: "Plan", report: "Report") -> "Outcome":
        """Import; raises nothing."""
        from tui.engine.imports.running import run

        return run(self.store, plan, report)

    def offer(self) -> tuple[int, tuple[str, ...]]:
        """Count what could be imported where nothing ever was, and name the programs."""
        from tui.engine.imports.finding import found_in
        from tui.importers.readers import readers

        if next(iter(self.store.imports()), None) is not None:
            return 0, ()
        places = self.places()
        counts = {each.title: sum(1 for _ in found_in(each, places)) for each in readers()}
        return sum(counts.values()), tuple(title for title, count in counts.items() if count)
