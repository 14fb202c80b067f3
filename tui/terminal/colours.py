"""The colours of a theme on a terminal that has only 16 or 256 of them.

Rich takes the nearest, which may be of another hue, or the same as the background.
"""

from collections.abc import Callable, Sequence
from functools import cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

Restyle = Callable[[Style, RichColor], Style]
"""Gives a style colours that the terminal has; the second argument is the background."""


class PaletteFilter(LineFilter):
    """Draws each text in colours of a palette."""

    def __init__(self, restyle: Restyle) -> None:
        super().__init__()
        self._restyle = restyle

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        behind = background.rich_color
        return [
            Segment(text, self._restyle(style, behind) if style else None, control)
            for text, style, control in segments
        ]


@cache
def palette_filters(color_system: str | None) -> Sequence[LineFilter]:
    """Return the filter for a colour system as Rich names it; none where it has all colours."""
    match color_system:
        case "standard":
            from tui.terminal.colours_16 import restyle
        case "256":
            from tui.terminal.colours_256 import restyle
        case _:
            return ()
    return (PaletteFilter(restyle),)
