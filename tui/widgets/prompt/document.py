"""The text under the caret: kept as it was typed, shown so that a terminal obeys none of it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from textual.widgets.text_area import Document, EditResult, Location

from tui.domain.safe_text import make_visible

ROW_CHARACTERS = 4000
"""Longer lines are cut into rows of this many characters: each key wraps one whole row."""

_LINE_MARK = "\u2424"


class _Marks(dict[int, str]):
    """One mark of one cell for each code point: any other number would shift the caret."""

    def __missing__(self, code: int) -> str:
        mark = make_visible(chr(code))
        self[code] = mark if len(mark) == 1 else "\ufffd"
        return self[code]


_MARKS = _Marks({0x2028: _LINE_MARK, 0x2029: _LINE_MARK})


def mark_cells(line: str) -> str:
    """A line as it is shown: as many code points as before, none that a terminal obeys."""
    return line if line.isprintable() else line.translate(_MARKS)


class Row(NamedTuple):
    """A row of the document; ``goes_on`` if no line break parts it from the next."""

    text: str
    goes_on: bool = False


class _Replaced(str):
    """Text that was replaced, and the rows it stood in, so that undoing brings back the same."""

    __slots__ = ("rows",)
    rows: Sequence[Row]

    def __new__(cls, rows: Sequence[Row]) -> Self:
        text = super().__new__(cls, _join(rows))
        text.rows = rows
        return text


class PromptDocument(Document):
    """A document whose lines are what is shown, and whose text is what was typed.

    Textual's own breaks lines at form feeds, U+0085, U+2028 and the like, and then has lost them.
    """

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._rows = _cut(text)
        self._lines = [mark_cells(row.text) for row in self._rows]
        self._text: str | None = text

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = _join(self._rows)
        return self._text

    def goes_on(self, row: int) -> bool:
        """Whether the row and the next are one line."""
        return 0 <= row < len(self._rows) and self._rows[row].goes_on

    def get_text_range(self, start: Location, end: Location) -> str:
        return _join(self._between(*sorted((start, end))))

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        top, bottom = sorted((start, end))
        replaced = _Replaced(self._between(top, bottom))
        if not text and not replaced:
            # Where rows meet there is nothing to delete, and nothing that could be undone.
            return EditResult(bottom, replaced)
        inserted = text.rows if isinstance(text, _Replaced) else _cut(text)
        before = self._row(top[0]).text[: top[1]]
        last = self._row(bottom[0])
        rows = list(inserted)
        rows[0] = Row(before + rows[0].text, rows[0].goes_on)
        location = (top[0] + len(rows) - 1, len(rows[-1].text))
        rows[-1] = Row(rows[-1].text + last.text[bottom[1] :], last.goes_on)
        self._rows[top[0] : bottom[0] + 1] = rows
        self._lines[top[0] : bottom[0] + 1] = [mark_cells(row.text) for row in rows]
        self._text = None
        return EditResult(location, replaced)

    def _row(self, index: int) -> Row:
        return self._rows[index] if index < len(self._rows) else Row("")

    def _between(self, top: Location, bottom: Location) -> Sequence[Row]:
        if top[0] == bottom[0]:
            return [Row(self._row(top[0]).text[top[1] : bottom[1]])]
        first, last = self._row(top[0]), self._row(bottom[0])
        return [
            Row(first.text[top[1] :], first.goes_on),
            *self._rows[top[0] + 1 : bottom[0]],
            Row(last.text[: bottom[1]]),
        ]


def _join(rows: Iterable[Row]) -> str:
    parts: list[str] = []
    for row in rows:
        parts += (row.text, "" if row.goes_on else "\n")
    return "".join(parts[:-1])


def _cut(text: str) -> list[Row]:
    return [row for line in text.split("\n") for row in _cut_line(line)]


def _cut_line(line: str) -> Iterable[Row]:
    start = 0
    while len(line) - start > ROW_CHARACTERS:
        end = start + ROW_CHARACTERS
        # Between words if that costs little: the row before looks broken off otherwise.
        blank = line.rfind(" ", end - ROW_CHARACTERS // 4, end)
        end = blank + 1 if blank >= 0 else end
        yield Row(line[start:end], goes_on=True)
        start = end
    yield Row(line[start:])
