"""Parts of messages in the forms that most programs have taken over from the vendors."""

import re
from collections.abc import Iterable
from typing import Any

from tui.importers.json_lines import parse

_NO_TITLE = re.compile(
    r"(new (chat|conversation|session|thread)|untitled)( - [\dT:.Z+-]+)?\.?", re.IGNORECASE
)
RAW = "_raw"
"""Names the text of arguments that are no JSON."""


def joined(texts: Iterable[str]) -> str:
    """Join the texts of a message by a blank line; those without a word are left out."""
    return "\n\n".join(text for text in texts if text.strip())


def placeholder(kind: str, *facts: object) -> str:
    """Make what stands for a picture or a file: ``[image: cat.png, image/png, 2048 bytes]``."""
    known = ", ".join(str(fact) for fact in facts if fact)
    return f"[{kind}: {known}]" if known else f"[{kind}]"


def arguments(value: Any) -> Any:
    """The arguments of a call: an object, also from its text; other text under ``_raw``."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    parsed = parse(value.encode("utf-8", "surrogatepass"))
    return parsed if parsed is not None else {RAW: value}


def title(text: Any) -> str:
    """A title in one line; ``""`` for what programs call a conversation without one."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return "" if _NO_TITLE.fullmatch(line) else line
