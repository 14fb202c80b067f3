"""Tables that are still arriving."""

import re
from itertools import pairwise

_HEADING = re.compile(r"([ >]*)\|.*[^\s|]")
# Possessive: else a line of blanks would be tried again from each of them.
_RULE = re.compile(r"[ \t>]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?+[ \t]*+$")
_RULE_BEGUN = re.compile(r"[ \t>]*+\|?+[ \t|:-]*+$")
_ROW_BEGUN = re.compile(r"[ \t>]*+\|?+[ \t]*+$")
_CODE = re.compile(r" {4}")
_STROKE = re.compile(r"(?<!\\)\|")


def is_table(lines: list[str]) -> bool:
    """Whether some lines of Markdown begin with a table that has rows."""
    return len(lines) > 2 and "|" in lines[0] and bool(_RULE.match(lines[1]))


def as_table(text: str) -> str:
    """Markdown that is not complete, its last line as that of a table if it begins like one.

    Only the rule below its heading makes a table: until that is there, one would see the strokes,
    and then, all at once, columns.
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
