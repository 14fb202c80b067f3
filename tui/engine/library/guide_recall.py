"""Passages of the user's own sessions on a question, for the built-in guide."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tui.domain.search.query_words import search_words
from tui.domain.text.labels import age
from tui.domain.text.tokens import cut
from tui.domain.timestamps import parse_utc
from tui.errors import StorageError
from tui.storage.protocol import SessionReader

if TYPE_CHECKING:
    # What only a search needs is not on the way to the first screen.
    from tui.domain.search.query import Hit
    from tui.providers.guide import PastHit

MOST_HITS = 3
_SECONDS = 1.0
"""Limit of each of two searches."""
_LOOKED_AT = 30
_FEW_WORDS = 2
"""Of which a message with one is no passage on the question, if another has all."""
_SAID_BY = {"user": "you", "assistant": "an answer", "tool": "a tool's result", None: "a name"}


class GuideRecall:
    """Searches for a question: for all words worth it, and then for some of them."""

    def __init__(self, store: SessionReader, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, question: str) -> "Sequence[PastHit]":
        """The best hits, one of a session; blocks. None if the sessions cannot be searched."""
        from tui.providers.guide import PastHit

        words, found = search_words(question), dict[str, PastHit]()
        try:
            for query in (" ".join(words), " OR ".join(words)):
                for hit in self._worth_quoting(query, question):
                    said = f"{age(parse_utc(hit.timestamp), self._clock())}, {_SAID_BY[hit.role]}"
                    found.setdefault(hit.session_id, PastHit(hit.session_id, hit.snippet, said))
                if found and len(words) <= _FEW_WORDS:
                    break
        except StorageError:
            return ()
        return tuple(found.values())[:MOST_HITS]

    def _worth_quoting(self, query: str, question: str) -> "Iterator[Hit]":
        for hit in self._store.search(query, _LOOKED_AT, seconds=_SECONDS).hits:
            if hit.message_id is None:
                continue  # a name answers no question
            try:
                message = self._store.journal(hit.session_id).message(hit.message_id)
            except StorageError:
                continue  # purged, or changed, since it was found
            # Not what was just asked, here or earlier.
            if message.role == "assistant" or cut(message.typed_text) != cut(question):
                yield hit
