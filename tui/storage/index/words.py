"""What the full-text table is given and asked, so that its tokenizer agrees with ours."""

import unicodedata
from collections.abc import Sequence

from tui.domain.search.query import Query, Term

# Letters and numbers of Unicode 3.2 are known to every SQLite. What came later may separate for
# it, or vanish: it is written as its code. Messages are looked at again before they are hits.
_KNOWN = unicodedata.ucd_3_2_0
_SHORTEST_PREFIX = 2


class _Spelling(dict[int, str]):
    """How each character is written, found out when it is first needed."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        known = character == " " or _KNOWN.category(character)[0] in "LN"
        self[code] = spelt = character if known else f"x{code:x}x"
        return spelt


_SPELLING = _Spelling()


def as_words(tokens: Sequence[str]) -> str:
    """Tokens as the table is given them."""
    words = " ".join(tokens)
    return words if words.isascii() else words.translate(_SPELLING)


def as_match(query: Query) -> str:
    """A query as the table is asked it; ``""`` if it cannot help.

    It may let more through than the query does: one letter that words begin with would make it
    gather a fifth of all that was ever said before it gives the first row.
    """
    return " AND ".join(filter(None, map(_phrase, query.terms)))


def _phrase(term: Term) -> str:
    tokens, star = term.tokens, "*" if term.prefix else ""
    if term.prefix and len(tokens[-1]) < _SHORTEST_PREFIX:
        tokens, star = tokens[:-1], ""
    return f'"{as_words(tokens)}"{star}' if tokens else ""
