"""The messages of a conversation whose turns form a tree, linked and in order.

A turn is what a source keeps as one record of its tree. It may be several messages here, such as
an answer with its calls and their results, or none, if it is left out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from tui.importers.protocol import ForeignMessage, ForeignSummary, Item
from tui.importers.trees import AGAIN, Node, in_order, nearest

Said = ForeignMessage | ForeignSummary
"""A message, or the summary of those before it."""


class Later:
    """What a turn says, read once it is due; a turn that has it says something."""

    def __init__(self, read: Callable[[], Iterable[Said]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[Said]:
        return iter(self._read())


class TreeTurn(NamedTuple):
    """A record of the tree, and the one that it follows; ``""`` for a first one."""

    id: str
    parent: str
    messages: Iterable[Said] = ()


def is_tree(turns: Iterable[TreeTurn]) -> bool:
    """True if a turn follows another one."""
    known = {turn.id: turn.parent for turn in turns}
    return any(parent in known for parent in known.values())


def in_line(turns: Iterable[TreeTurn]) -> Iterator[TreeTurn]:
    """Let each turn follow the one before it."""
    before = ""
    for turn in turns:
        yield turn._replace(parent=before)
        before = turn.id


def linked(turns: Iterable[TreeTurn], leaf: str) -> Iterator[Said]:
    """Give each message its parent, and order them such that the branch of ``leaf`` is shown.

    What follows a turn without messages follows the one before it.
    """
    known = {turn.id: turn for turn in turns}
    parents = {turn.id: turn.parent for turn in known.values()}
    kept = {turn.id for turn in known.values() if turn.messages}
    ids = _Ids()
    nodes = [
        Node(turn.id, nearest(turn.parent, parents, kept))
        for turn in known.values()
        if turn.messages
    ]
    ends = {"": ""}
    for node in in_order(nodes, nearest(leaf, parents, kept)):
        before = ends[node.parent]
        for message in _messages(node.id, known):
            if isinstance(message, ForeignSummary):
                yield replace(message, through=before)
                continue
            unique = ids.unique(message.id)
            yield replace(message, id=unique, parent=before)
            before = unique
        ends[node.id] = before


def _messages(name: str, known: dict[str, TreeTurn]) -> Iterable[Said]:
    if name in known:
        return known[name].messages
    again = known[name.removesuffix(AGAIN)].messages
    said = (message for message in again if isinstance(message, ForeignMessage))
    return tuple(replace(message, id=message.id + AGAIN) for message in said)


def with_unique_ids(items: Iterable[Item]) -> Iterator[Item]:
    """Number the ids that a damaged source repeats."""
    ids = _Ids()
    for item in items:
        if not isinstance(item, ForeignMessage):
            yield item
            continue
        unique = ids.unique(item.id)
        yield item if unique == item.id else replace(item, id=unique)


class _Ids:
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
