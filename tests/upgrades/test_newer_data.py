"""Today's program in the home of a later one: it reads what it can, and leaves all as it is."""

import json
import os
import sqlite3
from contextlib import closing

import pytest

from tests.terminal.chats import SIBYL
from tui.storage.index import database

GUIDE = ("--model", "offline:guide")
FUTURE = b'{"type":"hologram","at":"2031-01-01T00:00:00.000Z","shape":[1,2]}\n'


@pytest.fixture
def later(newest):
    """A home whose every file has what only a later program knows."""
    for journal in newest.data.glob("*/*.jsonl"):
        status = journal.stat()
        first, rest = journal.read_bytes().split(b"\n", 1)
        later = first.replace(b'"version":1', b'"version":2')
        journal.write_bytes(b"%s\n%s%s" % (later, rest, FUTURE))
        os.utime(journal, ns=(status.st_atime_ns, status.st_mtime_ns))
    for path in newest.data.glob("*.jsonl"):
        last = json.loads(path.read_text("utf-8").splitlines()[-1])
        with path.open("a") as lines:
            lines.write(json.dumps({**last, "hologram": [1]}) + "\n")
    for draft in newest.data.glob("drafts/*.json"):
        draft.write_text(json.dumps({**json.loads(draft.read_text("utf-8")), "hologram": [1]}))
    for path in newest.state.glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "version": 2}))
    with closing(sqlite3.connect(newest.data / database.NAME)) as index:
        index.execute(f"pragma user_version = {database.VERSION + 1}")
    return newest


def contents(home):
    return {path: path.read_bytes() for path in home.files()}


def test_every_session_is_listed_shown_and_found_and_none_is_continued(later, sibyl):
    before = contents(later)
    listed = sibyl("sessions", "list", "--all", "--json").json
    assert [each["id"] for each in listed] == [each["id"] for each in later.listed]
    for session_id, told in later.said("shown.json").items():
        now = sibyl("sessions", "show", "--json", "--all-messages", session_id).json
        assert (now["messages"], now["session"]["damaged"]) == (told["messages"], 0)
    found = sibyl("sessions", "search", "sparrows")
    assert "Where do sparrows sleep?" in found.out
    assert "A newer sibyl-tui made the search index" in found.err
    assert contents(later) == before

    before = contents(later)
    for entry in later.listed:
        refused = sibyl("ask", "--session", entry["id"], *GUIDE, "One more.")
        assert refused.code != 0
        if entry["status"] != "trashed":
            assert "was written by a newer sibyl-tui (format 2)." in refused.err
    assert contents(later) == before


def test_doctor_and_its_repair_name_what_is_newer_and_leave_it(later, sibyl):
    before = contents(later)
    for command in (("doctor",), ("doctor", "--repair")):
        checked = sibyl(*command, "--json")
        assert checked.code == 1
        kinds = {each["kind"] for each in checked.json["findings"]}
        assert kinds == {"newer_version", "index_out_of_use"}
    assert sibyl("index", "rebuild").code == 1
    assert contents(later) == before


def test_the_screen_shows_a_session_read_only_and_leaves_everything(later, start):
    before = contents(later)
    with start(*SIBYL, "--session", later.named("Login bug")) as program:
        program.until("Why does the login fail")
        program.until("newer sibyl-tui")
        program.type("A new draft")
        program.press("ctrl+q")
        assert program.wait() == 0
    after = contents(later)
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("config.toml", "hologram = 1\n"),
        ("connections.toml", "hologram = 1\n"),
        ("tools.toml", "hologram = 1\n"),
        ("connections.toml", "[providers.later]\nhologram = 1\n"),
    ],
)
def test_settings_that_only_a_later_program_knows_are_refused_in_a_sentence(
    newest, sibyl, name, key
):
    file = newest.config / name
    file.write_text(key)
    before = contents(newest)
    refused = sibyl("sessions", "list")
    assert refused.code == 2
    (line,) = refused.err.splitlines()
    assert line.startswith(f"{file}: ")
    assert "hologram: there is no such key" in line
    assert contents(newest) == before
