"""Fenced code: a row for each line, scrolled sideways where it is too wide."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.widgets.transcript.rendering.canvas import GUTTER, Canvas, Run
from tui.widgets.transcript.rendering.copy_hints import NO_TEXT
from tui.widgets.transcript.rendering.markdown_blocks import Block
from tui.widgets.transcript.rendering.row_blocks import (
    TAB,
    Cut,
    GrowingProseBlock,
    ProseBlock,
    RowBlock,
)
from tui.widgets.wrapping import clean, fitting, shorten

_OPEN_FENCE = 4096
"""The longest open fence, in characters, that is highlighted."""

"""Some text and the name of its style."""

COPY = "copy"
"""The mark above code that copies it."""

_GAP = 2
_PRESSED = Style(underline=True)

FRAME, _MOVED, _MORE = "│ ", "\u2039 ", "\u203a"
"""Before a line; before a line with hidden cells at its left; after one with hidden cells."""


class Sideways:
    """The horizontal scroll of one fence, and its widest line drawn so far."""

    __slots__ = ("cells", "widest")

    def __init__(self) -> None:
        self.cells = 0
        self.widest = 0

    def move(self, cells: int, room: int) -> bool:
        """Scroll right by cells, or left, as far as there is code; true if it moved."""
        before = self.skipped(room)
        self.cells = max(0, min(before + cells, self.widest - room))
        return self.cells != before

    def skipped(self, room: int) -> int:
        """The hidden cells at the left; 0 for code that fits."""
        return max(0, min(self.cells, self.widest - room))


class Code(RowBlock):
    """A piece of a fenced block, with a frame at the left and its language above."""

    margin = GUTTER + len(FRAME)

    def __init__(self, source: Block) -> None:
        super().__init__(spaced=source.spaced)
        self.source = source
        self.titled = int(source.first)
        self.sideways = Sideways()
        self.room = 1
        """The room of a line, in cells, when this was last drawn."""

    def guess(self, width: int) -> int:  # noqa: ARG002 - a block's
        return self.source.text.count("\n") + 1 + self.source.first

    def draw(self, canvas: Canvas) -> list[Strip]:
        lines = self._lines()
        self.room = canvas.text_width - len(FRAME)
        self.sideways.widest = max(self.sideways.widest, _widest(self.source.text.expandtabs(TAB)))
        rows = [self._title(canvas)] if self.source.first else []
        return [*rows, *(self.row_of(line, canvas) for line in lines)]

    def _title(self, canvas: Canvas) -> Strip:
        room = canvas.text_width - len(COPY) - _GAP
        title = shorten(f"╭ {self.source.language or 'text'}", max(1, room)) + " " * _GAP
        frame = canvas.palette["frame"] + NO_TEXT
        return canvas.ground_row("code", [Segment(title, frame), Segment(COPY, frame + _PRESSED)])

    def copies_at(self, row: int, strip: Strip, cell: int) -> bool:
        """True if a cell of a row belongs to the mark that copies the code."""
        end = cell_len(strip.text.rstrip())
        return bool(self.titled) and row == self.spaced and end - len(COPY) <= cell < end

    def row_of(self, line: tuple[Run, ...], canvas: Canvas) -> Strip:
        """The visible part of one line."""
        return _row(canvas, line, self.sideways.skipped(self.room))

    def cut(self, row: int) -> Cut | None:
        lines = self.source.text.expandtabs(TAB).split("\n")
        place = row - self.spaced - self.titled
        if not 0 <= place < len(lines):
            return None
        return cut_line(lines[place], self.sideways.skipped(self.room), self.room)

    def _lines(self) -> Sequence[tuple[Run, ...]]:
        source = self.source
        # Line by line: tab stops count from the beginning of a line.
        text = source.text.expandtabs(TAB)
        if not source.language or (not source.closed and len(text) > _OPEN_FENCE):
            return [((line, "code"),) for line in text.split("\n")]
        from tui.widgets.transcript.rendering.highlighting import highlight

        return [tuple(line) for line in highlight(text, source.language)]


class GrowingCode(Code):
    """Code of a fence that is still open: all lines but the last are as before."""

    def __init__(self, source: Block, before: RowBlock | None) -> None:
        super().__init__(source)
        self._known = before.drawn if isinstance(before, GrowingCode) else {}
        self._known_at = before.drawn_at if isinstance(before, GrowingCode) else None
        self.drawn: dict[tuple[Run, ...], Strip] = {}
        self.drawn_at: tuple[Canvas, int] | None = None

    def draw(self, canvas: Canvas) -> list[Strip]:
        self.drawn = {}
        rows = super().draw(canvas)
        self._known = {}
        return rows

    def row_of(self, line: tuple[Run, ...], canvas: Canvas) -> Strip:
        self.drawn_at = canvas, self.sideways.skipped(self.room)
        known = self._known if self._known_at == self.drawn_at else {}
        row = self.drawn.get(line) or known.get(line) or super().row_of(line, canvas)
        self.drawn[line] = row
        return row


class Fences:
    """The fences of an answer in order; each keeps its scroll as it grows."""

    def __init__(self) -> None:
        self._sideways: list[Sideways] = []

    def join(self, blocks: Iterable[RowBlock]) -> None:
        """Have the pieces of each fence scroll together."""
        number = -1
        for block in blocks:
            if isinstance(block, Code):
                number += block.source.first
                while number >= len(self._sideways):
                    self._sideways.append(Sideways())
                block.sideways = self._sideways[number]


def cut_line(line: str, skip: int, room: int) -> Cut:
    """The visible part of a line in ``room`` cells, ``skip`` cells from its beginning."""
    hidden = fitting(line, skip) if skip else 0
    rest = line[hidden:]
    # A blank takes the place of half a wide character.
    pad = max(0, skip - cell_len(line[:hidden])) if rest else 0
    shown = fitting(rest, room - pad) if rest else 0
    if shown >= len(rest):
        return Cut(line, hidden, shown, pad)
    shown = fitting(rest, room - pad - 1)
    return Cut(line, hidden, shown, pad, max(0, room - pad - 1 - cell_len(rest[:shown])))


def _widest(text: str) -> int:
    """The width of the longest line."""
    return max(map(len if text.isascii() else cell_len, text.split("\n")))


def _row(canvas: Canvas, line: Sequence[Run], skip: int) -> Strip:
    look = canvas.palette
    segments = [Segment(text, look[style]) for text, style in line if text]
    cut = cut_line("".join(text for text, _ in line), skip, canvas.text_width - len(FRAME))
    row = [Segment(_MOVED if cut.hidden else FRAME, look["mark" if cut.hidden else "frame"])]
    row.append(Segment(" " * cut.pad, look["code"]))
    row.extend(_between(segments, cut.hidden, cut.hidden + cut.shown))
    if cut.has_more:
        row += [Segment(" " * cut.fill, look["code"]), Segment(_MORE, look["mark"])]
    return canvas.ground_row("code", (segment for segment in row if segment.text))


def _between(segments: list[Segment], start: int, end: int) -> list[Segment]:
    """The segments between the characters ``start`` and ``end``."""
    found: list[Segment] = []
    for text, style, _ in segments:
        if piece := text[max(0, start) : max(0, end)]:
            found.append(Segment(piece, style))
        start, end = start - len(text), end - len(text)
    return found


def row_block(source: Block) -> RowBlock:
    """Make the row block of a Markdown block."""
    return Code(source) if source.code else ProseBlock(source)


def growing_row_block(source: Block, before: RowBlock | None) -> RowBlock:
    """Make the row block of a Markdown block that still arrives; ``before`` drew its beginning."""
    return GrowingCode(source, before) if source.code else GrowingProseBlock(source)


def code_of(code: Code, blocks: Iterable[RowBlock], written: Sequence[str]) -> str:
    """The whole fence of a block: as in ``written``, if it is among those."""
    pieces = [p for p in blocks if isinstance(p, Code) and p.sideways is code.sideways]
    shown = "\n".join(piece.source.text for piece in pieces)
    return next((text for text in written if clean(text).rstrip() == shown.rstrip()), shown)
