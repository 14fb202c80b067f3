"""Where the reader types what to look for."""

from tui.widgets.line_input import LineInput


class QueryLine(LineInput):
    """A line for words to search for."""

    def __init__(self, text: str) -> None:
        super().__init__(text, placeholder="what was said, or a name", compact=True, max_length=500)
