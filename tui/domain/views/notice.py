"""What the program itself says in a conversation: shown, never saved, never sent."""

from typing import Literal

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary

Severity = Literal["information", "warning", "error"]


class Table(msgspec.Struct, frozen=True):
    """Lines of a text in cells, which stand in columns ``gap`` cells apart.

    ``first`` is the first of these lines. The column ``name`` is what one looks for: it is cut
    down to ``least`` cells before a row is parted. Those in ``right`` end at the right.
    """

    rows: tuple[tuple[str, ...], ...]
    first: int = 0
    name: int = 1
    least: int = 20
    gap: int = 1
    right: tuple[int, ...] = ()
    headed: bool = False


class Notice(msgspec.Struct, frozen=True):
    """One sentence or a small table, as plain text; lines are split on newlines."""

    text: str
    severity: Severity = "information"
    table: Table | None = None


Shown = Message | Reset | Summary | Notice
"""What stands in a conversation on screen, in order."""
