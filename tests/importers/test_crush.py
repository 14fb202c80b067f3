"""crush's sessions, in a database of each project."""

import json

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all
from tests.importers.spoken import check_said, lines
from tests.importers.tables import written
from tui.importers import goose
from tui.importers.crush import READER
from tui.importers.protocol import ForeignSummary, Places

TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT,
                       summary_message_id TEXT, todos TEXT, created_at INTEGER,
                       updated_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
                       is_summary_message INTEGER, created_at INTEGER);
"""


def part(kind, **data):
    return {"type": kind, "data": data}


def message(name, role, *parts, **fields):
    blocks = [part("text", text=each) if isinstance(each, str) else each for each in parts]
    row = {"id": name, "session_id": "s1", "role": role, "parts": json.dumps(blocks)}
    return {**row, "created_at": 1700000000, **fields}


def project(folder, *messages, **fields):
    session = {"id": "s1", "title": "Bread", "created_at": 1700000000, "updated_at": 1700000009}
    path = folder / ".crush" / "crush.db"
    return written(path, TABLES, "wal", sessions=[{**session, **fields}], messages=messages)


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


def test_reads_a_session_with_its_tools(tmp_path):
    path = project(
        tmp_path / "bread",
        message("m1", "user", "List", part("binary", Path="/a/b.png", MIMEType="image/png")),
        message(
            "m2",
            "assistant",
            part("reasoning", thinking="hm"),
            "I look.",
            part("tool_call", id="x", name="ls", input='{"path": "."}', finished=True),
            part("finish", reason="tool_use"),
            model="gpt-4",
        ),
        message("m3", "tool", part("tool_result", tool_call_id="x", name="ls", content="a.txt")),
        message("m4", "assistant", "One"),
        message("m5", "assistant", part("reasoning", thinking="hm")),
    )
    head = path.read_bytes()[:4096]
    assert READER.recognises(path, head)
    assert not goose.READER.recognises(path, head)
    reading = check(READER, path, lambda _: 5)
    heading, (asked, called, result, _) = reading.conversations[0]
    assert (heading.name, heading.project_path) == ("Bread", str(tmp_path / "bread"))
    assert heading.updated_at == "2023-11-14T22:13:29.000Z"
    assert asked.content == "List\n\n[image: b.png, image/png]"
    assert (called.tool_calls[0].arguments, called.model) == ({"path": "."}, "gpt-4")
    assert (result.role, result.content, result.tool_call_id) == ("tool", "a.txt", "x")
    assert reading.ledger.skipped == {"thinking": 1}


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("canceled", "interrupted"),
        ("max_tokens", "truncated"),
        ("error", "failed"),
        ("end_turn", None),
    ],
)
def test_marks_answers_that_did_not_end_well(tmp_path, reason, status):
    end = part("finish", reason=reason, message="busy")
    answer = read_all(READER, project(tmp_path, message("m1", "assistant", "So", end))).messages[0]
    assert (answer.status, answer.error) == (status, "busy" if status == "failed" else None)


def test_reads_a_summary_and_the_to_dos(tmp_path):
    listed = [{"content": "Bake", "status": "in_progress", "active_form": "Baking"}]
    path = project(
        tmp_path,
        message("m1", "user", "Hi"),
        message("m2", "assistant", "They said hi."),
        message("m3", "user", "More"),
        summary_message_id="m2",
        todos=json.dumps(listed),
    )
    reading = read_all(READER, path)
    _, summary, _, todos = reading.conversations[0][1]
    assert summary == ForeignSummary("They said hi.", "m1")
    assert [item.active_form for item in todos.items] == ["Baking"]
    assert said(reading) == [("user", "Hi"), ("user", "More")]


@pytest.mark.parametrize(
    "fields", [{"parent_session_id": "s0"}, {"id": "title-s1"}, {"id": "m$$c"}]
)
def test_counts_sub_agents(tmp_path, fields):
    name = fields.get("id", "s1")
    path = project(tmp_path, message("m1", "user", "Hi", session_id=name), **fields)
    reading = read_all(READER, path)
    assert (reading.conversations, dict(reading.ledger.skipped)) == ([], {"sub-agent": 1})


def test_finds_the_databases_of_known_projects(tmp_path):
    path = project(tmp_path / "bread")
    index = tmp_path / "crush" / "projects.json"
    index.parent.mkdir()
    projects = [{"path": str(tmp_path / name), "data_dir": ".crush"} for name in ("bread", "gone")]
    index.write_text(json.dumps({"projects": projects}))
    places = Places(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})
    assert [found.path for found in READER.find(places)] == [path]


@pytest.mark.full
def test_survives_damage(tmp_path):
    path = project(tmp_path / "a", *(message(f"m{n}", "user", f"{n}") for n in range(9)))
    check_mutants(READER, path, tmp_path)


@given(spoken=lines())
def test_reads_back_any_session(tmp_path_factory, spoken):
    folder = tmp_path_factory.mktemp("e")
    path = project(folder, *(message(each.id, each.role, each.text) for each in spoken))
    check_said(read_all(READER, path).messages, spoken)
