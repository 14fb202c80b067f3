"""What the program itself says in a conversation: shown, never saved, never sent."""

from typing import Literal

import msgspec

from tui.domain.message import Message
from tui.domain.records import Reset, Summary

Severity = Literal["information", "warning", "error"]


class Notice(msgspec.Struct, frozen=True):
    """One sentence or a small table, as plain text; lines are split on newlines."""

    text: str
    severity: Severity = "information"


Shown = Message | Reset | Summary | Notice
"""What stands in a conversation on screen, in order."""
