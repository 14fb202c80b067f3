"""The names of the styles in a transcript; the style sheet defines them."""

from collections.abc import Mapping

from rich.style import Style

NAMES = (
    "text",
    "user",
    "mark",
    "model",
    "quiet",
    "thinking",
    "tool",
    "warning",
    "error",
    "divider",
    "queued",
    "cursor",
    "more",
    "match",
    "match-current",
    "heading",
    "link",
    "inline-code",
    "code",
    "frame",
    "comment",
    "keyword",
    "string",
    "number",
    "name",
)
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
