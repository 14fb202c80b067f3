"""The order of messages that form a tree, such that a journal shows the branch that was shown.

A journal's live conversation is the one that ends with its last message, and a message comes after
the one that it follows. A turn is what a source keeps as one record of its tree: it may be several
messages here, such as an answer with its calls and their results, or none, if it is left out.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from tui.importers.made_ids import UniqueIds
from tui.importers.protocol import ForeignMessage, ForeignSummary, Item

AGAIN = "~again"
"""Ends the id of the copy that ``in_order`` makes."""


class Node(NamedTuple):
    """A message and the one that it follows; ``""`` for a first one."""

    id: str
    parent: str


class Order(msgspec.Struct, frozen=True):
    """Messages in an order; holds no more than their ids, as there may be hundreds of thousands."""

    ids: list[str]
    parents: dict[str, str]

    def __iter__(self) -> Iterator[Node]:
        return (Node(name, self.parents[name]) for name in self.ids)


def in_order(nodes: Iterable[Node], leaf: str) -> Order:
    """Order messages: parents first, else as they came, and the shown branch's end, ``leaf``, last.

    A parent that is unknown or its own descendant counts as none. If others follow ``leaf``, such
    as turns that were undone, a copy of it comes last, whose id is ``leaf`` and ``AGAIN``: else
    these would be shown, or lost. An unknown ``leaf`` changes nothing.
    """
    parents = _without_loops({node.id: node.parent for node in nodes})
    ids = list(_parents_first(parents))
    if leaf not in parents or ids[-1] == leaf:
        return Order(ids, parents)
    if leaf in parents.values():
        parents[leaf + AGAIN] = parents[leaf]
        return Order([*ids, leaf + AGAIN], parents)
    return Order([*(name for name in ids if name != leaf), leaf], parents)


def nearest(name: str, parents: Mapping[str, str], wanted: Container[str]) -> str:
    """The name itself, or the next one above it that is wanted; ``""`` if there is none."""
    passed: set[str] = set()
    while name and name not in wanted and name not in passed:
        passed.add(name)
        name = parents.get(name, "")
    return name if name in wanted else ""


def _without_loops(known: dict[str, str]) -> dict[str, str]:
    checked: set[str] = {""}
    rooted: dict[str, str] = {}
    for name in known:
        path: dict[str, None] = {}
        at = name
        while at not in checked and at not in path and at in known:
            path[at] = None
            at = known[at]
        for each in path:
            parent = known[each]
            broken = parent not in known or (at in path and each == at)
            rooted[each] = "" if broken else parent
        checked.update(path)
    return {name: rooted[name] for name in known if name in rooted}


def _parents_first(known: dict[str, str]) -> Iterator[str]:
    placed: set[str] = {""}
    for name in known:
        waiting: list[str] = []
        at = name
        while at not in placed:
            waiting.append(at)
            placed.add(at)
            at = known[at]
        yield from reversed(waiting)


Said = ForeignMessage | ForeignSummary
"""A message, or the summary of those before it."""


class Later(msgspec.Struct):
    """What a turn says, read once it is due; a turn that has it says something."""

    read: Callable[[], Iterable[Said]]

    def __iter__(self) -> Iterator[Said]:
        return iter(self.read())


class TreeTurn(NamedTuple):
    """A record of the tree, and the one that it follows; ``""`` for a first one."""

    id: str
    parent: str
    messages: Iterable[Said] = ()


def linked(turns: Iterable[TreeTurn], leaf: str) -> Iterator[Said]:
    """Give each message its parent, and order them such that the branch of ``leaf`` is shown.

    What follows a turn without messages follows the one before it.
    """
    known = {turn.id: turn for turn in turns}
    parents = {turn.id: turn.parent for turn in known.values()}
    spoken = [turn for turn in known.values() if turn.messages]
    kept = {turn.id for turn in spoken}
    nodes = [Node(turn.id, nearest(turn.parent, parents, kept)) for turn in spoken]
    ids = UniqueIds()
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
    ids = UniqueIds()
    for item in items:
        if not isinstance(item, ForeignMessage):
            yield item
            continue
        unique = ids.unique(item.id)
        yield item if unique == item.id else replace(item, id=unique)
