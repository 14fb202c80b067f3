"""The view model of the search screen."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from tui.domain.journal.message import Message, Role
from tui.domain.journal.session import SessionEntry
from tui.domain.search.filters import ends_with_filter
from tui.domain.search.query import Hit, Query, SearchResult, best_place, parse, places
from tui.domain.search.tokens import Span
from tui.domain.text import cell_width, make_visible

HINT = 'All sessions: "phrase" word* in:project from:program after:2026 before:2026-05'

_BEFORE, _AFTER = 400, 1600
"""Characters of the preview before and after the best match."""
_NEIGHBOUR = 600
"""Characters shown of the messages around it."""
# Half of all texts have a word that begins with fewer letters.
_BEGINNING = 3
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")


def is_question(text: str) -> bool:
    """True for a text that a model is to find other words for."""
    return text.lstrip().startswith("?") and bool(parse(text).terms)


def as_typed(text: str) -> str:
    """The query while the user types: the last word may be unfinished, so it is a prefix."""
    if ends_with_filter(text):
        return text
    word = text.rpartition(" ")[2]
    unfinished = len(word) >= _BEGINNING and word[-1].isalnum()
    return f"{text}*" if unfinished else text


class SessionHits(msgspec.Struct, frozen=True):
    """The hits in one session, best first."""

    session_id: str
    hits: tuple[Hit, ...]
    entry: SessionEntry | None = None
    """None if it was purged since: its hits say so when they are chosen."""


class Results(msgspec.Struct, frozen=True):
    """The results of a query by session, the session with the best hit first."""

    text: str
    """The query as typed."""
    sessions: tuple[SessionHits, ...] = ()
    found: SearchResult = SearchResult()
    error: str = ""
    near: SearchResult = SearchResult()
    """What a looser query found besides, because ``text`` found little."""
    model: str = ""
    """The model that may be asked for other words: the text begins with ``?``."""
    asked: tuple[tuple[str, int], ...] = ()
    """The queries that it gave, each with the number of its matches."""

    @property
    def marked(self) -> str:
        """The query whose matches are highlighted."""
        own = self.near.looser or as_typed(self.text)
        return " OR ".join([own, *(query for query, _ in self.asked)])

    def words(self, indexing: str = "") -> str:
        """Format the line above the results; ``indexing`` is the progress of the index."""
        if self.error:
            return self.error
        if not self.text.strip():
            return HINT
        query = parse(self.text)
        if query.is_empty:
            return query.filters.fault or "Symbols alone are not searched: type a word."
        said = [*self._counted(), *self._lacking(indexing)]
        return " · ".join([*said, self.found.notice] if self.found.notice else said)

    def _counted(self) -> Iterable[str]:
        if self.asked:
            yield "Also: " + " · ".join(f"{query} ({count})" for query, count in self.asked)
            return
        if self.model:
            yield f"Enter sends this question to {self.model}, for other words"
        elif is_question(self.text):
            yield "No model to ask: F5 connects one, and a private session asks none"
        found, shown = self.found, len(self.found.hits)
        near = f"{self.near.words} near it: {self.near.looser}" if self.near.looser else ""
        if not shown and near:
            yield f"Not found; {near}"
            return
        if not shown:
            is_whole = not (found.late or found.pending)
            query = parse(self.text)
            if not is_whole:
                yield "Nothing found so far"
            elif not query.filters.are_none:
                yield "No session matches."
            else:
                words = "this" if len(query.terms) == 1 else "all of this"
                yield f"No name or message contains {words}."
            return
        yield found.words
        if near:
            yield near
        if found.more or found.total > shown:
            yield (
                f"the best {shown} of the newest shown" if found.more else f"the best {shown} shown"
            )

    def _lacking(self, indexing: str) -> Iterable[str]:
        if self.found.pending:
            megabytes = max(1, self.found.pending // 1_000_000)
            yield f"{indexing or 'indexing'}: {megabytes} MB to go, more may come"
        elif self.found.late:
            yield "not all could be searched in time"


def by_session(hits: Iterable[Hit], entries: Iterable[SessionEntry]) -> tuple[SessionHits, ...]:
    """Group hits by session, in the order of each session's best hit."""
    known, grouped = {entry.id: entry for entry in entries}, dict[str, tuple[Hit, ...]]()
    for hit in hits:
        grouped[hit.session_id] = (*grouped.get(hit.session_id, ()), hit)
    return tuple(SessionHits(key, found, known.get(key)) for key, found in grouped.items())


def in_sight(text: str, marks: Sequence[Span], cells: int) -> tuple[str, Sequence[Span]]:
    """A line cut at its beginning, so that its first mark is within so many cells."""
    if not marks or cell_width(text[: marks[0][1]]) <= cells:
        return text, marks
    begin = mark = marks[0][0]
    while begin and (
        cell_width(text[begin - 1 : mark]) <= cells // 4 or cell_width(text[begin - 1 :]) < cells
    ):
        begin -= 1
    # From the beginning of a word, if there is one before the mark.
    space = text.find(" ", begin - 1, mark) if begin else -1
    begin = space + 1 if space >= 0 else begin
    if not begin:
        return text, marks
    moved = [(start - begin + 1, end - begin + 1) for start, end in marks]
    return "…" + text[begin:], moved


class PreviewedMessage(msgspec.Struct, frozen=True):
    """The excerpt of a message in the preview: sanitised text with the spans of its matches."""

    role: Role
    timestamp: str
    text: str
    marks: tuple[Span, ...] = ()
    chosen: bool = False


class Preview(msgspec.Struct, frozen=True):
    """The messages around a hit (for a name the last ones), or the reason why there are none."""

    message_id: str | None
    messages: tuple[PreviewedMessage, ...] = ()
    error: str = ""


def preview(query: Query, message_id: str | None, messages: Sequence[Message]) -> Preview:
    """Make the preview of a hit from the messages around it; the hit is scrolled to."""
    shown = [_previewed(query, each, chosen=each.id == message_id) for each in messages]
    return Preview(message_id, tuple(shown))


def _previewed(query: Query, message: Message, *, chosen: bool) -> PreviewedMessage:
    text = message.text
    begin = max(0, best_place(query, text) - _BEFORE) if chosen else 0
    end = begin + (_BEFORE + _AFTER if chosen else _NEIGHBOUR)
    cut = ("…" if begin else "") + text[begin:end].strip() + ("…" if end < len(text) else "")
    safe = make_visible(_LINE_ENDS.sub("\n", cut).replace("\t", "    "))
    marks = tuple(places(query, safe))
    return PreviewedMessage(message.role, message.timestamp, safe, marks, chosen)
