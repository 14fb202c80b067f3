"""How often something is drawn that changes all the time."""

import time

FRAMES_A_SECOND = 30


class Throttle:
    """At most ``FRAMES_A_SECOND``, and a quarter of the time: a slow machine gets fewer frames."""

    def __init__(self) -> None:
        self._begun = self._ended = 0.0

    def begin(self) -> None:
        """Drawing begins."""
        self._begun = time.monotonic()

    def end(self) -> None:
        """Drawing is done."""
        self._ended = time.monotonic()

    @property
    def wait(self) -> float:
        """Seconds until it may be drawn again."""
        frame = max(1 / FRAMES_A_SECOND, 3 * (self._ended - self._begun))
        return max(0.001, self._ended + frame - time.monotonic())
