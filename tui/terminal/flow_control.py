"""Painting no faster than the terminal takes what is painted.

Textual lets ten frames wait for it. Over a slow line a key was seen only behind all of them, after
seconds. Here the next one is drawn when those before have gone, and has all that changed meanwhile.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from textual.app import App

SECONDS_SLOW = 0.02
"""A terminal that takes longer for a frame is slow until it takes one faster."""
_FRAMES_TO_BE_SEEN = 4
"""Where so many have followed each other, what was painted before them is on screen."""


class FlowControlledApp(App[None]):
    """Is painted whole where something was painted while its painting rested."""

    @cached_property
    def pacing(self) -> "FlowControl":
        """What its driver tells how fast the terminal is."""
        return FlowControl(self)

    def post_display_hook(self) -> None:
        """Note what Textual takes for painted, and does not paint."""
        self.pacing.note_painting()


class FlowControl:
    """Counts what is given to the terminal and what it has taken, and lets painting rest.

    ``note_taken`` is for the thread that writes; all else is for the one of the application.
    """

    def __init__(self, app: App[Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._rest = ExitStack()
        self._resting_since: float | None = None
        self.begin(lambda _: None)

    def begin(self, call: Callable[[Callable[[], object]], object]) -> None:
        """Begin with a terminal that has taken all; ``call`` has something done by the loop."""
        self.end()
        self._call = call
        self._given = self._taken = self._given_with_frame = self._frames = 0
        self._is_slow = self._is_missed = self._has_frame = False

    def end(self) -> None:
        """There is no terminal any more, or all is written: painting goes on."""
        self._rest.close()
        self._resting_since = None

    def note_given(self) -> None:
        """Something is about to be given to the thread that writes."""
        self._given += 1

    def end_frame(self) -> None:
        """A frame was given: let painting rest if the one before, or such a one, has to wait."""
        is_behind, self._given_with_frame = self._taken < self._given_with_frame, self._given
        self._has_frame = True
        self._frames += 1
        if self._resting_since is None and (is_behind or self._is_slow):
            self._resting_since = self._clock()
            self._rest.enter_context(self._app.batch_update())
            # It may have been taken just before it could be told.
            self._go_on()

    def note_taken(self, count: int) -> None:
        """So much of what was given has gone, or is lost; painting goes on if it was all."""
        self._taken += count
        if self._resting_since is not None and self.has_taken_all():
            self._call(self._go_on)

    def has_taken_all(self) -> bool:
        """Whether nothing that was given waits."""
        return self._taken >= self._given

    def sight(self) -> Callable[[], bool]:
        """What tells whether all that is to be painted now is seen.

        Over a slow line something always waits while an answer streams, and each frame is drawn
        when those before it have gone.
        """
        before = self._frames
        return lambda: self.has_taken_all() or self._frames - before > _FRAMES_TO_BE_SEEN

    def note_painting(self) -> None:
        """Something was painted: in vain if painting rests and no frame came of it."""
        if self._resting_since is not None and not self._has_frame:
            self._is_missed = True
        self._has_frame = False

    def _go_on(self) -> None:
        if self._resting_since is None or not self.has_taken_all():
            return
        self._is_slow = self._clock() - self._resting_since > SECONDS_SLOW
        is_missed, self._is_missed = self._is_missed, False
        self.end()
        for screen in self._app.screen_stack:
            # What has changed there waits for a moment in which nothing is to be done.
            screen.check_idle()
        if is_missed:
            self._app.refresh()
