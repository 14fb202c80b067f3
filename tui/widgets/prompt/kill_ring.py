"""The kill ring: the text that keys cut last, as in a shell."""

from textual.widgets import TextArea
from textual.widgets.text_area import Location


class KillRing:
    """A ring of one text, cut from an editor; consecutive cuts at the same place are joined."""

    def __init__(self, editor: TextArea) -> None:
        self._editor = editor
        self._text = ""
        self._place: object = None

    @property
    def text(self) -> str:
        """The text to insert; empty while nothing was cut."""
        return self._text

    def cut(self, end: Location) -> None:
        """Cut the selection, or the text between the caret and ``end``."""
        editor = self._editor
        selection = editor.selection
        start, end = (editor.cursor_location, end) if selection.is_empty else selection
        before = self._caret
        result = editor.delete(start, end, maintain_selection_offset=False)
        if not result.replaced_text:
            return
        earlier = self._text if self._place == before else ""
        added = (result.replaced_text, earlier) if end < start else (earlier, result.replaced_text)
        self._text, self._place = "".join(added), self._caret

    @property
    def _caret(self) -> tuple[Location, str]:
        """The caret and its row: another value after every change."""
        location = self._editor.cursor_location
        return location, self._editor.document[location[0]]
