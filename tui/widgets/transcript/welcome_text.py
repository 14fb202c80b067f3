"""The welcome: a mark, sentences and keys in the middle of an empty transcript."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.cells import wrap_words
from tui.widgets.transcript.canvas import GUTTER, Canvas, Run

_GAP = 3
# In a narrower column each word would have a row of its own.
_WORDS_CELLS = 12
_MEASURE = 64

Line = tuple[Run, ...]
"""A row: texts, each with the name of its style."""

_BLANK: Line = ()


class WelcomeText(msgspec.Struct, frozen=True):
    """The sentences of an empty session, and its first keys with their effects.

    The mark says what the first sentence says, which takes its place where it has no room. Where
    there is little room, the second key gives way to the first sentence.
    """

    mark: tuple[Line, ...] = ()
    sentences: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()


class Welcome(msgspec.Struct, eq=False):
    """Draws as much of a ``WelcomeText`` as there is room for."""

    text: WelcomeText = WelcomeText()
    _drawn: tuple[object, Sequence[Line]] = (None, ())

    def row(self, y: int, height: int, canvas: Canvas) -> Strip:
        """One row of an empty transcript of ``height`` rows."""
        asked = (self.text, canvas.text_width - 1, height)
        if self._drawn[0] != asked:
            self._drawn = asked, self._fitting(canvas.text_width - 1, height)
        rows = self._drawn[1]
        number = y - (height - len(rows)) // 2
        if not 0 <= number < len(rows):
            return canvas.row(())
        cells = max(map(_cells, rows))
        margin = Segment(" " * ((canvas.width - cells) // 2 - GUTTER), canvas.palette["text"])
        return canvas.row([margin, *(Segment(text, canvas.palette[s]) for text, s in rows[number])])

    @property
    def _key_cells(self) -> int:
        return max((cell_len(key) for key, _ in self.text.keys), default=0) + _GAP

    def _fitting(self, width: int, height: int) -> Sequence[Line]:
        """The fullest variant that fits; empty if not even the keys do."""
        if width - self._key_cells < _WORDS_CELLS:
            return ()
        return next((rows for rows in self._versions(width) if len(rows) <= height), ())

    def _versions(self, width: int) -> Iterator[Sequence[Line]]:
        names, cells, mark = self.text.keys, width - self._key_cells, self.text.mark
        keys = self._key_rows(names, cells)
        has_room = mark and max(map(_cells, mark)) <= width
        said: Sequence[Line] = ()
        for count in range(len(self.text.sentences), 0, -1):
            if has_room:
                rest = _words(self.text.sentences[1:count], width)
                yield [*mark, _BLANK, *rest, *([_BLANK] if rest else []), *keys]
                yield [*mark, *rest, _BLANK, *keys]
                yield [*mark, *rest, *keys]
            said = _words(self.text.sentences[:count], width)
            yield [*said, _BLANK, *keys]
            yield [*said, *keys]
        if said:
            yield [*said, *self._key_rows((*names[:1], *names[2:]), cells)]
        yield keys

    def _key_rows(self, keys: Sequence[tuple[str, str]], cells: int) -> Sequence[Line]:
        """The rows with so many cells for the effect of a key; longer words wrap."""
        return [
            ((("" if place else key).ljust(self._key_cells), "mark"), (row, "quiet"))
            for key, does in keys
            for place, row in enumerate(wrap_words(does, cells))
        ]


def _cells(line: Line) -> int:
    return sum(cell_len(text) for text, _ in line)


def _words(sentences: Sequence[str], width: int) -> Sequence[Line]:
    words = " ".join(sentences)
    return [((row, "text"),) for row in wrap_words(words, min(width, _MEASURE))] if words else []
