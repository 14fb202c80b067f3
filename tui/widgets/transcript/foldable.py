"""Thinking, files, tool calls, their results and summaries: one line each until unfolded."""

import json
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from rich.cells import cell_len
from textual.strip import Strip

from tui.domain.journal.message import Attachment, ImageBlock, Message, ToolCall
from tui.domain.journal.records import Summary
from tui.domain.text import make_visible_line, make_visible_name, paste_label
from tui.domain.tool_servers import tool_title
from tui.domain.views.shown_session import seconds_words
from tui.widgets.cells import PIECE, clean, cut_start, shorten
from tui.widgets.transcript.canvas import Canvas
from tui.widgets.transcript.markdown_blocks import MarkdownBlock
from tui.widgets.transcript.row_blocks import (
    TAB,
    Code,
    FoldLine,
    LineBlock,
    OutputBlock,
    Plain,
    RowBlock,
    join_fences,
    plain_blocks,
)

THOUGHT_ROWS = 4
"""The rows that are shown of thinking while it arrives."""
MOST_KEPT = 32_000
"""Limit of the end of a thought that is kept, in characters."""
_MOST_SHOWN = 2_000


class Thought(msgspec.Struct, eq=False):
    """The end of what a model thought, and for how long; kept in memory only."""

    _pieces: deque[str] = msgspec.field(default_factory=deque[str])
    _size: int = 0
    _seconds: float | None = None
    _made: tuple[object, list[RowBlock]] | None = None
    _version: int = 0

    @property
    def ended(self) -> bool:
        return self._seconds is not None

    def add(self, piece: str) -> None:
        """Add a piece, and forget the oldest ones beyond the limit."""
        self._pieces.append(piece[-MOST_KEPT:])
        self._size += len(self._pieces[-1])
        while self._size - len(self._pieces[0]) >= MOST_KEPT:
            self._size -= len(self._pieces.popleft())
        self._version += 1

    def end(self, seconds: float) -> None:
        """Note that thinking has ended, after so many seconds."""
        self._seconds = (self._seconds or 0.0) + seconds
        self._version += 1

    def blocks(self, *, unfolded: bool) -> list[RowBlock]:
        """The blocks to draw; the same ones while nothing has changed."""
        state = (self._version, unfolded)
        if self._made is not None and self._made[0] == state:
            return self._made[1]
        blocks: list[RowBlock]
        if not self.ended:
            blocks = [LastRows(clean(self._end(_MOST_SHOWN)).strip(), "thinking")]
        else:
            time = seconds_words(self._seconds or 0.0)
            words = f"thought for {time}" if time else "thought"
            blocks = [FoldLine(words, "thinking", unfolded=unfolded)]
        if self.ended and unfolded:
            blocks += plain_blocks(clean(self._end(MOST_KEPT)).strip(), "thinking")
        self._made = state, blocks
        return blocks

    def _end(self, most: int) -> str:
        """The last ``most`` characters of the text; joins no more pieces than needed."""
        pieces: list[str] = []
        size = 0
        for piece in reversed(self._pieces):
            pieces.append(piece)
            size += len(piece)
            if size >= most:
                break
        return "".join(reversed(pieces))[-most:]


class LastRows(Plain):
    """The last rows of a text that grows."""

    def guess(self, width: int) -> int:
        return min(THOUGHT_ROWS, super().guess(width))

    def draw(self, canvas: Canvas) -> list[Strip]:
        return super().draw(canvas)[-THOUGHT_ROWS:]


SUMMARY = "summary of earlier messages"
_ARGUMENTS = 200
FIRST_LINES = 5
"""The most lines of a folded result that are shown."""
_FIRST = 4096
"""They are looked for in so many characters."""
_BRACKETS = ' {}[](),"`'
"""A line of these alone tells nothing."""


