"""The messages of a session that is being written: only their ids, and which follows which."""


class SessionTree:
    """Parents of messages, in the order of the journal; small enough for any session."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._depths: dict[str, int] = {"": 0}
        self.last = ""
        """The id of the message that was added last: the end of what is live."""
        self.prompts = 0

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._parents

    def __len__(self) -> int:
        return len(self._parents)

    @property
    def live(self) -> int:
        """The number of messages from the beginning to the last one."""
        return self._depths[self.last]

    def add(self, message_id: str, parent: str, *, is_prompt: bool) -> None:
        """Add a message after one that is known, or after none (``""``)."""
        if message_id in self._parents:
            return
        self._parents[message_id] = parent
        self._depths[message_id] = self._depths[parent] + 1
        self.last = message_id
        self.prompts += is_prompt

    def is_live(self, message_id: str) -> bool:
        """Tell whether the last message follows a message, directly or not, or is it."""
        depth = self._depths.get(message_id)
        at = self.last
        while depth is not None and self._depths[at] > depth:
            at = self._parents[at]
        return at == message_id
