"""An input of which a subclass draws the text, and finds the character under the mouse."""

from rich.text import Text
from textual.widgets import Input


class InputBase(Input):
    """Textual counts code points in both, which parts what is drawn as one character."""

    def shown_text(self) -> Text:
        """The text as it is drawn."""
        return super()._value

    def index_at(self, cells: int) -> int:
        """The index of the character so many cells from the left edge."""
        return super()._cell_offset_to_index(cells)

    @property
    def _value(self) -> Text:
        return self.shown_text()

    def _cell_offset_to_index(self, offset: int) -> int:
        return self.index_at(offset)
