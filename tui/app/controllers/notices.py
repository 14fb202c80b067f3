"""The controller of notices (a line for some seconds, and a list) and of reports."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from textual.app import App

from tui.domain.views.notice import LoggedNotice, Notice, NoticeLog, Report
from tui.screens.typed_text import PassOn
from tui.widgets.key_line import KeyLine


class NoticeController(msgspec.Struct, eq=False):
    """Shows notices in the line of the topmost screen that has one, and lists them."""

    _app: App[Any]
    _clock: Callable[[], datetime]
    _pass_on: PassOn
    """Gives the prompt what is typed while a report is open."""
    log: NoticeLog = msgspec.field(default_factory=NoticeLog)

    def show(self, *notices: tuple[Notice, str]) -> None:
        """Show notices and keep them, each with the title of its session if not on screen."""
        for notice, title in notices:
            self.log.add(LoggedNotice(self._clock(), notice, title))
        self._add(
            *(
                msgspec.structs.replace(each, text=f'"{title}": {each.text}') if title else each
                for each, title in notices
            )
        )

    def answer(self, notice: Notice) -> None:
        """Show at once what a key or a command has caused, and keep it."""
        self.show((msgspec.structs.replace(notice, caused=True), ""))

    def hint(self, words: str) -> None:
        """Show at once why a key does nothing, and do not keep it."""
        self._add(Notice(words, caused=True))

    def is_hinted(self, words: str) -> bool:
        """Tell whether these words are on screen."""
        line = self._line
        return line is not None and line.notices.current == Notice(words, caused=True)

    def _add(self, *notices: Notice) -> None:
        if (line := self._line) is not None:
            line.notices.add(*notices)

    @property
    def _line(self) -> KeyLine | None:
        screens = reversed(self._app.screen_stack)
        return next((line for screen in screens for line in screen.query(KeyLine)), None)

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that is not true any more; the list keeps it."""
        for screen in self._app.screen_stack:
            for line in screen.query(KeyLine):
                line.notices.withdraw(notice)

    def open_report(self, report: Report) -> None:
        """Show a longer answer of a command over the conversation."""
        from tui.screens.page import ReportScreen

        self._app.push_screen(ReportScreen(report, self._pass_on))

    def toggle_list(self) -> None:
        """Open the list of notices, or close it."""
        from tui.screens.page import NoticeList

        if isinstance(self._app.screen, NoticeList):
            self._app.screen.dismiss()
        else:
            self._app.push_screen(NoticeList(self.log.newest_first, self._clock(), self._pass_on))
