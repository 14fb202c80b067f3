"""The blocks of items, prose and code: some rows each, drawn when they come into view."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.domain.text import late_pattern
from tui.domain.views.costs import PARTED
from tui.widgets.cells import (
    PIECE,
    breaks,
    clean,
    cut_pieces,
    fitting,
    guess_rows,
    shorten,
    wrap_words,
)
from tui.widgets.transcript.canvas import (
    AT_ONCE,
    GUTTER,
    MEASURE,
    NO_TEXT,
    WRAPPED,
    Canvas,
    Run,
    joints,
)
from tui.widgets.transcript.markdown_blocks import MarkdownBlock, as_table

TAB = 4
"""The distance of tab stops, in cells."""

_WORDS = late_pattern(r"[A-Za-z][A-Za-z0-9 ,.;:?'\"()]*")
_OPEN_FENCE = 4096
"""The longest open fence, in characters, that is highlighted."""

COPY = "copy"
"""The mark above code that copies it."""

_GAP = 2
_PRESSED = Style(underline=True)

FRAME, _MOVED, _MORE = "│ ", "\u2039 ", "\u203a"
"""Before a line; before a line with hidden cells at its left; after one with hidden cells."""

_LONGEST_WRAPPED = PIECE
"""A longer line of code is always cut: it would be some hundred rows, drawn at once."""


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


class RowBlock(msgspec.Struct, eq=False, kw_only=True, weakref=True):
    """Draws some rows of an item; by itself none, or a blank one.

    ``spaced``: the first row is blank. ``margin``: cells of a row before its text. ``titled``:
    rows after the blank one that are not text. ``measured``: lines are at most as long as is
    good to read, however much room there is. ``asked``: the rows belong to a question.
    """

    margin = GUTTER
    measured = False
    spaced: bool = False
    titled: int = 0
    asked: bool = False
    _height: int = 0
    _width: int = -1

    def height(self, width: int) -> int:
        """The number of rows at a width: exact if last drawn at it, else an estimate."""
        if self._width == width:
            return self._height
        room = max(1, width - GUTTER - 1)
        return self.guess(min(room, MEASURE) if self.measured else room) + self.spaced

    def strips(self, canvas: Canvas) -> list[Strip]:
        """Draw the rows; their number is exact from now on."""
        drawn = [canvas.row(())] if self.spaced else []
        rows = self.draw(canvas)
        drawn.extend(map(canvas.question_row, rows) if self.asked else rows)
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

    def guess(self, width: int) -> int:  # noqa: ARG002 - for those that have some
        """The estimated number of rows; cheap."""
        return 0

    def draw(self, canvas: Canvas) -> list[Strip]:  # noqa: ARG002 - the same
        """Draw the rows below the blank one."""
        return []


class LineBlock(RowBlock):
    """One row, in the first of ``fuller`` wordings that fits, else cut by ``shorten``.

    ``part`` is what of a message it stands for.
    """

    text: str
    style: str
    mark: str = " "
    part: object = None
    fuller: Sequence[str] = ()
    shorten: Callable[[str, int], str] = shorten

    def guess(self, width: int) -> int:  # noqa: ARG002 - a block's
        return 1

    def draw(self, canvas: Canvas) -> list[Strip]:
        width = canvas.text_width
        fitting_ones = (each for each in self.fuller if cell_len(each) <= width)
        words = next(fitting_ones, None) or self.shorten(self.text, width)
        look = canvas.palette
        return [canvas.row([Segment(words, look[self.style])], self.mark, look["mark"])]


class FoldLine(LineBlock, kw_only=True):
    """The row that folds the rows below it."""

    unfolded: bool

    def __post_init__(self) -> None:
        self.text = f"{'▾' if self.unfolded else '▸'} {self.text}"


def rule(text: str, width: int) -> str:
    """Words in a rule across the pane."""
    words = shorten(f"── {text} ", width)
    return words + "─" * (width - cell_len(words))


class Plain(RowBlock):
    """Plain text, wrapped."""

    measured = True
    wrap = staticmethod(wrap_words)
    text: str
    style: str
    mark: str = " "

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def draw(self, canvas: Canvas) -> list[Strip]:
        lines = self.text.expandtabs(TAB).split("\n")
        width = canvas.measure if self.measured else canvas.text_width
        rows = chain.from_iterable(_wrapped(line, self.wrap(line, width)) for line in lines)
        look = canvas.palette[self.style]
        # Errors have a sign in their own style.
        sign = look if self.style in ("warning", "error") else canvas.palette["mark"]
        return [
            canvas.row(
                [Segment(row, look + how if how else look)], " " if place else self.mark, sign
            )
            for place, (row, how) in enumerate(rows)
        ]


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


def plain_blocks(text: str, style: str, kind: type[Plain] = Plain) -> list[RowBlock]:
    """Split text of any length into blocks that are cheap to draw."""
    return [kind(piece, style) for piece in cut_pieces(text)]


class ProseBlock(RowBlock):
    """A block of Markdown, which may still be arriving."""

    measured = True
    text: str
    growing: bool = False

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)

    def draw(self, canvas: Canvas) -> list[Strip]:
        whole = as_table(self.text) if self.growing and "|" in self.text else self.text
        source = whole.expandtabs(TAB)
        if _WORDS.fullmatch(source):
            # Without any markup there is no need for the parser, nor to wait for its import.
            rows = wrap_words(source.rstrip(" "), canvas.measure)
            look = canvas.palette["text"]
            return [
                canvas.row([Segment(row, look + how if how else look)])
                for row, how in _wrapped(source, rows)
            ]
        from tui.widgets.transcript.rich_markdown import RichMarkdown, prose

        kind = RichMarkdown
        if self.growing:
            from tui.widgets.transcript.streaming_markdown import StreamingMarkdown

            kind = StreamingMarkdown
        lines = canvas.lines(prose(source, canvas.measure, kind))
        full = [place for place, line in enumerate(lines) if any(s.text.strip() for s in line)]
        # Without blank lines at the beginning and end.
        return [canvas.row(line) for line in lines[full[0] : full[-1] + 1]] if full else []


class Sideways(msgspec.Struct, eq=False):
    """The horizontal scroll of one fence, and its widest line drawn so far."""

    cells: int = 0
    widest: int = 0

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

    source: MarkdownBlock
    sideways: Sideways = msgspec.field(default_factory=Sideways)
    room: int = 1
    """The room of a line, in cells, when this was last drawn."""
    _wraps: bool = False
    _skipped: int = 0
    _pieces: Sequence[str] = ()
    """The text of each row, once it was asked for."""

    def __post_init__(self) -> None:
        self.spaced, self.titled = self.source.spaced, int(self.source.first)

    def guess(self, width: int) -> int:  # noqa: ARG002 - a block's
        return self.source.text.count("\n") + 1 + self.source.first

    def draw(self, canvas: Canvas) -> list[Strip]:
        lines = self._lines()
        self.room = canvas.text_width - len(FRAME)
        text = self.source.text.expandtabs(TAB)
        written = text.split("\n")
        self._wraps = canvas.wraps and max(map(len, written)) <= _LONGEST_WRAPPED
        if not self._wraps:
            widest = max(map(len if text.isascii() else cell_len, written))
            self.sideways.widest = max(self.sideways.widest, widest)
        self._skipped = 0 if self._wraps else self.sideways.skipped(self.room)
        self._pieces = ()
        rows: list[Strip] = []
        if self.titled:
            room = max(1, canvas.text_width - len(COPY) - _GAP)
            title = shorten(f"╭ {self.source.language or 'text'}", room) + " " * _GAP
            frame = canvas.palette["frame"] + NO_TEXT
            mark = [Segment(COPY, frame + _PRESSED)] if canvas.copies else []
            rows.append(canvas.ground_row("code", [Segment(title, frame), *mark]))
        return [*rows, *chain.from_iterable(self.rows_of(line, canvas) for line in lines)]

    def copies_at(self, row: int, strip: Strip, cell: int) -> bool:
        """True if a cell of a row belongs to the mark that copies the code."""
        end = cell_len(strip.text.rstrip())
        return bool(self.titled) and row == self.spaced and end - len(COPY) <= cell < end

    def rows_of(self, line: tuple[Run, ...], canvas: Canvas) -> Sequence[Strip]:
        """The rows of one line, or its visible part."""
        if self._wraps:
            pieces = _line_pieces("".join(text for text, _ in line), self.room)
            if len(pieces) > 1:
                return _wrapped_rows(canvas, line, pieces)
        return (_row(canvas, line, self._skipped),)

    def cut(self, row: int) -> Cut | None:
        if not self._pieces:
            lines = self.source.text.expandtabs(TAB).split("\n")
            cut = (_line_pieces(line, self.room) for line in lines)
            self._pieces = [*chain.from_iterable(cut)] if self._wraps else lines
        place = row - self.spaced - self.titled
        if not 0 <= place < len(self._pieces):
            return None
        text = self._pieces[place]
        # Of a row that is wrapped all is shown, but for the blanks at its end.
        return Cut(text, 0, len(text)) if self._wraps else cut_line(text, self._skipped, self.room)

    def _lines(self) -> Sequence[tuple[Run, ...]]:
        source = self.source
        # Line by line: tab stops count from the beginning of a line.
        text = source.text.expandtabs(TAB)
        if not source.language or (not source.closed and len(text) > _OPEN_FENCE):
            return [((line, "code"),) for line in text.split("\n")]
        from tui.widgets.transcript.rich_markdown import highlight

        return [tuple(line) for line in highlight(text, source.language)]


_Drawn = dict[tuple[Run, ...], Sequence[Strip]]


class GrowingCode(Code):
    """Code of a fence that is still open: all lines but the last are as before.

    ``known`` are the rows that the block before it has ``drawn``.
    """

    known: _Drawn = msgspec.field(default_factory=_Drawn)
    known_at: tuple[Canvas, int, bool] | None = None
    drawn: _Drawn = msgspec.field(default_factory=_Drawn)
    drawn_at: tuple[Canvas, int, bool] | None = None

    def draw(self, canvas: Canvas) -> list[Strip]:
        self.drawn = {}
        rows = super().draw(canvas)
        self.known = {}
        return rows

    def rows_of(self, line: tuple[Run, ...], canvas: Canvas) -> Sequence[Strip]:
        self.drawn_at = canvas, self._skipped, self._wraps
        known = self.known if self.known_at == self.drawn_at else {}
        rows = self.drawn.get(line) or known.get(line) or super().rows_of(line, canvas)
        self.drawn[line] = rows
        return rows


def join_fences(blocks: Iterable[RowBlock], known: list[Sideways]) -> None:
    """Have the pieces of each fence scroll together; the ``known`` fences keep their scroll."""
    number = -1
    for block in blocks:
        if isinstance(block, Code):
            number += block.source.first
            while number >= len(known):
                known.append(Sideways())
            block.sideways = known[number]


def _line_pieces(line: str, room: int) -> Sequence[str]:
    """Cut a line where it wraps; blanks at a break end the piece before it."""
    if fitting(line, room) >= len(line):
        return (line,)
    return [line[start:end] for start, end in pairwise((0, *breaks(line, room), len(line)))]


def _wrapped_rows(canvas: Canvas, line: Sequence[Run], pieces: Sequence[str]) -> list[Strip]:
    """The rows of a line; those after the first are marked, and copied as one line."""
    look = canvas.palette
    segments = [Segment(text, look[style]) for text, style in line if text]
    rows: list[Strip] = []
    end = 0
    for piece in pieces:
        start, end = end, end + len(piece)
        shown = _between(segments, start, start + len(piece.rstrip(" ")))
        if start:
            first, *others = shown or [Segment("", look["code"])]
            shown = [Segment(first.text, (first.style or look["code"]) + AT_ONCE), *others]
        frame = Segment(WRAPPED, look["mark"]) if start else Segment(FRAME, look["frame"])
        rows.append(canvas.ground_row("code", [frame, *shown]))
    return rows


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


def _row(canvas: Canvas, line: Sequence[Run], skip: int) -> Strip:
    look = canvas.palette
    segments = [Segment(text, look[style]) for text, style in line if text]
    cut = cut_line("".join(text for text, _ in line), skip, canvas.text_width - len(FRAME))
    row = [Segment(_MOVED if cut.hidden else FRAME, look["mark" if cut.hidden else "frame"])]
    row.append(Segment(" " * cut.pad, look["code"]))
    row.extend(_between(segments, cut.hidden, cut.hidden + cut.shown))
    if cut.hidden + cut.shown < len(cut.text):
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


def row_block(
    source: MarkdownBlock, before: RowBlock | None = None, *, growing: bool = False
) -> RowBlock:
    """Make the row block of a Markdown block; ``before`` drew the beginning of one that grows."""
    if not source.code:
        return ProseBlock(source.text, spaced=source.spaced, growing=growing)
    if growing and isinstance(before, GrowingCode):
        return GrowingCode(source, known=before.drawn, known_at=before.drawn_at)
    return GrowingCode(source) if growing else Code(source)


def code_of(code: Code, blocks: Iterable[RowBlock], written: Sequence[str]) -> str:
    """The whole fence of a block: as in ``written``, if it is among those."""
    pieces = [p for p in blocks if isinstance(p, Code) and p.sideways is code.sideways]
    shown = "\n".join(piece.source.text for piece in pieces)
    return next((text for text in written if clean(text).rstrip() == shown.rstrip()), shown)
