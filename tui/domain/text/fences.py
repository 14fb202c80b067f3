"""Fenced code blocks of Markdown."""

from tui.domain.text.patterns import late_pattern

FENCE = late_pattern(r"( {0,3})(`{3,}|~{3,})[ \t]*([^`\n]*|(?<=~)[^\n]*)$")
"""An opening fence; groups: margin, mark, language."""
_MARKS = late_pattern("`+")


def closes(line: str, fence: str) -> bool:
    """True if a line closes the block that the mark ``fence`` opened."""
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def codes(text: str) -> list[str]:
    """Extract the contents of all fenced blocks, also those indented in lists."""
    found: list[str] = []
    fence, margin = "", 0
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        inner = line.lstrip(" ")
        if not fence:
            if opened := FENCE.match(inner):
                fence, margin, lines = opened[2], len(line) - len(inner), []
        elif closes(line, fence):
            found.append("\n".join(lines))
            fence = ""
        else:
            lines.append(line[min(margin, len(line) - len(inner)) :])
    return [*found, "\n".join(lines)] if fence else found


def closed(text: str) -> str:
    """The text, with a last line that closes the fenced block which it leaves open.

    What follows an answer that was cut off in a block is then no part of that block.
    """
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if fence and closes(line, fence):
            fence = ""
        elif not fence and (opened := FENCE.match(line)):
            fence = opened[2]
    return f"{text}\n{fence}" if fence else text


def fenced(text: str, language: str = "") -> str:
    """A fenced block with any text; its fence is longer than every one in the text."""
    longest = max((len(mark) for mark in _MARKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def code_span(text: str) -> str:
    """A line of code within a sentence, with any text."""
    longest = max((len(mark) for mark in _MARKS.findall(text)), default=0)
    mark = "`" * (longest + 1)
    margin = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{margin}{text}{margin}{mark}"
