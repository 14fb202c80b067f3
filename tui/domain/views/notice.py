"""Notices: messages of the program; shown for some seconds and listed, never saved or sent."""

from typing import Literal

import msgspec

Severity = Literal["information", "warning", "error"]


class Notice(msgspec.Struct, frozen=True):
    """A sentence about something that happened, as plain text; rarely with further lines."""

    text: str
    severity: Severity = "information"
    caused: bool = False
    """True for what a key or a command has caused: it is shown at once."""
