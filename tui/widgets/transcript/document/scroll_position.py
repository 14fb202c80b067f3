"""Where a reader is in a conversation, as a value that outlives what is on screen."""

import msgspec


class ScrollPosition(msgspec.Struct, frozen=True):
    """The row at the top of the pane.

    ``row`` counts from the beginning of the message ``key``'s ``block``; it is negative where
    what stands above that message is at the top. ``key`` is ``None`` in an empty conversation.
    """

    key: str | None
    row: int
    following: bool
    block: int = 0


class ScrollPositions:
    """Where the reader of each session left it."""

    def __init__(self) -> None:
        self._places: dict[str, ScrollPosition] = {}

    def note(self, session_id: str, place: ScrollPosition | None) -> None:
        """A command is given here that may lead elsewhere; its answers stand at the end."""
        self._places.pop(session_id, None)
        if place is not None:
            self._places[session_id] = place

    def leave(self, session_id: str, place: ScrollPosition) -> None:
        """Another session is shown; only whoever has read on is not where he gave the command."""
        if not (place.following and session_id in self._places):
            self._places[session_id] = place

    def get(self, session_id: str) -> ScrollPosition | None:
        """Where to go on in a session that is shown again."""
        return self._places.get(session_id)

    def pop(self, session_id: str) -> ScrollPosition | None:
        """The same, for the last time."""
        return self._places.pop(session_id, None)
