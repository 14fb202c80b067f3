"""Files, tool calls, their results and summaries: one line each until unfolded."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from rich.cells import cell_len

from tui.domain.journal.blocks import Attachment, ImageBlock
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Summary
from tui.domain.text.labels import paste_label
from tui.domain.text.safe_text import make_visible_line, make_visible_name
from tui.domain.tool_servers import tool_title
from tui.widgets.cells import cut_start
from tui.widgets.transcript.markdown_blocks import MarkdownBlock
from tui.widgets.transcript.row_blocks import (
    TAB,
    Code,
    FoldLine,
    LineBlock,
    OutputBlock,
    RowBlock,
    join_fences,
    plain_blocks,
)
from tui.widgets.wrapping import PIECE, clean, shorten

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
