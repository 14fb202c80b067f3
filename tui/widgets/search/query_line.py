"""Where the reader types what to look for."""

from textual.widgets import Input

from tui.domain.safe_text import make_visible_line


class QueryLine(Input):
    """One line of text; harmless, whatever is pasted into it."""

    def __init__(self, text: str) -> None:
        super().__init__(text, placeholder="what was said", compact=True, max_length=500)

    def replace(self, text: str, start: int, end: int) -> None:
        # Every way in leads here. An input shows what was pasted as it is.
        super().replace(make_visible_line(text), start, end)
