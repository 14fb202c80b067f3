"""opencode's three forms of a session: its database, its JSON files, and its export."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, looks, read_all, samples
from tests.importers.spoken import check_said, lines
from tui.importers.opencode import READER
from tui.importers.protocol import ForeignSummary, ForeignTodos, Places

EXPORTS = samples("opencode/session-migrate/**/*.json")
SESSIONS = samples("opencode/*/storage*/session/*/*.json")
TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
                      version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER);
"""


def message(name, role, *parts, **info):
    """A message as the export has it; parts are texts or objects."""
    facts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    number = int(name.removeprefix("m"))
    return {
        "info": {"id": name, "role": role, "time": {"created": 1787054400000 + number}, **info},
        "parts": facts,
    }


def tool(call, said, **state):
    facts = {"status": "completed", "input": {"path": "a"}, "output": said}
    return {"type": "tool", "callID": call, "tool": "read", "state": {**facts, **state}}


def exported(folder, *messages, **info):
    folder.mkdir(exist_ok=True)
    path = folder / "session.json"
    facts = {"id": "ses_1", "title": "Bread", "directory": "/home/me/bread", **info}
    for each in messages:
        each["info"]["sessionID"] = "ses_1"
    path.write_text(json.dumps({"info": facts, "messages": messages}))
    return path


def stored(folder, *messages, **info):
    """The same as files."""
    storage = folder / "opencode" / "storage"
    files = {"session/global/ses_1.json": {"title": "Bread", "directory": "/home/me/bread", **info}}
    for each in messages:
        name = each["info"]["id"]
        files[f"message/ses_1/{name}.json"] = each["info"]
        for number, part in enumerate(each["parts"]):
            files[f"part/{name}/prt_{number:03}.json"] = part
    for name, value in files.items():
        (storage / name).parent.mkdir(parents=True, exist_ok=True)
        (storage / name).write_text(json.dumps(value))
    return storage / "session/global/ses_1.json"


def in_database(folder, *messages, revert=None, parent=None, listed=()):
    """The same as rows."""
    (folder / "opencode").mkdir(parents=True, exist_ok=True)
    path = folder / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = wal")
        database.executescript(TABLES)
        times = (1787054400000, 1787054500000)
        row = ("ses_1", parent, "/home/me/bread", "Bread", "1.2", json.dumps(revert), *times)
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        for each in messages:
            name = each["info"]["id"]
            data = json.dumps({key: value for key, value in each["info"].items() if key != "id"})
            row = (name, "ses_1", 1787054400000, data)
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for number, part in enumerate(each["parts"]):
                row = (f"{name}-{number:03}", name, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?)", row)
        for number, (content, status) in enumerate(listed):
            row = ("ses_1", content, status, number)
            database.execute("INSERT INTO todo VALUES (?, ?, ?, ?)", row)
        database.commit()
    return path


FORMS = pytest.mark.parametrize("written", [exported, stored, in_database])


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


def records_in_export(path):
    """Count the messages and parts of an export; a summary is one of the messages."""
    messages = json.loads(path.read_bytes())["messages"]
    return sum(1 + len(each["parts"]) for each in messages)


def records_in_storage(path):
    """Count the files of a session's messages and parts, by the ids that are in them."""
    storage = path.parents[2]
    session = json.loads(path.read_bytes())["id"]
    messages = [(each.stem, json.loads(each.read_bytes())) for each in storage.glob("message/*/*")]
    names = [{stem, info["id"]} for stem, info in messages if info["sessionID"] == session]
    parts = [list(storage.glob(f"part/{name}/*")) for both in names for name in both]
    loose = [json.loads(each.read_bytes())["messageID"] for each in storage.glob("part/*.json")]
    found = sum(name in both for both in names for name in loose)
    return len(names) + sum(map(len, parts)) + found


@pytest.mark.parametrize("path", EXPORTS)
def test_reads_an_export_of_others(path):
    reading = check(READER, path, records_in_export)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} == {"user", "assistant", "tool"}
    summaries = [item for item in reading.conversations[0][1] if isinstance(item, ForeignSummary)]
    assert bool(summaries) == ('"compaction"' in path.read_text())


def test_a_file_of_a_session_is_read_with_those_of_its_messages(tmp_path):
    asked, answered = message("m1", "user", "Why?"), message("m2", "assistant", "So.")
    path = stored(tmp_path, asked)
    before = set(READER.parts(path))
    stored(tmp_path, asked, answered)
    grown = {each.name for each in set(READER.parts(path)) - before}
    assert grown == {"m2.json", "prt_000.json"}


