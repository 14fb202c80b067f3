"""Text that is styled by whole graphemes: a caret never splits a joined emoji."""

from rich.style import Style
from rich.text import Text

from tui.widgets.graphemes import after, begin


class GraphemeText(Text):
    """A line of text for Rich."""

    def stylize(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        line = self.plain
        if end is not None and not line.isascii() and 0 <= start < end <= len(line):
            start, last = begin(line, start), begin(line, end - 1)
            end = after(line, last)
        super().stylize(style, start, end)
