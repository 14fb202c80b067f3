"""Looking targets up among the sessions of a store in memory."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tui.storage.protocol import SessionFilter

if TYPE_CHECKING:
    from tui.storage.memory_store import MemoryStore


class MemoryCatalog:
    """A ``tui.domain.targets.Catalog`` of a store."""

    def __init__(self, store: "MemoryStore", wanted: SessionFilter) -> None:
        self._store = store
        self._wanted = wanted

    def has(self, session_id: str) -> bool:
        return session_id in self._store.shelf.boxes

    def ids(self) -> Sequence[str]:
        return [session_id for _, session_id in self._store.ordered(self._wanted)]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        session_id = self._store.shelf.numbers.get((scope, ordinal))
        return session_id if session_id in self._store.shelf.boxes else None

    def scopes(self) -> Collection[str]:
        return {scope for scope, _ in self._store.shelf.numbers}

    def named(self, name: str) -> Iterable[str]:
        return [key for key in self.ids() if self._store.entry(key).name == name]
