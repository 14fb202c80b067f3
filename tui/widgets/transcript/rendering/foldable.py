"""Tool calls, their results and summaries: one line each until unfolded."""

import json
from typing import Any

from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Summary
from tui.domain.text.safe_text import make_visible_line
from tui.widgets.transcript.rendering.code_blocks import Fences, row_block
from tui.widgets.transcript.rendering.markdown_blocks import Splitter
from tui.widgets.transcript.rendering.row_blocks import (
    LineBlock,
    OutputBlock,
    RowBlock,
    plain_blocks,
)
from tui.widgets.wrapping import clean

SUMMARY = "summary of earlier messages"
_ARGUMENTS = 200


def call_blocks(call: ToolCall, *, spaced: bool, unfolded: bool) -> list[RowBlock]:
    """The blocks of a tool call."""
    sign = "▾" if unfolded else "▸"
    text = f"{sign} {make_visible_line(call.name)}({_short(call.arguments)})"
    line = LineBlock(text, "tool", spaced=spaced, foldable=True)
    if not unfolded:
        return [line]
    return [line, *_code_blocks(clean(_json(call.arguments, indent=2)), "json")]


def _code_blocks(text: str, language: str) -> list[RowBlock]:
    splitter = Splitter()
    # Tildes, as JSON's syntax has none: backticks would have to outnumber those in strings.
    splitter.feed(f"{'~' * 40}{language}\n{text}")
    splitter.finish()
    blocks = [row_block(source) for source in splitter.blocks]
    Fences().join(blocks)
    return blocks


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
    """The blocks of a summary."""
    text = clean(entry.text)
    sign = "▾" if unfolded else "▸"
    words = "" if unfolded else f": {_first_line(text)}"
    line = LineBlock(f"{sign} {SUMMARY}{words}", "divider", spaced=True, foldable=True)
    return [line, *plain_blocks(text, "quiet")] if unfolded else [line]


def _first_line(text: str) -> str:
    return make_visible_line(text.strip()[:_ARGUMENTS].partition("\n")[0]) or "(empty)"


def result_blocks(entry: Message, called: str, *, unfolded: bool) -> list[RowBlock]:
    """The blocks of a tool result; ``called`` is the name of the tool, if known."""
    text = clean(entry.text)
    lines = text.count("\n") + 1
    sign = "▾" if unfolded else "▸"
    count = f" ({lines} lines)" if lines > 1 else ""
    status = f" {make_visible_line(entry.status)}" if entry.status else ""
    name = f"{make_visible_line(called[:_ARGUMENTS])} " if called else ""
    words = f"{sign} {name}result{status}{count}: {_first_line(text)}"
    line = LineBlock(words, "tool", foldable=True)
    return [line, *plain_blocks(text, "quiet", kind=OutputBlock)] if unfolded else [line]
