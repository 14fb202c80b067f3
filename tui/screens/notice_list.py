"""The list of notices, newest first."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from textual.content import Content

from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.notice import LoggedNotice
from tui.screens.page import PageScreen
from tui.screens.typed_text import PassOn
from tui.widgets.notice_queue import SIGNS
from tui.widgets.wrapping import wrap_words

_STYLES = {"information": "", "warning": "$text-warning", "error": "$text-error"}


class NoticeList(PageScreen):
    """Each notice with its time, and with its session if that was not on screen; F8 closes it."""

    def __init__(
        self,
        notices: Sequence[LoggedNotice],
        now: datetime,
        pass_on: PassOn,
    ) -> None:
        super().__init__("Notices", pass_on)
        self._notices = notices
        self._today = now.astimezone().date()

    def lay_out(self, width: int) -> Content:
        if not self._notices:
            return Content("No notices yet.")
        return Content("\n").join(
            line for each in self._notices for line in self._lines(each, width)
        )

    def _lines(self, logged: LoggedNotice, width: int) -> Iterator[Content]:
        at, notice = logged.at.astimezone(), logged.notice
        time = f"{at:%H:%M}" if at.date() == self._today else f"{at:%d %b %H:%M}"
        lead = f"{time} {SIGNS[notice.severity]} "
        title = f'"{logged.title}": ' if logged.title else ""
        for number, text in enumerate(_wrapped(f"{title}{notice.text}", width - len(lead))):
            margin = " " * len(lead) if number else lead
            yield Content.assemble((margin, "$text-muted"), (text, _STYLES[notice.severity]))


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.splitlines():
        yield from wrap_words(make_visible_line(line), max(1, width))
