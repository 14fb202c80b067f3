"""A debounce timer for drafts: it fires when the user has stopped typing."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from textual.timer import Timer

SECONDS, SECONDS_AT_MOST = 1.0, 3.0
"""Delays until a draft is settled: after the last key, and after the first."""


class DraftTimer:
    """Calls ``settled`` when nothing was typed for a moment, or something for long."""

    def __init__(self, owner: MessagePump, settled: Callable[[], object]) -> None:
        """``owner`` has the timer."""
        self._owner = owner
        self._settled = settled
        self._timer: Timer | None = None
        self._deadline = 0.0

    def begin(self) -> None:
        """Something was typed."""
        if self._timer is None:
            self._deadline = time.monotonic() + SECONDS_AT_MOST
        else:
            self._timer.stop()
        rest = self._deadline - time.monotonic()
        # Textual divides by it: a timer of no time dies unheard, and no draft is kept any more.
        self._timer = self._owner.set_timer(max(0.001, min(SECONDS, rest)), self._end)

    def _end(self) -> None:
        self._timer = None
        self._settled()
