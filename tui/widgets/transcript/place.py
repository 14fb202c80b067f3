"""Where a reader is in a conversation, as a value that outlives what is on screen."""

import msgspec


class Place(msgspec.Struct, frozen=True):
    """The row at the top of the pane.

    ``row`` counts from the beginning of the message ``key``'s ``block``; it is negative where
    what stands above that message is at the top. ``key`` is ``None`` in an empty conversation.
    """

    key: str | None
    row: int
    following: bool
    block: int = 0
