"""The document of the prompt: text as it was typed, rows that are safe to draw, and the caret."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Self

from rich.cells import cell_len
from textual.expand_tabs import get_tab_widths
from textual.geometry import Offset
from textual.widgets.text_area import (
    Document,
    DocumentNavigator,
    EditResult,
    Location,
    WrappedDocument,
)

from tui.domain.references import NO_WORDS, OWN_SIGN, SIGN, mark, own_words, unmarked, without_marks
from tui.domain.text import FOLD_LINES, late_pattern, make_visible, paste_label
from tui.widgets.graphemes import after, before, begin, graphemes, word_after, word_before
from tui.widgets.textual_bases import adjust_wrapping

ROW_CHARACTERS = 4000
"""Longer lines are cut into rows of so many characters: each key wraps a whole row again."""

FOLD_CHARACTERS = 1000
"""A longer paste is folded, as one of more than ``FOLD_LINES``: drawn as one mark."""

_LINE_MARK = "\u2424"


class _Marks(dict[int, str]):
    """A mark of one code point for each control character: another number would shift the caret."""

    def __missing__(self, code: int) -> str:
        mark = make_visible(chr(code))
        self[code] = mark if len(mark) == 1 else "\ufffd"
        return self[code]


_MARKS = _Marks({0x2028: _LINE_MARK, 0x2029: _LINE_MARK, ord(OWN_SIGN): SIGN})


class PromptRow(NamedTuple):
    """A row of the document; ``goes_on`` if no line break separates it from the next.

    A folded row may have many lines, and is drawn as one mark, with the caret before or behind it.
    """

    text: str
    goes_on: bool = False
    folded: bool = False

    @property
    def shown(self) -> str:
        """The row as it is drawn; marks of control characters keep the number of code points."""
        if self.folded:
            return paste_label(self.text)
        return self.text if self.text.isprintable() else self.text.translate(_MARKS)

    def until(self, column: int) -> "PromptRow":
        """The part before a column, of a folded row all or nothing; the next row joins it."""
        if self.folded:
            return self._replace(goes_on=True) if column else PromptRow("", goes_on=True)
        return PromptRow(self.text[:column], goes_on=True)

    def since(self, column: int) -> "PromptRow":
        """The part behind a column."""
        if self.folded:
            return PromptRow("", self.goes_on) if column else self
        return PromptRow(self.text[column:], self.goes_on)


class Rows(str):
    """A text together with its rows."""

    __slots__ = ("rows",)
    rows: Sequence[PromptRow]

    def __new__(cls, rows: Sequence[PromptRow]) -> Self:
        text = super().__new__(cls, _join(rows))
        text.rows = rows
        return text


def is_long(text: str) -> bool:
    """Check whether a paste is long enough to be folded."""
    return len(text) > FOLD_CHARACTERS or text.rstrip("\n").count("\n") >= FOLD_LINES


class PromptDocument(Document):
    """A document whose ``lines`` are drawn, and whose ``text`` is what was typed.

    Its rows are marked where a reference is the user's own.

    Textual's own breaks lines at form feeds, U+0085, U+2028 and the like, and loses them.
    """

    def __init__(self, text: str) -> None:
        """Cut a text into rows; ``Rows`` are taken as they are."""
        super().__init__("")
        self._rows = list(text.rows) if isinstance(text, Rows) else marked_rows(text)
        self.lines[:] = [row.shown for row in self._rows]
        self._text: str | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = unmarked(_join(self._rows))
        return self._text

    @property
    def own_words(self) -> frozenset[str]:
        """The references that are the user's own; none reaches into a folded paste."""
        rows = (row.text for row in self._rows if not row.folded and OWN_SIGN in row.text)
        return NO_WORDS.union(*map(own_words, rows))

    @property
    def pastes(self) -> tuple[str, ...]:
        """The texts of the folded rows, from the top."""
        return tuple(row.text for row in self._rows if row.folded)

    def goes_on(self, row: int) -> bool:
        """Check whether a row and the next are one line."""
        return 0 <= row < len(self._rows) and self._rows[row].goes_on

    def is_folded(self, row: int) -> bool:
        """Check whether a row is drawn as a mark."""
        return 0 <= row < len(self._rows) and self._rows[row].folded

    def get_text_range(self, start: Location, end: Location) -> str:
        return unmarked(_join(self._between(*self._around_folds(start, end))))

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        top, bottom = self._around_folds(start, end)
        replaced = Rows(self._between(top, bottom))
        if not text and not replaced:
            # Between two rows of a line there is nothing to delete, and nothing to undo.
            return EditResult(bottom, replaced)
        inserted = text.rows if isinstance(text, Rows) else cut(text)
        before, after = self._row(top[0]).until(top[1]), self._row(bottom[0]).since(bottom[1])
        rows = [*_joined(before, inserted[0]), *inserted[1:]]
        *rows, last = rows
        ends = _joined(last, after)
        rows += ends
        # In the last row that has changed: Textual counts from there.
        column = 0 if len(ends) > 1 else len(last.shown)
        self._rows[top[0] : bottom[0] + 1] = rows
        self.lines[top[0] : bottom[0] + 1] = [row.shown for row in rows]
        self._text = None
        return EditResult((top[0] + len(rows) - 1, column), replaced)

    def beside_folds(self, top: Location, bottom: Location) -> tuple[Location, Location]:
        """Widen or move the range of an edit that touches a folded row to the line it is part of.

        A deletion would leave two rows of one line, and typed text would begin a new line.
        """
        is_deletion = top != bottom
        if self.is_folded(top[0]) and top[1] == 0 and self.goes_on(top[0] - 1):
            before = top[0] - 1, len(self.lines[top[0] - 1])
            if is_deletion:
                top = before
            elif not self.is_folded(before[0]):
                top = bottom = before
        row, column = bottom
        if self.is_folded(row) and column == len(self.lines[row]) and self.goes_on(row):
            if is_deletion:
                bottom = row + 1, 0
            elif not self.is_folded(row + 1):
                top = bottom = row + 1, 0
        return top, bottom

    def stays_in_row(self, top: Location, bottom: Location, text: str) -> bool:
        """Check whether an edit leaves all other rows as they are."""
        if top[0] != bottom[0] or self.is_folded(top[0]):
            return False
        is_short = "\n" not in text and len(text) <= ROW_CHARACTERS
        return is_short and not isinstance(text, Rows)

    def _row(self, index: int) -> PromptRow:
        return self._rows[index] if index < len(self._rows) else PromptRow("")

    def _around_folds(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Sort the ends of a range, and take in each folded row that it reaches into."""
        top, bottom = sorted((start, end))
        if bottom[0] >= len(self._rows):
            # Textual deletes the last line together with a line break that it does not have.
            bottom = max(top, self.end)
        if self.is_folded(bottom[0]) and bottom[1]:
            bottom = bottom[0], len(self.lines[bottom[0]])
        if self.is_folded(top[0]) and top[1] < len(self.lines[top[0]]):
            top = bottom if start == end else (top[0], 0)
        return top, bottom

    def _between(self, top: Location, bottom: Location) -> Sequence[PromptRow]:
        if top[0] == bottom[0]:
            row = self._row(top[0])
            if row.folded:
                return [row if top[1] < bottom[1] else PromptRow("")]
            return [PromptRow(row.text[top[1] : bottom[1]])]
        return [
            self._row(top[0]).since(top[1]),
            *self._rows[top[0] + 1 : bottom[0]],
            self._row(bottom[0]).until(bottom[1]),
        ]


def _join(rows: Iterable[PromptRow]) -> str:
    parts: list[str] = []
    for row in rows:
        parts += (row.text, "" if row.goes_on else "\n")
    return "".join(parts[:-1])


def _joined(first: PromptRow, second: PromptRow) -> list[PromptRow]:
    """Join two rows of one line: into one row, unless one of them is folded."""
    if not first.folded and not second.folded:
        return [PromptRow(first.text + second.text, second.goes_on)]
    if not first.folded and not first.text:
        return [second]
    if not second.folded and not second.text:
        return [first._replace(goes_on=second.goes_on)]
    return [first._replace(goes_on=True), second]


def marked_rows(
    text: str, pastes: Sequence[str] = (), own: Collection[str] = ()
) -> list[PromptRow]:
    """Cut a text into rows, and mark the references in it that are the user's own."""
    rows = cut(without_marks(text), pastes)
    return [row if row.folded else row._replace(text=mark(row.text, own)) for row in rows]


def cut(text: str, pastes: Sequence[str] = ()) -> list[PromptRow]:
    """Cut a text into rows; texts of ``pastes`` are folded where they occur."""
    for paste in pastes:
        before, found, after = text.partition(paste)
        if found:
            *rows, last = cut(before, pastes)
            rows += _joined(last, PromptRow(paste, folded=True))
            *rows, last = rows
            first, *others = cut(after, pastes)
            return [*rows, *_joined(last, first), *others]
    return [row for line in text.split("\n") for row in _cut_line(line)]


def _cut_line(line: str) -> Iterable[PromptRow]:
    start = 0
    while len(line) - start > ROW_CHARACTERS:
        end = start + ROW_CHARACTERS
        # Between words, if that shortens the row by a quarter at most.
        blank = line.rfind(" ", end - ROW_CHARACTERS // 4, end)
        end = blank + 1 if blank >= 0 else end
        yield PromptRow(line[start:end], goes_on=True)
        start = end
    yield PromptRow(line[start:])


class Paste(NamedTuple):
    """A text that was pasted, and its place in the prompt."""

    text: str
    start: Location
    end: Location


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
