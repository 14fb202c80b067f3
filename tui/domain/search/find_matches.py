"""The matches of Find in a conversation, and steps from one to the next."""

from collections.abc import Iterable, Sequence

import msgspec


class MessageMatches(msgspec.Struct, frozen=True):
    """A matching message and its number of matches."""

    message_id: str
    count: int


class Match(msgspec.Struct, frozen=True):
    """One match: the ``number``-th in its message, from 0."""

    message_id: str
    number: int


class ReadingPosition(msgspec.Struct, frozen=True):
    """The top of the viewport: a message, and the number of its matches above the first row."""

    message_id: str | None
    above: int = 0


class Matches:
    """Matching messages, newest first, collected while the session is scanned from its end.

    ``whole`` is true once the beginning was reached; ``current`` is the selected match.
    """

    def __init__(self, reading: ReadingPosition) -> None:
        self.whole = False
        self.total = 0
        self.current: Match | None = None
        self._reading = reading
        self._found: list[MessageMatches] = []
        self._recent = 0
        self._index = -1
        self._below: int | None = None if reading.message_id else 0

    def take(self, found: Sequence[MessageMatches], below: int | None = None) -> None:
        """Add the matching messages of the next part upwards.

        If the top of the viewport is in that part, ``below`` counts those from it on.
        """
        if below is not None and self._below is None:
            self._below = len(self._found) + below
        self._found += found
        self.total += _sum(found)

    def end(self) -> None:
        """Note that the beginning was reached."""
        self.whole = True
        if self._below is None:
            self._below = 0

    def begin(self, recent: Sequence[MessageMatches], below: int | None) -> None:
        """Add the matching messages of the loaded end, which may change."""
        self.take(recent, below)
        self._recent = len(recent)

    def renew(self, recent: Sequence[MessageMatches]) -> None:
        """Replace the matching messages of the loaded end."""
        old, gained = self._recent, len(recent) - self._recent
        self.total += _sum(recent) - _sum(self._found[:old])
        self._found[:old] = recent
        self._recent = len(recent)
        if self._below is not None:
            self._below = max(0, self._below + gained)
        if self.current is None:
            return
        if self._index >= old:
            self._index += gained
            return
        ids = [found.message_id for found in recent]
        if self.current.message_id in ids:
            self._go(ids.index(self.current.message_id), self.current.number)
        else:
            self.current, self._index = None, -1

    def go_to_nearest(self) -> Match | None:
        """Select the first match from the top of the viewport on, else the last before it.

        ``None`` without matches, or while the scan has not reached that far.
        """
        place = self._from_reader() or self._before_reader()
        return self._go(*place) if place else None

    def step(self, count: int) -> tuple[Match, bool] | None:
        """Select the next match (-1: the previous one), and tell if that wrapped around.

        ``None`` while the scan has not found it yet.
        """
        place = self._next(count)
        if place is not None:
            return self._go(*place), False
        if not self.whole or not self._found:
            return None
        return self._go(*((len(self._found) - 1, 0) if count > 0 else (0, -1))), True

    def _next(self, count: int) -> tuple[int, int] | None:
        if self.current is None:
            return self._from_reader() if count > 0 else self._before_reader()
        number = self.current.number + count
        if 0 <= number < self._found[self._index].count:
            return self._index, number
        index = self._index - count
        return (index, 0 if count > 0 else -1) if 0 <= index < len(self._found) else None

    def _from_reader(self) -> tuple[int, int] | None:
        """The first match from the top of the viewport on."""
        if not self._below:
            return None
        here, above = self._below - 1, self._at_reader()
        if self._found[here].count > above:
            return here, above
        return (here - 1, 0) if here else None

    def _before_reader(self) -> tuple[int, int] | None:
        """The last match above the viewport."""
        if self._below is None:
            return None
        if above := self._at_reader():
            return self._below - 1, above - 1
        return (self._below, -1) if self._below < len(self._found) else None

    def _at_reader(self) -> int:
        """The number of matches in the top message above the viewport."""
        here = self._found[self._below - 1] if self._below else None
        same = here is not None and here.message_id == self._reading.message_id
        return self._reading.above if same else 0

    @property
    def position(self) -> int | None:
        """The number of the selected match, counted from the beginning; ``None`` while unknown."""
        if self.current is None or not self.whole:
            return None
        return _sum(self._found[self._index + 1 :]) + self.current.number + 1

    def _go(self, index: int, number: int) -> Match:
        found = self._found[index]
        last = found.count - 1
        self._index = index
        self.current = Match(found.message_id, last if number < 0 else min(number, last))
        return self.current


def _sum(found: Iterable[MessageMatches]) -> int:
    return sum(each.count for each in found)
