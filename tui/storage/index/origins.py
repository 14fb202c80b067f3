"""Projects and programs in the index, for the filters of a query.

Each has a number, and each row of ``words`` the tokens of both: FTS5 skips from match to match of
the filter, however rare. A ligature begins them, which no token of a text has.
"""

import sqlite3
from collections.abc import Callable, Collection

import msgspec

from tui.domain.journal.records import SessionHeader
from tui.domain.search.filters import Filters, origin_of

MOST_ALTERNATIVES = 200
"""Limit of the tokens in a match: each is read beside the others."""


class OriginNumbers(msgspec.Struct, frozen=True):
    """The numbers of a session's project and program."""

    project: int
    program: int

    @property
    def tokens(self) -> str:
        """The tokens of both, for a row of ``words``."""
        return f"{_project_token(self.project)} {_program_token(self.program)}"


class Passing(msgspec.Struct, frozen=True):
    """The projects and the programs that pass a filter; ``None`` stands for all."""

    projects: Collection[int] | None = None
    programs: Collection[int] | None = None

    @property
    def match(self) -> str:
        """The FTS5 match of those that are few enough for one; empty without any."""
        alternatives = (
            [*map(_project_token, self.projects or ())],
            [*map(_program_token, self.programs or ())],
        )
        few = (each for each in alternatives if 0 < len(each) <= MOST_ALTERNATIVES)
        return " AND ".join(f"({' OR '.join(tokens)})" for tokens in few)

    @property
    def condition(self) -> str:
        """The condition on rows of ``sessions``; empty without any."""
        parts = (("project", self.projects), ("program", self.programs))
        return "".join(
            f" and sessions.{column} in ({', '.join(map(str, numbers))})"
            for column, numbers in parts
            if numbers is not None
        )


class OriginTable:
    """The numbers that one writer finds and gives out, until its transaction fails."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[bytes, ...], int] = {}

    def numbers(self, header: SessionHeader | None) -> OriginNumbers:
        """Find or give the numbers of a session with this header."""
        origin, scope = origin_of(header), header.scope if header else ""
        return OriginNumbers(
            self._number(_PROJECT, encoded(scope), encoded(origin.project)),
            self._number(_PROGRAM, encoded(origin.program)),
        )

    def _number(self, statements: tuple[str, str], *values: bytes) -> int:
        insert, select = statements
        if values not in self._known:
            self._connection.execute(insert, values)
            self._known[values] = int(self._connection.execute(select, values).fetchone()[0])
        return self._known[values]


_PROJECT = (
    "insert or ignore into projects(scope, project) values(?, ?)",
    "select number from projects where scope = ? and project = ?",
)
_PROGRAM = (
    "insert or ignore into programs(program) values(?)",
    "select number from programs where program = ?",
)


def passing(connection: sqlite3.Connection, filters: Filters) -> Passing:
    """Find the projects and the programs that pass. Raises ``sqlite3.Error``."""
    return Passing(
        _numbers(connection, "select number, project from projects", filters.pass_project)
        if filters.projects
        else None,
        _numbers(connection, "select number, program from programs", filters.pass_program)
        if filters.programs
        else None,
    )


def _numbers(
    connection: sqlite3.Connection, statement: str, passes: Callable[[str], bool]
) -> Collection[int]:
    rows = connection.execute(statement)
    return [number for number, value in rows if passes(value.decode("utf-8", "surrogatepass"))]


def encoded(text: str) -> bytes:
    """Encode a text for a column: SQLite takes no lone surrogates, which a path may have."""
    return text.encode("utf-8", "surrogatepass")


def _project_token(number: int) -> str:
    return f"\ufb01p{number}"


def _program_token(number: int) -> str:
    return f"\ufb01g{number}"
