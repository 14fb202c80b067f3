"""Where a reader is in a conversation, as a value that outlives what is on screen."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The row at the top of the pane.

    ``row`` counts from the beginning of the message ``key``'s ``block``; it is negative where
    what stands above that message is at the top. ``key`` is ``None`` in an empty conversation.
    """

    key: str | None
    row: int
    following: bool
    block: int = 0
