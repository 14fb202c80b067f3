"""The catalog in which targets of a data directory are resolved."""

from collections.abc import Collection, Iterable, Sequence

from tui.errors import AmbiguousSession
from tui.storage.directory import Directory
from tui.storage.folders import Folders
from tui.storage.protocol import SessionFilter
from tui.storage.scopes import Scopes

_CLOSEST = 3
_COMPARED = 500


class FileCatalog:
    """A ``tui.domain.targets.Catalog``; ``wanted`` narrows names and prefixes, not ids."""

    def __init__(
        self,
        folders: Folders,
        scopes: Scopes,
        directory: Directory,
        wanted: SessionFilter,
    ) -> None:
        self._folders = folders
        self._scopes = scopes
        self._directory = directory
        self._wanted = wanted

    def has(self, session_id: str) -> bool:
        return self._folders.exists(session_id)

    def ids(self) -> Collection[str]:
        return self._directory.ids(self._wanted)

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

    def closest(self, target: str) -> Sequence[str]:
        """Find the ids most similar to an unknown target, by id or by name."""
        import difflib

        newest = [file.session_id for file in self._directory.files(self._wanted)[:_COMPARED]]
        if target.startswith("session-"):
            return difflib.get_close_matches(target, newest, _CLOSEST)
        return self._closest_by_name(target) or difflib.get_close_matches(
            "session-" + target, newest, _CLOSEST
        )

    def _closest_by_name(self, target: str) -> Sequence[str]:
        import difflib

        first_page = self._directory.page(self._wanted, None, 50).entries
        names = {entry.name: entry.id for entry in reversed(first_page) if entry.name}
        return [names[name] for name in difflib.get_close_matches(target, names, _CLOSEST)]
