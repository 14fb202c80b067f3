"""The catalog in which targets of a store in memory are resolved."""

from collections.abc import Callable, Collection, Iterable, Sequence

from tui.storage.memory_shelf import MemoryShelf


class MemoryCatalog:
    """A ``tui.domain.targets.Catalog`` of a store."""

    def __init__(
        self, shelf: MemoryShelf, ids: Sequence[str], name_of: Callable[[str], str | None]
    ) -> None:
        self._shelf, self._ids, self._name_of = shelf, ids, name_of

    def has(self, session_id: str) -> bool:
        return session_id in self._shelf.boxes

    def ids(self) -> Sequence[str]:
        return self._ids

    def numbered(self, scope: str, ordinal: int) -> str | None:
        session_id = self._shelf.numbers.get((scope, ordinal))
        return session_id if session_id in self._shelf.boxes else None

    def scopes(self) -> Collection[str]:
        return {scope for scope, _ in self._shelf.numbers}

    def named(self, name: str) -> Iterable[str]:
        return [key for key in self._ids if self._name_of(key) == name]
