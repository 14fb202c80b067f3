"""The catalog in which targets of a store at a server are resolved."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.domain.imports import bytes_naming, came_from
from tui.storage.postgres.importing import read_log
from tui.storage.postgres.listing import condition_of
from tui.storage.postgres.text import as_bytes, as_text, scope_key
from tui.storage.protocol import SessionFilter

if TYPE_CHECKING:
    from psycopg import Connection

_NEWEST = "order by used_ns desc, id"
_NUMBERED = """
    select id from numbers join sessions on sessions.id = numbers.session
        and sessions.scope = numbers.scope and sessions.ordinal = numbers.ordinal
    where numbers.scope = %s and numbers.ordinal = %s and place <> 'reserved'
"""


class PostgresCatalog:
    """A ``tui.domain.targets.Catalog``; ``wanted`` narrows names and prefixes, not ids."""

    def __init__(self, connection: "Connection", wanted: SessionFilter) -> None:
        self._connection = connection
        self._wanted = wanted

    def has(self, session_id: str) -> bool:
        query = "select 1 from sessions where id = %s and place <> 'reserved'"
        return self._connection.execute(query, (session_id,)).fetchone() is not None

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        # No id begins with anything else, and not all of that can be sent.
        fit = [each for each in prefixes if each.isascii() and each.isprintable()]
        starts = " or ".join(f"id ^@ %(prefix{at})s" for at in range(len(fit))) or "false"
        values = {f"prefix{at}": prefix for at, prefix in enumerate(fit)}
        return [row[0] for row in self._passed("id", f"({starts})", values)]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        found = self._connection.execute(_NUMBERED, (scope_key(scope), ordinal)).fetchone()
        return str(found[0]) if found else None

    def scopes(self) -> Collection[str]:
        return [as_text(row[0]) for row in self._connection.execute("select name from scopes")]

    def named(self, name: str) -> Iterable[str]:
        condition = "sha256(name) = sha256(%(name)s) and name <> ''"
        found = self._passed("id", condition, {"name": as_bytes(name)})
        return [row[0] for row in found]

    def imported(self, name: str) -> Iterable[str]:
        return came_from(name, read_log(self._connection, bytes_naming(name)))

    def newest(self, count: int) -> Sequence[str]:
        return [row[0] for row in self._passed("id", f"true {_NEWEST} limit {count}", {})]

    def newest_names(self, count: int) -> Mapping[str, str]:
        found = self._passed("name, id", f"name <> '' {_NEWEST} limit {count}", {})
        return {as_text(name): session_id for name, session_id in reversed(found)}

    def _passed(self, columns: str, condition: str, values: dict[str, Any]) -> list[Any]:
        """Read columns of the sessions that the filter passes and that meet a condition."""
        passed, more = condition_of(self._wanted, self._wanted.statuses)
        query = f"select {columns} from sessions where {passed} and {condition}"  # noqa: S608
        return self._connection.execute(query.encode(), values | more).fetchall()
