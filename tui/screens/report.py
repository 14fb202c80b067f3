"""Longer answers of commands, over the conversation."""

from textual.content import Content

from tui.domain.views.report import Report
from tui.screens.page import PageScreen
from tui.screens.typed_text import PassOn
from tui.widgets.wrapping import clean, wrap_hanging


class ReportScreen(PageScreen):
    """Shows a report."""

    def __init__(self, report: Report, pass_on: PassOn) -> None:
        super().__init__(report.title, pass_on)
        self._report = report

    def lay_out(self, width: int) -> Content:
        lines = clean(self._report.text).split("\n")
        return Content("\n".join(row for line in lines for row in wrap_hanging(line, width)))
