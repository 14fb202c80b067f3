"""The queue of notices: one at a time, each for some seconds; what the user causes comes first."""

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from rich.cells import cell_len

from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.notice import Notice, Severity
from tui.widgets.cells import cut, cut_start

if TYPE_CHECKING:
    from textual.timer import Timer

SECONDS = 2.0
"""The time that a notice has, in the place of the keys, if no other waits."""

LEAST_SECONDS: dict[Severity, float] = {"information": 1.0, "warning": 1.5, "error": 2.0}
"""The time that it has if another waits."""

MOST_WAITING = 5
"""Older ones give way to newer ones: the list has them all."""

SIGNS = {"information": "·", "warning": "!", "error": "✗"}
_NAMED = late_pattern(r'"[^"]+"|(?<!\S)~?/\S+')
_LEAST_CELLS = 8


def fit_notice(notice: Notice, width: int) -> str:
    """Fit the first line of a notice into so many cells; an ellipsis stands for the rest."""
    first, *more = notice.text.strip().split("\n")
    text = make_visible_line(first) + (" …" if more else "")
    excess = cell_len(text) - width
    longest = max(_NAMED.finditer(text), key=lambda found: cell_len(found[0]), default=None)
    if excess > 0 and longest:
        # The longest title is cut at its end, or the longest path at its beginning.
        room = max(_LEAST_CELLS, cell_len(longest[0]) - excess)
        is_title = longest[0].startswith('"')
        short = f'{cut(longest[0][:-1], room - 1)}"' if is_title else cut_start(longest[0], room)
        text = f"{text[: longest.start()]}{short}{text[longest.end() :]}"
    return cut(text, width)


class NoticeQueue(msgspec.Struct, eq=False):
    """Shows one notice after another; ``changed`` is called when another one is ``current``."""

    _set_timer: Callable[[float, Callable[[], None]], "Timer"]
    _changed: Callable[[], object]
    _clock: Callable[[], float] = time.monotonic
    _caused: deque[Notice] = msgspec.field(default_factory=deque[Notice])
    _waiting: deque[Notice] = msgspec.field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    _timer: "Timer | None" = None
    _since: float = 0.0
    current: Notice | None = None
    unread: bool = False
    """True once a warning or an error has had its time, which may have been too short."""

    @property
    def waiting(self) -> int:
        """The number of notices that wait for the current one."""
        return len(self._caused) + len(self._waiting)

    def add(self, *notices: Notice) -> None:
        """Show those that were caused together in the place of earlier ones; queue the others."""
        caused = [notice for notice in notices if notice.caused]
        for notice in notices:
            if notice.caused:
                continue
            if notice not in (self.current, *self._waiting):
                self._waiting.append(notice)
            if self.current is None:
                self._advance()
            else:
                self._time()
                self._changed()
        if caused:
            now = self.current
            if now and not now.caused and self._rest_of(LEAST_SECONDS[now.severity]) > 0:
                # It came by itself, and has not had its time.
                self._waiting.appendleft(now)
            self._caused = deque(caused)
            self._stop()
            self._advance()

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that is not true any more."""
        if notice in self._waiting:
            self._waiting.remove(notice)
        if notice == self.current:
            self.current = None
            self._stop()
            self._advance()
        else:
            self._changed()

    def _advance(self) -> None:
        self._timer = None
        self.unread |= self.current is not None and self.current.severity != "information"
        waiting = self._caused or self._waiting
        self.current = waiting.popleft() if waiting else None
        self._since = self._clock()
        if self.current is not None:
            self._time()
        self._changed()

    def _time(self) -> None:
        if self.current is None:
            return
        self._stop()
        seconds = LEAST_SECONDS[self.current.severity] if self.waiting else SECONDS
        self._timer = self._set_timer(self._rest_of(seconds), self._advance)

    def _rest_of(self, seconds: float) -> float:
        return self._since + seconds - self._clock()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
