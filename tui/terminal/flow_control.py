"""Back-pressure: no frame is painted while the terminal has not taken the one before.

Textual queues ten frames. Over a slow line a key was seen only behind all of them, after seconds.
Here the next frame is painted once the queue is empty, with all changes since the last.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from textual.app import App

SECONDS_SLOW = 0.02
"""A terminal that needs longer for a frame is slow, until it needs less for one."""
_FRAMES_TO_BE_SEEN = 4
"""After so many more frames, an earlier one is on screen."""


class FlowControlledApp(App[None]):
    """An application that paints as fast as its terminal takes frames."""

    @cached_property
    def flow_control(self) -> "FlowControl":
        """The flow control, which the driver informs of each frame."""
        return FlowControl(self)

    def post_display_hook(self) -> None:
        """Note a frame that Textual believes painted."""
        self.flow_control.note_painting()


class FlowControl:
    """Counts texts that are queued and taken, and pauses painting while too many are queued.

    ``note_taken`` is called in the writer thread, everything else in the application's.
    """

    def __init__(self, app: App[Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._pause = ExitStack()
        self._paused_since: float | None = None
        self.begin(lambda _: None)

    def begin(self, call: Callable[[Callable[[], object]], object]) -> None:
        """Begin with an empty queue; ``call`` schedules a callback in the application's loop."""
        self.end()
        self._call = call
        self._given = self._taken = self._given_with_frame = self._frames = 0
        self._is_slow = self._is_missed = self._has_frame = False

    def end(self) -> None:
        """End the pause: the queue is empty, or there is no terminal any more."""
        self._pause.close()
        self._paused_since = None

    def note_given(self) -> None:
        """Count a text before it is queued."""
        self._given += 1

    def end_frame(self) -> None:
        """Pause painting after a frame if the one before is queued, or the terminal is slow."""
        is_behind, self._given_with_frame = self._taken < self._given_with_frame, self._given
        self._has_frame = True
        self._frames += 1
        if self._paused_since is None and (is_behind or self._is_slow):
            self._paused_since = self._clock()
            self._pause.enter_context(self._app.batch_update())
            # The queue may have become empty just before.
            self._resume()

    def note_taken(self, count: int) -> None:
        """Count texts that were written or lost, and resume painting if none is queued."""
        self._taken += count
        if self._paused_since is not None and self.has_taken_all():
            self._call(self._resume)

    def has_taken_all(self) -> bool:
        """Check whether no text is queued."""
        return self._taken >= self._given

    def sight(self) -> Callable[[], bool]:
        """Return a check whether all that is to be painted now is on screen.

        Over a slow line the queue is never empty while an answer streams; a few more frames show
        as well that this one has been written.
        """
        before = self._frames
        return lambda: self.has_taken_all() or self._frames - before > _FRAMES_TO_BE_SEEN

    def note_painting(self) -> None:
        """Note a painting; during a pause no frame comes of it, and it is to be repeated."""
        if self._paused_since is not None and not self._has_frame:
            self._is_missed = True
        self._has_frame = False

    def _resume(self) -> None:
        if self._paused_since is None or not self.has_taken_all():
            return
        self._is_slow = self._clock() - self._paused_since > SECONDS_SLOW
        is_missed, self._is_missed = self._is_missed, False
        self.end()
        for screen in self._app.screen_stack:
            # A screen collects its changes until it is idle.
            screen.check_idle()
        if is_missed:
            # In its turn: at the end of the program the screens are gone before the terminal.
            self._app.call_later(self._app.refresh)
