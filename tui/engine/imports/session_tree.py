"""The messages of a session that is being written, without their texts."""

from array import array


class SessionTree:
    """What each message follows, and a number for what it says; small enough for any session.

    They are in the order of the journal.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {"": 0}
        self._parents = array("q", [0])
        self._depths = array("q", [0])
        self._wordings = array("q", [0])
        self.last = ""
        """The id of the message that was added last: the end of what is live."""
        self.prompts = 0

    def __contains__(self, message_id: str) -> bool:
        return message_id != "" and message_id in self._places

    def __len__(self) -> int:
        return len(self._places) - 1

    @property
    def live(self) -> int:
        """The number of messages from the beginning to the last one."""
        return self._depths[self._places[self.last]]

    def add(self, message_id: str, parent: str, wording: int, *, is_prompt: bool) -> None:
        """Add a message after one that is known, or after none (``""``).

        One that was added before gets another wording and stays in its place.
        """
        if message_id in self._places:
            self._wordings[self._places[message_id]] = wording
            return
        place = self._places[parent]
        self._places[message_id] = len(self._parents)
        self._parents.append(place)
        self._depths.append(self._depths[place] + 1)
        self._wordings.append(wording)
        self.last = message_id
        self.prompts += is_prompt

    def is_live(self, message_id: str) -> bool:
        """Tell whether the last message follows a message, directly or not, or is it."""
        place = self._places.get(message_id)
        if place is None:
            return False
        at = self._places[self.last]
        while self._depths[at] > self._depths[place]:
            at = self._parents[at]
        return at == place

    def says(self, message_id: str, wording: int) -> bool:
        """Tell whether a message is there and has this wording."""
        place = self._places.get(message_id)
        return place is not None and self._wordings[place] == wording

    def follows(self, message_id: str, parent: str) -> bool:
        """Tell whether a message is there and follows another one directly."""
        place = self._places.get(message_id)
        return place is not None and self._parents[place] == self._places.get(parent)

    def wordings(self) -> set[int]:
        """The wordings of all messages."""
        return set(self._wordings)
