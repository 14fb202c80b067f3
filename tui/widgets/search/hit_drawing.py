"""Lines of hits, sessions and previewed messages, as pieces of text."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from rich.cells import cell_len

from tui.domain.journal.message import Role
from tui.domain.search.query import Hit
from tui.domain.search.search_results import PreviewedMessage, SessionHits, in_sight
from tui.domain.text.labels import age, local_minute, plural
from tui.domain.text.tokens import Span
from tui.domain.timestamps import parse_utc
from tui.widgets.cells import cut, fill, one_line
from tui.widgets.transcript.canvas import MEASURE
from tui.widgets.wrapping import shorten, wrap_words

Part = Literal["text", "aside", "heading", "own", "answer", "mark", "chosen"]
Piece = tuple[str, Part]
"""A text of a line, and the part that it plays."""

_AGE_CELLS = 12
_WHO: dict[Role, tuple[str, Part]] = {
    "user": ("\u203a you", "own"),
    "assistant": ("● answer", "answer"),
    "tool": ("▸ tool", "aside"),
}
_NAME: tuple[str, Part] = "# name", "heading"
_WHO_CELLS = 9
_NARROW = 55


def heading_pieces(session: SessionHits, now: datetime, width: int) -> Iterator[Piece]:
    """The line of a session."""
    asides = [age(parse_utc(session.used_at), now)] if session.used_at else []
    asides += [one_line(session.scope)] if session.scope else []
    asides += [f"from {one_line(session.program)}"] if session.program else []
    asides += ["archived"] if session.archived else []
    aside = _aside(asides)
    for more in _more(session):
        asides += more
        # Only where it takes no room from the rest.
        longer = _aside(asides)
        aside = longer if cell_len(one_line(session.label) + longer) < width else aside
    label = cut(one_line(session.label), max(width - cell_len(aside) - 1, width // 2))
    yield f" {label}", "heading"
    yield fill(aside, max(0, width - 1 - cell_len(label))), "aside"


def _more(session: SessionHits) -> Iterator[list[str]]:
    yield [session.session_id]
    if session.created_at:
        created = f"created {local_minute(session.created_at)}"
        yield [plural(session.message_count, "message"), created]


def _aside(words: Sequence[str]) -> str:
    return "".join(f" · {each}" for each in words)


def hit_pieces(hit: Hit, now: datetime, width: int) -> Iterator[Piece]:
    """The line of a hit: author, time, and the words around its matches."""
    who, part = _WHO[hit.role] if hit.role else _NAME
    who_cells = 2 if width < _NARROW else _WHO_CELLS
    yield f"   {fill(who[: who_cells - 1], who_cells)}", part
    yield fill(age(parse_utc(hit.timestamp), now), _AGE_CELLS) + " ", "aside"
    room = width - 3 - who_cells - _AGE_CELLS - 1
    text, marks = in_sight(hit.snippet, hit.marks, room)
    shown = shorten(text, max(1, room))
    # A mark ends before the ellipsis.
    end = len(shown) - (shown != text)
    yield from marked(shown, [mark for mark in marks if mark[1] <= end])


def marked(text: str, marks: Sequence[Span]) -> Iterator[Piece]:
    """A text in pieces, with its matches apart."""
    place = 0
    for begin, end in marks:
        yield text[place:begin], "text"
        yield text[begin:end], "mark"
        place = end
    yield text[place:], "text"


def message_lines(message: PreviewedMessage, now: datetime, width: int) -> Iterator[list[Piece]]:
    """A message of a preview, line by line."""
    who, part = _WHO[message.role]
    said = age(parse_utc(message.timestamp), now)
    yield [(who, "chosen" if message.chosen else part), (f"  {said}", "aside")]
    start = 0
    for line in message.text.split("\n"):
        place = 0
        for row in wrap_words(line, max(1, min(width - 2, MEASURE))):
            place = line.find(row, place)
            yield [("  ", "text"), *marked(row, _within(message.marks, start + place, len(row)))]
            place += len(row)
        start += len(line) + 1


def _within(marks: Sequence[Span], start: int, size: int) -> list[Span]:
    """The marks within a stretch of text, with their offsets in it."""
    end = start + size
    return [
        (max(begin, start) - start, min(stop, end) - start)
        for begin, stop in marks
        if begin < end and stop > start
    ]
