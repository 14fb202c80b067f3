"""What was found, line by line, one hit of it highlighted."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.domain.search.query import Hit
from tui.domain.search.search_results import Results, SessionHits
from tui.widgets.search.hit_drawing import Part, Piece, heading_pieces, hit_pieces

Line = SessionHits | Hit


class HitList(ScrollView, can_focus=False):
    """Hits under the sessions that they are in. The keys are its screen's."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "hit-list--aside",
        "hit-list--own",
        "hit-list--answer",
        "hit-list--heading",
        "hit-list--mark",
        "hit-list--highlight",
    }
    DEFAULT_CSS = """
    HitList { overflow-x: hidden; scrollbar-size-vertical: 1; }
    HitList {
        background: $background;
        scrollbar-background: $background;
        scrollbar-color: $panel;

        & > .hit-list--heading { text-style: bold; }
        & > .hit-list--aside { color: $text-muted; }
        & > .hit-list--own { color: $text-primary; text-style: bold; }
        & > .hit-list--answer { color: $text-accent; }
        & > .hit-list--mark { color: $text-warning; text-style: bold underline; }
        & > .hit-list--highlight {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
        }
    }
    """

    class Highlighted(Message):
        """The highlight is on another hit, or on none."""

        def __init__(self, hit: Hit | None) -> None:
            super().__init__()
            self.hit = hit

    class Chosen(Message):
        """A hit was clicked twice."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []
        self._now = datetime.min.replace(tzinfo=UTC)
        self._place = -1

    @property
    def highlighted(self) -> Hit | None:
        """The hit that the highlight is on."""
        line = self._lines[self._place] if 0 <= self._place < len(self._lines) else None
        return line if isinstance(line, Hit) else None

    def visible_text(self) -> list[str]:
        """What is on screen, row by row."""
        return [self.render_line(y).text.rstrip() for y in range(self.size.height)]

    def show(self, results: Results, now: datetime, highlighted: Hit | None = None) -> None:
        """Show other hits; the highlight stays in its place, else it goes to the first."""
        before = self.highlighted
        self._now = now
        self._lines = [line for session in results.sessions for line in (session, *session.hits)]
        places = [place for place, line in enumerate(self._lines) if _is_at(line, highlighted)]
        self.virtual_size = Size(0, len(self._lines))
        self._place = places[0] if places else self._hit_from(0, 1)
        self._bring_into_view()
        self.refresh()
        if self.highlighted != before or self.highlighted is None:
            self.post_message(self.Highlighted(self.highlighted))

    def move(self, hits: int) -> None:
        """Put the highlight so many hits further down, or up."""
        places = [place for place, line in enumerate(self._lines) if isinstance(line, Hit)]
        if places:
            now = places.index(self._place)
            self._move_to(places[max(0, min(now + hits, len(places) - 1))])

    def move_page(self, pages: int) -> None:
        """Put the highlight about a screen further down, or up."""
        place = self._place + pages * max(1, self.size.height - 1)
        place = max(0, min(place, len(self._lines) - 1))
        self._move_to(self._hit_from(place, -pages) if pages > 0 else self._hit_from(place, 1))

    def on_resize(self) -> None:
        self._bring_into_view()

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        place = self.scroll_offset.y + offset.y if offset else -1
        if 0 <= place < len(self._lines) and isinstance(self._lines[place], Hit):
            self._move_to(place)
            if event.chain > 1:
                self.post_message(self.Chosen())

    # --- within

    def _hit_from(self, place: int, step: int) -> int:
        """The first hit from a line on, in one direction; -1 without any."""
        while 0 <= place < len(self._lines):
            if isinstance(self._lines[place], Hit):
                return place
            place += step
        return -1

    def _move_to(self, place: int) -> None:
        if place < 0 or place == self._place:
            return
        self._place = place
        self._bring_into_view()
        self.refresh()
        self.post_message(self.Highlighted(self.highlighted))

    def _bring_into_view(self) -> None:
        height = self.size.height
        if not height or self._place < 0:
            return
        top = max(self.scroll_offset.y, self._place - height + 1)
        # A session comes into view with its first hit.
        under = height > 1 and isinstance(self._lines[self._place - 1], SessionHits)
        self.scroll_to(
            y=min(top, self._place - 1 if under else self._place), animate=False, force=True
        )

    # --- drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = self.scroll_offset.y + y
        if place >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        highlighted = place == self._place
        base = self._style("highlight") if highlighted else self.rich_style
        segments = [
            Segment(text, self._shade(part, base, highlighted=highlighted))
            for text, part in self._pieces(self._lines[place], width)
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _pieces(self, line: Line, width: int) -> Iterator[Piece]:
        if isinstance(line, SessionHits):
            return heading_pieces(line, self._now, width)
        return hit_pieces(line, self._now, width)

    def _shade(self, part: Part, base: Style, *, highlighted: bool) -> Style:
        if part == "text":
            return base
        own = self._style(part)
        if not highlighted:
            return own
        # Colours that were chosen for one background are not to be read on the other.
        return base + Style(bold=own.bold, underline=own.underline)

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"hit-list--{part}")


def _is_at(line: Line, hit: Hit | None) -> bool:
    return isinstance(line, Hit) and hit is not None and line.place == hit.place
