"""Searching names and messages: what a query means, what fits it, and what is shown of a hit."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from operator import attrgetter, itemgetter

import msgspec

from tui.domain.journal.message import Message, Role
from tui.domain.journal.records import State
from tui.domain.journal.session import SessionEntry
from tui.domain.text.labels import age, local_minute, plural
from tui.domain.text.safe_text import make_visible_line
from tui.domain.text.tokens import Span, cut, cut_with_spans, stands_alone
from tui.domain.timestamps import format_milliseconds, parse_utc

CANDIDATES = 300
"""Limit of the messages that are ranked, newest first; more are only noted."""

SNIPPET_CHARACTERS = 160
_BEFORE = 40
_WORD_CHARACTERS = 20
_TOGETHER_CHARACTERS = 80
_HARDLY_MORE = 1e-9
_PIECE_CHARACTERS = 16 * 1024
_MOST_COUNTED = 8
_NAME = 3
_OWN_WORDS: dict[Role, int] = {"user": 2, "assistant": 1, "tool": 0}
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|(\S+?)(?=[\s"]|$)|(")')


class Term(msgspec.Struct, frozen=True):
    """Tokens that must follow each other; with ``prefix`` the last is only how one begins."""

    tokens: tuple[str, ...]
    prefix: bool = False


class Query(msgspec.Struct, frozen=True):
    """Terms to look for: a name or a message fits if it has them all; without terms none does."""

    text: str
    terms: tuple[Term, ...]


class Hit(msgspec.Struct, frozen=True):
    """A message that fits, or a session whose name does: that has no message, and no role.

    The ``timestamp`` of a name is the session's last use. ``snippet`` is safe to show, ``marks``
    are the places in it that fit.
    """

    session_id: str
    message_id: str | None
    role: Role | None
    timestamp: str
    snippet: str
    score: float
    marks: tuple[Span, ...] = ()

    @property
    def place(self) -> tuple[str, str | None]:
        """The session and the message: no two hits of one search have the same."""
        return self.session_id, self.message_id

    @property
    def words(self) -> str:
        """Of what fits in the snippet the rarest, and of these the longest."""
        often = Counter(self.snippet[begin:end] for begin, end in self.marks)
        return max(often, key=lambda each: (-often[each], len(each)), default="")


class SearchResult(msgspec.Struct, frozen=True):
    """The answer to a query, best first.

    ``total`` counts all that was found, of which ``hits`` may be the first; ``more`` says that
    older ones were not looked at, ``late`` that time ran out before everything was. ``notice`` is
    what the user should be told once, ``pending`` how many bytes were not in the index.
    """

    hits: tuple[Hit, ...] = ()
    total: int = 0
    more: bool = False
    late: bool = False
    notice: str = ""
    pending: int = 0


class Fitting(msgspec.Struct, frozen=True):
    """A message that fits a query, with how often and when (milliseconds since 1970)."""

    session_id: str
    message: Message
    count: int
    time: int


class Named(msgspec.Struct, frozen=True):
    """A session whose name fits a query, with its last use (milliseconds since 1970)."""

    session_id: str
    name: str
    time: int


def parse(text: str) -> Query:
    """Read a query: words, ``"phrases"`` and ``word*``; whatever else it has is plain text."""
    terms: dict[Term, None] = {}
    for phrase, word, _ in _PHRASE_OR_WORD.findall(text):
        bare = str(word).rstrip("*")
        tokens = tuple(cut(phrase or bare))
        if tokens:
            starred = len(bare) < len(word) and bool(cut(bare[-1:]))
            terms[Term(tokens, starred and not stands_alone(tokens[-1]))] = None
    return Query(text, tuple(terms))


def occurrences(query: Query, text: str) -> int:
    """How often a text has the terms of a query; 0 if it lacks one of them."""
    tokens = spaced(text)
    found = [tokens.count(needle(term)) for term in query.terms]
    return sum(found) if all(found) else 0


def spaced(text: str) -> str:
    """The tokens of a text, each between blanks: it has a term where it has the term's needle."""
    return f" {' '.join(cut(text))} "


