"""Notebook: a program made for tests, whose files are lists of conversations in JSON."""

import json

import msgspec

from tui.domain.journal.records import Settings
from tui.importers.protocol import (
    Conversation,
    ForeignMessage,
    ForeignSummary,
    ForeignTodos,
    Heading,
    Ledger,
    Places,
    Reader,
    Source,
)

PROGRAM = "notebook"


def _find(places):
    for path in sorted((places.home / "notes").glob("*.json")):
        yield Source.of(path)


def _read(source, _):
    for told in json.loads(source.path.read_bytes()):
        ledger = Ledger()
        yield Conversation(
            Heading(**told["heading"]), lambda told=told, to=ledger: _items(told, to), ledger
        )


def _items(told, ledger):
    for item in told["items"]:
        kind = item.pop("kind", "message")
        if kind == "thinking":
            ledger.skipped[kind] += 1
            continue
        if kind == "crash":
            raise OSError(5, "Input/output error")
        ledger.read += 1
        yield msgspec.convert({"type": kind, **item}, _KINDS[kind])


_KINDS = {
    "message": ForeignMessage,
    "summary": ForeignSummary,
    "todos": ForeignTodos,
    "settings": Settings,
}

NOTEBOOK = Reader(
    PROGRAM,
    "Notebook",
    _find,
    lambda path, head: path.suffix == ".json" and head.startswith(b"["),
    _read,
)
SEVERAL = Reader(PROGRAM, "Notebook", _find, NOTEBOOK.recognises, _read, several=True)


def said(message_id, role="user", **fields):
    """A message of the notebook; its text is its id."""
    return {
        "id": message_id,
        "role": role,
        "content": message_id,
        "timestamp": "2026-01-11T14:30:22.000Z",
        **fields,
    }


def told(*items, source_id="c1", **heading):
    """A conversation of the notebook."""
    return {"heading": {"source_id": source_id, **heading}, "items": list(items)}


class Shelf:
    """A home with files of the notebook."""

    def __init__(self, home):
        self.home = home
        (home / "notes").mkdir(parents=True)

    @property
    def places(self):
        return Places(self.home, {})

    def put(self, name, *conversations):
        path = self.home / "notes" / name
        path.write_text(json.dumps(conversations))
        return path
