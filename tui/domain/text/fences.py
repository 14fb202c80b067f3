"""Fenced code blocks of Markdown."""

from tui.domain.text.patterns import late_pattern

FENCE = late_pattern(r"( {0,3})(`{3,}|~{3,})[ \t]*([^`\n]*|(?<=~)[^\n]*)$")
"""An opening fence; groups: margin, mark, language."""


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
