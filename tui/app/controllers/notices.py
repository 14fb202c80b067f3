"""The controller of notices (a line for some seconds, and a list) and of reports."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from textual import events
from textual.app import App

from tui.domain.views.notice import Notice
from tui.domain.views.notice_log import LoggedNotice, NoticeLog
from tui.domain.views.report import Report
from tui.widgets.key_line import KeyLine


class NoticeController:
    """Shows notices in the line of the topmost screen that has one, and lists them."""

    def __init__(
        self,
        app: App[Any],
        clock: Callable[[], datetime],
        pass_on: Callable[[events.Key | events.Paste], None],
    ) -> None:
        """``pass_on`` gives the prompt what is typed while a report is open."""
        self._app = app
        self._clock = clock
        self._pass_on = pass_on
        self.log = NoticeLog()

    def show(self, notice: Notice, title: str = "") -> None:
        """Show a notice and keep it; ``title`` is that of a session that is not on screen."""
        self.log.add(LoggedNotice(self._clock(), notice, title))
        self.hint(Notice(f'"{title}": {notice.text}', notice.severity) if title else notice)

    def hint(self, notice: Notice) -> None:
        """Show a notice and do not keep it."""
        lines = (
            line for screen in reversed(self._app.screen_stack) for line in screen.query(KeyLine)
        )
        if (line := next(lines, None)) is not None:
            line.notices.add(notice)

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that is not true any more; the list keeps it."""
        for screen in self._app.screen_stack:
            for line in screen.query(KeyLine):
                line.notices.withdraw(notice)

    def open_report(self, report: Report) -> None:
        """Show a longer answer of a command over the conversation."""
        from tui.screens.report import ReportScreen

        self._app.push_screen(ReportScreen(report, self._pass_on))

    def toggle_list(self) -> None:
        """Open the list of notices, or close it."""
        from tui.screens.notice_list import NoticeList

        if isinstance(self._app.screen, NoticeList):
            self._app.screen.dismiss()
        else:
            self._app.push_screen(NoticeList(self.log.newest_first, self._clock()))
