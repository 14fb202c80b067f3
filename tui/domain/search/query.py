"""Search in names and messages: parsing, matching, ranking and snippets."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import compress
from math import log
from operator import attrgetter, itemgetter

import msgspec

from tui.domain.journal.message import Message, Role
from tui.domain.journal.records import State
from tui.domain.journal.session import SessionEntry
from tui.domain.providers import is_guide
from tui.domain.search.filters import Filters, parse_filters, split_filters
from tui.domain.search.tokens import Span, cut, cut_with_spans, stands_alone
from tui.domain.text import age, local_minute, make_visible_line, plural, scope_name
from tui.domain.timestamps import format_milliseconds, parse_utc

CANDIDATES = 300
"""Limit of the messages that are ranked, newest first; more only set ``more``."""

SNIPPET_CHARACTERS = 160
_BEFORE = 40
"""Characters of a snippet before its first match."""
_WORD_CHARACTERS = 20
_TOGETHER_CHARACTERS = 80
_HARDLY_MORE = 1e-9
_PIECE_CHARACTERS = 16 * 1024
_MOST_COUNTED = 8
_NAME = 3
_OR = "OR"
_LEAST = 0.3
"""The weight of a match for some of the terms that is worth showing, beside the best one's."""
_OWN_WORDS: dict[Role, int] = {"user": 2, "assistant": 1, "tool": 0}
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|(\S+?)(?=[\s"]|$)|(")')


class Term(msgspec.Struct, frozen=True):
    """A sequence of tokens; with ``prefix`` the last one is the beginning of a token."""

    tokens: tuple[str, ...]
    prefix: bool = False


class Query(msgspec.Struct, frozen=True):
    """A parsed query: a text matches if it has all terms and passes the filters.

    Filters without terms match the newest message of each session that has one.
    """

    text: str
    terms: tuple[Term, ...]
    filters: Filters = Filters()
    some: bool = False
    """True if one term is enough: of texts with some the weightiest are the best."""

    @property
    def is_empty(self) -> bool:
        """True if nothing matches: there is nothing to look for, or a filter cannot be used."""
        return bool(self.filters.fault) or (not self.terms and self.filters.are_none)


class Hit(msgspec.Struct, frozen=True):
    """A matching message, or a session whose name matches."""

    session_id: str
    message_id: str | None
    """``None`` for a name, like ``role``."""
    role: Role | None
    timestamp: str
    """UTC; for a name the session's last use."""
    snippet: str
    """One sanitised line around the best match."""
    score: float
    marks: tuple[Span, ...] = ()
    """The matches in ``snippet``."""

    @property
    def place(self) -> tuple[str, str | None]:
        """Session and message id: unique among the hits of a search."""
        return self.session_id, self.message_id

    @property
    def words(self) -> str:
        """The rarest match in the snippet; of equally rare ones the longest."""
        often = Counter(self.snippet[begin:end] for begin, end in self.marks)
        return max(often, key=lambda each: (-often[each], len(each)), default="")


class SearchResult(msgspec.Struct, frozen=True):
    """The result of a search, best hits first."""

    hits: tuple[Hit, ...] = ()
    total: int = 0
    """The number of matches, of which ``hits`` may be the first."""
    more: bool = False
    """True if older matches were not ranked."""
    late: bool = False
    """True if time ran out before all sessions were searched."""
    notice: str = ""
    """A message to show once, such as the state of the index."""
    pending: int = 0
    """Bytes of journals that were not in the index."""
    is_behind: bool = False
    """True if the index lacks more than a search adds to it, or may do so."""
    looser: str = ""
    """The query that found it, where that was made of one that finds little."""

    @property
    def words(self) -> str:
        """The number of matches."""
        count = f"{self.total}{'+' if self.more else ''}"
        return "1 match" if count == "1" else f"{count} matches"


class Candidate(msgspec.Struct, frozen=True):
    """A match before ranking: a message with the number of its matches, or a session's name.

    ``time`` is when that was said or last used, in milliseconds since 1970.
    """

    session_id: str
    time: int
    message: Message | None = None
    count: int = 0
    name: str = ""

    @property
    def text(self) -> str:
        return self.message.text if self.message else self.name


def parse(text: str) -> Query:
    """Parse a query: filters, words, ``"phrases"`` and ``word*``; anything else is plain text.

    ``OR`` between two words makes it a query for some of them.
    """
    words, filters = split_filters(text)
    terms: dict[Term, None] = {}
    found: list[tuple[str, str, str]] = _PHRASE_OR_WORD.findall(words)
    among = [each for each in found[1:-1] if each[1] != _OR]
    some = len(among) < len(found[1:-1])
    for phrase, word, _ in (*found[:1], *among, *found[1:][-1:]):
        bare = word.rstrip("*")
        tokens = tuple(cut(phrase or bare))
        if tokens:
            starred = len(bare) < len(word) and bool(cut(bare[-1:]))
            terms[Term(tokens, starred and not stands_alone(tokens[-1]))] = None
    return Query(text, tuple(terms), parse_filters(filters), some=some)


def rarest_first(query: Query, count: Callable[[Query], int]) -> Iterator[Query]:
    """The queries to look up: where some terms are enough, first one for those that are rare.

    So few messages have these that all are candidates, however old; of the others the newest.
    ``count`` gives the number of messages with a term, up to one more than can be ranked.
    """
    if query.some:
        terms, room = list[Term](), CANDIDATES
        alone = [msgspec.structs.replace(query, terms=(term,)) for term in query.terms]
        for number, each in sorted(zip(map(count, alone), alone, strict=True), key=itemgetter(0)):
            room -= number
            if number and room >= 0:
                terms += each.terms
        if terms:
            yield msgspec.structs.replace(query, terms=tuple(terms))
    yield query


def matches(query: Query, message: Message) -> int:
    """Count the matches in a message; a filter alone matches a message that has words.

    An answer of the built-in guide has none: it would bury what was said.
    """
    if is_guide(message.model) or not query.filters.pass_time(time_of(message)):
        return 0
    return occurrences(query, message.text) if query.terms else int(bool(cut(message.text)))


def matches_name(query: Query, name: str, used: int) -> bool:
    """Check the name of a session that was last used at a time; a filter alone matches none."""
    return occurrences(query, name) > 0 and query.filters.pass_time(used)


def occurrences(query: Query, text: str) -> int:
    """Count the matches of all terms in a text; 0 if it lacks what the query wants of them."""
    counts = _counts(query, text)
    return sum(counts) if (any(counts) if query.some else all(counts)) else 0


def _counts(query: Query, text: str) -> Sequence[int]:
    """Count the matches of each term; all 0 if one is lacking that must be there."""
    if text.isascii():
        lower = text.lower()
        if not query.some and any(
            token not in lower for term in query.terms for token in term.tokens
        ):
            return [0]
        counts = [len(_pattern(term).findall(lower)) for term in query.terms]
        if query.some or all(counts):
            return counts
        # A token may be a part of a run that is too long for one.
    tokens = spaced(text)
    return [tokens.count(needle(term)) for term in query.terms]


def spaced(text: str) -> str:
    """Join the tokens of a text with blanks, to be searched for a term's ``needle``."""
    return f" {' '.join(cut(text))} "


def needle(term: Term) -> str:
    """The form of a term in ``spaced`` text."""
    # Tokens contain no blanks: the blanks around a needle exclude matches within a token.
    return f" {' '.join(term.tokens)}" + ("" if term.prefix else " ")


def time_of(message: Message) -> int:
    """The time of a message in milliseconds since 1970; 0 if unknown."""
    moment = parse_utc(message.timestamp)
    return max(0, int(moment.timestamp() * 1000)) if moment else 0


class SessionScan(msgspec.Struct):
    """The matches in one session whose origin passes, from its records in reverse order.

    In reverse the last version of a message comes first, and the end of a journal can be searched
    without its beginning. Replaced messages do not count.
    """

    session_id: str
    query: Query
    used: int = 0
    """The session's last use, in milliseconds since 1970."""
    name: str | None = None
    known: set[str] = msgspec.field(default_factory=set[str])
    replaced: set[str] = msgspec.field(default_factory=set[str])
    found: list[Candidate] = msgspec.field(default_factory=list[Candidate])

    def add(self, record: Message | State) -> None:
        if not isinstance(record, Message):
            self.name = record.name if self.name is None else self.name
            return
        if record.replaces:
            self.replaced.add(record.replaces)
        if record.id in self.known:
            return
        self.known.add(record.id)
        if count := matches(self.query, record):
            self.found.append(Candidate(self.session_id, time_of(record), record, count))

    @property
    def candidates(self) -> list[Candidate]:
        said = [c for c in self.found if c.message and c.message.id not in self.replaced]
        if not self.query.terms:
            return [*sorted(said, key=attrgetter("time"), reverse=True)[:1]]
        if self.name and matches_name(self.query, self.name, self.used):
            return [Candidate(self.session_id, self.used, name=self.name), *said]
        return said


def rank(query: Query, candidates: Iterable[Candidate], limit: int) -> SearchResult:
    """Rank matches: names first, then prompts above answers, by number of matches and by age.

    If there are more than ``limit``, names take half of it. Of the names only the newest
    ``limit`` count, as no others can be shown; the same holds for the matches of a filter alone,
    which are ranked by age. Matches for some of the terms are ranked by these, names and all.
    """
    newest = sorted(candidates, key=attrgetter("time"), reverse=True)
    if query.some:
        return _ranked_by_weight(query, newest, limit)
    room = max(limit, 0)
    names = _scored([each for each in newest if not each.message][:room])
    messages = [each for each in newest if each.message]
    by_age = ((round(_newness(place), 4), each) for place, each in enumerate(messages[:room]))
    said = _scored(messages[:CANDIDATES]) if query.terms else [*by_age]
    total = len(names) + len(said)
    best = names[: max(room - len(said), (room + 1) // 2)]
    best += said[: room - len(best)]
    hits = tuple(_hit(query, each, score) for score, each in best)
    return SearchResult(hits, total, more=total < len(newest))


def _ranked_by_weight(query: Query, newest: Sequence[Candidate], limit: int) -> SearchResult:
    """Rank matches by their terms: one that few of them have weighs most.

    What weighs less than a part of the best is none. Of equal ones, own words and newer ones win.
    """
    had = [[count > 0 for count in _counts(query, each.text)] for each in newest]
    weights = [log(1 + len(had) / max(1, sum(term))) for term in zip(*had, strict=True)]
    weighed = [sum(compress(weights, terms)) for terms in had]
    enough = _LEAST * max(weighed, default=0.0)
    scored: list[tuple[float, Candidate]] = []
    for place, (weight, each) in enumerate(zip(weighed, newest, strict=True)):
        own = _OWN_WORDS[each.message.role] if each.message else 0
        if weight >= enough:
            scored.append((round(weight + own / 8 + _newness(place), 4), each))
    best = sorted(scored, key=itemgetter(0), reverse=True)[: max(limit, 0)]
    hits = tuple(_hit(query, each, score) for score, each in best)
    return SearchResult(hits, len(scored), more=len(newest) > CANDIDATES)


def with_sessions(found: SearchResult, entries: Iterable[SessionEntry], limit: int) -> SearchResult:
    """Put sessions first whose id in the program that they are from is the query."""
    hits = [
        Hit(each.id, None, None, each.last_used_at, make_visible_line(each.label), _NAME + 1)
        for each in entries
        if each.status != "trashed"
    ]
    return msgspec.structs.replace(
        found, hits=(*hits, *found.hits)[: max(limit, 0)], total=found.total + len(hits)
    )


def _scored(newest: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
    scored: list[tuple[float, Candidate]] = []
    for place, each in enumerate(newest):
        score: float = _NAME
        if each.message is not None:
            often = min(each.count, _MOST_COUNTED).bit_length() / 8
            score = _OWN_WORDS[each.message.role] + often
        scored.append((round(score + _newness(place), 4), each))
    return sorted(scored, key=itemgetter(0), reverse=True)


def _newness(place: int) -> float:
    return max(0, CANDIDATES - place) / CANDIDATES / 16


def _hit(query: Query, candidate: Candidate, score: float) -> Hit:
    text, marks = snippet(query, candidate.text)
    where, message = candidate.session_id, candidate.message
    if message is None:
        return Hit(where, None, None, format_milliseconds(candidate.time), text, score, marks)
    return Hit(where, message.id, message.role, message.timestamp, text, score, marks)


def snippet(query: Query, text: str) -> tuple[str, tuple[Span, ...]]:
    """Cut one sanitised line around the best match; with the spans of the matches in it."""
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
    lead = "…" if begin else ""
    # Looked for without the dots: a line of ASCII is not cut.
    spans = ((start + len(lead), stop + len(lead)) for start, stop in places(query, words))
    return f"{lead}{words}{'…' if end < len(text) else ''}", tuple(spans)


def best_place(query: Query, text: str) -> int:
    """The position where most terms, weighted by rarity, stand close together.

    A long text is searched in pieces of 16 KiB, up to the first one with a match.
    """
    for begin in range(0, len(text), _PIECE_CHARACTERS):
        piece = text[begin : begin + _PIECE_CHARACTERS + SNIPPET_CHARACTERS]
        spots = ((span[0], term) for term, span in _spots(query, piece))
        found = sorted(spots, key=itemgetter(0))
        if found:
            return begin + _densest(found)
    return 0


def _densest(found: Sequence[tuple[int, Term]]) -> int:
    """The first position of the window with the highest weight: a rare term counts more."""
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
    """Find the spans of all terms in a text, in order, overlapping ones joined."""
    joined: list[Span] = []
    for begin, end in sorted(span for _, span in _spots(query, text)):
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def _spots(query: Query, text: str) -> Iterator[tuple[Term, Span]]:
    """Find the spans of each term."""
    if text.isascii():
        lower = text.lower()
        matched = [(t, found.span()) for t in query.terms for found in _pattern(t).finditer(lower)]
        if matched:
            yield from matched
            return
    cut_text = list(cut_with_spans(text))
    tokens = [token for token, _ in cut_text]
    for term in query.terms:
        size = len(term.tokens)
        for start in _starts(term, tokens):
            yield term, (cut_text[start][1][0], cut_text[start + size - 1][1][1])


@lru_cache(64)
def _pattern(term: Term) -> re.Pattern[str]:
    """A term in lower ASCII: found in a tenth of the time that cutting the text takes.

    It begins with a plain word, which the engine looks for first.
    """
    first, *others = map(re.escape, term.tokens)
    words = "[^0-9a-z]+".join([f"{first}(?<![0-9a-z]{first})", *others])
    return re.compile(words + ("[0-9a-z]*" if term.prefix else "(?![0-9a-z])"))


def _starts(term: Term, tokens: Sequence[str]) -> Iterable[int]:
    *head, last = term.tokens
    for end in range(len(head), len(tokens)):
        ends = tokens[end].startswith(last) if term.prefix else tokens[end] == last
        if ends and list(tokens[end - len(head) : end]) == head:
            yield end - len(head)


def hit_lines(hits: Iterable[Hit], entries: Iterable[SessionEntry], now: datetime) -> Iterator[str]:
    """Format hits as lines, with details of the sessions that still exist, the ``entries``."""
    found = {entry.id: entry for entry in entries}
    for hit in hits:
        entry = found.get(hit.session_id)
        said = f"{entry.label if entry else hit.session_id} ({age(parse_utc(hit.timestamp), now)})"
        name = "" if hit.message_id else "name: "
        facts = "".join(f" · {fact}" for fact in _facts(hit, entry)) if entry else ""
        yield f"{said} - {name}{hit.snippet}{facts}"


def _facts(hit: Hit, entry: SessionEntry) -> Iterator[str]:
    yield make_visible_line(scope_name(entry.scope))
    if entry.program:
        yield f"from {make_visible_line(entry.program)}"
    yield local_minute(hit.timestamp)
    created = f", created {local_minute(entry.created_at)}" if entry.created_at else ""
    yield f"{plural(entry.message_count, 'message')}{created}"
    yield entry.id
