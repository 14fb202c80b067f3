"""The catalog in which targets of a store in memory are resolved."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from tui.domain.imports import came_from
from tui.storage.memory_shelf import MemoryShelf


class MemoryCatalog:
    """A ``tui.domain.targets.Catalog`` of a store."""

    def __init__(
        self, shelf: MemoryShelf, ids: Sequence[str], name_of: Callable[[str], str | None]
    ) -> None:
        self._shelf, self._ids, self._name_of = shelf, ids, name_of

    def has(self, session_id: str) -> bool:
        return session_id in self._shelf.boxes

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        return [each for each in self._ids if each.startswith(prefixes)]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        session_id = self._shelf.numbers.get((scope, ordinal))
        box = self._shelf.boxes.get(session_id or "")
        is_its = box is not None and (box.header.scope, box.header.ordinal) == (scope, ordinal)
        return session_id if is_its else None

    def scopes(self) -> Collection[str]:
        return {scope for scope, _ in self._shelf.numbers}

    def named(self, name: str) -> Iterable[str]:
        return [key for key in self._ids if self._name_of(key) == name]

    def imported(self, name: str) -> Iterable[str]:
        return came_from(name, self._shelf.imports)

    def newest(self, count: int) -> Sequence[str]:
        return self._ids[:count]

    def newest_names(self, count: int) -> Mapping[str, str]:
        newest = [(self._name_of(key), key) for key in self._ids[:count]]
        return {name: key for name, key in reversed(newest) if name}