@pytest.mark.full
@pytest.mark.parametrize("path", EXPORTS)
def test_survives_a_damaged_export(path, tmp_path):
    check_mutants(READER, path, tmp_path)


@pytest.mark.parametrize("path", SESSIONS)
def test_reads_the_files_of_others(path):
    reading = check(READER, path, records_in_storage)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert reading.messages
    assert reading.conversations[0][0].project_path.startswith("/")


@FORMS
def test_gives_the_facts_of_a_session(tmp_path, written):
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 0}}
    facts = {"providerID": "anthropic", "modelID": "sonnet", "tokens": tokens}
    path = written(tmp_path, message("m1", "user", "Hi"), message("m2", "assistant", "Ho", **facts))
    assert READER.recognises(path, path.read_bytes()[:4096])
    reading = read_all(READER, path)
    heading, (_, answer) = reading.conversations[0]
    assert (heading.source_id, heading.name) == ("ses_1", "Bread")
    assert heading.project_path == "/home/me/bread"
    assert (answer.id, answer.model) == ("m2", "anthropic/sonnet")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (13, 7)
    assert answer.timestamp == "2026-08-18T12:00:00.002Z"
    assert reading.ledger.total == reading.ledger.read == 4


@FORMS
def test_reads_a_tool_as_call_and_result(tmp_path, written):
    parts = [{"type": "step-start"}, {"type": "reasoning", "text": "hm"}, "I look."]
    calls = [tool("x", "one"), tool("y", "", status="error", error="no file", output=None)]
    path = written(tmp_path, message("m1", "assistant", *parts, *calls, "Done."))
    reading = read_all(READER, path)
    assert said(reading) == [
        ("assistant", "I look."),
        ("tool", "one"),
        ("tool", "no file"),
        ("assistant", "Done."),
    ]
    assert [call.id for call in reading.messages[0].tool_calls] == ["x", "y"]
    assert [each.tool_call_id for each in reading.messages[1:3]] == ["x", "y"]
    assert reading.ledger.skipped == {"part without words": 1, "thinking": 1}


@FORMS
def test_leaves_out_what_the_user_did_not_write(tmp_path, written):
    injected = {"type": "text", "text": "reminder", "synthetic": True}
    file = {"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;x"}
    path = written(tmp_path, message("m1", "user", "Look", injected, file))
    reading = read_all(READER, path)
    assert said(reading) == [("user", "Look\n\n[image: a.png, image/png]")]
    assert reading.ledger.skipped == {"injected text": 1}


@pytest.mark.parametrize(
    ("info", "status", "error"),
    [
        ({"error": {"name": "MessageAbortedError"}}, "interrupted", None),
        ({"error": {"name": "MessageOutputLengthError"}}, "truncated", None),
        ({"error": {"name": "APIError", "data": {"message": "busy"}}}, "failed", "busy"),
        ({"finish": "length"}, "truncated", None),
        ({"finish": "stop"}, None, None),
    ],
)
def test_marks_answers_that_did_not_end_well(tmp_path, info, status, error):
    path = exported(tmp_path, message("m1", "assistant", "So", **info))
    answer = read_all(READER, path).messages[0]
    assert (answer.status, answer.error) == (status, error)


@FORMS
def test_undone_turns_are_an_earlier_version(tmp_path, written):
    texts = [message(f"m{n}", ("assistant", "user")[n % 2], f"{n}") for n in range(1, 5)]
    reading = read_all(READER, written(tmp_path, *texts, revert={"messageID": "m3"}))
    assert [each.content for each in reading.messages] == ["1", "2", "3", "4", "2"]
    assert reading.messages[-1].parent == "m1"


def test_reads_the_answer_of_a_compaction_as_a_summary(tmp_path):
    path = in_database(
        tmp_path,
        message("m1", "user", "Hi"),
        message("m2", "user", {"type": "compaction"}),
        message("m3", "assistant", "They said hi.", summary=True),
        message("m4", "user", "Go on"),
    )
    reading = read_all(READER, path)
    assert reading.conversations[0][1][1] == ForeignSummary("They said hi.", "m1")
    assert said(reading) == [("user", "Hi"), ("user", "Go on")]


def test_reads_the_to_dos(tmp_path):
    listed = [("Knead", "completed"), ("Bake", "in_progress"), ("Freeze", "cancelled")]
    path = in_database(tmp_path, message("m1", "user", "Hi"), listed=listed)
    todos = read_all(READER, path).conversations[0][1][-1]
    assert isinstance(todos, ForeignTodos)
    assert [(item.content, item.status) for item in todos.items] == listed[:2]


