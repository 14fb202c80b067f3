"""The rows of the sidebar, drawn line by line: ten thousand cost what twenty cost."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.domain.rows import Group, SessionRow, SessionRows, matches
from tui.widgets.cells import fill
from tui.widgets.sidebar.drawing import Part, Piece, heading_pieces, row_pieces
from tui.widgets.sidebar.outline import Heading, Line, Outline

Last = tuple[int, str]
"""How many rows there were and the id of the last: whether asking for more brought any."""

NO_SESSIONS = "No sessions yet"
NO_MATCHES = "No matches"


class SessionList(ScrollView, can_focus=True):
    """Sessions under headings, one of which is highlighted."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "move_page(-1)", "Page up", show=False),
        Binding("pagedown", "move_page(1)", "Page down", show=False),
        Binding("home", "move_to_first", "First", show=False),
        Binding("end", "move_to_last", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "session-list--aside",
        "session-list--current",
        "session-list--heading",
        "session-list--highlight",
        "session-list--read-only",
        "session-list--running",
        "session-list--unread",
        "session-list--unsaved",
    }
    DEFAULT_CSS = """
    SessionList {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    class Chosen(Message):
        """A session was chosen, by Enter or a click."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    class EndNeared(Message):
        """The end of the rows came within a screen, and there are more."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: SessionRows | None = None
        self._now = datetime.min.replace(tzinfo=UTC)
        self._filter = ""
        self._matching: tuple[SessionRow, ...] = ()
        self._folded = {Group.ARCHIVED}
        self._folded_while_filtering: set[Group] = set()
        self._outline = Outline()
        self._place = 0
        self._kept: Line | None = None  # where the reader put the highlight, shown or not
        self._seen_height = 0
        self._asked = False
        self._asked_after: Last | None = None

    @property
    def highlighted(self) -> str | None:
        """The id of the session that the highlight is on; ``None`` on a heading."""
        line = self._line(self._place)
        return line.id if isinstance(line, SessionRow) else None

    @property
    def hidden(self) -> int:
        """How many sessions the filter hides."""
        return len(self._rows.rows) - len(self._matching) if self._rows else 0

    def show_rows(self, rows: SessionRows, now: datetime) -> None:
        """Show other rows, or the same ones at a later time; highlight and view stay."""
        first = not self._all_rows
        self._rows, self._now = rows, now
        self._asked = True  # what moves while lines are made was not moved by the reader
        self._match(rows.rows)
        if first:
            place = self._outline.place_of_session(rows.current)
            self._move_to(self._outline.nearest_row(0) if place is None else place)
        self._asked = False
        # Asking that brought nothing is not repeated before the reader moves.
        if self._last != self._asked_after:
            self._ask_for_more()

    def filter(self, text: str) -> None:
        """Show only what a text matches, under headings that are not folded at first."""
        narrower = text.startswith(self._filter)
        if not self._filter:
            self._folded_while_filtering.clear()
        self._filter = text
        self._match(self._matching if narrower else self._all_rows)
        self._bring_into_view()
        self._ask_for_more()

    def highlight(self, session_id: str) -> None:
        """Put the highlight on a session and bring it into view, if it is among the rows."""
        place = self._outline.place_of_session(session_id)
        if place is not None:
            self._move_to(place)

    # --- keys and mouse

    def action_move(self, lines: int) -> None:
        self._move_to(self._place + lines)

    def action_move_page(self, pages: int) -> None:
        self._move_to(self._place + pages * max(1, self._height - 1))

    def action_move_to_first(self) -> None:
        self._move_to(0)

    def action_move_to_last(self) -> None:
        self._move_to(len(self._outline) - 1)

    def action_choose(self) -> None:
        line = self._kept = self._line(self._place)
        if isinstance(line, SessionRow):
            self.post_message(self.Chosen(line.id))
        elif line is not None:
            self._turn_fold(line.group)

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        place = self.scroll_offset.y + offset.y
        if self._line(place) is not None:
            self._move_to(place)
            self.action_choose()

    # --- lines

    @property
    def _all_rows(self) -> tuple[SessionRow, ...]:
        return self._rows.rows if self._rows else ()

    @property
    def _folds(self) -> set[Group]:
        return self._folded_while_filtering if self._filter.strip() else self._folded

    @property
    def _height(self) -> int:
        return self.scrollable_content_region.height

    def _line(self, place: int) -> Line | None:
        return self._outline.lines[place] if 0 <= place < len(self._outline) else None

    def _match(self, rows: tuple[SessionRow, ...]) -> None:
        text = self._filter
        self._matching = tuple(row for row in rows if matches(row, text)) if text.strip() else rows
        self._lay_out()

    def _turn_fold(self, group: Group) -> None:
        self._folds.symmetric_difference_update({group})
        self._lay_out()
        self._ask_for_more()

    def _lay_out(self) -> None:
        """Make the lines anew; what is highlighted and what is in view stay where they are."""
        before, top = self._outline, self.scroll_offset.y
        seen = before.lines[top : top + self._height]
        highlighted = (self._kept, self._line(self._place))
        current = self._rows.current if self._rows else ""
        self._outline = Outline(self._matching, self._folds, current)
        places = (self._outline.place_of(line) for line in highlighted if line)
        known = next((place for place in places if place is not None), None)
        self._place = self._outline.nearest_row(self._place) if known is None else known
        self.virtual_size = Size(0, len(self._outline))
        # At the top one stays there, and sees what is new.
        self._scroll(top + self._outline.drift(seen, top) if top else 0)
        self.refresh()

    # --- the view

    def _move_to(self, place: int) -> None:
        if not self._outline.lines:
            return
        self._place = max(0, min(place, len(self._outline) - 1))
        self._kept = self._line(self._place)
        self._bring_into_view()
        self.refresh()
        self._ask_for_more()

    def _bring_into_view(self) -> None:
        height = self._height
        if not height:
            return  # not laid out yet: the first resize comes back here
        top = max(self.scroll_offset.y, self._place - height + 1)
        # A heading comes into view with its first row.
        under = height > 1 and isinstance(self._line(self._place - 1), Heading)
        self._scroll(min(top, self._place - 1 if under else self._place))

    def _scroll(self, top: int) -> None:
        self.scroll_to(y=top, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._ask_for_more()

    def on_resize(self) -> None:
        below, self._seen_height = self._seen_height, self._height
        if not below or 0 <= self._place - self.scroll_offset.y < below:
            self._bring_into_view()
        self._ask_for_more()

    @property
    def _last(self) -> Last:
        rows = self._all_rows
        return (len(rows), rows[-1].id) if rows else (0, "")

    def _ask_for_more(self) -> None:
        """Say that the end is near, once until rows are shown."""
        if self._asked or self._rows is None or not self._rows.more or not self._height:
            return
        if len(self._outline) - self.scroll_offset.y <= 2 * self._height:
            self._asked, self._asked_after = True, self._last
            self.post_message(self.EndNeared())

    # --- drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = self.scroll_offset.y + y
        line = self._line(place)
        if line is None:
            return self._blank(y, width)
        highlighted = place == self._place
        base = self._style("highlight") if highlighted else self.rich_style
        segments = [
            Segment(text, self._shade(part, base, highlighted=highlighted))
            for text, part in self._pieces(line, width)
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _pieces(self, line: Line, width: int) -> Iterator[Piece]:
        if isinstance(line, Heading):
            return heading_pieces(line, width)
        return row_pieces(line, self._now, width, self._rows.current if self._rows else "")

    def _blank(self, y: int, width: int) -> Strip:
        if y or self._outline.lines or self._rows is None:
            return Strip.blank(width, self.rich_style)
        text = NO_MATCHES if self._all_rows else NO_SESSIONS
        return Strip([Segment(fill(f" {text}", width), self._style("aside"))])

    def _shade(self, part: Part, base: Style, *, highlighted: bool) -> Style:
        if part == "text":
            return base
        own = self._style(part)
        # Colours that were chosen for one background are not to be read on the other.
        return base + Style(bold=own.bold) if highlighted else own

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"session-list--{part}")
