"""A virtual list: lines drawn one by one, so that ten thousand cost what twenty cost."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

Line = TypeVar("Line")


class LineList(ScrollView, Generic[Line]):
    """Lines under headings, one of which is highlighted.

    A line is drawn as pieces of text, each with the part that it plays: ``text``, or one with a
    style of its own among ``COMPONENT_CLASSES``, as ``line-list--PART``.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--highlight", "line-list--aside"}
    DEFAULT_CSS = """
    LineList {
        overflow-x: hidden; scrollbar-size-vertical: 1;

        & > .line-list--aside { color: $text-muted; }
        & > .line-list--highlight {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
        }
    }
    """

    class Highlighted(Message):
        """Another line is highlighted, or none."""

    class Chosen(Message):
        """A line was clicked, which chooses it."""

    CLICKS: ClassVar = 2
    """The number of clicks on a line that choose it."""
    place = -1
    """The number of the highlighted line."""
    lines: Sequence[Line] = ()
    """All lines, on screen or not."""

    def is_heading(self, line: Line) -> bool:  # noqa: ARG002 -- most lists have none
        """True if a line comes into view with the first line under it."""
        return False

    def is_stop(self, line: Line) -> bool:
        """True if the highlight may rest on a line."""
        return not self.is_heading(line)

    @abstractmethod
    def pieces(self, line: Line, width: int) -> Iterable[tuple[str, str]]:
        """A line as pieces of text, each with its part."""

    @property
    def height(self) -> int:
        """The number of lines in view."""
        return self.scrollable_content_region.height

    def line_at(self, place: int) -> Line | None:
        """The line of a number, if there is one."""
        return self.lines[place] if 0 <= place < len(self.lines) else None

    def move(self, lines: int) -> None:
        """Move the highlight down by lines, or up."""
        self.move_to(self.place + lines)

    def move_page(self, pages: int) -> None:
        """Move the highlight down by screens, or up."""
        self.move_to(self.place + pages * max(1, self.height - 1))

    def stop_beyond(self, place: int, step: int) -> int:
        """The stop at or beyond a line in the direction of ``step``, else the last one before it.

        Without any stop, the line itself.
        """
        last = len(self.lines) - 1
        place = max(0, min(place, last))
        down, up = range(place, last + 1), range(min(place, last), -1, -1)
        ways = chain(down, up) if step > 0 else chain(up, down)
        return next((each for each in ways if self.is_stop(self.lines[each])), place)

    def move_to(self, place: int) -> None:
        """Move the highlight to the stop at or beyond a line."""
        place = self.stop_beyond(place, 1 if place > self.place else -1)
        if self.lines and place != self.place:
            self.highlight_place(place)
            self.post_message(self.Highlighted())

    def update_size(self) -> None:
        """Take the number of lines, which has changed."""
        self.virtual_size = Size(0, len(self.lines))

    def highlight_place(self, place: int) -> None:
        """Put the highlight on a line and scroll it into view."""
        self.place = place
        self.bring_into_view()
        self.refresh()

    def bring_into_view(self) -> None:
        """Scroll to the highlighted line, and to the heading right above it."""
        height = self.height
        if not height or self.place < 0:
            return  # not laid out yet: the first resize comes back here
        top = max(self.scroll_offset.y, self.place - height + 1)
        above = self.line_at(self.place - 1)
        under = height > 1 and above is not None and self.is_heading(above)
        self.scroll_to_line(min(top, self.place - 1 if under else self.place))

    def on_resize(self) -> None:
        self.resized()

    def resized(self) -> None:
        """The view has another height."""
        self.bring_into_view()

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        place = self.scroll_offset.y + offset.y if offset else -1
        if (line := self.line_at(place)) is not None:
            self.clicked(place, line, event.chain)

    def clicked(self, place: int, line: Line, clicks: int) -> None:
        """A line was clicked so many times."""
        if self.is_stop(line):
            self.move_to(place)
            if clicks >= self.CLICKS:
                self.post_message(self.Chosen())

    def scroll_to_line(self, top: int) -> None:
        """Have a line at the top of the view."""
        self.scroll_to(y=top, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = self.scroll_offset.y + y
        line = self.line_at(place)
        if line is None:
            return self.blank_row(y, width)
        highlighted = place == self.place
        base = self.part_style("highlight") if highlighted else self.visual_style.rich_style
        segments: list[Segment] = []
        for text, part in self.pieces(line, width):
            own = base if part == "text" else self.part_style(part)
            if highlighted and part != "text":
                # Colours chosen for one background may be unreadable on the other.
                own = base + Style(bold=own.bold, underline=own.underline)
            segments.append(Segment(text, own))
        return Strip(segments).adjust_cell_length(width, base)

    def blank_row(self, y: int, width: int) -> Strip:  # noqa: ARG002 -- for those that say something there
        """A row below the last line."""
        return Strip.blank(width, self.visual_style.rich_style)

    def part_style(self, part: str) -> Style:
        """The style of a part of a line."""
        return self.get_component_rich_style(f"line-list--{part}")
