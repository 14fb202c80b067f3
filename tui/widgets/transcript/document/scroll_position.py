"""Scroll positions of sessions, as values that outlive their documents."""

import msgspec


class ScrollPosition(msgspec.Struct, frozen=True):
    """The row at the top of the viewport.

    ``row`` counts from the beginning of the block number ``block`` of the message ``key``; rows
    above the message are negative. ``key`` is ``None`` in an empty session.
    """

    key: str | None
    row: int
    following: bool
    block: int = 0


class ScrollPositions:
    """The scroll positions of sessions that are not on screen."""

    def __init__(self) -> None:
        self._places: dict[str, ScrollPosition] = {}

    def note(self, session_id: str, place: ScrollPosition | None) -> None:
        """Note the position before a command that may lead elsewhere and answers at the end."""
        self._places.pop(session_id, None)
        if place is not None:
            self._places[session_id] = place

    def leave(self, session_id: str, place: ScrollPosition) -> None:
        """Keep the position of a session that is left; at the end, a noted one stays."""
        if not (place.following and session_id in self._places):
            self._places[session_id] = place

    def pop(self, session_id: str) -> ScrollPosition | None:
        """Remove and return the position of a session."""
        return self._places.pop(session_id, None)
