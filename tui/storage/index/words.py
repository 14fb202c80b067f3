"""Text and queries as FTS5 is given them, so that its tokenizer agrees with ours."""

import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from tui.domain.search.query import Query, Term
from tui.domain.search.tokens import TOKEN_CHARACTERS, cut
from tui.domain.text import late_pattern
from tui.storage.index.origins import MOST_ALTERNATIVES

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
    while (term := _term_from(after, connection)).startswith(letter):
        yield term[:2]
        after = term[:2] + _LAST


def _term_from(after: str, connection: sqlite3.Connection) -> str:
    row = connection.execute("select term from terms where term >= ? limit 1", (after,)).fetchone()
    return str(row[0]) if row else ""
