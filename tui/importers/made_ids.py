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


class MadeIds:
    """The ids that are given within one conversation, each once."""

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._given: Counter[str] = Counter()

    def make(self, *facts: object) -> str:
        """Make the id of a message from its facts; the same again get a number."""
        return self._unused(made_id(self._conversation, *facts))

    def own(self, name: str) -> str:
        """The source's own id, once: one that a damaged source repeats gets a number."""
        return self._unused(name)

    def within(self, name: str) -> str:
        """Make the id of a message that the source numbers within its conversation alone."""
        return self._unused(f"{self._conversation}/{name}")

    def _unused(self, name: str) -> str:
        self._given[name] += 1
        count = self._given[name]
        return name if count == 1 else self._unused(f"{name}~{count}")
