"""The queue of notices: one at a time, each for some seconds; what the user causes comes first."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol

from rich.cells import cell_len

from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.notice import Notice, Severity
from tui.widgets.cells import cut

SECONDS: dict[Severity, float] = {"information": 4.0, "warning": 7.0, "error": 10.0}
"""The time that a notice has if no other waits."""

LEAST_SECONDS: dict[Severity, float] = {"information": 1.5, "warning": 2.5, "error": 4.0}
"""The time that it has if another waits."""

MOST_WAITING = 5
"""Older ones give way to newer ones: the list has them all."""

SIGNS = {"information": "·", "warning": "!", "error": "✗"}
_QUOTED = late_pattern(r'"([^"]+)"')
_LEAST_TITLE = 6


def fit_notice(notice: Notice, width: int) -> str:
    """Fit the first line of a notice into so many cells; an ellipsis stands for the rest."""
    first, *more = notice.text.strip().split("\n")
    text = make_visible_line(first) + (" …" if more else "")
    return cut(_with_short_title(text, cell_len(text) - width), width)


def _with_short_title(text: str, excess: int) -> str:
    titles = sorted(_QUOTED.findall(text), key=cell_len)
    if excess <= 0 or not titles:
        return text
    room = max(_LEAST_TITLE, cell_len(titles[-1]) - excess)
    return text.replace(f'"{titles[-1]}"', f'"{cut(titles[-1], room)}"', 1)


class Stoppable(Protocol):
    """A timer."""

    def stop(self) -> None: ...


class NoticeQueue:
    """Shows one notice after another; ``changed`` is called when another one is ``current``."""

    def __init__(
        self,
        set_timer: Callable[[float, Callable[[], None]], Stoppable],
        changed: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._set_timer = set_timer
        self._changed = changed
        self._clock = clock
        self._caused: deque[Notice] = deque()
        self._waiting: deque[Notice] = deque(maxlen=MOST_WAITING)
        self._timer: Stoppable | None = None
        self._since = 0.0
        self.current: Notice | None = None

    @property
    def waiting(self) -> int:
        """The number of notices that wait for the current one."""
        return len(self._caused) + len(self._waiting)

    def add(self, *notices: Notice) -> None:
        """Show those that were caused together in the place of earlier ones; queue the others."""
        caused = [notice for notice in notices if notice.caused]
        for notice in notices:
            if not notice.caused:
                self._queue(notice)
        if caused:
            now = self.current
            if now and not now.caused and self._rest_of(LEAST_SECONDS, now) > 0:
                # It came by itself, and has not had its time.
                self._waiting.appendleft(now)
            self._caused = deque(caused)
            self._stop()
            self._advance()

    def _queue(self, notice: Notice) -> None:
        if notice == self.current:
            self._since = self._clock()
        elif notice not in self._waiting:
            self._waiting.append(notice)
        if self.current is None:
            self._advance()
            return
        self._time()
        self._changed()

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that is not true any more."""
        if notice in self._waiting:
            self._waiting.remove(notice)
        if notice == self.current:
            self._stop()
            self._advance()
        else:
            self._changed()

    def _advance(self) -> None:
        self._timer = None
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
        rest = self._rest_of(LEAST_SECONDS if self.waiting else SECONDS, self.current)
        # Textual divides by it.
        self._timer = self._set_timer(max(0.001, rest), self._advance)

    def _rest_of(self, seconds: Mapping[Severity, float], notice: Notice) -> float:
        return self._since + seconds[notice.severity] - self._clock()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
