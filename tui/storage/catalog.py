"""The catalog in which targets of a data directory are resolved."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from tui.domain.imports import ImportLine, came_from
from tui.errors import AmbiguousSession
from tui.storage.directory import Directory
from tui.storage.folders import Folders
from tui.storage.protocol import SessionFilter
from tui.storage.scopes import Scopes


class FileCatalog(msgspec.Struct, eq=False):
    """A ``tui.domain.targets.Catalog``; ``wanted`` narrows names and prefixes, not ids."""

    _folders: Folders
    _scopes: Scopes
    _directory: Directory
    _wanted: SessionFilter
    _imports: Callable[[str], Iterable[ImportLine]]

    def has(self, session_id: str) -> bool:
        return self._folders.exists(session_id)

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        return [each for each in self._directory.ids(self._wanted) if each.startswith(prefixes)]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        there = [*filter(self.has, self._scopes.table().with_ordinal(scope, ordinal))]
        if len(there) > 1:
            # Only a file copied from elsewhere can have a number given twice.
            raise AmbiguousSession(f"{scope}#{ordinal}", sorted(there))
        return there[0] if there else None

    def scopes(self) -> Collection[str]:
        return self._scopes.table().highest.keys()

    def named(self, name: str) -> Iterable[str]:
        return self._directory.named(name, self._wanted)

    def imported(self, name: str) -> Iterable[str]:
        return came_from(name, self._imports(name))

    def newest(self, count: int) -> Sequence[str]:
        return [file.session_id for file in self._directory.files(self._wanted)[:count]]

    def newest_names(self, count: int) -> Mapping[str, str]:
        entries = self._directory.page(self._wanted, None, count).entries
        return {entry.name: entry.id for entry in reversed(entries) if entry.name}
