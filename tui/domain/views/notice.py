"""Notices: messages of the program, never saved or sent."""

from datetime import datetime
from typing import Literal

import msgspec

Severity = Literal["information", "warning", "error"]


class Notice(msgspec.Struct, frozen=True):
    """A sentence about something that happened, as plain text; rarely with further lines."""

    text: str
    severity: Severity = "information"
    caused: bool = False
    """True for what a key or a command has caused: it is shown at once."""


MOST_NOTICES = 500


class LoggedNotice(msgspec.Struct, frozen=True):
    """A notice, its time, and the title of its session if that was not on screen."""

    at: datetime
    notice: Notice
    title: str = ""


class NoticeLog(msgspec.Struct, eq=False):
    """Keeps the last notices."""

    newest_first: tuple[LoggedNotice, ...] = ()

    def add(self, logged: LoggedNotice) -> None:
        """Keep a notice; one that was the last already only has another time."""
        kept = self.newest_first
        if kept and (logged.notice, logged.title) == (kept[0].notice, kept[0].title):
            kept = kept[1:]
        self.newest_first = (logged, *kept)[:MOST_NOTICES]
