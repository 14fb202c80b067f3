"""goose's sessions: rows of a database, and lines of the files before."""

import json
import os

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, looks, read_all
from tests.importers.spoken import check_said, lines
from tests.importers.tables import written
from tui.importers.goose import READER
from tui.importers.protocol import ForeignSummary, Places

TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, user_set_name BOOLEAN,
                       session_type TEXT, working_dir TEXT, created_at TIMESTAMP,
                       updated_at TIMESTAMP, extension_data TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT,
                       content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
"""


def message(role, *blocks, visible=True, agent=True):
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    facts = {"userVisible": visible, "agentVisible": agent}
    return {"role": role, "created": 1700000000, "content": content, "metadata": facts}


def in_database(folder, *messages, **fields):
    session = {
        "id": "20260101_1",
        "name": "Bread",
        "session_type": "user",
        "working_dir": "/home/me/bread",
        "created_at": "2026-01-01 10:00:00",
    }
    rows = [
        {
            "session_id": "20260101_1",
            "role": each["role"],
            "content_json": json.dumps(each["content"]),
            "created_timestamp": each["created"],
            "metadata_json": json.dumps(each["metadata"]),
        }
        for each in messages
    ]
    path = folder / "goose" / "sessions" / "sessions.db"
    return written(path, TABLES, "wal", sessions=[{**session, **fields}], messages=rows)


def in_file(folder, *messages):
    path = folder / "goose" / "sessions" / "20260101_100000.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"working_dir": "/home/me/bread", "description": "Bread"}
    path.write_text("".join(json.dumps(each) + "\n" for each in (facts, *messages)))
    return path


FORMS = pytest.mark.parametrize("form", [in_database, in_file])


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


@FORMS
def test_reads_a_session_with_its_tools(tmp_path, form):
    call = {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}
    result = {"status": "success", "value": [{"type": "text", "text": "a.txt"}]}
    path = form(
        tmp_path,
        message("user", "List"),
        message("assistant", "I look.", {"type": "toolRequest", "id": "x", "toolCall": call}),
        message("user", {"type": "toolResponse", "id": "x", "toolResult": result}),
        message("assistant", {"type": "thinking", "thinking": "hm"}),
        message("assistant", "One file."),
    )
    assert READER.recognises(path, path.read_bytes()[:4096])
    before = looks(path)
    reading = read_all(READER, path)
    assert looks(path) == before
    heading, (asked, called, answer, _) = reading.conversations[0]
    assert (heading.name, heading.project_path) == ("Bread", "/home/me/bread")
    assert asked.timestamp == "2023-11-14T22:13:20.000Z"
    assert called.tool_calls[0].arguments == {"command": "ls"}
    assert (answer.role, answer.content, answer.tool_call_id) == ("tool", "a.txt", "x")
    assert said(reading)[-1] == ("assistant", "One file.")
    assert (reading.ledger.read, reading.ledger.skipped["thinking"]) == (4, 1)


def test_reads_a_failed_tool(tmp_path):
    result = {"status": "error", "error": "no such file"}
    block = {"type": "toolResponse", "id": "x", "toolResult": result}
    assert said(read_all(READER, in_database(tmp_path, message("user", block)))) == [
        ("tool", "no such file")
    ]


@FORMS
def test_reads_what_the_user_did_not_see_as_a_summary(tmp_path, form):
    path = form(
        tmp_path,
        message("user", "Hi", agent=False),
        message("user", "They said hi.", visible=False),
        message("assistant", "I go on.", visible=False),
        message("user", "More"),
    )
    reading = read_all(READER, path)
    items = reading.conversations[0][1]
    assert items[1] == ForeignSummary("They said hi.", items[0].id)
    assert said(reading) == [("user", "Hi"), ("user", "More")]
    assert reading.ledger.skipped["injected text"] == 1


def test_reads_the_to_dos(tmp_path):
    data = json.dumps({"todo.v0": {"content": "- [x] Knead\n- [ ] Bake\n"}})
    path = in_database(tmp_path, message("user", "Hi"), extension_data=data)
    items = read_all(READER, path).conversations[0][1][-1].items
    assert [(item.content, item.status) for item in items] == [
        ("Knead", "completed"),
        ("Bake", "pending"),
    ]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("sub_agent", "sub-agent"), ("hidden", "hidden session"), ("scheduled", "scheduled run")],
)
def test_counts_sessions_that_nobody_held(tmp_path, kind, reason):
    reading = read_all(READER, in_database(tmp_path, message("user", "Hi"), session_type=kind))
    assert (reading.conversations, dict(reading.ledger.skipped)) == ([], {reason: 1})


def test_finds_databases_and_files(tmp_path):
    paths = [in_database(tmp_path), in_file(tmp_path)]
    places = Places(tmp_path, {"XDG_DATA_HOME": os.fspath(tmp_path)})
    assert [found.path for found in READER.find(places)] == paths


@pytest.mark.full
def test_survives_damage(tmp_path):
    messages = [message("user", f"{n}") for n in range(9)]
    check_mutants(READER, in_database(tmp_path / "a", *messages), tmp_path / "b")
    check_mutants(READER, in_file(tmp_path / "c", *messages), tmp_path / "d")


def test_counts_the_line_of_facts(tmp_path):
    path = in_file(tmp_path, message("user", "Hi"), message("assistant", "Ho"))
    assert check(READER, path).ledger.skipped == {"facts of the session": 1}


def test_counts_junk_among_the_lines_and_reads_the_rest(tmp_path):
    path = in_file(tmp_path, message("user", "Hi"), message("assistant", "Ho"))
    data = path.read_bytes().replace(b"\n", b"\n17\n{\n")
    path.write_bytes(data)
    reading = read_all(READER, path)
    assert said(reading) == [("user", "Hi"), ("assistant", "Ho")]
    assert reading.ledger.skipped["unreadable line"] == 6


@given(spoken=lines())
def test_reads_back_any_session(tmp_path_factory, spoken):
    folder = tmp_path_factory.mktemp("e")
    for form in (in_database, in_file):
        path = form(folder, *(message(each.role, each.text) for each in spoken))
        check_said(read_all(READER, path).messages, spoken)