def test_counts_a_sub_agent(tmp_path):
    path = in_database(tmp_path, message("m1", "user", "Hi"), parent="ses_0")
    reading = read_all(READER, path)
    assert (reading.conversations, dict(reading.ledger.skipped)) == ([], {"sub-agent": 1})


def test_counts_a_damaged_part_and_reads_the_rest(tmp_path):
    path = stored(tmp_path, message("m1", "user", "Hi", "Ho"))
    (path.parents[2] / "part/m1/prt_000.json").write_text("{")
    reading = read_all(READER, path)
    assert said(reading) == [("user", "Ho")]
    assert reading.ledger.skipped == {"unreadable line": 1}


def test_finds_databases_and_files(tmp_path):
    database = in_database(tmp_path, message("m1", "user", "Hi"))
    file = stored(tmp_path, message("m1", "user", "Hi"))
    old = tmp_path / "opencode/project/bread/storage/session/info/ses_0.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    before = looks(tmp_path)
    places = Places(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})
    found = list(READER.find(places))
    assert [each.path for each in found] == [database, file, old]
    parts = [each for each in file.parents[2].rglob("m1*") if each.is_file()]
    assert found[1].size > file.stat().st_size + sum(each.stat().st_size for each in parts)
    assert looks(tmp_path) == before


def test_reads_the_oldest_files(tmp_path):
    storage = tmp_path / "project/bread/storage/session"
    files = {
        "info/ses_1.json": {"title": "Bread", "time": {"created": 1787054400000}},
        "message/ses_1/m1.json": {"role": "assistant", "path": {"cwd": "/home/me"}},
        "part/ses_1/m1/prt_1.json": {"type": "text", "text": "Hi"},
    }
    for name, value in files.items():
        (storage / name).parent.mkdir(parents=True)
        (storage / name).write_text(json.dumps(value))
    path = storage / "info/ses_1.json"
    assert READER.recognises(path, path.read_bytes())
    reading = read_all(READER, path)
    assert said(reading) == [("assistant", "Hi")]
    assert reading.conversations[0][0].project_path == "/home/me"


def test_a_database_in_use_is_left_as_it_is(tmp_path):
    path = in_database(tmp_path, message("m1", "user", "Hi"))
    with closing(sqlite3.connect(path)) as database:
        data = json.dumps({"role": "user", "time": {"created": 1787054400009}})
        database.execute("INSERT INTO message VALUES ('m2', 'ses_1', 0, ?)", (data,))
        part = json.dumps({"type": "text", "text": "Ho"})
        database.execute("INSERT INTO part VALUES ('p', 'm2', ?)", (part,))
        database.commit()
        before = looks(Path(path))
        assert said(read_all(READER, path)) == [("user", "Hi"), ("user", "Ho")]
        assert looks(Path(path)) == before


@pytest.mark.full
def test_survives_damaged_databases(tmp_path):
    path = in_database(tmp_path / "source", message("m1", "user", "Hi"), listed=[("a", "b")])
    check_mutants(READER, path, tmp_path)


@given(spoken=lines())
def test_reads_back_any_session(tmp_path_factory, spoken):
    folder = tmp_path_factory.mktemp("e")
    for written in (exported, stored, in_database):
        path = written(folder, *(message(each.id, each.role, each.text) for each in spoken))
        check_said(read_all(READER, path).messages, spoken)


def test_files_that_were_copied_elsewhere_are_recognised(tmp_path):
    path = stored(tmp_path, message("m1", "user", "Why?"))
    copy = tmp_path / "copied"
    (tmp_path / "opencode" / "storage").rename(copy)
    path = copy / "session/global/ses_1.json"
    assert READER.recognises(path, path.read_bytes())
    assert [each.content for each in read_all(READER, path).messages] == ["Why?"]


def test_parts_that_lie_beside_each_other_are_read_with_their_messages(tmp_path):
    path = stored(tmp_path, message("m1", "user", "Why?"), message("m2", "assistant", "Because."))
    for name in ("m1", "m2"):
        part = path.parents[2] / "part" / name / "prt_000.json"
        fields = {**json.loads(part.read_bytes()), "messageID": name}
        part.unlink()
        (path.parents[2] / "part" / f"prt_{name}.json").write_text(json.dumps(fields))
    said = [(each.role, each.content) for each in read_all(READER, path).messages]
    assert said == [("user", "Why?"), ("assistant", "Because.")]
