"""The welcome: a sentence and keys in the middle of an empty transcript."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.canvas import GUTTER, Canvas
from tui.widgets.wrapping import wrap_words

_GAP = 3
# In a narrower column each word would have a row of its own.
_WORDS_CELLS = 12
_MEASURE = 64

Line = tuple[str, str, str]
"""A row: the name of a key, its effect, and words that fill the row instead."""

_BLANK: Line = ("", "", "")


class WelcomeText(msgspec.Struct, frozen=True):
    """The sentences of an empty session, and its first keys with their effects.

    Where there is little room, the second key gives way to the first sentence.
    """

    sentences: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()


class Welcome:
    """Draws as much of a ``WelcomeText`` as there is room for."""

    def __init__(self) -> None:
        self.text = WelcomeText()
        self._drawn: tuple[object, Sequence[Line]] = (None, ())

    def row(self, y: int, height: int, canvas: Canvas) -> Strip:
        """One row of an empty transcript of ``height`` rows."""
        asked = (self.text, canvas.text_width - 1, height)
        if self._drawn[0] != asked:
            self._drawn = asked, self._fitting(canvas.text_width - 1, height)
        rows = self._drawn[1]
        number = y - (height - len(rows)) // 2
        if not 0 <= number < len(rows):
            return canvas.blank()
        key, does, words = rows[number]
        column = self._key_cells if any(each[1] for each in rows) else 0
        cells = max(cell_len(line[2]) or column + cell_len(line[1]) for line in rows)
        margin = " " * ((canvas.width - cells) // 2 - GUTTER)
        palette = canvas.palette
        return canvas.row(
            [
                Segment(margin + words, palette["text"]),
                Segment("" if words else key.ljust(column), palette["mark"]),
                Segment(does, palette["quiet"]),
            ]
        )

    @property
    def _key_cells(self) -> int:
        return max((cell_len(key) for key, _ in self.text.keys), default=0) + _GAP

    def _fitting(self, width: int, height: int) -> Sequence[Line]:
        """The fullest variant that fits; empty if not even the keys do."""
        if width - self._key_cells < _WORDS_CELLS:
            return ()
        return next((rows for rows in self._versions(width) if len(rows) <= height), ())

    def _versions(self, width: int) -> Iterator[Sequence[Line]]:
        names, cells = self.text.keys, width - self._key_cells
        keys = _key_rows(names, cells)
        said: Sequence[Line] = ()
        for count in range(len(self.text.sentences), 0, -1):
            words = " ".join(self.text.sentences[:count])
            said = [("", "", row) for row in wrap_words(words, min(width, _MEASURE))]
            yield [*said, _BLANK, *keys]
            yield [*said, *keys]
        if said:
            yield [*said, *_key_rows((*names[:1], *names[2:]), cells)]
        yield keys


def _key_rows(keys: Sequence[tuple[str, str]], cells: int) -> Sequence[Line]:
    """The rows with so many cells for the effect of a key; longer words wrap."""
    rows: list[Line] = []
    for key, does in keys:
        first, *others = wrap_words(does, cells)
        rows += [(key, first, ""), *(("", other, "") for other in others)]
    return rows
