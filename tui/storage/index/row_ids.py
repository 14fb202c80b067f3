"""The rows of messages in the index: they grow with the time, so that the newest come first."""

import sqlite3

_SAME_SECOND = 1 << 12
"""Rows of one second; what has none left takes those of the next one.

Few: each word is stored with the distance to the row before. Those of milliseconds, 32,768 each,
made the index a third larger and its building a fifth slower.
"""
_SECOND_MS = 1000
_BOUNDS = "select (select min(id) from messages), (select max(id) from messages)"
_LAST_OF = "select max(id) from messages where id between ? and ?"


def row_of(milliseconds: int) -> int:
    """The first row of the messages of a time."""
    return max(0, milliseconds) // _SECOND_MS * _SAME_SECOND


class FreeRows:
    """Hands out rows that no message has. The caller holds the index's lock."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._next: dict[int, int] = {}
        """The next free row by the first one of its second."""
        self._later: dict[int, int] = {}
        """The second to go on with, by one that is full."""
        self._bounds: tuple[int, int] | None = None

    def clear(self) -> None:
        """Forget what was handed out, once it is in the index."""
        self._next.clear()
        self._later.clear()
        self._bounds = None

    def take(self, milliseconds: int) -> int:
        """Take the next row of a time; masked rows are not free."""
        asked = row_of(milliseconds)
        first = self._later.get(asked, asked)
        while (row := self._free_in(first)) >= first + _SAME_SECOND:
            first = self._later[asked] = first + _SAME_SECOND
        self._next[first] = row + 1
        return row

    def _free_in(self, first: int) -> int:
        row = self._next.get(first)
        return self._look(first) if row is None else row

    def _look(self, first: int) -> int:
        if self._bounds is None:
            low, high = self._connection.execute(_BOUNDS).fetchone()
            self._bounds = (0, -1) if low is None else (low, high)
        low, high = self._bounds
        last = first + _SAME_SECOND - 1
        if last < low or first > high:
            return first
        found = self._connection.execute(_LAST_OF, (first, last)).fetchone()[0]
        return first if found is None else found + 1
