"""Passages of the user's own sessions on a question, for the built-in guide."""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tui.domain.journal.message import Message
from tui.domain.search.query_words import search_words
from tui.domain.text.labels import age
from tui.domain.text.tokens import cut
from tui.domain.timestamps import parse_utc
from tui.errors import StorageError
from tui.storage.protocol import SessionReader

if TYPE_CHECKING:
    # What only a search needs is not on the way to the first screen.
    from tui.domain.search.query import Hit, SearchResult
    from tui.providers.guide import PastHit

SECONDS = 2.0
"""Limit of a search for one question."""

MOST_HITS = 3
_EACH_SECONDS = 0.5
_LOOKED_AT = 30
_SAID_BY = {"user": "you", "assistant": "an answer", "tool": "a tool's result", None: "a name"}


class GuideRecall:
    """Searches for a question: for all words worth it, and then for fewer, the rarest last."""

    def __init__(self, store: SessionReader, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, question: str) -> "Sequence[PastHit]":
        """The best hits, one of a session; blocks. None if the sessions cannot be searched."""
        deadline = time.monotonic() + SECONDS
        found: dict[str, PastHit] = {}
        try:
            words = self._known(question, deadline)
            while words and len(found) < MOST_HITS and time.monotonic() < deadline:
                for hit in self._hits(words, question):
                    found.setdefault(hit.session_id, hit)
                words = words[:-1]
                if found and len(words) < 2:
                    break
        except StorageError:
            return ()
        return tuple(found.values())[:MOST_HITS]

    def _known(self, question: str, deadline: float) -> list[str]:
        """The words that were ever said elsewhere than in the question, the rarest first."""
        counts: dict[str, int] = {}
        for word in search_words(question):
            if time.monotonic() > deadline:
                break
            found = self._search([word])
            if any(self._worth_quoting(found, question)):
                counts[word] = found.total
        return sorted(counts, key=counts.__getitem__)

    def _hits(self, words: Sequence[str], question: str) -> "Iterator[PastHit]":
        from tui.providers.guide import PastHit

        for hit in self._worth_quoting(self._search(words), question):
            said = age(parse_utc(hit.timestamp), self._clock())
            yield PastHit(hit.session_id, hit.snippet, f"{said}, {_SAID_BY[hit.role]}")

    def _search(self, words: Sequence[str]) -> "SearchResult":
        return self._store.search(" ".join(words), _LOOKED_AT, seconds=_EACH_SECONDS)

    def _worth_quoting(self, found: "SearchResult", question: str) -> "Iterator[Hit]":
        for hit in found.hits:
            message = self._message(hit)
            if message is None:
                continue
            # Not what was just asked, here or earlier.
            if message.role == "assistant" or cut(message.typed_text) != cut(question):
                yield hit

    def _message(self, hit: "Hit") -> Message | None:
        if hit.message_id is None:
            # A name answers no question.
            return None
        try:
            journal = self._store.journal(hit.session_id)
            entries = journal.around(hit.message_id, 0, 0).entries
        except StorageError:
            # Purged, or changed, since it was found.
            return None
        found = (e for e in entries if isinstance(e, Message) and e.id == hit.message_id)
        return next(found, None)
