"""Syntax highlighting. Imported with the first code: Pygments is slow to import."""

from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Token
from pygments.util import ClassNotFound

from tui.widgets.transcript.canvas import Run

LINE = 2000
"""The longest line that is highlighted, in characters: some lexers take quadratic time."""

_STYLES = {
    Token.Comment: "comment",
    Token.Keyword: "keyword",
    Token.Operator.Word: "keyword",
    Token.Name.Tag: "keyword",
    Token.Literal.String: "string",
    Token.Generic.Inserted: "string",
    Token.Literal.Number: "number",
    Token.Keyword.Constant: "number",
    Token.Name.Function: "name",
    Token.Name.Class: "name",
    Token.Name.Decorator: "name",
    Token.Name.Attribute: "name",
    Token.Generic.Heading: "name",
    Token.Generic.Subheading: "name",
    Token.Generic.Deleted: "error",
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
        style = _style(kind)
        first, *others = text.split("\n")
        lines[-1].append((first, style))
        lines.extend([(other, style)] for other in others)
    # Lexers end the text with a newline, even where there was none.
    wanted = code.count("\n") + 1
    return lines[:wanted]


def plain(code: str) -> list[list[Run]]:
    """The same lines without colours."""
    return [[(line, "code")] for line in code.split("\n")]


def _style(kind: object) -> str:
    while kind is not None:
        if style := _STYLES.get(kind):  # pyright: ignore[reportArgumentType]
            return style
        kind = getattr(kind, "parent", None)
    return "code"