def needle(term: Term) -> str:
    """A term as it stands in ``spaced`` text."""
    # Blanks are in no token: between them, a part of one is never taken for the whole.
    return f" {' '.join(term.tokens)}" + ("" if term.prefix else " ")


def time_of(message: Message) -> int:
    """When a message was written, in milliseconds since 1970; 0 where it does not say."""
    moment = parse_utc(message.timestamp)
    return max(0, int(moment.timestamp() * 1000)) if moment else 0


class Spoken(msgspec.Struct):
    """The messages of one session that fit a query: the last writing of each, none replaced.

    With them its name, if that fits. Records are added from the last one on: those of a journal's
    end are right without its beginning. ``used`` is the session's last use in milliseconds.
    """

    session_id: str
    query: Query
    used: int = 0
    name: str | None = None
    known: set[str] = msgspec.field(default_factory=set[str])
    replaced: set[str] = msgspec.field(default_factory=set[str])
    found: list[Fitting] = msgspec.field(default_factory=list[Fitting])

    def add(self, record: Message | State) -> None:
        if isinstance(record, Message):
            self._add_message(record)
        elif self.name is None:
            self.name = record.name

    def _add_message(self, message: Message) -> None:
        if message.replaces:
            self.replaced.add(message.replaces)
        if message.id in self.known:
            return
        self.known.add(message.id)
        count = occurrences(self.query, message.text)
        if count:
            self.found.append(Fitting(self.session_id, message, count, time_of(message)))

    @property
    def fitting(self) -> list[Fitting | Named]:
        said = [each for each in self.found if each.message.id not in self.replaced]
        if self.name and occurrences(self.query, self.name):
            return [Named(self.session_id, self.name, self.used), *said]
        return [*said]


