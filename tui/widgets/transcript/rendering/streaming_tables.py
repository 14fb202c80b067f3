"""Markdown tables that are still arriving."""

from itertools import pairwise

from tui.domain.text.patterns import late_pattern

_HEADING = late_pattern(r"([ >]*)\|.*[^\s|]")
# Possessive: backtracking over a line of blanks would take quadratic time.
_RULE = late_pattern(r"[ \t>]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?+[ \t]*+$")
_RULE_BEGUN = late_pattern(r"[ \t>]*+\|?+[ \t|:-]*+$")
_ROW_BEGUN = late_pattern(r"[ \t>]*+\|?+[ \t]*+$")
_CODE = late_pattern(r" {4}")
_STROKE = late_pattern(r"(?<!\\)\|")


def is_table(lines: list[str]) -> bool:
    """True if lines of Markdown begin with a table that has rows."""
    return len(lines) > 2 and "|" in lines[0] and bool(_RULE.match(lines[1]))


def as_table(text: str) -> str:
    """Complete incomplete Markdown to a table if its last lines begin like one.

    Markdown has a table only once the rule below the heading is there: until then the reader
    would see raw strokes, and then columns at once.
    """
    *lines, last = text.split("\n")
    if any(_HEADING.match(above) and _RULE.match(below) for above, below in pairwise(lines)):
        return "\n".join(lines) if _ROW_BEGUN.match(last) else text
    if not _RULE_BEGUN.match(last):
        lines.append(last)
    heading = _HEADING.match(lines[-1]) if lines and not _CODE.match(lines[0]) else None
    if heading is None:
        return "\n".join(lines) if "|" in last and _ROW_BEGUN.match(last) else text
    columns = len(_STROKE.findall(lines[-1].strip("> |"))) + 1
    return "\n".join([*lines, heading[1] + "|---" * columns + "|"])
