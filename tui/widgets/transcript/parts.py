"""The parts of what stands in a conversation: some rows each, drawn when they come into sight."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.blocks import Block
from tui.widgets.transcript.page import GUTTER, Page
from tui.widgets.transcript.wrapping import (
    cut_pieces,
    guess_rows,
    shorten,
    wrap_cells,
    wrap_words,
)

_OPEN_FENCE = 4096
"""Characters beyond which an open fence is shown plain."""

_TAB = 4
Run = tuple[str, str]
"""Some text and the name of its style."""

_FRAME = "│ "
_CONTINUED = "┆ "


class Part(ABC):
    """Some rows.

    ``spaced``: the first is blank. ``margin``: how much of a row is no text. ``titled``: how many
    rows after the blank one are none of the text.
    """

    margin = GUTTER
    titled = 0

    def __init__(self, *, spaced: bool = False) -> None:
        self.spaced = spaced
        self._height = 0
        self._width = -1

    def height(self, width: int) -> int:
        """Rows at a width: as they were when last drawn there, else a guess."""
        if self._width == width:
            return self._height
        return self.guess(max(1, width - GUTTER - 1)) + self.spaced

    def strips(self, page: Page) -> list[Strip]:
        """The rows; from now on their number is known."""
        drawn = [page.blank()] if self.spaced else []
        drawn.extend(self.draw(page))
        self._height, self._width = len(drawn), page.width
        return drawn

    @abstractmethod
    def guess(self, width: int) -> int:
        """About how many rows it takes; cheap."""

    @abstractmethod
    def draw(self, page: Page) -> list[Strip]:
        """The rows below the blank one."""


class Line(Part):
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

    def draw(self, page: Page) -> list[Strip]:
        text = shorten(self.text, page.text_width)
        return [page.text_row(text, self.style, self.mark)]


class Divider(Part):
    """Words in a rule across the pane."""

    def __init__(self, text: str) -> None:
        super().__init__(spaced=True)
        self.text = text

    def guess(self, width: int) -> int:  # noqa: ARG002 - a Part's
        return 1

    def draw(self, page: Page) -> list[Strip]:
        words = shorten(f"── {self.text} ", page.text_width)
        rule = "─" * (page.text_width - cell_len(words))
        return [page.text_row(words + rule, "divider")]


class Plain(Part):
    """Text as it is, wrapped."""

    def __init__(self, text: str, style: str, mark: str = " ", *, spaced: bool = False) -> None:
        super().__init__(spaced=spaced)
        self.text = text
        self.style = style
        self.mark = mark

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def draw(self, page: Page) -> list[Strip]:
        lines = self.text.expandtabs(_TAB).split("\n")
        rows = chain.from_iterable(wrap_words(line, page.text_width) for line in lines)
        return [
            page.text_row(row, self.style, " " if place else self.mark)
            for place, row in enumerate(rows)
        ]


def plain_parts(text: str, style: str, mark: str = " ", *, spaced: bool = False) -> list[Part]:
    """Text of any length, in parts that are cheap to draw."""
    return [
        Plain(piece, style, mark if place == 0 else " ", spaced=spaced and place == 0)
        for place, piece in enumerate(cut_pieces(text))
    ]


class Prose(Part):
    """A block of Markdown."""

    def __init__(self, block: Block) -> None:
        super().__init__(spaced=block.spaced)
        self.text = block.text

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def draw(self, page: Page) -> list[Strip]:
        source = self.text.expandtabs(_TAB)
        if _WORDS.fullmatch(source):
            # Nothing in it that a parser would see; and a first sight need not wait for one.
            rows = wrap_words(source.rstrip(" "), page.text_width)
            return [page.text_row(row, "text") for row in rows]
        from tui.widgets.transcript.prose import prose

        lines = page.lines(prose(source, page.text_width))
        return [page.row(line) for line in _trimmed(lines)]


_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9 ,.;:?'\"()]*")


class Code(Part):
    """A piece of a fenced block: framed at the left, its language named above."""

    margin = GUTTER + len(_FRAME)

    def __init__(self, block: Block) -> None:
        super().__init__(spaced=block.spaced)
        self.block = block
        self.titled = int(block.first)

    def guess(self, width: int) -> int:
        return guess_rows(self.block.text, width - len(_FRAME)) + self.block.first

    def draw(self, page: Page) -> list[Strip]:
        title = shorten(f"╭ {self.block.language or 'text'}", page.text_width)
        rows = [page.text_row(title, "frame")] if self.block.first else []
        for line in self._lines():
            rows.extend(self.rows_of(line, page))
        return rows

    def rows_of(self, line: tuple[Run, ...], page: Page) -> list[Strip]:
        """One line of code, on more rows than one if it has no room."""
        return _code_rows(page, line)

    def _lines(self) -> list[tuple[Run, ...]]:
        block = self.block
        # Line by line: a tab's stop counts from the beginning of its line.
        text = block.text.expandtabs(_TAB)
        if not block.language or (not block.closed and len(text) > _OPEN_FENCE):
            return [((line, "code"),) for line in text.split("\n")]
        from tui.widgets.transcript.code import highlight

        return [tuple(line) for line in highlight(text, block.language)]


class GrowingCode(Code):
    """Code of a fence that is still open: its lines but the last are those it had before."""

    def __init__(self, block: Block, before: Part | None) -> None:
        super().__init__(block)
        self._known = before.drawn if isinstance(before, GrowingCode) else {}
        self._page = before.page if isinstance(before, GrowingCode) else None
        self.drawn: dict[tuple[Run, ...], list[Strip]] = {}
        self.page: Page | None = None

    def rows_of(self, line: tuple[Run, ...], page: Page) -> list[Strip]:
        known = self._known if self._page is page else {}
        self.page = page
        rows = self.drawn[line] = self.drawn.get(line) or known.get(line) or _code_rows(page, line)
        return rows

    def draw(self, page: Page) -> list[Strip]:
        rows = super().draw(page)
        self._known = {}
        return rows


def _code_rows(page: Page, line: Sequence[Run]) -> list[Strip]:
    """One line of code, on more rows than one if it has no room."""
    width = page.text_width - len(_FRAME)
    look = page.palette
    segments = [Segment(text, look[style]) for text, style in line if text]
    whole = "".join(text for text, _ in line)
    if len(whole) <= width and whole.isascii():
        return [page.row([Segment(_FRAME, look["frame"]), *segments])]
    rows: list[Strip] = []
    start = 0
    for row in wrap_cells(whole, width):
        frame = Segment(_CONTINUED if rows else _FRAME, look["frame"])
        rows.append(page.row([frame, *_cut(segments, start, start + len(row))]))
        start += len(row)
    return rows


def _cut(segments: list[Segment], start: int, end: int) -> list[Segment]:
    """The characters of some segments from ``start`` to ``end``."""
    found: list[Segment] = []
    for text, style, _ in segments:
        if piece := text[max(0, start) : max(0, end)]:
            found.append(Segment(piece, style))
        start, end = start - len(text), end - len(text)
    return found


def _trimmed(lines: list[list[Segment]]) -> list[list[Segment]]:
    """Lines without the blank ones before and after them."""
    full = [place for place, line in enumerate(lines) if any(s.text.strip() for s in line)]
    return lines[full[0] : full[-1] + 1] if full else []


def block_part(block: Block) -> Part:
    """The part that draws a block of an answer."""
    return Code(block) if block.code else Prose(block)


def growing_part(block: Block, before: Part | None) -> Part:
    """The part that draws a block which is still arriving; ``before`` drew it when it was less."""
    return GrowingCode(block, before) if block.code else Prose(block)
