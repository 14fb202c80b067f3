"""Text and queries as FTS5 is given them, so that its tokenizer agrees with ours."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from tui.domain.search.query import Query, Term
from tui.domain.text.tokens import TOKEN_CHARACTERS, cut
from tui.storage.index.origins import MOST_ALTERNATIVES

# Every SQLite knows the letters and numbers of Unicode 3.2. Later characters may be separators
# for it, or vanish: they are written as their codes. Hits are checked in the journals anyway.
_KNOWN = unicodedata.ucd_3_2_0
_SHORTEST_PREFIX = 2
_SAME_TIME = 1 << 15  # rows that messages of one millisecond can have
_ASCII_WORD = re.compile("[0-9A-Za-z]")
_TERMS = "create virtual table if not exists temp.terms using fts5vocab(main, words, instance)"
_FIRST, _LAST = "0", "\U0010ffff"
"""No character of a token comes before the first one, and none behind the last one."""


class _Spelling(dict[int, str]):
    """A cache of the spelling of each character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        known = character == " " or _KNOWN.category(character)[0] in "LN"
        self[code] = spelt = character if known else f"x{code:x}x"
        return spelt


_SPELLING = _Spelling()


def row_of(milliseconds: int) -> int:
    """The first row of the messages of a time: rows grow with it."""
    return max(0, milliseconds) * _SAME_TIME


def as_row(text: str) -> str:
    """Write a text as a row; ``""`` if it has no tokens.

    SQLite finds the same tokens in ASCII as ``cut``, twice as fast, but for the longest ones.
    """
    if text.isascii() and max(map(len, text.split()), default=0) <= TOKEN_CHARACTERS:
        return text if _ASCII_WORD.search(text) else ""
    return as_words(cut(text))


def as_words(tokens: Sequence[str]) -> str:
    """Join tokens to the text of a row."""
    words = " ".join(tokens)
    return words if words.isascii() else words.translate(_SPELLING)


def as_match(query: Query, connection: sqlite3.Connection) -> str:
    """Write a query as an FTS5 match; ``""`` if FTS5 cannot help.

    It may match more than the query.
    """
    return " AND ".join(filter(None, (_phrase(term, connection) for term in query.terms)))


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
    while (term := _term_from(after, connection)).startswith(letter):
        yield term[:2]
        after = term[:2] + _LAST


def _term_from(after: str, connection: sqlite3.Connection) -> str:
    row = connection.execute("select term from terms where term >= ? limit 1", (after,)).fetchone()
    return str(row[0]) if row else ""
