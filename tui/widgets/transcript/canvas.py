"""The canvas that rows are drawn on: a width, a palette, a gutter; and copy hints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.theme import Theme
from textual.strip import Strip

from tui.domain.text import make_visible_line

_MESSAGES = "text", "user", "question", "mark", "model", "quiet", "thinking", "tool", "queued"
_BETWEEN = "warning", "error", "divider"
_OVER = "cursor", "more", "match", "match-current"
_MARKDOWN = "heading", "link", "inline-code"
_CODE = "code", "frame", "comment", "keyword", "string", "number", "name"
NAMES = (*_MESSAGES, *_BETWEEN, *_OVER, *_MARKDOWN, *_CODE)
"""The names of all styles: of messages, of what stands between them or over them, of Markdown."""
COMPONENTS = {f"transcript--{name}" for name in NAMES}

_BOLD, _ITALIC, _STRIKE = Style(bold=True), Style(italic=True), Style(strike=True)
_UNDERLINE = Style(underline=True)

Palette = Mapping[str, Style]
"""Styles by name; equal palettes draw equal rows."""


def markdown_styles(look: Palette) -> dict[str, Style]:
    """The styles that Rich's Markdown looks up by its own names."""
    heading, frame = look["heading"], look["frame"]
    return {
        **{f"transcript.{name}": style for name, style in look.items()},
        "markdown.h1": heading + _BOLD + _UNDERLINE,
        "markdown.h2": heading + _BOLD,
        "markdown.h3": heading + _BOLD,
        **{f"markdown.h{level}": heading + _BOLD + _ITALIC for level in (4, 5, 6)},
        "markdown.paragraph": Style(),
        "markdown.text": Style(),
        "markdown.em": _ITALIC,
        "markdown.strong": _BOLD,
        "markdown.s": _STRIKE,
        "markdown.code": look["inline-code"],
        "markdown.code_block": look["code"],
        "markdown.block_quote": look["quiet"],
        "markdown.list": Style(),
        "markdown.item": Style(),
        "markdown.item.bullet": look["mark"],
        "markdown.item.number": look["mark"],
        "markdown.hr": frame,
        "markdown.link": look["link"],
        "markdown.link_url": look["quiet"] + _UNDERLINE,
        "markdown.u": look["link"],
        "markdown.table.border": frame,
        "markdown.table.header": _BOLD,
    }


_JOINT, _FRAME = "joint", "frame"

AFTER_BLANK = Style(meta={_JOINT: " "})
"""A continuation of the row above, after a blank."""

AT_ONCE = Style(meta={_JOINT: ""})
"""A continuation of the row above, without a blank."""

NO_TEXT = Style(meta={_FRAME: True})
"""A row of decoration."""


def joints(line: str, rows: Sequence[str]) -> Iterator[Style | None]:
    """The hint for each row that a line was wrapped to; none where that is unknown."""
    yield None
    place = 0
    for above, row in pairwise(rows):
        place = line.find(above.strip(), place) + len(above.strip())
        start = line.find(row.strip(), place)
        between = line[place:start]
        if start < 0 or between.strip():
            yield None
        else:
            yield AFTER_BLANK if between else AT_ONCE


def joint(strip: Strip) -> tuple[str, int] | None:
    """The text between this row and the one above on their line, and the column of the text."""
    place = 0
    for segment in strip:
        if (between := _said(segment, _JOINT)) is not None:
            blanks = len(segment.text) - len(segment.text.lstrip(" "))
            return str(between), place + blanks
        place += len(segment.text)
    return None


def is_text(strip: Strip) -> bool:
    """True unless the row is decoration."""
    return not any(_said(segment, _FRAME) for segment in strip)


def _said(segment: Segment, name: str) -> object:
    style = segment.style
    return style.meta.get(name) if style and style.meta else None


Run = tuple[str, str]
"""A text and the name of its style."""

GUTTER = 3
"""Cells before the text: the cursor, the mark of the speaker, and a blank."""

MEASURE = 100
"""The longest line of prose, in cells: beyond it the eye loses the next line."""

WRAPPED = "\u21b3 "
"""Before a row of code that goes on with the line above."""

_NARROWEST = 8
_BAR = "┃"


class Canvas:
    """Makes strips of exactly ``width`` cells.

    Code, tables and tool output may fill ``text_width``; prose goes up to ``measure``. Lines of
    code that are wider wrap, unless ``wraps`` is false: then they are cut. Code has a mark that
    copies it, unless ``copies`` is false: nobody would act on it.
    """

    def __init__(
        self, width: int, palette: Palette, *, wraps: bool = True, copies: bool = True
    ) -> None:
        self.width = width
        self.palette = palette
        self.wraps = wraps
        self.copies = copies
        self.text_width = max(_NARROWEST, width - GUTTER - 1)
        self.measure = min(self.text_width, MEASURE)
        self._console: Console | None = None

    def row(
        self, content: Iterable[Segment], mark: str = " ", mark_style: Style | None = None
    ) -> Strip:
        """One row; the first segment is the cell of the cursor."""
        base = self.palette["text"]
        blank = Segment(" ", base)
        segments = [blank, Segment(mark, mark_style or base), blank, *content]
        for place, (text, style, _) in enumerate(segments):
            if not text.isprintable():
                # A library has made it; this is the last gate before the terminal.
                segments[place] = Segment(make_visible_line(text), style)
        cells = sum(cell_len(segment.text) for segment in segments)
        return Strip(segments, cells).adjust_cell_length(self.width, base)

    def ground_row(self, ground: str, content: Iterable[Segment]) -> Strip:
        """One row on the background of a style, from the text's left to its right."""
        look = self.palette[ground]
        own = Style(bgcolor=look.bgcolor)
        segments = [Segment(text, (style or look) + own) for text, style, _ in content]
        room = self.text_width - sum(cell_len(text) for text, _, _ in segments)
        return self.row([*segments, Segment(" " * room, look)])

    def question_row(self, strip: Strip) -> Strip:
        """The same row in the block of a question: a bar at its left, and its background."""
        plain, ground = self.palette["text"].bgcolor, self.palette["question"].bgcolor
        own = Style(bgcolor=ground)
        segments = [
            Segment(text, style + own if style and style.bgcolor == plain else style)
            for text, style, _ in strip
        ]
        # In the place of the mark, after the cell of the cursor.
        segments[1:2] = [Segment(_BAR, self.palette["mark"] + own)] if len(segments) > 1 else []
        return Strip(segments, strip.cell_length)

    def lines(self, renderable: RenderableType) -> list[list[Segment]]:
        """The lines of a Rich renderable, at most as wide as the text."""
        if self._console is None:
            styles = markdown_styles(self.palette)
            self._console = Console(
                color_system="truecolor",
                force_terminal=True,
                markup=False,
                highlight=False,
                emoji=False,
                theme=Theme(styles),
                # Without it, Rich reads COLUMNS and LINES from the environment.
                width=self.text_width,
                height=100,
            )
        options = self._console.options.update(width=self.text_width)
        return self._console.render_lines(
            renderable, options, style=self.palette["text"], pad=False, new_lines=False
        )


def paint(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """The same row with some of its characters in another style."""
    painted: list[Segment] = []
    place = 0
    for text, look, control in strip:
        before, inside = max(0, start - place), max(0, end - place)
        pieces = (
            (text[:before], look),
            (text[before:inside], look + style if look else style),
            (text[max(before, inside) :], look),
        )
        painted += [Segment(piece, new, control) for piece, new in pieces if piece]
        place += len(text)
    return Strip(painted, strip.cell_length)