def rank(query: Query, fitting: Iterable[Fitting | Named], limit: int) -> SearchResult:
    """The best of the newest: names, then own words above answers, more of the terms, newer.

    Where there are more than can be shown, names take half of the room. Of the names only the
    newest ``limit`` count, as no other one can be shown.
    """
    newest = sorted(fitting, key=attrgetter("time"), reverse=True)
    room = max(limit, 0)
    names = _scored([each for each in newest if isinstance(each, Named)][:room])
    said = _scored([each for each in newest if isinstance(each, Fitting)][:CANDIDATES])
    total = len(names) + len(said)
    best = names[: max(room - len(said), (room + 1) // 2)]
    best += said[: room - len(best)]
    hits = tuple(_hit(query, each, score) for score, each in best)
    return SearchResult(hits, total, more=total < len(newest))


def _scored(newest: Sequence[Fitting | Named]) -> list[tuple[float, Fitting | Named]]:
    scored = [(_score(each, place), each) for place, each in enumerate(newest)]
    return sorted(scored, key=itemgetter(0), reverse=True)


def _score(fitting: Fitting | Named, place: int) -> float:
    newer = max(0, CANDIDATES - place) / CANDIDATES / 16
    if isinstance(fitting, Named):
        return round(_NAME + newer, 4)
    often = min(fitting.count, _MOST_COUNTED).bit_length() / 8
    return round(_OWN_WORDS[fitting.message.role] + often + newer, 4)


def _hit(query: Query, fitting: Fitting | Named, score: float) -> Hit:
    if isinstance(fitting, Named):
        text, marks = snippet(query, fitting.name)
        return Hit(
            fitting.session_id, None, None, format_milliseconds(fitting.time), text, score, marks
        )
    message = fitting.message
    text, marks = snippet(query, message.text)
    return Hit(fitting.session_id, message.id, message.role, message.timestamp, text, score, marks)


def snippet(query: Query, text: str) -> tuple[str, tuple[Span, ...]]:
    """One line of a text around the best place that fits, safe to show, and what fits in it."""
    first = best_place(query, text)
    begin = max(0, first - _BEFORE)
    end = min(len(text), begin + SNIPPET_CHARACTERS)
    if begin:
        blank = text.find(" ", begin, min(first, begin + _WORD_CHARACTERS))
        begin = begin if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", max(first, end - _WORD_CHARACTERS), end)
        end = end if blank < 0 else blank
    words = " ".join(make_visible_line(text[begin:end]).split())
    line = ("…" if begin else "") + words + ("…" if end < len(text) else "")
    return line, tuple(places(query, line))


def best_place(query: Query, text: str) -> int:
    """Where most of the terms, and the rarest, begin to stand together.

    A long text is looked through piece by piece, up to the first one that has any.
    """
    for begin in range(0, len(text), _PIECE_CHARACTERS):
        piece = text[begin : begin + _PIECE_CHARACTERS + SNIPPET_CHARACTERS]
        spots = ((span[0], term) for term, span in _spots(query, piece))
        found = sorted(spots, key=itemgetter(0))
        if found:
            return begin + _densest(found)
    return 0


def _densest(found: Sequence[tuple[int, Term]]) -> int:
    """The first of the places from which on a snippet has most: a rare term counts more."""
    often = Counter(term for _, term in found)
    best, most = found[0][0], 0.0
    inside: Counter[Term] = Counter()
    weight, last = 0.0, 0
    for place, term in found:
        while last < len(found) and found[last][0] < place + _TOGETHER_CHARACTERS:
            entering = found[last][1]
            weight += 0 if inside[entering] else 1 / often[entering]
            inside[entering] += 1
            last += 1
        if weight > most + _HARDLY_MORE:
            best, most = place, weight
        inside[term] -= 1
        weight -= 0 if inside[term] else 1 / often[term]
    return best


def places(query: Query, text: str) -> list[Span]:
    """Where a text has any of the terms, in order, none of them overlapping."""
    return _joined(sorted(span for _, span in _spots(query, text)))


def _spots(query: Query, text: str) -> Iterator[tuple[Term, Span]]:
    """Each place where a text has a term."""
    cut_text = list(cut_with_spans(text))
    tokens = [token for token, _ in cut_text]
    for term in query.terms:
        size = len(term.tokens)
        for start in _starts(term, tokens):
            yield term, (cut_text[start][1][0], cut_text[start + size - 1][1][1])


def _starts(term: Term, tokens: Sequence[str]) -> Iterable[int]:
    *head, last = term.tokens
    for end in range(len(head), len(tokens)):
        ends = tokens[end].startswith(last) if term.prefix else tokens[end] == last
        if ends and list(tokens[end - len(head) : end]) == head:
            yield end - len(head)


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for begin, end in spans:
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def hit_lines(hits: Iterable[Hit], entries: Iterable[SessionEntry], now: datetime) -> Iterator[str]:
    """Each hit as a line of a list; ``entries`` are those of its sessions that are still there."""
    found = {entry.id: entry for entry in entries}
    for hit in hits:
        entry = found.get(hit.session_id)
        said = f"{entry.label if entry else hit.session_id} ({age(parse_utc(hit.timestamp), now)})"
        name = "" if hit.message_id else "name: "
        yield f"{said} - {name}{hit.snippet}{_size_and_creation(entry) if entry else ''}"


def _size_and_creation(entry: SessionEntry) -> str:
    created = f", created {local_minute(entry.created_at)}" if entry.created_at else ""
    return f" · {plural(entry.message_count, 'message')}{created}"


def found_words(found: SearchResult) -> str:
    """How many messages were found, in words."""
    if found.more:
        return f"Found {found.total}+ matches:"
    return "Found 1 match:" if found.total == 1 else f"Found {found.total} matches:"
