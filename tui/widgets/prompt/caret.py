"""Where the caret goes in the prompt: by whole characters and words, over rows and past marks."""

import re
from functools import cache

from rich.cells import cell_len
from textual import events
from textual.expand_tabs import get_tab_widths
from textual.geometry import Offset
from textual.widgets.text_area import Location, Selection, WrappedDocument

from tui.widgets.grapheme_text import GraphemeText
from tui.widgets.graphemes import (
    after,
    before,
    begin,
    graphemes,
    word_after,
    word_around,
    word_before,
)
from tui.widgets.prompt.document import PromptDocument
from tui.widgets.textual_private.text_area import TextAreaBase, adjust_wrapping


@cache
def _apart() -> re.Pattern[str]:
    """Characters that nothing joins: a long text has many rows."""
    # Not at the top: it takes 3 ms, and most starts show nothing that needs it.
    return re.compile("[ -~\u3041-\u3098\u309b-\u9fff\uff01-\uff9d]{2}")


def _whole_characters(text: str, offsets: list[int]) -> list[int]:
    """Move each break to the beginning of its character: Textual parts the members of a family."""
    if text.isascii():
        return offsets
    apart = _apart().match
    whole = {each if apart(text, each - 1) else begin(text, each) for each in offsets}
    return sorted(whole - {0})


adjust_wrapping(_whole_characters)


class WholeCharacters(WrappedDocument):
    """What Up, Down and the mouse ask where they lead: never into a character."""

    _tab_cells = 4

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._tab_cells = tab_width or self._tab_cells
        super().wrap(width, tab_width)

    def location_to_offset(self, location: Location) -> Offset:
        # After an undo that takes the scrollbar away, the caret is asked for while it is still
        # beyond the text; Textual ends the application then.
        row = min(location[0], self.document.line_count - 1)
        return super().location_to_offset((row, min(location[1], len(self.document[row]))))

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        *above, section = self.get_sections(line_index)[: y_offset + 1 or None]
        start = sum(map(len, above))
        column = self._column(section, x_offset)
        is_last = start + len(section) == len(self.document[line_index])
        return start + (column if is_last else min(column, before(section, len(section))))

    def _column(self, section: str, cells: int) -> int:
        """The column of the character that is drawn so many cells from the beginning."""
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


class CaretArea(TextAreaBase, inherit_bindings=False):
    """An area of text over a ``PromptDocument``, of which some rows are one line, some a mark."""

    def get_line(self, line_index: int) -> GraphemeText:
        return GraphemeText(self.document.get_line(line_index), end="", no_wrap=True)

    def on_click(self, event: events.Click) -> None:
        """Select a word by two clicks, a row by three."""
        if event.chain == 1:
            return
        row, column = self.get_target_document_location(event)
        line = self.document[row]
        start, end = word_around(line, column) if event.chain == 2 else (0, len(line))
        self.selection = Selection((row, start), (row, end))

    def clamp_visitable(self, location: Location) -> Location:
        row, column = super().clamp_visitable(location)
        if not self._is_folded(row):
            return row, column
        length = len(self.document[row])
        return row, 0 if column < length // 2 else length

    def get_cursor_left_location(self) -> Location:
        row, column = self.cursor_location
        if self._is_folded(row) and column > 0:
            return row, 0
        if column == 0 and self._goes_on(row - 1) and self._is_folded(row - 1):
            return row - 1, 0
        if column == 0 and self._goes_on(row - 1):
            line = self.document[row - 1]
            return row - 1, before(line, len(line))
        if column > 0:
            return row, before(self.document[row], column)
        return super().get_cursor_left_location()

    def get_cursor_right_location(self) -> Location:
        row, column = self.cursor_location
        if self._is_folded(row) and column == 0:
            return row, len(self.document[row])
        if column == len(self.document[row]) and self._goes_on(row) and self._is_folded(row + 1):
            return row + 1, len(self.document[row + 1])
        if column == len(self.document[row]) and self._goes_on(row):
            return row + 1, after(self.document[row + 1], 0)
        if column < len(self.document[row]):
            return row, after(self.document[row], column)
        return super().get_cursor_right_location()

    def get_cursor_word_left_location(self) -> Location:
        row, column = self.cursor_location
        if self._is_folded(row if column > 0 else row - 1):
            return self.get_cursor_left_location()
        if column == 0 and not self._goes_on(row - 1):
            return super().get_cursor_word_left_location()
        if column == 0:
            row, column = row - 1, len(self.document[row - 1])
        return row, word_before(self.document[row], column)

    def get_cursor_word_right_location(self) -> Location:
        row, column = self.cursor_location
        at_end = column == len(self.document[row])
        if self._is_folded(row + 1 if at_end else row):
            return self.get_cursor_right_location()
        if at_end and not self._goes_on(row):
            return super().get_cursor_word_right_location()
        if at_end:
            row, column = row + 1, 0
        return row, word_after(self.document[row], column)

    def get_cursor_line_start_location(self, smart_home: bool = False) -> Location:  # noqa: FBT001, FBT002 - Textual's
        """Where the row begins that is seen; from there, where the whole line does."""
        start = super().get_cursor_line_start_location(smart_home)
        return self.line_start if start == self.cursor_location else start

    def get_cursor_line_end_location(self) -> Location:
        """Where the row ends that is seen; from there, where the whole line does."""
        row, column = super().get_cursor_line_end_location()
        line = self.document[row]
        # A caret behind the last character of a row would be seen before the next row's first.
        end = row, column if column == len(line) else begin(line, column)
        return self.line_end if end == self.cursor_location else end

    @property
    def line_start(self) -> Location:
        """Where the line begins that the caret is in, or a mark ends in it."""
        row, _ = self.cursor_location
        while not self._is_folded(row) and self._goes_on(row - 1) and not self._is_folded(row - 1):
            row -= 1
        return row, 0

    @property
    def line_end(self) -> Location:
        """Where the line ends that the caret is in, or a mark begins in it."""
        row, _ = self.cursor_location
        while self._goes_on(row) and not self._is_folded(row) and not self._is_folded(row + 1):
            row += 1
        return row, len(self.document[row])

    def action_line_start(self) -> None:
        """Go to where the line begins."""
        self.move_cursor(self.line_start)

    def action_line_end(self) -> None:
        """Go to where the line ends."""
        self.move_cursor(self.line_end)

    def _goes_on(self, row: int) -> bool:
        return isinstance(self.document, PromptDocument) and self.document.goes_on(row)

    def _is_folded(self, row: int) -> bool:
        return isinstance(self.document, PromptDocument) and self.document.is_folded(row)
