"""The rows of messages in the index: their numbers, their words, and the tokens of their origin.

Rows grow with the time, so that the newest come first. Text and queries are given to FTS5 so that
its tokenizer agrees with ours. Projects and programs have numbers, and each row of ``words`` the
tokens of both: FTS5 skips from match to match of the filter, however rare. A ligature begins them,
which no token of a text has.
"""

import sqlite3
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

import msgspec

from tui.domain.journal.records import SessionHeader
from tui.domain.search.filters import Filters, origin_of
from tui.domain.search.query import Query, Term
from tui.domain.search.tokens import TOKEN_CHARACTERS, cut
from tui.domain.text import as_bytes, as_text, late_pattern

_SAME_SECOND = 1 << 12
"""Rows of one second; what has none left takes those of the next one.

Few: each word is stored with the distance to the row before. Those of milliseconds, 32,768 each,
made the index a third larger and its building a fifth slower.
"""
_SECOND_MS = 1000
_BOUNDS = "select (select min(id) from messages), (select max(id) from messages)"
_LAST_OF = "select max(id) from messages where id between ? and ?"
_PROJECT_TOKEN, _PROGRAM_TOKEN = "\ufb01p", "\ufb01g"
_PROJECT = (
    "insert or ignore into projects(scope, project) values(?, ?)",
    "select number from projects where scope = ? and project = ?",
)
_PROGRAM = (
    "insert or ignore into programs(program) values(?)",
    "select number from programs where program = ?",
)
MOST_ALTERNATIVES = 200
"""Limit of the tokens in a match: each is read beside the others."""
# Every SQLite knows the letters and numbers of Unicode 3.2. Later characters may be separators
# for it, or vanish: they are written as their codes. Hits are checked in the journals anyway.
_KNOWN = unicodedata.ucd_3_2_0
_SHORTEST_PREFIX = 2
_PLAIN_ALONE = "\u3041-\u3094\u30a1-\u30fa\u30fc\u4e00-\u9fa5\uac00-\ud7a3"
"""Kana, Han and Hangul that are tokens as they stand, and that every SQLite knows."""
_PLAIN_BETWEEN = "\u2010-\u2027\u3000-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20"
"""Punctuation beside them."""
_PLAIN = late_pattern(f"[\x00-\x7f{_PLAIN_ALONE}{_PLAIN_BETWEEN}]*")
_ALONE = late_pattern(f"[{_PLAIN_ALONE}]")
_TOKEN = late_pattern(f"[0-9A-Za-z{_PLAIN_ALONE}]")
_LONG = late_pattern(f"[0-9A-Za-z]{{{TOKEN_CHARACTERS + 1}}}")
_TERMS = "create virtual table if not exists temp.terms using fts5vocab(main, words, instance)"
_TERM_FROM = "select term from terms where term >= ? limit 1"
_FIRST, _LAST = "0", "\U0010ffff"
"""No character of a token comes before the first one, and none behind the last one."""


def row_of(milliseconds: int) -> int:
    """The first row of the messages of a time."""
    return max(0, milliseconds) // _SECOND_MS * _SAME_SECOND


class FreeRows(msgspec.Struct, eq=False):
    """Hands out rows that no message has. The caller holds the index's lock."""

    _connection: sqlite3.Connection
    _next: dict[int, int] = {}
    """The next free row by the first one of its second."""
    _later: dict[int, int] = {}
    """The second to go on with, by one that is full."""
    _bounds: tuple[int, int] | None = None

    def clear(self) -> None:
        """Forget what was handed out, once it is in the index."""
        self._next.clear()
        self._later.clear()
        self._bounds = None

    def take(self, milliseconds: int) -> int:
        """Take the next row of a time; masked rows are not free."""
        asked = row_of(milliseconds)
        first = self._later.get(asked, asked)
        while (row := self._next.get(first) or self._look(first)) >= first + _SAME_SECOND:
            first = self._later[asked] = first + _SAME_SECOND
        self._next[first] = row + 1
        return row

    def _look(self, first: int) -> int:
        if self._bounds is None:
            low, high = self._connection.execute(_BOUNDS).fetchone()
            self._bounds = (0, -1) if low is None else (low, high)
        low, high = self._bounds
        last = first + _SAME_SECOND - 1
        if last < low or first > high:
            return first
        found = self._connection.execute(_LAST_OF, (first, last)).fetchone()[0]
        return first if found is None else found + 1


class OriginNumbers(msgspec.Struct, frozen=True):
    """The numbers of a session's project and program."""

    project: int
    program: int

    @property
    def tokens(self) -> str:
        """The tokens of both, for a row of ``words``."""
        return f"{_PROJECT_TOKEN}{self.project} {_PROGRAM_TOKEN}{self.program}"


