"""The top border of the prompt: the model or the mode, and the activity line."""

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.views.shown_session import ActivityView
from tui.widgets.cells import cut, cut_middle, one_line

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_SECOND = 4
_STILL = "●"
_EDGES = 4
"""The cells of both corners, with a line beside each."""
_LEAST_TITLE = 8


class TopBorder(Widget):
    """Draws the border itself, so that a moving line repaints no more than its row.

    The title is at the left, the activity line at the right; without room for both, that one wins.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"top-border--{name}" for name in ("title", "mode", "spinner", "activity")
    }
    DEFAULT_CSS = """
    TopBorder { width: 100%; height: 1; }
    """

    model = reactive("")
    """The model that answers next, shown while there is no mode."""
    mode = reactive("")
    """A mode of the prompt; empty for none."""
    activity: reactive[ActivityView | None] = reactive(None)
    """The work in progress."""
    stop = reactive("")
    """The key that stops it."""
    private = reactive(False)  # noqa: FBT003 - Textual's own
    """True around the prompt of a private session: its frame is dashed."""

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y or width <= _EDGES:
            return Strip.blank(width, self.rich_style)
        activity = self._activity_segments(width - _EDGES - 2)
        # The activity line names the model already.
        title = self.mode or ("" if activity else self.model)
        room = width - _EDGES - 2 - Segment.get_line_length(activity)
        name: list[Segment] = []
        if title and room >= _LEAST_TITLE:
            style = self._style("mode" if self.mode else "title")
            shorten = cut if self.mode else cut_middle
            name = [Segment(f" {shorten(one_line(title), room)} ", style)]
        used = Segment.get_line_length(name) + Segment.get_line_length(activity)
        corner, dash, other = "┏╍┓" if self.private else "╭─╮"
        line = Segment(dash * (width - _EDGES - used), self.rich_style)
        left, right = (
            Segment(corner + dash, self.rich_style),
            Segment(dash + other, self.rich_style),
        )
        return Strip([left, *name, line, *activity, right], width)

    def _activity_segments(self, room: int) -> list[Segment]:
        if self.activity is None:
            return []
        still = self.app.animation_level == "none"  # pyright: ignore[reportUnknownMemberType]
        frame = int(self.activity.seconds * _FRAMES_PER_SECOND) % len(_FRAMES)
        sign = _STILL if still or not self.activity.moves else _FRAMES[frame]
        lines = self.activity.lines(self.stop)
        words = next((each for each in lines if cell_len(each) <= room - 2), lines[-1])
        return [
            Segment(f" {sign} ", self._style("spinner")),
            Segment(f"{cut(words, room - 2)} ", self._style("activity")),
        ]

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"top-border--{name}")
