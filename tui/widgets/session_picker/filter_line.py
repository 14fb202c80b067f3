"""The input line of the picker's filter."""

from tui.widgets.line_input import LineInput


class PickerFilter(LineInput):
    """An input line for words of a title, a project or an id."""

    def __init__(self, text: str) -> None:
        super().__init__(
            text,
            placeholder="title, project or id",
            compact=True,
            max_length=200,
            select_on_focus=False,
        )
