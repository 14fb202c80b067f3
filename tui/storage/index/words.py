"""Text and queries as FTS5 is given them, so that its tokenizer agrees with ours."""

import re
import unicodedata
from collections.abc import Sequence

from tui.domain.search.query import Query, Term
from tui.domain.text.tokens import TOKEN_CHARACTERS, cut

# Every SQLite knows the letters and numbers of Unicode 3.2. Later characters may be separators
# for it, or vanish: they are written as their codes. Hits are checked in the journals anyway.
_KNOWN = unicodedata.ucd_3_2_0
_SHORTEST_PREFIX = 2
_SAME_TIME = 1 << 15  # rows that messages of one millisecond can have
_ASCII_WORD = re.compile("[0-9A-Za-z]")


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


def as_match(query: Query) -> str:
    """Write a query as an FTS5 match; ``""`` if FTS5 cannot help.

    It may match more than the query: a prefix of one letter is left out, as FTS5 would collect a
    fifth of all messages before its first row.
    """
    return " AND ".join(filter(None, map(_phrase, query.terms)))


def _phrase(term: Term) -> str:
    tokens, star = term.tokens, "*" if term.prefix else ""
    if term.prefix and len(tokens[-1]) < _SHORTEST_PREFIX:
        tokens, star = tokens[:-1], ""
    return f'"{as_words(tokens)}"{star}' if tokens else ""
