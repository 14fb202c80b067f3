"""The parts of what stands in a conversation: some rows each, drawn when they come into sight."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec
from rich.cells import cell_len
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.domain.views.message_details import PARTED
from tui.widgets.transcript.rendering.canvas import GUTTER, MEASURE, Canvas
from tui.widgets.transcript.rendering.copy_hints import joints
from tui.widgets.transcript.rendering.markdown_blocks import Block
from tui.widgets.transcript.rendering.streaming_tables import as_table
from tui.widgets.wrapping import (
    cut_pieces,
    guess_rows,
    has_columns,
    shorten,
    wrap_hanging,
    wrap_words,
)

TAB = 4
"""Cells from one tab's stop to the next."""


class Cut(msgspec.Struct, frozen=True):
    """What a row shows of a longer line.

    ``hidden`` characters are left of it, ``shown`` ones on it, after ``pad`` blanks; with more at
    the right, the mark for that stands ``fill`` blanks after them.
    """

    text: str
    hidden: int
    shown: int
    pad: int = 0
    fill: int = 0

    @property
    def has_more(self) -> bool:
        """Whether something is hidden at the right."""
        return self.hidden + self.shown < len(self.text)


class RowBlock(ABC):
    """Some rows.

    ``spaced``: the first is blank. ``margin``: how much of a row is no text. ``titled``: how many
    rows after the blank one are none of the text. ``measured``: its lines are no longer than
    is good to read, however much room there is.
    """

    margin = GUTTER
    titled = 0
    measured = False

    def __init__(self, *, spaced: bool = False) -> None:
        self.spaced = spaced
        self._height = 0
        self._width = -1

    def height(self, width: int) -> int:
        """Rows at a width: as they were when last drawn there, else a guess."""
        if self._width == width:
            return self._height
        room = max(1, width - GUTTER - 1)
        return self.guess(min(room, MEASURE) if self.measured else room) + self.spaced

    def strips(self, page: Canvas) -> list[Strip]:
        """The rows; from now on their number is known."""
        drawn = [page.blank()] if self.spaced else []
        drawn.extend(self.draw(page))
        self._height, self._width = len(drawn), page.width
        return drawn

    def is_full(self, row: Strip) -> bool:
        """Whether a row has no room for more: a word may go on below."""
        edge = row.cell_length - 1
        if self.measured:
            edge = min(edge, self.margin + MEASURE)
        return cell_len(row.text.rstrip()) >= edge - 1

    def cut(self, row: int) -> Cut | None:  # noqa: ARG002 - for those that have some
        """The line of a row which may not show all of it; none where rows are the text."""
        return None

    @abstractmethod
    def guess(self, width: int) -> int:
        """About how many rows it takes; cheap."""

    @abstractmethod
    def draw(self, page: Canvas) -> list[Strip]:
        """The rows below the blank one."""


class LineBlock(RowBlock):
    """One row, cut where it has no room. ``foldable``: it opens and closes what is below it."""

    def __init__(
        self,
        text: str,
        style: str,
        mark: str = " ",
        *,
        spaced: bool = False,
        foldable: bool = False,
    ) -> None:
        super().__init__(spaced=spaced)
        self.text = text
        self.style = style
        self.mark = mark
        self.foldable = foldable

    def guess(self, width: int) -> int:  # noqa: ARG002 - a Part's
        return 1

    def draw(self, page: Canvas) -> list[Strip]:
        text = shorten(self.text, page.text_width)
        return [page.text_row(text, self.style, self.mark)]


class Divider(RowBlock):
    """Words in a rule across the pane."""

    def __init__(self, text: str) -> None:
        super().__init__(spaced=True)
        self.text = text

    def guess(self, width: int) -> int:  # noqa: ARG002 - a Part's
        return 1

    def draw(self, page: Canvas) -> list[Strip]:
        words = shorten(f"── {self.text} ", page.text_width)
        rule = "─" * (page.text_width - cell_len(words))
        return [page.text_row(words + rule, "divider")]


