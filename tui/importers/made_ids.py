"""Ids of messages that have none in their source: made of what they say, not of where they stand.

A source that drops its oldest messages moves the others; these must be known again.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from itertools import islice

from tui.importers.protocol import ForeignMessage, Item

COMPARED = 100
"""Messages at the beginning of conversations by which those without ids are told apart."""


def made_id(*facts: object) -> str:
    """Make an id from some facts."""
    return sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def first_ids(items: Iterable[Item], most: int = COMPARED) -> tuple[str, ...]:
    """The ids of the first messages, which tell a conversation from others of the same id."""
    messages = (item.id for item in items if isinstance(item, ForeignMessage))
    return tuple(islice(messages, most))


class UniqueIds:
    """The ids that were given; one that a damaged source repeats gets a number."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._numbers: Counter[str] = Counter()

    def unique(self, name: str) -> str:
        """Give an id, or one like it that is still free."""
        unique = name
        while unique in self._given:
            # Counted: a search from the first number on is quadratic in the repetitions.
            self._numbers[name] += 1
            unique = f"{name}~{self._numbers[name] + 1}"
        self._given.add(unique)
        return unique


class MadeIds(UniqueIds):
    """The ids that are given within one conversation, each once."""

    def __init__(self, conversation: str, *, are_own: bool = False) -> None:
        """``are_own``: the ids that the source has are unique in all conversations."""
        super().__init__()
        self._conversation = conversation
        self._prefix = "" if are_own else f"{conversation}/"

    def make(self, *facts: object) -> str:
        """Make the id of a message from its facts; the same again get a number."""
        return self.unique(made_id(self._conversation, *facts))

    def within(self, name: str) -> str:
        """Make the id of a message from its own in the source; the same again get a number."""
        return self.unique(self._prefix + name)
