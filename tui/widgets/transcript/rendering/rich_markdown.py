"""Markdown by Rich, as the conversation shows it. Imported when the first text is drawn."""

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderResult
from rich.containers import Lines
from rich.markdown import (
    CodeBlock,
    Heading,
    HorizontalRule,
    ListItem,
    Markdown,
    MarkdownContext,
    MarkdownElement,
    Paragraph,
    TableDataElement,
    TableElement,
)
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tui.widgets.transcript.rendering.canvas import MEASURE
from tui.widgets.transcript.rendering.copy_hints import AFTER_BLANK, AT_ONCE, NO_TEXT
from tui.widgets.transcript.rendering.highlighting import highlight, plain
from tui.widgets.wrapping import breaks, clean

_INDENTS = {"blockquote_open": 4, "list_item_open": 4}
_STEP, _BETWEEN = 8, 2
"""Cells by which a column of a table grows, and those between two of them."""

_LEAST = 8
"""Cells that text needs: nested deeper than leaves them, lists and quotes are shown as written."""


def make_parser() -> MarkdownIt:
    """A parser of what models write.

    Tags are shown as they were written, and so are references: nothing that was said disappears.
    """
    return (
        MarkdownIt("commonmark", {"html": False})
        .enable(["strikethrough", "table"])
        .disable(["html_block", "html_inline", "reference"])
    )


PARSER = make_parser()

URL = re.compile(r"https?://[^\s<>\"`]+", re.IGNORECASE)
_CLOSING = {")": "(", "]": "[", "}": "{"}


class _Code(CodeBlock):
    """Code inside a list or a quote, in the conversation's own colours."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> Self:  # noqa: ARG003 - Rich's own
        """Made of a fence, whose words are kept."""
        made = cls(token.info.partition(" ")[0] or "text", "default")
        made.title = clean(token.info.strip())
        return made

    title = ""
    """All that stands at its fence."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        lines = highlight(code, self.lexer_name) if len(code) < 4096 else plain(code)
        text = Text("\n").join(Text.assemble(*map(_styled, line)) for line in lines)
        text.no_wrap = False
        if self.title:
            frame = console.get_style("transcript.frame", default="none")
            yield Text(f"╭ {self.title}", frame + NO_TEXT)
        # Without a frame at the left: it would be copied with the code.
        yield text


def _styled(run: tuple[str, str]) -> tuple[str, str]:
    """A run by a name of our own: Rich has styles of some of the same names."""
    text, style = run
    return text, f"transcript.{style}"


class _Words(Text):
    """Text that is wrapped as all else in the conversation; ``lone``: no other is beside it."""

    lone = True

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,  # noqa: ARG002 - Rich's own
        no_wrap: bool | None = None,  # noqa: ARG002 - the same
    ) -> Lines:
        """Rows of at most so many cells."""
        rows = Lines()
        for line in self.split(allow_blank=True):
            rows.extend(self._divided(line, list(breaks(line.plain, width))))
        for row in rows:
            # All of it: a link's underline would go on to where it was wrapped.
            row.rstrip()
        how = justify or self.justify or "default"
        rows.justify(console, width, justify=how, overflow=overflow or "fold")
        return rows

    def _divided(self, line: Text, starts: Sequence[int]) -> Lines:
        rows = line.divide(starts)
        if self.lone:
            for start, row in zip(starts, rows[1:], strict=True):
                row.stylize(AFTER_BLANK if line.plain[start - 1] == " " else AT_ONCE)
        return rows

    def copy(self) -> Text:
        """Another of the same."""
        made = _Words(justify=self.justify, end=self.end)
        made.lone = self.lone
        return made.append_text(self)


class _Paragraph(Paragraph):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = _Words(justify="left")


class _Heading(Heading):
    """At the left, whatever its level."""

    LEVEL_ALIGN: ClassVar = {}

    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = _Words()