class Passing(msgspec.Struct, frozen=True):
    """The projects and the programs that pass a filter; ``None`` stands for all."""

    projects: Collection[int] | None = None
    programs: Collection[int] | None = None

    @property
    def match(self) -> str:
        """The FTS5 match of those that are few enough for one; empty without any."""
        alternatives = (
            [f"{_PROJECT_TOKEN}{number}" for number in self.projects or ()],
            [f"{_PROGRAM_TOKEN}{number}" for number in self.programs or ()],
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


class OriginTable(msgspec.Struct, eq=False):
    """The numbers that one writer finds and gives out, until its transaction fails."""

    _connection: sqlite3.Connection
    _known: dict[tuple[bytes, ...], int] = {}

    def numbers(self, header: SessionHeader | None) -> OriginNumbers:
        """Find or give the numbers of a session with this header."""
        origin, scope = origin_of(header), header.scope if header else ""
        return OriginNumbers(
            self._number(_PROJECT, as_bytes(scope), as_bytes(origin.project)),
            self._number(_PROGRAM, as_bytes(origin.program)),
        )

    def _number(self, statements: tuple[str, str], *values: bytes) -> int:
        insert, select = statements
        if values not in self._known:
            self._connection.execute(insert, values)
            self._known[values] = int(self._connection.execute(select, values).fetchone()[0])
        return self._known[values]


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
    return [number for number, value in rows if passes(as_text(value))]


class _Spelling(dict[int, str]):
    """A cache of the spelling of each character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        known = character == " " or _KNOWN.category(character)[0] in "LN"
        self[code] = spelt = character if known else f"x{code:x}x"
        return spelt


_SPELLING = _Spelling()


class _Spacing(dict[int, str]):
    """A cache of each plain character, apart from the others if it is a token of its own."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        apart = f" {character} " if _ALONE.match(character) else " "
        self[code] = spaced = character if character.isascii() else apart
        return spaced


_SPACING = _Spacing()


def as_row(text: str) -> str:
    """Write a text as a row; ``""`` if it has no tokens.

    SQLite finds the same tokens in plain text as ``cut``, twice as fast, but for the longest ones.
    """
    if not is_plain(text):
        return as_words(cut(text))
    plain = text if text.isascii() else text.translate(_SPACING)
    if _has_long_token(plain):
        return as_words(cut(text))
    return plain if _TOKEN.search(plain) else ""


def _has_long_token(plain: str) -> bool:
    """Look for a token that ``cut`` would divide: from blank to blank, in steps of its length."""
    at = 0
    while len(plain) - at > TOKEN_CHARACTERS:
        blank = plain.rfind(" ", at, at + TOKEN_CHARACTERS + 1)
        if blank < 0:
            return _LONG.search(plain, at) is not None
        at = blank + 1
    return False


def is_plain(text: str) -> bool:
    """Tell whether SQLite finds the tokens of a text without our cutting it."""
    return _PLAIN.fullmatch(text) is not None


def as_words(tokens: Sequence[str]) -> str:
    """Join tokens to the text of a row."""
    words = " ".join(tokens)
    return words if words.isascii() else words.translate(_SPELLING)


def as_match(query: Query, connection: sqlite3.Connection) -> str:
    """Write a query as an FTS5 match; ``""`` if FTS5 cannot help.

    It may match more than the query; where some terms are enough, less: those that FTS5 can find.
    """
    phrases = list(filter(None, (_phrase(term, connection) for term in query.terms)))
    return f"({' OR '.join(phrases)})" if query.some and phrases else " AND ".join(phrases)


def _phrase(term: Term, connection: sqlite3.Connection) -> str:
    tokens, star = term.tokens, "*" if term.prefix else ""
    if term.prefix and len(tokens[-1]) < _SHORTEST_PREFIX:
        if len(tokens) == 1:
            return _one_letter(tokens[0], connection)
        tokens, star = tokens[:-1], ""
    return f'"{as_words(tokens)}"{star}'


def _one_letter(letter: str, connection: sqlite3.Connection) -> str:
    """Write a prefix of one letter as those of two, which FTS5 walks newest first.

    For the one itself it would collect a fifth of all messages before its first row. Left out is a
    letter that FTS5 may know by another one, and one with too many others behind it.
    """
    if not letter.isascii():
        return ""
    longer = list(islice(_beginnings(letter, connection), MOST_ALTERNATIVES))
    if len(longer) == MOST_ALTERNATIVES:
        return ""
    return "(" + " OR ".join([f'"{letter}"', *(f'"{each}"*' for each in longer)]) + ")"


def _beginnings(letter: str, connection: sqlite3.Connection) -> Iterator[str]:
    """Find the first two characters of the words in the index that begin with a letter."""
    connection.execute(_TERMS)
    after = letter + _FIRST
    while row := connection.execute(_TERM_FROM, (after,)).fetchone():
        if not (term := str(row[0])).startswith(letter):
            return
        yield term[:2]
        after = term[:2] + _LAST
