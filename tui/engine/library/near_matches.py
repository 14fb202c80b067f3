"""Near matches for a query that finds little: messages with some of its words."""

import math
import time
from collections.abc import Callable, Iterable, Iterator

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
    if found.late or len(found.hits) >= _FEW:
        return SearchResult()
    typed, filters = split_filters(text)
    if found.hits and len(cut(typed)) < _QUESTION:
        return SearchResult()
    words = search_words(typed, _MOST_WORDS)
    # Without single letters.
    words = [w for w in words if not w.isascii() or len(w.strip('"*')) >= _SHORTEST_ALONE]
    enough = _FEW if len(words) >= _QUESTION else 1
    if len(found.hits) >= enough or parse(text).some:
        return SearchResult()

    def narrowed(query: str, most: int) -> SearchResult:
        return search(" ".join((query, *filters)), most)

    deadline = time.monotonic() + seconds
    query = " OR ".join(_known(narrowed, words, deadline))
    near = narrowed(query, limit) if query else SearchResult()
    known = {hit.place for hit in found.hits}
    hits = tuple(hit for hit in near.hits if hit.place not in known)
    if not hits:
        return SearchResult()
    total = near.total - len(near.hits) + len(hits)
    return msgspec.structs.replace(near, hits=hits, total=total, looser=query)


def _known(search: Search, words: Iterable[str], deadline: float) -> Iterator[str]:
    for word in words:
        if time.monotonic() > deadline:
            return
        beginning = _longest_beginning(search, _ENDING.sub("*", word).strip('"*'))
        if beginning:
            yield beginning


def _longest_beginning(search: Search, word: str) -> str:
    """As a query; ``""`` if not even half of it was ever said."""
    shortest = max(_SHORTEST_ALONE if stands_alone(word) else _SHORTEST, math.ceil(len(word) / 2))
    if search(_beginning(word, len(word)), 1).hits:
        return _beginning(word, len(word))
    if shortest >= len(word) or not search(_beginning(word, shortest), 1).hits:
        return ""
    said, unsaid = shortest, len(word)
    while unsaid - said > 1:
        middle = (said + unsaid) // 2
        if search(_beginning(word, middle), 1).hits:
            said = middle
        else:
            unsaid = middle
    return _beginning(word, said)


def _beginning(word: str, size: int) -> str:
    cut = word[:size].rstrip("._-")
    return cut if stands_alone(cut[-1:]) or len(cut) < _SHORTEST_STARRED else f"{cut}*"
