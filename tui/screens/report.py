"""Longer answers of commands, over the conversation."""

import math
import time
from collections.abc import Callable

from textual import events
from textual.content import Content

from tui.domain.views.report import Report
from tui.screens.page import PageScreen
from tui.screens.typed_text import is_text
from tui.widgets.wrapping import clean, wrap_hanging


class ReportScreen(PageScreen):
    """Shows a report until Esc or the next typed text, which ``pass_on`` gives to the prompt.

    Keys typed before the report was seen do not close it.
    """

    def __init__(
        self, report: Report, pass_on: Callable[[events.Key | events.Paste], None]
    ) -> None:
        super().__init__(report.title)
        self._report = report
        self._pass_on = pass_on
        self._seen_from = math.inf

    def on_mount(self) -> None:
        self.call_after_refresh(self._note_seen)

    def _note_seen(self) -> None:
        self._seen_from = time.monotonic()

    def lay_out(self, width: int) -> Content:
        lines = clean(self._report.text).split("\n")
        return Content("\n".join(row for line in lines for row in wrap_hanging(line, width)))

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Pass text on, and close for it."""
        if not is_text(event):
            return False
        self._pass_on(event)
        if event.time >= self._seen_from:
            self.dismiss()
        return True
