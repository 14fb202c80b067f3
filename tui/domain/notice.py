"""What the program itself says in a conversation: shown, never saved, never sent."""

from dataclasses import dataclass
from typing import Literal

from tui.domain.message import Message
from tui.domain.records import Reset, Summary

Severity = Literal["information", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence or a small table, as plain text; lines are split on newlines."""

    text: str
    severity: Severity = "information"


Shown = Message | Reset | Summary | Notice
"""What stands in a conversation on screen, in order."""
