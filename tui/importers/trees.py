"""The order of messages that form a tree, such that a journal shows the branch that was shown.

A journal's live conversation is the one that ends with its last message, and a message comes after
the one that it follows.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

AGAIN = "~again"
"""Ends the id of the copy that ``in_order`` makes."""


class Node(NamedTuple):
    """A message and the one that it follows; ``""`` for a first one."""

    id: str
    parent: str


def in_order(nodes: Iterable[Node], leaf: str) -> list[Node]:
    """Order messages: parents first, else as they came, and the shown branch's end, ``leaf``, last.

    A parent that is unknown or its own descendant counts as none. If others follow ``leaf``, such
    as turns that were undone, a copy of it comes last, whose id is ``leaf`` and ``AGAIN``: else
    these would be shown, or lost. An unknown ``leaf`` changes nothing.
    """
    known = {node.id: node for node in nodes}
    rooted = _without_loops(known)
    ordered = list(_parents_first(rooted))
    if leaf not in rooted or ordered[-1].id == leaf:
        return ordered
    last = rooted[leaf]
    if any(node.parent == leaf for node in ordered):
        return [*ordered, Node(leaf + AGAIN, last.parent)]
    return [*(node for node in ordered if node.id != leaf), last]


def _without_loops(known: dict[str, Node]) -> dict[str, Node]:
    checked: set[str] = {""}
    rooted: dict[str, Node] = {}
    for node in known.values():
        path: dict[str, None] = {}
        at = node.id
        while at not in checked and at not in path and at in known:
            path[at] = None
            at = known[at].parent
        for name in path:
            parent = known[name].parent
            broken = parent not in known or (at in path and name == at)
            rooted[name] = Node(name, "" if broken else parent)
        checked.update(path)
    return {name: rooted[name] for name in known if name in rooted}


def _parents_first(known: dict[str, Node]) -> Iterator[Node]:
    placed: set[str] = {""}
    for node in known.values():
        waiting: list[Node] = []
        at = node.id
        while at not in placed:
            waiting.append(known[at])
            placed.add(at)
            at = known[at].parent
        yield from reversed(waiting)
