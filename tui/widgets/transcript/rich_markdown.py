"""Markdown drawn by Rich, its links, and code in colours. Imported with the first of them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self
from urllib.parse import urlsplit

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Token as Kind
from pygments.util import ClassNotFound
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

from tui.domain.journal.message import Message
from tui.widgets.cells import breaks, clean
from tui.widgets.transcript.canvas import AFTER_BLANK, AT_ONCE, MEASURE, NO_TEXT, WRAPPED, Run

LINE = 2000
"""The longest line that is highlighted, in characters: some lexers take quadratic time."""

_TOKEN_STYLES = {
    Kind.Comment: "comment",
    Kind.Keyword: "keyword",
    Kind.Operator.Word: "keyword",
    Kind.Name.Tag: "keyword",
    Kind.Literal.String: "string",
    Kind.Generic.Inserted: "string",
    Kind.Literal.Number: "number",
    Kind.Keyword.Constant: "number",
    Kind.Name.Function: "name",
    Kind.Name.Class: "name",
    Kind.Name.Decorator: "name",
    Kind.Name.Attribute: "name",
    Kind.Generic.Heading: "name",
    Kind.Generic.Subheading: "name",
    Kind.Generic.Deleted: "error",
}


def highlight(code: str, language: str) -> list[list[Run]]:
    """Code as lines of runs; plain for an unknown language."""
    name = language.split(maxsplit=1)
    try:
        lexer = get_lexer_by_name(name[0], stripnl=False) if name else None
    except ClassNotFound:
        lexer = None
    if lexer is None or any(len(line) > LINE for line in code.split("\n")):
        return plain(code)
    lines: list[list[Run]] = [[]]
    for kind, text in lexer.get_tokens(code):
        style = _style_of(kind)
        first, *others = text.split("\n")
        lines[-1].append((first, style))
        lines.extend([(other, style)] for other in others)
    # Lexers end the text with a newline, even where there was none.
    wanted = code.count("\n") + 1
    return lines[:wanted]


def plain(code: str) -> list[list[Run]]:
    """The same lines without colours."""
    return [[(line, "code")] for line in code.split("\n")]


def _style_of(kind: object) -> str:
    while kind is not None:
        if style := _TOKEN_STYLES.get(kind):  # pyright: ignore[reportArgumentType]
            return style
        kind = getattr(kind, "parent", None)
    return "code"


_INDENTS = {"blockquote_open": 4, "list_item_open": 4}
_STEP, _BETWEEN = 8, 2
"""The step by which table columns grow, and the gap between columns, in cells."""

_LEAST = 8
"""The least width of text, in cells: lists and quotes nested deeper are shown as written."""


def make_parser() -> MarkdownIt:
    """Make a parser for the Markdown of models.

    HTML tags and references are shown as they were written: no text disappears.
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
    """Code inside a list or a quote, in the colours of the transcript."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> Self:  # noqa: ARG003 - Rich's own
        """Make it from a fence; keep the info string."""
        made = cls(token.info.partition(" ")[0] or "text", "default")
        made.title = clean(token.info.strip())
        return made

    title = ""
    """The info string of the fence."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        lines = highlight(code, self.lexer_name) if len(code) < 4096 else plain(code)
        # Under names of our own: Rich has styles with some of the same names.
        styled = ([(text, f"transcript.{style}") for text, style in line] for line in lines)
        text = _CodeWords().append_text(Text("\n").join(Text.assemble(*line) for line in styled))
        if self.title:
            frame = console.get_style("transcript.frame", default="none")
            yield Text(f"╭ {self.title}", frame + NO_TEXT)
        # Without a frame at the left, which would be copied with the code.
        yield text


class _Words(Text):
    """Text wrapped as everywhere in the transcript; ``lone``: no other text is beside it."""

    lone = True
    inset = 0
    """The cells of a mark before each row that goes on with a line."""

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
        """Wrap to rows of at most so many cells."""
        rows = Lines()
        for line in self.split(allow_blank=True):
            rows.extend(self.divided(line, list(breaks(line.plain, width - self.inset))))
        for row in rows:
            # All trailing blanks: a link's underline would go on to the edge.
            row.rstrip()
        how = justify or self.justify or "default"
        rows.justify(console, width, justify=how, overflow=overflow or "fold")
        return rows

    def divided(self, line: Text, starts: Sequence[int]) -> Lines:
        """The rows of a line, which begin at these places."""
        rows = line.divide(starts)
        if self.lone:
            for start, row in zip(starts, rows[1:], strict=True):
                row.stylize(AFTER_BLANK if line.plain[start - 1] == " " else AT_ONCE)
        return rows

    def copy(self) -> Text:
        """A copy of the same type."""
        made = type(self)(justify=self.justify, end=self.end)
        made.lone = self.lone
        return made.append_text(self)