def call_blocks(call: ToolCall, *, spaced: bool, unfolded: bool) -> list[RowBlock]:
    """The blocks of a tool call."""
    text = f"{tool_title(call.name)}({_short(call.arguments)})"
    line = FoldLine(text, "tool", unfolded=unfolded, spaced=spaced, part=call)
    if not unfolded:
        return [line]
    return [line, *_code_blocks(clean(_json(call.arguments, indent=2)), "json")]


class PastedText(msgspec.Struct, frozen=True):
    """A long paste within a question."""

    text: str


def part_blocks(part: Attachment | PastedText, *, unfolded: bool) -> list[RowBlock]:
    """The blocks of a paste, a file or a picture that came with a message."""
    if isinstance(part, PastedText):
        pasted = plain_blocks(clean(part.text.rstrip("\n")), "text") if unfolded else ()
        line = FoldLine(paste_label(part.text), "tool", unfolded=unfolded, part=part)
        return [line, *pasted]
    label, shorten = make_visible_name(part.label), _with_end_of_name
    if isinstance(part, ImageBlock):
        return [LineBlock(f"  {label}", "tool", part=part, shorten=shorten)]
    line = FoldLine(label, "tool", unfolded=unfolded, part=part, shorten=shorten)
    if not unfolded:
        return [line]
    return [line, *_code_blocks(clean(part.text.removesuffix("\n")), part.language)]


def _with_end_of_name(label: str, width: int) -> str:
    """Cut the label of a file to a width: the end of a long name says most."""
    kind, _, name = label.partition(": ")
    room = width - cell_len(kind) - len(": ")
    return shorten(label, width) if room < 2 else f"{kind}: {cut_start(name, room)}"


def _code_blocks(text: str, language: str) -> list[RowBlock]:
    pieces = enumerate(_pieces(text))
    blocks: list[RowBlock] = [
        Code(MarkdownBlock(piece, spaced=False, code=True, language=language, first=place == 0))
        for place, piece in pieces
    ]
    join_fences(blocks, [])
    return blocks


def _pieces(text: str) -> Iterator[str]:
    """Cut text between lines into pieces that are cheap to draw."""
    start = 0
    while (end := text.find("\n", start + PIECE)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _short(arguments: Any) -> str:
    if isinstance(arguments, dict):
        fields: dict[Any, Any] = arguments  # pyright: ignore[reportUnknownVariableType]
        text = ", ".join(f"{name}={_json(value)[:_ARGUMENTS]}" for name, value in fields.items())
    else:
        text = "" if arguments is None else _json(arguments)
    return make_visible_line(text[: _ARGUMENTS * 2])


def _json(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    except (ValueError, RecursionError):
        return "…"


def summary_blocks(entry: Summary, *, unfolded: bool) -> list[RowBlock]:
    text = clean(entry.text)
    words = "" if unfolded else f": {_first_line(text)}"
    line = FoldLine(f"{SUMMARY}{words}", "divider", unfolded=unfolded, spaced=True)
    return [line, *plain_blocks(text, "quiet")] if unfolded else [line]


def _first_line(text: str) -> str:
    return make_visible_line(text.strip()[:_ARGUMENTS].partition("\n")[0]) or "(empty)"


def result_blocks(entry: Message, called: str, *, unfolded: bool) -> list[RowBlock]:
    """The blocks of a tool result; ``called`` is the name of the tool, if known."""
    text = clean(entry.text).removesuffix("\n")
    lines = text.count("\n") + 1
    one = "" if unfolded else f": {_first_line(text)}"
    said = f" ({lines} lines)" if lines > 1 else one
    status = f" {make_visible_line(entry.status)}" if entry.status else ""
    name = f"{tool_title(called[:_ARGUMENTS])} " if called else ""
    line = FoldLine(f"{name}result{status}{said}", "tool", unfolded=unfolded)
    if unfolded:
        return [line, *plain_blocks(text, "quiet", kind=OutputBlock)]
    first = text[:_FIRST].expandtabs(TAB).split("\n") if lines > 1 else []
    telling = (each for each in first if each.strip(_BRACKETS))
    return [line, *(LineBlock(f"  {each}", "quiet") for each in islice(telling, FIRST_LINES))]
