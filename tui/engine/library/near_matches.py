"""Near matches for a query that finds little: messages with some of its words."""

import math
import time
from collections.abc import Callable

import msgspec

from tui.domain.search.filters import split_filters
from tui.domain.search.query import SearchResult, parse
from tui.domain.search.query_words import search_words
from tui.domain.text.patterns import late_pattern
from tui.domain.text.tokens import cut, stands_alone

SECONDS = 0.5
"""Limit of a search."""

_FEW = 5
"""Matches of all words that are enough; of less words than ``_QUESTION`` one is."""
_QUESTION = 4
_MOST_WORDS = 24
_SHORTEST = 4
_SHORTEST_STARRED = 3
_SHORTEST_ALONE = 2  # characters, of a script without spaces
_ENDING = late_pattern(r"(?<=[a-z]{4})(ing|ings|ed|er|ers|es|e|ly|ion|ions|ment|ments)\*$")

Search = Callable[[str, int], SearchResult]
"""Searches for a query, and gives up to so many hits."""


def search_near(search: Search, text: str, limit: int) -> SearchResult:
    """Search, and put what comes nearest behind hits that are few. Raises ``StorageError``."""
    found = search(text, limit)
    near = nearest(search, text, found, limit - len(found.hits))
    total, hits = found.total + near.total, (*found.hits, *near.hits)
    return msgspec.structs.replace(found, hits=hits, total=total, more=found.more or near.more)


def nearest(
    search: Search, text: str, found: SearchResult, limit: int, seconds: float = SECONDS
) -> SearchResult:
    """Look for what comes nearest to a query that has found little. Raises ``StorageError``.

    These are the messages with the most and the rarest of its words, whose endings do not count. A
    word that nobody used stands for its longest beginning that somebody did. The filters stay.
    """
    typed, filters = split_filters(text)
    if found.hits and len(cut(typed)) < _QUESTION:
        return SearchResult()
    words = search_words(typed, _MOST_WORDS)
    # Without single letters.
    words = [w for w in words if not w.isascii() or len(w.strip('"*')) >= _SHORTEST_ALONE]
    enough = _FEW if len(words) >= _QUESTION else 1
    if found.late or len(found.hits) >= enough or parse(text).some:
        return SearchResult()

    def narrowed(query: str, most: int) -> SearchResult:
        return search(" ".join((query, *filters)), most)

    deadline = time.monotonic() + seconds
    known_words = (
        _longest_beginning(narrowed, _ENDING.sub("*", word).strip('"*'))
        for word in words
        if time.monotonic() <= deadline
    )
    query = " OR ".join(filter(None, known_words))
    near = narrowed(query, limit) if query else SearchResult()
    known = {hit.place for hit in found.hits}
    hits = tuple(hit for hit in near.hits if hit.place not in known)
    if not hits:
        return SearchResult()
    total = near.total - len(near.hits) + len(hits)
    return msgspec.structs.replace(near, hits=hits, total=total, looser=query)


def _longest_beginning(search: Search, word: str) -> str:
    """As a query; ``""`` if not even half of it was ever said."""
    shortest = max(_SHORTEST_ALONE if stands_alone(word) else _SHORTEST, math.ceil(len(word) / 2))
    sizes = (len(word), *range(len(word) - 1, shortest - 1, -1))
    beginnings = (_beginning(word, size) for size in sizes)
    return next((each for each in beginnings if search(each, 1).hits), "")


def _beginning(word: str, size: int) -> str:
    cut = word[:size].rstrip("._-")
    return cut if stands_alone(cut[-1:]) or len(cut) < _SHORTEST_STARRED else f"{cut}*"
