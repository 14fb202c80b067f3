"""The top border of the prompt: the model or the mode, and the activity line."""

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.views.activity import ActivityView
from tui.widgets.cells import cut, one_line

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

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self._mode = ""
        self._activity: ActivityView | None = None
        self._stop = ""

    def show_model(self, name: str) -> None:
        """Show the model that answers next, while no mode is shown."""
        if name != self._model:
            self._model = name
            self.refresh()

    def show_mode(self, words: str) -> None:
        """Show a mode of the prompt instead of the model; empty for none."""
        if words != self._mode:
            self._mode = words
            self.refresh()

    def show_activity(self, activity: ActivityView | None, stop: str = "") -> None:
        """Show the work in progress; ``stop`` is the key that stops it."""
        if (activity, stop) != (self._activity, self._stop):
            self._activity, self._stop = activity, stop
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y or width <= _EDGES:
            return Strip.blank(width, self.rich_style)
        activity = self._activity_segments(width - _EDGES - 2)
        # The activity line names the model already.
        title = self._mode or ("" if activity else self._model)
        room = width - _EDGES - 2 - Segment.get_line_length(activity)
        name: list[Segment] = []
        if title and room >= _LEAST_TITLE:
            style = self._style("mode" if self._mode else "title")
            name = [Segment(f" {cut(one_line(title), room)} ", style)]
        used = Segment.get_line_length(name) + Segment.get_line_length(activity)
        line = Segment("─" * (width - _EDGES - used), self.rich_style)
        left, right = Segment("╭─", self.rich_style), Segment("─╮", self.rich_style)
        return Strip([left, *name, line, *activity, right], width)

    def _activity_segments(self, room: int) -> list[Segment]:
        if self._activity is None:
            return []
        still = self.app.animation_level == "none"  # pyright: ignore[reportUnknownMemberType]
        frame = int(self._activity.seconds * _FRAMES_PER_SECOND) % len(_FRAMES)
        sign = _STILL if still or not self._activity.moves else _FRAMES[frame]
        lines = self._activity.lines(self._stop)
        words = next((each for each in lines if cell_len(each) <= room - 2), lines[-1])
        return [
            Segment(f" {sign} ", self._style("spinner")),
            Segment(f"{cut(words, room - 2)} ", self._style("activity")),
        ]

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"top-border--{name}")
