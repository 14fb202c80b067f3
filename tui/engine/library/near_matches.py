"""Near matches for a query without hits: prefixes of its words, and fewer of its words."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from tui.domain.search.filters import split_filters
from tui.domain.search.query import Hit, SearchResult
from tui.domain.search.query_words import search_words
from tui.domain.text.tokens import stands_alone

SECONDS = 0.5
"""Limit of a search."""

_MOST_WORDS = 6
_MOST_QUERIES = 3
_SHORTEST = 3
_SHORTEST_ALONE = 2  # characters, of a script without spaces

Search = Callable[[str], SearchResult]


class NearMatches(msgspec.Struct, frozen=True):
    """Looser queries, those with the fewest hits first, and what they found together."""

    queries: tuple[str, ...] = ()
    found: SearchResult = SearchResult()

    def __str__(self) -> str:
        words = " or ".join(self.queries)
        if len(self.queries) > 1:
            return words
        count = f"{self.found.total}{'+' if self.found.more else ''}"
        return f"{words} (1 match)" if count == "1" else f"{words} ({count} matches)"


def nearest(search: Search, text: str, seconds: float = SECONDS) -> NearMatches:
    """Look for what comes nearest; without queries nothing does. Raises ``StorageError``.

    A word that nobody used counts by its longest beginning that somebody did. Of words that are
    never together as many as can be are kept. The filters of the text stay.
    """
    words_typed, filters = split_filters(text)

    def narrowed(query: str) -> SearchResult:
        return search(" ".join((query, *filters)))

    deadline = time.monotonic() + seconds
    words = list(_known(narrowed, search_words(words_typed)[:_MOST_WORDS], deadline))
    for size in range(len(words), 0, -1):
        found = [
            (query, answer)
            for query in map(" ".join, combinations(words, size))
            if time.monotonic() < deadline and (answer := narrowed(query)).hits
        ]
        if found:
            found.sort(key=lambda each: each[1].total)
            return _together(found[:_MOST_QUERIES])
    return NearMatches()


def _together(found: Sequence[tuple[str, SearchResult]]) -> NearMatches:
    if len(found) == 1:
        return NearMatches((found[0][0],), found[0][1])
    hits: dict[tuple[str, str | None], Hit] = {}
    for _, answer in found:
        for hit in answer.hits:
            hits.setdefault(hit.place, hit)
    more = any(answer.more or answer.total > len(answer.hits) for _, answer in found)
    queries = tuple(query for query, _ in found)
    return NearMatches(queries, SearchResult(tuple(hits.values()), len(hits), more=more))


def _known(search: Search, words: Iterable[str], deadline: float) -> Iterator[str]:
    for word in words:
        if time.monotonic() > deadline:
            return
        beginning = _longest_beginning(search, word.strip('"*'))
        if beginning:
            yield beginning


def _longest_beginning(search: Search, word: str) -> str:
    """As a query; ``""`` if not even half of it was ever said."""
    shortest = max(_SHORTEST_ALONE if stands_alone(word) else _SHORTEST, math.ceil(len(word) / 2))
    if search(_beginning(word, len(word))).hits:
        return _beginning(word, len(word))
    if shortest >= len(word) or not search(_beginning(word, shortest)).hits:
        return ""
    said, unsaid = shortest, len(word)
    while unsaid - said > 1:
        middle = (said + unsaid) // 2
        if search(_beginning(word, middle)).hits:
            said = middle
        else:
            unsaid = middle
    return _beginning(word, said)


def _beginning(word: str, size: int) -> str:
    cut = word[:size].rstrip("._-")
    return cut if stands_alone(cut[-1:]) or len(cut) < _SHORTEST else f"{cut}*"
