"""The input line of the search."""

from tui.widgets.line_input import LineInput


class QueryLine(LineInput):
    """An input line for words to search for."""

    def __init__(self, text: str) -> None:
        super().__init__(text, placeholder="what was said, or a name", compact=True, max_length=500)
