"""The hits of a search, and the preview of the highlighted one."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import ClassVar, Literal, get_args

from rich.cells import cell_len
from textual import events, on
from textual.strip import Strip

from tui.domain.journal.message import Role
from tui.domain.search.query import Hit
from tui.domain.search.search_results import (
    Preview,
    PreviewedMessage,
    Results,
    SessionHits,
    in_sight,
)
from tui.domain.search.tokens import Span
from tui.domain.text import age, local_minute, make_visible_line, plural, scope_name, whole_label
from tui.domain.timestamps import parse_utc
from tui.widgets.cells import clean, cut, fill, one_line, shorten, wrap_words
from tui.widgets.line_list import LineList
from tui.widgets.transcript.canvas import COMPONENTS, MEASURE, NAMES, Canvas
from tui.widgets.transcript.markdown_blocks import Splitter
from tui.widgets.transcript.row_blocks import row_block

Part = Literal["text", "aside", "heading", "own", "answer", "mark", "chosen"]
Piece = tuple[str, Part]
"""A text of a line, and the part that it plays."""

_NEVER = datetime.min.replace(tzinfo=UTC)
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
    whole, aside, more = one_line(session.session_id), "", [session.session_id]
    if entry := session.entry:
        whole, scope = one_line(whole_label(entry.name, entry.label)), scope_name(entry.scope)
        asides = [age(parse_utc(entry.last_used_at), now)] if entry.last_used_at else []
        asides += [one_line(scope)] if scope else []
        asides += [f"from {one_line(entry.program)}"] if entry.program else []
        aside = _aside([*asides, "archived"] if entry.status == "archived" else asides)
        if entry.created_at:
            created = f"created {local_minute(entry.created_at)}"
            more += [plural(entry.message_count, "message"), created]
    base = aside
    for count in (1, len(more)):
        # Only where it takes no room from the rest.
        longer = base + _aside(more[:count])
        aside = longer if cell_len(whole + longer) < width else aside
    label = cut(whole, max(width - cell_len(aside) - 1, width // 2))
    yield f" {label}", "heading"
    yield fill(aside, max(0, width - 1 - cell_len(label))), "aside"


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


def author_line(message: PreviewedMessage, now: datetime) -> Sequence[Piece]:
    """The line above a message of a preview."""
    who, part = _WHO[message.role]
    said = age(parse_utc(message.timestamp), now)
    return [(who, "chosen" if message.chosen else part), (f"  {said}", "aside")]


def text_lines(message: PreviewedMessage, width: int) -> Iterator[Sequence[Piece]]:
    """The text of a message of a preview as it was written, with its matches."""
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


def answer_rows(text: str, canvas: Canvas) -> Iterator[Strip]:
    """The Markdown of an answer as in the transcript, without the cell of its cursor."""
    splitter = Splitter()
    splitter.feed(clean(text))
    splitter.finish()
    for block in splitter.blocks:
        yield from (row.crop(1) for row in row_block(block).strips(canvas))


_WHEEL_ROWS = 3


class PreviewPane(LineList[Sequence[Piece] | Strip], can_focus=False):
    """Shows the messages around the highlighted hit, with the hit in the upper part.

    Without a match, answers are drawn as in the transcript.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"line-list--{part}" for part in get_args(Part)),
        *COMPONENTS,
    }
    DEFAULT_CSS = """
    PreviewPane {
        background: $background; overflow-y: hidden;

        & > .line-list--own { color: $text-primary; }
        & > .line-list--answer { color: $text-accent; }
        & > .line-list--chosen { color: $text-warning; text-style: bold reverse; }
        & > .line-list--mark { color: $text-warning; text-style: bold underline; }
    }
    """

    _preview: Preview | None = None
    _now = _NEVER

    def show(self, preview: Preview | None, now: datetime) -> None:
        """Show a preview; ``None`` clears the pane."""
        self._preview, self._now = preview, now
        self.resized()

    def is_stop(self, line: Sequence[Piece] | Strip) -> bool:  # noqa: ARG002 -- there is no highlight
        return False

    def pieces(self, line: Sequence[Piece] | Strip, width: int) -> Sequence[Piece]:  # noqa: ARG002 -- laid out for it
        return () if isinstance(line, Strip) else line

    def render_line(self, y: int) -> Strip:
        line = self.line_at(self.scroll_offset.y + y)
        return line if isinstance(line, Strip) else super().render_line(y)

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _turn_wheel(self, event: events.MouseEvent) -> None:
        rows = _WHEEL_ROWS if isinstance(event, events.MouseScrollDown) else -_WHEEL_ROWS
        self.scroll_to_line(self.scroll_offset.y + rows)
        event.stop()

    def resized(self) -> None:
        """Lay out the lines for the present size."""
        width, height = self.size
        if not width:
            return  # not laid out and without styles yet: the first resize comes back here
        lines: list[Sequence[Piece] | Strip] = []
        found = 0
        if self._preview is not None and self._preview.error:
            words = make_visible_line(self._preview.error)
            lines = [[(row, "aside")] for row in wrap_words(words, max(1, width))]
        messages = self._preview.messages if self._preview else ()
        is_marked = any(message.marks for message in messages)
        style = self.get_component_rich_style
        palette = {name: style(f"transcript--{name}") for name in NAMES}
        canvas = Canvas(width + 1, palette, copies=False)
        for message in messages:
            begin = len(lines) + bool(lines)
            is_drawn = message.role == "assistant" and not is_marked
            text = answer_rows(message.text, canvas) if is_drawn else text_lines(message, width)
            own = [author_line(message, self._now), *text]
            lines += [[], *own] if lines else own
            if message.chosen:
                matches = (at for at, line in enumerate(own) if _has_match(line))
                # The line with the author is in view, too, if there is room for both.
                place = next(matches, 0)
                found = begin + (place if place > height // 2 else 0)
        if self._preview is not None and self._preview.message_id is None:
            found = len(lines) + height
        self.lines = lines
        self.update_size()
        self.scroll_to_line(found - height // 3)
        self.refresh()


def _has_match(line: Sequence[Piece] | Strip) -> bool:
    return not isinstance(line, Strip) and any(part == "mark" for _, part in line)


Line = SessionHits | Hit


class HitList(LineList[Line], can_focus=False):
    """A virtual list of hits under their sessions. The keys are its screen's."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line-list--{part}" for part in get_args(Part)}
    DEFAULT_CSS = """
    HitList {
        background: $background;
        scrollbar-background: $background;
        scrollbar-color: $panel;

        & > .line-list--heading { text-style: bold; }
        & > .line-list--own { color: $text-primary; text-style: bold; }
        & > .line-list--answer { color: $text-accent; }
        & > .line-list--mark { color: $text-warning; text-style: bold underline; }
    }
    """

    _now = _NEVER

    def is_heading(self, line: Line) -> bool:
        return isinstance(line, SessionHits)

    def pieces(self, line: Line, width: int) -> Iterable[Piece]:
        if isinstance(line, SessionHits):
            return heading_pieces(line, self._now, width)
        return hit_pieces(line, self._now, width)

    @property
    def highlighted(self) -> Hit | None:
        line = self.line_at(self.place)
        return line if isinstance(line, Hit) else None

    def show(self, results: Results, now: datetime, highlighted: Hit | None = None) -> None:
        """Show other hits, with the highlight on ``highlighted`` or else on the first."""
        before = self.highlighted
        self._now = now
        self.lines = [line for session in results.sessions for line in (session, *session.hits)]
        wanted = highlighted.place if highlighted else None
        hits = (
            place
            for place, line in enumerate(self.lines)
            if isinstance(line, Hit) and line.place == wanted
        )
        self.update_size()
        self.highlight_place(next(hits, self.stop_beyond(0, 1)))
        if self.highlighted != before or self.highlighted is None:
            self.post_message(self.Highlighted())
