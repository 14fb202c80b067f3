"""Pages of text over the conversation: reports, and the list of notices."""

import math
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.domain.text import make_visible_line
from tui.domain.views.notice import LoggedNotice, Report
from tui.screens.dialog import Dialog
from tui.screens.typed_text import PassOn, is_free_text
from tui.widgets.cells import clean, wrap_hanging, wrap_words
from tui.widgets.key_line import NOTICE_SIGNS

_FRAME = 5
"""Cells beside the text: border, padding and scrollbar."""
_STYLES = {"information": "", "warning": "$text-warning", "error": "$text-error"}


class PageScreen(Dialog[None]):
    """A page of text that subclasses lay out by its width.

    It is there until Esc or the next typed text, which ``pass_on`` gives to the prompt; keys typed
    before it was seen do not close it. The last two rows of the screen below, notices and status,
    stay visible.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", priority=True),
    ]
    DEFAULT_CSS = """
    PageScreen {
        align: center middle;

        & > VerticalScroll {
            width: 100%; max-width: 120; height: auto; max-height: 100%; padding: 0 1;
            scrollbar-size-vertical: 1;
            scrollbar-background: $surface; scrollbar-color: $foreground 30%;
        }
        Static { height: auto; }
    }
    """

    def __init__(self, title: str, pass_on: PassOn) -> None:
        super().__init__()
        self._pass_on = pass_on
        self._seen_from = math.inf
        self._title = title
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=True, classes="dialog") as page:
            page.border_title = Content(self._title)
            yield self._text

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: setattr(self, "_seen_from", time.monotonic()))

    @property
    def is_seen(self) -> bool:
        """True once text closes it."""
        return self._seen_from < math.inf

    def key_words(self) -> str:
        return f"↑ ↓ scroll · {super().key_words()}"

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Pass free text on, and close for it."""
        if not is_free_text(event, self):
            return False
        self._pass_on(event)
        if event.time >= self._seen_from:
            self.dismiss()
        return True

    def on_resize(self, event: events.Resize) -> None:
        self._text.update(self.lay_out(max(1, min(event.size.width, 120) - _FRAME)))

    def lay_out(self, width: int) -> Content:
        """Lay out the text in lines of at most so many cells."""
        raise NotImplementedError

    def text(self) -> str:
        """The whole page."""
        return self.lay_out(115).plain


class ReportScreen(PageScreen):
    """Shows a report."""

    def __init__(self, report: Report, pass_on: PassOn) -> None:
        super().__init__(report.title, pass_on)
        self._report = report

    def lay_out(self, width: int) -> Content:
        lines = clean(self._report.text).split("\n")
        return Content("\n".join(row for line in lines for row in wrap_hanging(line, width)))


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
        lead = f"{time} {NOTICE_SIGNS[notice.severity]} "
        title = f'"{logged.title}": ' if logged.title else ""
        lines = map(make_visible_line, f"{title}{notice.text}".splitlines())
        rows = (row for line in lines for row in wrap_words(line, max(1, width - len(lead))))
        for number, text in enumerate(rows):
            margin = " " * len(lead) if number else lead
            yield Content.assemble((margin, "$text-muted"), (text, _STYLES[notice.severity]))