class _Table(TableElement):
    """As wide as it needs, up to the page; one in a list or a quote is no wider than that."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> MarkdownElement:
        """Made of where it begins."""
        made = cls()
        if isinstance(markdown, RichMarkdown) and token.level == 0:
            made.room = markdown.page_width
        return made

    room = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.update(width=max(self.room, options.max_width))
        for made in super().__rich_console__(console, options):
            if isinstance(made, Table):
                # Begins where the words around it do; blank rows go before and after it anyway.
                made.show_edge = made.show_edge and not self.room
                _step(made, wide.max_width - 2 * made.show_edge)
            yield from [made] if isinstance(made, Segment) else console.render(made, wide)


def _step(table: Table, room: int) -> None:
    """Let columns grow by steps, if there is room: else they would with each letter that comes."""
    widths = [
        max((cell_len(line) for cell in column.cells for line in str(cell).split("\n")), default=0)
        for column in table.columns
    ]
    stepped = [width if width <= _STEP // 2 else -(-width // _STEP) * _STEP for width in widths]
    if sum(stepped) + _BETWEEN * len(stepped) <= room:
        for column, width in zip(table.columns[:-1], stepped, strict=False):
            column.min_width = width


class _Cell(TableDataElement):
    def __init__(self, justify: JustifyMethod) -> None:
        super().__init__(justify)
        self.content = words = _Words(justify=justify)
        words.lone = False


class _Item(ListItem):
    """Of a numbered list: with the dot that it was written with."""

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        indent = len(str(last_number)) + 3
        inner = options.update(width=options.max_width - indent)
        style = console.get_style("markdown.item.number", default="none")
        mark = f"{number}. "
        for line in console.render_lines(self.elements, inner, style=self.style):
            yield Segment(mark.rjust(indent), style)
            yield from line
            yield Segment.line()
            mark = ""


class _Rule(HorizontalRule):
    new_line = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="markdown.hr", characters="─")


class RichMarkdown(Markdown):
    """A block of Markdown whose links show where they go, without being links to a terminal."""

    inlines: ClassVar = {*Markdown.inlines, "u"}
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "paragraph_open": _Paragraph,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
        "hr": _Rule,
        "list_item_open": _Item,
        "table_open": _Table,
        "th_open": _Cell,
        "td_open": _Cell,
    }

    def __init__(self, source: str) -> None:
        self.page_width = MEASURE
        # Not Rich's own: it would make another parser each time.
        self.markup = source
        self.parsed = self.parse(source)
        self.code_theme = self.inline_code_theme = "default"
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.inline_code_lexer = None
        for token in self.parsed:
            if token.children:
                token.children = list(_plain_inline(token.children))

    @staticmethod
    def parse(source: str) -> list[Token]:
        """Its tokens."""
        return PARSER.parse(source)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.page_width = options.max_width
        measure = min(MEASURE, options.max_width)
        return super().__rich_console__(console, options.update(width=measure))


def prose(source: str, width: int, kind: type[RichMarkdown] = RichMarkdown) -> RichMarkdown | Text:
    """A block of Markdown, ready to be drawn on so many cells."""
    drawn = kind(source)
    return drawn if _indent(drawn.parsed) + _LEAST <= width else Text(source)


def _indent(tokens: Iterable[Token]) -> int:
    """Cells before the text that is nested deepest, at least."""
    deepest = now = 0
    for token in tokens:
        now += _INDENTS.get(token.type, 0)
        now -= _INDENTS.get(token.type.replace("_close", "_open"), 0) if token.nesting < 0 else 0
        deepest = max(deepest, now)
    return deepest


def _plain_inline(tokens: Iterable[Token]) -> Iterable[Token]:
    """Images as words, links that are their own text as that text, and nothing unseen in any."""
    own = within = False
    for token in tokens:
        if token.type == "image":
            text = f"[image: {token.content}] ({token.attrs.get('src', '')})"
            yield Token("text", "", 0, content=clean(text))
        elif token.type == "link_open" and token.markup == "autolink":
            own = True
            yield Token("u_open", "u", 1)
        elif token.type == "link_close" and own:
            own = False
            yield Token("u_close", "u", -1)
        elif token.type == "text" and not within and not own:
            yield from _with_addresses(clean(token.content))
        else:
            within = token.type == "link_open" or (within and token.type != "link_close")
            # Only now are entities what they stand for, and that may be anything.
            token.content = clean(token.content)
            yield token


def _with_addresses(text: str) -> Iterable[Token]:
    """Text in which addresses look as links do."""
    place = 0
    for found in URL.finditer(text):
        url = trimmed(found[0])
        end = found.start() + len(url)
        yield Token("text", "", 0, content=text[place : found.start()])
        yield Token("u_open", "u", 1)
        yield Token("text", "", 0, content=url)
        yield Token("u_close", "u", -1)
        place = end
    yield Token("text", "", 0, content=text[place:])


def trimmed(url: str) -> str:
    """An address without the marks that end the sentence around it."""
    while url:
        opening = _CLOSING.get(url[-1])
        if (opening and url.count(opening) < url.count(url[-1])) or url[-1] in ".,;:!?'\"*_":
            url = url[:-1]
        else:
            break
    return url
