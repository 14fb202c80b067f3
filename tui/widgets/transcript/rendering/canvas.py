"""The canvas that rows are drawn on: a width, a palette, and the gutter at the left."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.theme import Theme
from textual.strip import Strip

from tui.domain.text.safe_text import make_visible_line
from tui.widgets.transcript.rendering.palette import Palette, markdown_styles

Run = tuple[str, str]
"""A text and the name of its style."""

GUTTER = 3
"""Cells before the text: the cursor, the mark of the speaker, and a blank."""

MEASURE = 100
"""The longest line of prose, in cells: beyond it the eye loses the next line."""

_NARROWEST = 8


class Canvas:
    """Makes strips of exactly ``width`` cells.

    Code, tables and tool output may fill ``text_width``; prose goes up to ``measure``.
    """

    def __init__(self, width: int, palette: Palette) -> None:
        self.width = width
        self.palette = palette
        self.text_width = max(_NARROWEST, width - GUTTER - 1)
        self.measure = min(self.text_width, MEASURE)
        self._console: Console | None = None

    def row(
        self, content: Iterable[Segment], mark: str = " ", mark_style: Style | None = None
    ) -> Strip:
        """One row; the first segment is the cell of the cursor."""
        base = self.palette["text"]
        segments = [
            Segment(" ", base),
            Segment(mark, mark_style or base),
            Segment(" ", base),
            *map(_harmless, content),
        ]
        cells = sum(cell_len(segment.text) for segment in segments)
        return Strip(segments, cells).adjust_cell_length(self.width, base)

    def ground_row(self, ground: str, content: Iterable[Segment]) -> Strip:
        """One row on the background of a style, from the text's left to its right."""
        look = self.palette[ground]
        own = Style(bgcolor=look.bgcolor)
        segments = [Segment(text, (style or look) + own) for text, style, _ in content]
        room = self.text_width - sum(cell_len(text) for text, _, _ in segments)
        return self.row([*segments, Segment(" " * room, look)])

    def text_row(self, text: str, style: str, mark: str = " ", mark_style: str = "mark") -> Strip:
        """One row of one style; the text must fit."""
        return self.row([Segment(text, self.palette[style])], mark, self.palette[mark_style])

    def blank(self) -> Strip:
        return self.row([])

    def lines(self, renderable: RenderableType) -> list[list[Segment]]:
        """The lines of a Rich renderable, at most as wide as the text."""
        if self._console is None:
            styles = markdown_styles(self.palette)
            self._console = Console(
                color_system="truecolor",
                force_terminal=True,
                markup=False,
                highlight=False,
                emoji=False,
                theme=Theme(styles),
                # Without it, Rich reads COLUMNS and LINES from the environment.
                width=self.text_width,
                height=100,
            )
        options = self._console.options.update(width=self.text_width)
        return self._console.render_lines(
            renderable, options, style=self.palette["text"], pad=False, new_lines=False
        )


def _harmless(segment: Segment) -> Segment:
    """Remove control characters that a library has made: the last gate before the terminal."""
    text = segment.text
    if text.isprintable():
        return segment
    return Segment(make_visible_line(text), segment.style)
