"""An input for a secret: it is drawn as dots, and cannot be copied."""

from tui.widgets.grapheme_text import GraphemeText
from tui.widgets.hints import hint
from tui.widgets.line_input import LineInput

_DOT = "\u2022"


class MaskedInput(LineInput):
    """Takes what is typed or pasted, without showing it."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(
            placeholder="paste the key", password=True, compact=True, select_on_focus=False, id=id
        )

    def shown_text(self) -> GraphemeText:
        dots = _DOT * len(self.value)
        return GraphemeText(dots, no_wrap=True, overflow="ignore", end="")

    def index_at(self, cells: int) -> int:
        return min(len(self.value), cells + self.scroll_offset.x)

    def action_copy(self) -> None:
        hint(self, "A key is not copied from here.")

    def action_cut(self) -> None:
        self.action_copy()
