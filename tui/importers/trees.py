"""The order of messages that form a tree, such that a journal shows the branch that was shown.

A journal's live conversation is the one that ends with its last message, and a message comes after
the one that it follows.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

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
