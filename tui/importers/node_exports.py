"""Exports whose conversations are trees of nodes, each with a message or none."""

from hashlib import sha256
from typing import Any

from tui.importers import protocol as p
from tui.importers.branches import TreeTurn
from tui.importers.formats import Export, Reading
from tui.importers.json_lines import items_in, object_in, text_in
from tui.importers.json_paths import object_at


class NodeExport(Export):
    """A service whose nodes name their parent and their children; the last one shown is named."""

    within = ("conversations",)
    source_id = ("id", "made")
    parent = ("above",)

    def messages_of(self, record: p.Json) -> list[p.Json]:
        """All nodes, parents first and siblings in the order of their parent."""
        nodes = {name: object_in(node) for name, node in object_at(record, "mapping").items()}
        names = repr(list(nodes)).encode("utf-8", "replace")
        parents = {name: _known(node.get("parent"), nodes) for name, node in nodes.items()}
        record |= {"made": sha256(names).hexdigest(), "parents": parents}
        record["below"] = below = _children_of(nodes)
        roots = [name for name in nodes if not parents[name]]
        waiting = [*reversed(nodes), *reversed(roots)]
        ordered: dict[str, p.Json] = {}
        while waiting:
            name = waiting.pop()
            if name not in ordered:
                message = object_in(nodes[name].get("message"))
                ordered[name] = {**message, "node": name, "above": parents[name]}
                ordered[name]["is_empty"] = not message
                waiting.extend(reversed(below[name]))
        return list(ordered.values())

    def turn_id(self, record: p.Json, number: int, reading: Reading) -> str:
        return record["node"]

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        """The node that was shown last, else the last child of the last child from a root on."""
        facts = reading.talk.facts
        parents, below = facts["parents"], facts["below"]
        if current := _known(facts.get("current_node"), parents):
            return current
        name = next((name for name in parents if not parents[name]), "")
        passed: set[str] = set()
        while name not in passed and (children := below.get(name)):
            passed.add(name)
            name = children[-1]
        return name


def _known(name: Any, nodes: p.Json) -> str:
    return name if text_in(name) in nodes else ""


def _children_of(nodes: dict[str, p.Json]) -> dict[str, list[str]]:
    """The children of each node, as it lists them, then those that only name it as their parent."""
    below = {
        name: [child for child in items_in(node.get("children")) if text_in(child) in nodes]
        for name, node in nodes.items()
    }
    listed = {child for children in below.values() for child in children}
    for name, node in nodes.items():
        parent = text_in(node.get("parent"))
        if parent in nodes and name not in listed:
            below[parent].append(name)
    return below
