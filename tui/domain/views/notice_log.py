"""The notices of this run, newest first."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime

import msgspec

from tui.domain.views.notice import Notice

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
        """Keep a notice."""
        self._logged.appendleft(logged)

    @property
    def newest_first(self) -> Sequence[LoggedNotice]:
        """All that are kept."""
        return tuple(self._logged)
