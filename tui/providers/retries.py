"""The pauses between the attempts of one request."""

import random
from collections.abc import Callable

_FIRST = 0.5
_LONGEST = 8.0
_LONGEST_ASKED = 60.0
_TOGETHER = 120.0
# All in seconds.


class Backoff:
    """Counts the attempts, and doubles the limit of the pauses between them.

    A pause is any part of its limit, by ``chance`` (from 0 to 1): many programs that a server
    refused at once do not come back at once. The server may ask for another pause.
    """

    def __init__(self, retries: int, chance: Callable[[], float] = random.random) -> None:
        self._retries = retries
        self._chance = chance
        self._waited = 0.0
        self.tries = 1
        """The number of the attempt that is made, from 1."""

    def next_pause(self, asked: float | None) -> float | None:
        """The seconds before the next attempt; ``None`` if there is none.

        ``asked`` are those of the server. Pauses are bounded, each and together.
        """
        doubled = min(_FIRST * 2 ** (self.tries - 1), _LONGEST)
        pause = doubled * self._chance() if asked is None else max(asked, 0.0)
        self._waited += pause
        if self.tries > self._retries or pause > _LONGEST_ASKED or self._waited > _TOGETHER:
            return None
        self.tries += 1
        return pause
