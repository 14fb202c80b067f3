"""Notices and reports: messages of the program, never saved or sent."""

from collections import deque
from collections.abc import Sequence
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


class NoticeLog:
    """Keeps the last notices."""

    def __init__(self) -> None:
        self._logged: deque[LoggedNotice] = deque(maxlen=MOST_NOTICES)

    def add(self, logged: LoggedNotice) -> None:
        """Keep a notice; one that was the last already only has another time."""
        last = self._logged[0] if self._logged else None
        if last and (logged.notice, logged.title) == (last.notice, last.title):
            self._logged.popleft()
        self._logged.appendleft(logged)

    @property
    def newest_first(self) -> Sequence[LoggedNotice]:
        """All that are kept."""
        return tuple(self._logged)