class Plain(RowBlock):
    """Text as it is, wrapped."""

    measured = True
    wrap = staticmethod(wrap_words)

    def __init__(self, text: str, style: str, mark: str = " ", *, spaced: bool = False) -> None:
        super().__init__(spaced=spaced)
        self.text = text
        self.style = style
        self.mark = mark

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def draw(self, page: Canvas) -> list[Strip]:
        lines = self.text.expandtabs(TAB).split("\n")
        width = page.measure if self.measured else page.text_width
        rows = chain.from_iterable(_wrapped(line, self.wrap(line, width)) for line in lines)
        look = page.palette[self.style]
        return [
            page.row(
                [Segment(row, look + how if how else look)],
                " " if place else self.mark,
                page.palette[self._mark_style],
            )
            for place, (row, how) in enumerate(rows)
        ]

    @property
    def _mark_style(self) -> str:
        """What went wrong is seen by its sign, too."""
        return self.style if self.style in ("warning", "error") else "mark"


def _wrapped(line: str, rows: Sequence[str]) -> Iterable[tuple[str, Style | None]]:
    """The rows of a line, and how each goes on with it."""
    return [(line, None)] if len(rows) == 1 else zip(rows, joints(line, rows), strict=True)


class Told(Plain):
    """The same where it may have lists in it, and tables, which take what room there is."""

    measured = False

    @staticmethod
    def wrap(line: str, width: int) -> list[str]:
        """One line as rows."""
        return wrap_hanging(line, width if has_columns(line) else min(width, MEASURE))


class OutputBlock(Plain):
    """What a tool gave: often in columns, and not to be read word by word."""

    measured = False


class Details(Plain):
    """What is known of a message beside its text: nobody said it."""

    @staticmethod
    def wrap(line: str, width: int) -> list[str]:
        """One line as rows, parted between what it tells; no row ends with a dot."""
        rows: list[str] = []
        for told in line.split(PARTED):
            if rows and cell_len(rows[-1] + PARTED + told) <= width:
                rows[-1] += PARTED + told
            else:
                rows += wrap_words(told, width)
        return rows


def plain_parts(
    text: str,
    style: str,
    mark: str = " ",
    *,
    spaced: bool = False,
    kind: type[Plain] = Plain,
) -> list[RowBlock]:
    """Text of any length, in parts that are cheap to draw."""
    return [
        kind(piece, style, mark if place == 0 else " ", spaced=spaced and place == 0)
        for place, piece in enumerate(cut_pieces(text))
    ]


class ProseBlock(RowBlock):
    """A block of Markdown."""

    measured = True

    def __init__(self, block: Block) -> None:
        super().__init__(spaced=block.spaced)
        self.text = block.text

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def source(self) -> str:
        """The Markdown that is drawn."""
        return self.text

    def draw(self, page: Canvas) -> list[Strip]:
        source = self.source().expandtabs(TAB)
        if _WORDS.fullmatch(source):
            # Nothing in it that a parser would see; and a first sight need not wait for one.
            rows = wrap_words(source.rstrip(" "), page.measure)
            look = page.palette["text"]
            return [
                page.row([Segment(row, look + how if how else look)])
                for row, how in _wrapped(source, rows)
            ]
        lines = page.lines(self.formed(source, page.measure))
        return [page.row(line) for line in _trimmed(lines)]

    def formed(self, source: str, width: int) -> RenderableType:
        """The Markdown, ready to be drawn on so many cells."""
        from tui.widgets.transcript.rendering.rich_markdown import prose

        return prose(source, width)


class GrowingProseBlock(ProseBlock):
    """One that is still arriving."""

    def source(self) -> str:
        return as_table(self.text) if "|" in self.text else self.text

    def formed(self, source: str, width: int) -> RenderableType:
        from tui.widgets.transcript.rendering.rich_markdown import prose
        from tui.widgets.transcript.rendering.streaming_markdown import StreamingMarkdown

        return prose(source, width, StreamingMarkdown)


_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9 ,.;:?'\"()]*")


def _trimmed(lines: list[list[Segment]]) -> list[list[Segment]]:
    """Lines without the blank ones before and after them."""
    full = [place for place, line in enumerate(lines) if any(s.text.strip() for s in line)]
    return lines[full[0] : full[-1] + 1] if full else []
