"""The frame rate of a widget that changes all the time."""

import time

FRAMES_A_SECOND = 30
LONGEST_WAIT = 0.5
"""In seconds: the first frame may have loaded a library, and the next must not wait for that."""


class Throttle:
    """Limits drawing to ``FRAMES_A_SECOND`` and to a quarter of the running time."""

    def __init__(self) -> None:
        self._begun = self._ended = 0.0

    def begin(self) -> None:
        """Note that drawing begins."""
        self._begun = time.monotonic()

    def end(self) -> None:
        """Note that drawing is done."""
        self._ended = time.monotonic()

    @property
    def wait(self) -> float:
        """Seconds until the next frame."""
        rest = min(3 * (self._ended - self._begun), LONGEST_WAIT)
        frame = max(1 / FRAMES_A_SECOND, rest)
        return max(0.001, self._ended + frame - time.monotonic())
