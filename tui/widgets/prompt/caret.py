"""The caret's moves in the prompt: by characters and words, over rows and folded pastes."""

from rich.cells import cell_len
from textual.expand_tabs import get_tab_widths
from textual.geometry import Offset
from textual.widgets.text_area import DocumentNavigator, Location, WrappedDocument

from tui.domain.text.patterns import late_pattern
from tui.widgets.graphemes import after, before, begin, graphemes, word_after, word_before
from tui.widgets.prompt.prompt_document import PromptDocument
from tui.widgets.textual_bases import adjust_wrapping

_SEPARATE = late_pattern("[ -~\u3041-\u3098\u309b-\u9fff\uff01-\uff9d]{2}")
"""Two characters that never join: a quick answer for the many rows of a long text."""


def _whole_characters(text: str, breaks: list[int]) -> list[int]:
    """Move each break to the beginning of its character: Textual breaks within joined emoji."""
    if text.isascii():
        return breaks
    separate = _SEPARATE.match
    whole = {each if separate(text, each - 1) else begin(text, each) for each in breaks}
    return sorted(whole - {0})


adjust_wrapping(_whole_characters)


class WholeCharacters(WrappedDocument):
    """Wrapped rows on which Up, Down and the mouse find whole characters only."""

    _tab_cells = 4

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._tab_cells = tab_width or self._tab_cells
        super().wrap(width, tab_width)

    def location_to_offset(self, location: Location) -> Offset:
        # After an undo that takes the scrollbar away, Textual asks while the caret is still
        # beyond the text, and its own method raises then.
        row = min(location[0], self.document.line_count - 1)
        return super().location_to_offset((row, min(location[1], len(self.document[row]))))

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        *above, section = self.get_sections(line_index)[: y_offset + 1 or None]
        start = sum(map(len, above))
        column = self._column(section, x_offset)
        is_last = start + len(section) == len(self.document[line_index])
        return start + (column if is_last else min(column, before(section, len(section))))

    def _column(self, section: str, cells: int) -> int:
        """The column of the character that is drawn so many cells from the left."""
        column = 0
        for part, tab_cells in get_tab_widths(section, self._tab_cells):
            for grapheme in graphemes(part):
                cells -= cell_len(grapheme)
                if cells < 0:
                    return column
                column += len(grapheme)
            cells -= tab_cells
            if cells < 0:
                return column
            column += 1
        return len(section)


class PromptNavigator(DocumentNavigator):
    """Moves over a ``PromptDocument``: several rows may be one line, and a row a folded paste."""

    def __init__(self, wrapped: WrappedDocument, document: PromptDocument) -> None:
        super().__init__(wrapped)
        self._rows = document

    def get_location_left(self, location: Location) -> Location:
        row, column = location
        if self._rows.is_folded(row) and column > 0:
            return row, 0
        if column == 0 and self._rows.goes_on(row - 1):
            line = self._rows[row - 1]
            return row - 1, 0 if self._rows.is_folded(row - 1) else before(line, len(line))
        if column > 0:
            return row, before(self._rows[row], column)
        return super().get_location_left(location)

    def get_location_right(self, location: Location) -> Location:
        row, column = location
        end = len(self._rows[row])
        if self._rows.is_folded(row) and column == 0:
            return row, end
        if column == end and self._rows.goes_on(row):
            line = self._rows[row + 1]
            return row + 1, len(line) if self._rows.is_folded(row + 1) else after(line, 0)
        if column < end:
            return row, after(self._rows[row], column)
        return super().get_location_right(location)

    def word_left(self, location: Location) -> Location:
        """The beginning of the word before a location."""
        row, column = location
        if self._rows.is_folded(row if column > 0 else row - 1):
            return self.get_location_left(location)
        if column == 0 and not self._rows.goes_on(row - 1):
            return super().get_location_left(location)
        if column == 0:
            row, column = row - 1, len(self._rows[row - 1])
        return row, word_before(self._rows[row], column)

    def word_right(self, location: Location) -> Location:
        """The end of the word behind a location."""
        row, column = location
        at_end = column == len(self._rows[row])
        if self._rows.is_folded(row + 1 if at_end else row):
            return self.get_location_right(location)
        if at_end and not self._rows.goes_on(row):
            return super().get_location_right(location)
        if at_end:
            row, column = row + 1, 0
        return row, word_after(self._rows[row], column)

    def get_location_home(self, location: Location, smart_home: bool = False) -> Location:  # noqa: FBT001, FBT002 - Textual's signature
        """The beginning of the wrapped row; from there, that of the whole line."""
        start = super().get_location_home(location, smart_home)
        return self.line_start(location) if start == location else start

    def get_location_end(self, location: Location) -> Location:
        """The end of the wrapped row; from there, that of the whole line."""
        row, column = super().get_location_end(location)
        line = self._rows[row]
        # Behind the last character of a wrapped row the caret would be drawn in the next row.
        end = row, column if column == len(line) else begin(line, column)
        return self.line_end(location) if end == location else end

    def line_start(self, location: Location) -> Location:
        """The beginning of the line; a folded paste ends the line before it."""
        row, _ = location
        folded = self._rows.is_folded
        while not folded(row) and self._rows.goes_on(row - 1) and not folded(row - 1):
            row -= 1
        return row, 0

    def line_end(self, location: Location) -> Location:
        """The end of the line; a folded paste begins another."""
        row, _ = location
        folded = self._rows.is_folded
        while self._rows.goes_on(row) and not folded(row) and not folded(row + 1):
            row += 1
        return row, len(self._rows[row])
