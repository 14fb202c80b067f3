"""Fenced code: a row for each line, moved sideways where it has no room."""

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
"""Characters beyond which an open fence is shown plain."""

"""Some text and the name of its style."""

COPY = "copy"
"""The mark above code which copies it."""

_GAP = 2
_PRESSED = Style(underline=True)

FRAME, _MOVED, _MORE = "│ ", "\u2039 ", "\u203a"
"""Before a line, before one of which something is hidden, and after one: angle quotation marks."""


class Sideways:
    """How far the code of one fence is moved to the left, and its widest line seen so far."""

    __slots__ = ("cells", "widest")

    def __init__(self) -> None:
        self.cells = 0
        self.widest = 0

    def move(self, cells: int, room: int) -> bool:
        """Go so many cells to the right, or left, as far as there is code; whether it moved."""
        before = self.skipped(room)
        self.cells = max(0, min(before + cells, self.widest - room))
        return self.cells != before

    def skipped(self, room: int) -> int:
        """Cells at the left that are not seen; none of code that has room."""
        return max(0, min(self.cells, self.widest - room))


class Code(RowBlock):
    """A piece of a fenced block: framed at the left, its language named above."""

    margin = GUTTER + len(FRAME)

    def __init__(self, block: Block) -> None:
        super().__init__(spaced=block.spaced)
        self.block = block
        self.titled = int(block.first)
        self.sideways = Sideways()
        self.room = 1
        """Cells that a line had when this was last drawn."""

    def guess(self, width: int) -> int:  # noqa: ARG002 - a Part's
        return self.block.text.count("\n") + 1 + self.block.first

    def draw(self, page: Canvas) -> list[Strip]:
        lines = self._lines()
        self.room = page.text_width - len(FRAME)
        self.sideways.widest = max(self.sideways.widest, _widest(self.block.text.expandtabs(TAB)))
        rows = [self._title(page)] if self.block.first else []
        return [*rows, *(self.row_of(line, page) for line in lines)]

    def _title(self, page: Canvas) -> Strip:
        room = page.text_width - len(COPY) - _GAP
        title = shorten(f"╭ {self.block.language or 'text'}", max(1, room)) + " " * _GAP
        frame = page.palette["frame"] + NO_TEXT
        return page.row([Segment(title, frame), Segment(COPY, frame + _PRESSED)])

    def copies_at(self, row: int, strip: Strip, cell: int) -> bool:
        """Whether a cell of a row is the mark that copies the code."""
        end = cell_len(strip.text.rstrip())
        return bool(self.titled) and row == self.spaced and end - len(COPY) <= cell < end

    def row_of(self, line: tuple[Run, ...], page: Canvas) -> Strip:
        """One line of code: what is seen of it."""
        return _row(page, line, self.sideways.skipped(self.room))

    def cut(self, row: int) -> Cut | None:
        lines = self.block.text.expandtabs(TAB).split("\n")
        place = row - self.spaced - self.titled
        if not 0 <= place < len(lines):
            return None
        return cut_line(lines[place], self.sideways.skipped(self.room), self.room)

    def _lines(self) -> Sequence[tuple[Run, ...]]:
        block = self.block
        # Line by line: a tab's stop counts from the beginning of its line.
        text = block.text.expandtabs(TAB)
        if not block.language or (not block.closed and len(text) > _OPEN_FENCE):
            return [((line, "code"),) for line in text.split("\n")]
        from tui.widgets.transcript.rendering.highlighting import highlight

        return [tuple(line) for line in highlight(text, block.language)]


class GrowingCode(Code):
    """Code of a fence that is still open: its lines but the last are those it had before."""

    def __init__(self, block: Block, before: RowBlock | None) -> None:
        super().__init__(block)
        self._known = before.drawn if isinstance(before, GrowingCode) else {}
        self._known_at = before.drawn_at if isinstance(before, GrowingCode) else None
        self.drawn: dict[tuple[Run, ...], Strip] = {}
        self.drawn_at: tuple[Canvas, int] | None = None

    def draw(self, page: Canvas) -> list[Strip]:
        self.drawn = {}
        rows = super().draw(page)
        self._known = {}
        return rows

    def row_of(self, line: tuple[Run, ...], page: Canvas) -> Strip:
        self.drawn_at = page, self.sideways.skipped(self.room)
        known = self._known if self._known_at == self.drawn_at else {}
        row = self.drawn.get(line) or known.get(line) or super().row_of(line, page)
        self.drawn[line] = row
        return row


class Fences:
    """The fences of an answer, by their order: each keeps where it was moved to as it grows."""

    def __init__(self) -> None:
        self._sideways: list[Sideways] = []

    def join(self, parts: Iterable[RowBlock]) -> None:
        """Let the pieces of each fence move together."""
        number = -1
        for part in parts:
            if isinstance(part, Code):
                number += part.block.first
                while number >= len(self._sideways):
                    self._sideways.append(Sideways())
                part.sideways = self._sideways[number]


def cut_line(line: str, skip: int, room: int) -> Cut:
    """What is seen of a line in ``room`` cells, ``skip`` cells from its beginning."""
    hidden = fitting(line, skip) if skip else 0
    rest = line[hidden:]
    # Where a wide character would be seen by half, there is a blank.
    pad = max(0, skip - cell_len(line[:hidden])) if rest else 0
    shown = fitting(rest, room - pad) if rest else 0
    if shown >= len(rest):
        return Cut(line, hidden, shown, pad)
    shown = fitting(rest, room - pad - 1)
    return Cut(line, hidden, shown, pad, max(0, room - pad - 1 - cell_len(rest[:shown])))


def _widest(text: str) -> int:
    """Cells of the longest line."""
    return max(map(len if text.isascii() else cell_len, text.split("\n")))


def _row(page: Canvas, line: Sequence[Run], skip: int) -> Strip:
    look = page.palette
    segments = [Segment(text, look[style]) for text, style in line if text]
    cut = cut_line("".join(text for text, _ in line), skip, page.text_width - len(FRAME))
    row = [Segment(_MOVED if cut.hidden else FRAME, look["mark" if cut.hidden else "frame"])]
    row.append(Segment(" " * cut.pad, look["code"]))
    row.extend(_between(segments, cut.hidden, cut.hidden + cut.shown))
    if cut.has_more:
        row += [Segment(" " * cut.fill, look["code"]), Segment(_MORE, look["mark"])]
    return page.row(segment for segment in row if segment.text)


def _between(segments: list[Segment], start: int, end: int) -> list[Segment]:
    """The characters of some segments from ``start`` to ``end``."""
    found: list[Segment] = []
    for text, style, _ in segments:
        if piece := text[max(0, start) : max(0, end)]:
            found.append(Segment(piece, style))
        start, end = start - len(text), end - len(text)
    return found


def block_part(block: Block) -> RowBlock:
    """The part that draws a block of an answer."""
    return Code(block) if block.code else ProseBlock(block)


def growing_part(block: Block, before: RowBlock | None) -> RowBlock:
    """The part that draws a block which is still arriving; ``before`` drew it when it was less."""
    return GrowingCode(block, before) if block.code else GrowingProseBlock(block)


def code_of(code: Code, parts: Iterable[RowBlock], written: Sequence[str]) -> str:
    """All of the fence that a part belongs to: as it was ``written``, if it is one of those."""
    pieces = [p for p in parts if isinstance(p, Code) and p.sideways is code.sideways]
    shown = "\n".join(piece.block.text for piece in pieces)
    return next((text for text in written if clean(text).rstrip() == shown.rstrip()), shown)
