"""Notices: the program's own lines in a conversation; shown, never saved, never sent."""

from typing import Literal

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary

Severity = Literal["information", "warning", "error"]


class Table(msgspec.Struct, frozen=True):
    """The layout of a notice's lines as columns."""

    rows: tuple[tuple[str, ...], ...]
    first: int = 0
    """The line of the notice that is the first row."""
    name: int = 1
    """The column that is shortened when the screen is narrow."""
    least: int = 20
    """Cells to which that column is shortened before rows are wrapped."""
    gap: int = 1
    """Cells between columns."""
    right: tuple[int, ...] = ()
    """Columns aligned to the right."""
    headed: bool = False
    """True if the first row is a heading."""


class Notice(msgspec.Struct, frozen=True):
    """A sentence or a small table, as plain text with newlines."""

    text: str
    severity: Severity = "information"
    table: Table | None = None


Shown = Message | Reset | Summary | Notice
"""An item of a conversation on screen."""
