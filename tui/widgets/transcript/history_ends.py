"""The messages of a session that are not loaded."""

from collections.abc import Iterator
from typing import Literal

import msgspec


class HistoryEnds(msgspec.Struct):
    """Flags for messages before and after the loaded ones; each page is asked for once."""

    earlier: bool = False
    later: bool = False
    _earlier_asked: bool = False
    _later_asked: bool = False

    def neared(self, above: int, below: int, height: int) -> Iterator[Literal["earlier", "later"]]:
        """The ends to load, by the rows left above and below the viewport."""
        if self.earlier and not self._earlier_asked and above < height:
            self._earlier_asked = True
            yield "earlier"
        if self.later and not self._later_asked and below < height:
            self._later_asked = True
            yield "later"
