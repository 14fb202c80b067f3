"""The blocks of items: some rows each, drawn when they come into view."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec
from rich.cells import cell_len
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.domain.text.patterns import late_pattern
from tui.domain.views.message_details import PARTED
from tui.widgets.transcript.rendering.canvas import GUTTER, MEASURE, Canvas
from tui.widgets.transcript.rendering.copy_hints import joints
from tui.widgets.transcript.rendering.markdown_blocks import Block
from tui.widgets.transcript.rendering.streaming_tables import as_table
from tui.widgets.wrapping import cut_pieces, guess_rows, shorten, wrap_words

TAB = 4
"""The distance of tab stops, in cells."""


class Cut(msgspec.Struct, frozen=True):
    """The visible part of a longer line.

    ``hidden`` characters are left of it, ``shown`` on it, after ``pad`` blanks; with more at the
    right, ``fill`` blanks and the mark for that follow.
    """

    text: str
    hidden: int
    shown: int
    pad: int = 0
    fill: int = 0

    @property
    def has_more(self) -> bool:
        """True if there is hidden text at the right."""
        return self.hidden + self.shown < len(self.text)


class RowBlock(ABC):
    """Draws some rows of an item.

    ``spaced``: the first row is blank. ``margin``: cells of a row before its text. ``titled``:
    rows after the blank one that are not text. ``measured``: lines are at most as long as is
    good to read, however much room there is.
    """

    margin = GUTTER
    titled = 0
    measured = False

    def __init__(self, *, spaced: bool = False) -> None:
        self.spaced = spaced
        self._height = 0
        self._width = -1

    def height(self, width: int) -> int:
        """The number of rows at a width: exact if last drawn at it, else an estimate."""
        if self._width == width:
            return self._height
        room = max(1, width - GUTTER - 1)
        return self.guess(min(room, MEASURE) if self.measured else room) + self.spaced

    def strips(self, canvas: Canvas) -> list[Strip]:
        """Draw the rows; their number is exact from now on."""
        drawn = [canvas.blank()] if self.spaced else []
        drawn.extend(self.draw(canvas))
        self._height, self._width = len(drawn), canvas.width
        return drawn

    def is_full(self, row: Strip) -> bool:
        """True if a row is full: a word may go on below."""
        edge = row.cell_length - 1
        if self.measured:
            edge = min(edge, self.margin + MEASURE)
        return cell_len(row.text.rstrip()) >= edge - 1

    def cut(self, row: int) -> Cut | None:  # noqa: ARG002 - for those that have some
        """The line of a row that may show only part of it; none where rows are the text."""
        return None

    @abstractmethod
    def guess(self, width: int) -> int:
        """The estimated number of rows; cheap."""

    @abstractmethod
    def draw(self, canvas: Canvas) -> list[Strip]:
        """Draw the rows below the blank one."""


class LineBlock(RowBlock):
    """One row, cut to the width."""

    def __init__(self, text: str, style: str, mark: str = " ", *, spaced: bool = False) -> None:
        super().__init__(spaced=spaced)
        self.text = text
        self.style = style
        self.mark = mark

    def guess(self, width: int) -> int:  # noqa: ARG002 - a block's
        return 1

    def draw(self, canvas: Canvas) -> list[Strip]:
        return [canvas.text_row(self.shown(canvas.text_width), self.style, self.mark)]

    def shown(self, width: int) -> str:
        """Cut the text to a width."""
        return shorten(self.text, width)


class FoldLine(LineBlock):
    """The row that folds the rows below it."""

    def __init__(self, text: str, style: str, *, unfolded: bool, spaced: bool = False) -> None:
        super().__init__(f"{'▾' if unfolded else '▸'} {text}", style, spaced=spaced)
        self.unfolded = unfolded


class Divider(RowBlock):
    """Words in a rule across the pane."""

    def __init__(self, text: str) -> None:
        super().__init__(spaced=True)
        self.text = text

    def guess(self, width: int) -> int:  # noqa: ARG002 - a block's
        return 1

    def draw(self, canvas: Canvas) -> list[Strip]:
        words = shorten(f"── {self.text} ", canvas.text_width)
        rule = "─" * (canvas.text_width - cell_len(words))
        return [canvas.text_row(words + rule, "divider")]


class Plain(RowBlock):
    """Plain text, wrapped."""

    measured = True
    wrap = staticmethod(wrap_words)

    def __init__(self, text: str, style: str, mark: str = " ", *, spaced: bool = False) -> None:
        super().__init__(spaced=spaced)
        self.text = text
        self.style = style
        self.mark = mark

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def draw(self, canvas: Canvas) -> list[Strip]:
        lines = self.text.expandtabs(TAB).split("\n")
        width = canvas.measure if self.measured else canvas.text_width
        rows = chain.from_iterable(_wrapped(line, self.wrap(line, width)) for line in lines)
        look = canvas.palette[self.style]
        return [
            canvas.row(
                [Segment(row, look + how if how else look)],
                " " if place else self.mark,
                canvas.palette[self._mark_style],
            )
            for place, (row, how) in enumerate(rows)
        ]

    @property
    def _mark_style(self) -> str:
        """Errors have a sign in their own style."""
        return self.style if self.style in ("warning", "error") else "mark"


def _wrapped(line: str, rows: Sequence[str]) -> Iterable[tuple[str, Style | None]]:
    """The rows of a line, with the copy hint of each."""
    return [(line, None)] if len(rows) == 1 else zip(rows, joints(line, rows), strict=True)


class OutputBlock(Plain):
    """The output of a tool: often in columns, and not read word by word."""

    measured = False


class Details(Plain):
    """The details of a message, which are not part of its text."""

    @staticmethod
    def wrap(line: str, width: int) -> list[str]:
        """Wrap one line between its items; no row ends with a dot."""
        rows: list[str] = []
        for told in line.split(PARTED):
            if rows and cell_len(rows[-1] + PARTED + told) <= width:
                rows[-1] += PARTED + told
            else:
                rows += wrap_words(told, width)
        return rows


def plain_blocks(
    text: str,
    style: str,
    mark: str = " ",
    *,
    spaced: bool = False,
    kind: type[Plain] = Plain,
) -> list[RowBlock]:
    """Split text of any length into blocks that are cheap to draw."""
    return [
        kind(piece, style, mark if place == 0 else " ", spaced=spaced and place == 0)
        for place, piece in enumerate(cut_pieces(text))
    ]


class ProseBlock(RowBlock):
    """A block of Markdown."""

    measured = True

    def __init__(self, source: Block) -> None:
        super().__init__(spaced=source.spaced)
        self.text = source.text

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def source(self) -> str:
        """The Markdown to draw."""
        return self.text

    def draw(self, canvas: Canvas) -> list[Strip]:
        source = self.source().expandtabs(TAB)
        if _WORDS.fullmatch(source):
            # Without any markup there is no need for the parser, nor to wait for its import.
            rows = wrap_words(source.rstrip(" "), canvas.measure)
            look = canvas.palette["text"]
            return [
                canvas.row([Segment(row, look + how if how else look)])
                for row, how in _wrapped(source, rows)
            ]
        lines = canvas.lines(self.formed(source, canvas.measure))
        return [canvas.row(line) for line in _trimmed(lines)]

    def formed(self, source: str, width: int) -> RenderableType:
        """The parsed Markdown, to be drawn in so many cells."""
        from tui.widgets.transcript.rendering.rich_markdown import prose

        return prose(source, width)


class GrowingProseBlock(ProseBlock):
    """A block of Markdown that is still arriving."""

    def source(self) -> str:
        return as_table(self.text) if "|" in self.text else self.text

    def formed(self, source: str, width: int) -> RenderableType:
        from tui.widgets.transcript.rendering.rich_markdown import prose
        from tui.widgets.transcript.rendering.streaming_markdown import StreamingMarkdown

        return prose(source, width, StreamingMarkdown)


_WORDS = late_pattern(r"[A-Za-z][A-Za-z0-9 ,.;:?'\"()]*")


def _trimmed(lines: list[list[Segment]]) -> list[list[Segment]]:
    """Remove blank lines at the beginning and end."""
    full = [place for place, line in enumerate(lines) if any(s.text.strip() for s in line)]
    return lines[full[0] : full[-1] + 1] if full else []
