"""Mutants of every kind of file: no command fails by a bug, and no healthy session goes away."""

import json
import random

import pytest

from tests.builders import every_kind
from tui.domain.imports import ImportLine
from tui.domain.journal.session import Draft
from tui.storage.drafts import Drafts
from tui.storage.json_lines import IMPORTS

pytestmark = pytest.mark.full

ODD = "session-20260111-153000-000009"
HUGE = 10**309
FILE = {"type": "file", "path": "a", "text": "x", "size": HUGE}
VALUES = [
    *(HUGE, -HUGE, 2**63, 2**64, -1, 0, 0.5, float("nan"), float("inf"), None, True, "", [], {}),
    *("\ud800", "\x00", "m0001", "x" * 5000, [[]], {"\ud800": 1}, [HUGE], [FILE], FILE),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "2286-11-20T17:46:40Z", "0000-00-00"),
]
NAMES = ["\ud800", "", "\x00", "type", "id", "after", "after_at", "replaces", "size", "offsets"]
FILES = {
    "journal": f"data/sessions/{ODD}.jsonl",
    "scopes": "data/scopes.jsonl",
    "moves": "data/moves.jsonl",
    "imports": "data/imports.jsonl",
    "draft": f"data/drafts/{ODD}.json",
    "draft of another": "data/drafts/session-20260301-100000-000013.json",
    "index": "data/index.sqlite3",
    "lists of models": "state/models.json",
    "approvals": "state/tool-approvals.json",
    "rescue": "rescue.jsonl",
}


@pytest.fixture
def place(data, saved, sibyl, tmp_path, monkeypatch):
    """A home with a file of every kind, and three healthy sessions."""
    monkeypatch.setattr("tui.config.paths.state_directory", lambda: tmp_path / "state")
    healthy = [saved(f"healthy words {number}", "fine") for number in range(3)]
    (data / "sessions" / f"{ODD}.jsonl").write_bytes(every_kind(ODD).data)
    (tmp_path / "rescue.jsonl").write_bytes(every_kind("session-20260401-100000-000014").data)
    sibyl("sessions", "archive", saved("archived words"))
    sibyl("sessions", "delete", "--yes", saved("deleted words"))
    line = ImportLine("2026-01-11T14:30:08.000Z", "claude-code", "/x", 1, 2, 3, 4, "abc", "", ODD)
    IMPORTS.append(data / "imports.jsonl", [line])
    for session_id in (ODD, "session-20260301-100000-000013"):
        draft = Draft(session_id, "project:/shop", "/shop", "draft [pasted]", ("queued",))
        Drafts(data).save(draft)
    (tmp_path / "state").mkdir()
    lists = {"openai": {"address": "a", "asked_at": "x", "models": ["a"], "windows": {"a": 9}}}
    (tmp_path / "state" / "models.json").write_text(json.dumps({"version": 1, "lists": lists}))
    kept = {"version": 1, "allowed": [{"server": "s", "tool": "t", "project": "/shop"}]}
    (tmp_path / "state" / "tool-approvals.json").write_text(json.dumps(kept))
    sibyl("sessions", "search", "words")
    return healthy


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_a_mutant_takes_nothing_healthy_away(file, seed, place, sibyl, tmp_path):
    chance = random.Random(f"{file} {seed}")
    path = tmp_path / file
    path.write_bytes(mutated(path.read_bytes(), chance))
    listed = sibyl("sessions", "list", "--json").json
    assert {*place, ODD} <= {each["id"] for each in listed}
    hits = sibyl("sessions", "search", "--json", "healthy").json
    assert {*place} <= {each["session_id"] for each in hits}
    sibyl("sessions", "import", tmp_path / "rescue.jsonl")
    sibyl("sessions", "export", "--all", "--output", tmp_path / "out")
    names = " ".join(each.name for each in (tmp_path / "out").iterdir())
    assert all(session_id in names for session_id in place)
    sibyl("sessions", "show", ODD, "--all-messages")
    sibyl("sessions", "copy", "--from", tmp_path / "data", "--to", tmp_path / "copy")
    sibyl("ask", "--session", ODD, "--model", "offline:guide", "help")
    assert sibyl("ask", "--session", place[0], "--model", "offline:guide", "help").code == 0
    assert sibyl("doctor", "--repair").code in (0, 1, 2)


def mutated(data, chance):
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    match chance.randrange(8):
        case 0:
            at = chance.randrange(len(data))
            odd = chance.choice([b"\x00", b"\xff", b"\xed\xa0\x80", b"[" * 300, b"9" * 5000, b"\n"])
            return data[:at] + odd + data[at + chance.randrange(2) :]
        case 1:
            chance.shuffle(lines)
        case 2:
            del lines[place]
        case _:
            for _ in range(chance.choice([1, 1, 3])):
                place = chance.randrange(len(lines))
                lines[place] = with_odd_value(lines[place], chance)
    return b"\n".join(lines)


def with_odd_value(line, chance):
    try:
        value = json.loads(line)
    except ValueError:
        return line
    holder, key = chance.choice([*places(value)])
    if isinstance(holder, dict) and chance.random() < 0.2:
        key = chance.choice(NAMES)
    holder[key] = chance.choice(VALUES)
    return json.dumps(value).encode()


def places(value):
    """The holder and the key of each value in a value."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])