class _CodeWords(_Words):
    """Code in a list, whose rows are marked like those of other code."""

    inset = len(WRAPPED)

    def divided(self, line: Text, starts: Sequence[int]) -> Lines:
        """The rows, with the mark."""
        first, *rest = super().divided(line, starts)
        return Lines([first, *(Text(WRAPPED, "transcript.mark").append_text(row) for row in rest)])


class _Paragraph(Paragraph):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = _Words(justify="left")


class _Heading(Heading):
    """A heading at the left, whatever its level."""

    LEVEL_ALIGN: ClassVar = {}

    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = _Words()


class _Table(TableElement):
    """A table as wide as it needs, up to the canvas, or to the list or quote around it."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> MarkdownElement:
        """Make it from its opening token."""
        made = cls()
        if isinstance(markdown, RichMarkdown) and token.level == 0:
            made.room = markdown.page_width
        return made

    room = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.update(width=max(self.room, options.max_width))
        for made in super().__rich_console__(console, options):
            if isinstance(made, Table):
                # Aligned with the words around it; blank rows go before and after it anyway.
                made.show_edge = made.show_edge and not self.room
                _step(made, wide.max_width - 2 * made.show_edge)
            yield from [made] if isinstance(made, Segment) else console.render(made, wide)


def _step(table: Table, room: int) -> None:
    """Round widths up to steps, if there is room: a table that arrives changes less often."""
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
    """A list item; numbers keep the dot they were written with."""

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
    """A block of Markdown whose links show their targets, without terminal hyperlinks."""

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
        # Rich's own constructor would make another parser each time.
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
        """The tokens of the block."""
        return PARSER.parse(source)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.page_width = options.max_width
        measure = min(MEASURE, options.max_width)
        return super().__rich_console__(console, options.update(width=measure))


def prose(source: str, width: int, kind: type[RichMarkdown] = RichMarkdown) -> RichMarkdown | Text:
    """Parse a block of Markdown to be drawn in so many cells."""
    drawn = kind(source)
    # The least indent of the most deeply nested text, in cells.
    deepest = now = 0
    for token in drawn.parsed:
        now += _INDENTS.get(token.type, 0)
        now -= _INDENTS.get(token.type.replace("_close", "_open"), 0) if token.nesting < 0 else 0
        deepest = max(deepest, now)
    return drawn if deepest + _LEAST <= width else Text(source)


def _plain_inline(tokens: Iterable[Token]) -> Iterable[Token]:
    """Replace images by words and bare links by their text; remove invisible characters."""
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
            # Entities are decoded only now, and may be any character.
            token.content = clean(token.content)
            yield token


def _with_addresses(text: str) -> Iterable[Token]:
    """Style bare addresses in a text as links."""
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
    """Remove from an address the punctuation of the sentence around it."""
    while url:
        opening = _CLOSING.get(url[-1])
        if (opening and url.count(opening) < url.count(url[-1])) or url[-1] in ".,;:!?'\"*_":
            url = url[:-1]
        else:
            break
    return url


_AROUND = "()[]{}<>\"'`.,;:!?"
_LEAST_WORD = 4
"""The shortest part of a link, in characters, that identifies it."""


class Link(msgspec.Struct, frozen=True):
    """The target of a link, ``http`` or ``https``, and its text."""

    target: str
    text: str


def links_of(message: Message) -> Sequence[Link]:
    """The links of a message in order, each target once."""
    tokens = PARSER.parse(message.typed_text)
    found: dict[str, Link] = {}
    for link in _links(tokens):
        try:
            address = urlsplit(link.target)
        except ValueError:
            continue
        is_web = address.scheme in ("http", "https") and address.hostname
        if is_web and not re.search(r"\s", link.target):
            found.setdefault(link.target, link)
    return tuple(found.values())


def link_at(links: Sequence[Link], row: str, place: int) -> Sequence[Link]:
    """The links that a character of a row may belong to; wrapping may have cut the link."""
    begin = row.rfind(" ", 0, place + 1) + 1
    end = row.find(" ", place)
    word = row[begin : end if end >= 0 else len(row)].strip(_AROUND)
    if len(word) < _LEAST_WORD:
        return ()
    exact = [link for link in links if word in (link.target, link.text)]
    return exact or [link for link in links if word in link.target or word in link.text]


def _links(tokens: Sequence[Token]) -> Iterator[Link]:
    for token in tokens:
        if token.children:
            yield from _inline(token.children)
        elif token.type in ("fence", "code_block"):
            yield from _bare(token.content)


def _inline(tokens: Sequence[Token]) -> Iterator[Link]:
    target, words = "", ""
    for token in tokens:
        if token.type == "link_open":
            target, words = str(token.attrs.get("href", "")), ""
        elif token.type == "link_close":
            yield Link(target, words)
            target = ""
        elif target:
            words += token.content
        elif token.type == "image":
            yield Link(str(token.attrs.get("src", "")), token.content)
        else:
            yield from _bare(token.content)


def _bare(text: str) -> Iterator[Link]:
    for found in URL.finditer(text):
        url = trimmed(found[0])
        yield Link(PARSER.normalizeLink(url), url)
