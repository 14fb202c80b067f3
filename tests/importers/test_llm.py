"""llm's logs: threads whose messages are a tree, and the older rows of prompt and answer."""

import json

import pytest
from hypothesis import given

from tests.importers.samples import check_mutants, looks, read_all
from tests.importers.spoken import check_said, lines, trees
from tests.importers.tables import plain, written
from tui.importers.llm import READER
from tui.importers.protocol import Places
from tui.importers.trees import AGAIN

NEW = """
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
                    tip_message_hash TEXT, model TEXT, resolved_model TEXT, input_tokens INTEGER,
                    output_tokens INTEGER, datetime_utc TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
                    tool_name TEXT, text TEXT, payload TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
"""
OLD = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, resolved_model TEXT, prompt TEXT,
                        system TEXT, response TEXT, conversation_id TEXT, datetime_utc TEXT,
                        input_tokens INTEGER, output_tokens INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,
                         tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT,
                           tool_call_id TEXT);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
"""
TIME = "2026-11-22T22:05:29.402780+00:00"


@pytest.fixture
def path(tmp_path):
    """The path of the logs, in a folder of their own."""
    folder = tmp_path / "io.datasette.llm"
    folder.mkdir()
    return folder / "logs.db"


def message(name, parent, role):
    return {"hash": name, "parent_hash": parent, "role": role}


def part(of, kind="text", text=None, **payload):
    facts = json.dumps(payload) if payload else None
    return {"message_hash": of, "position": 0, "type": kind, "text": text, "payload": facts}


def turn(asked, answered):
    return {
        "id": f"t-{answered}",
        "thread_id": "th",
        "parent_message_hash": asked,
        "tip_message_hash": answered,
        "model": "local",
        "input_tokens": 11,
        "output_tokens": 7,
        "datetime_utc": TIME,
    }


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


def test_reads_a_thread(path):
    written(
        path,
        NEW,
        threads=[{"id": "th", "name": "Add", "tip_message_hash": "d", "datetime_utc": TIME}],
        turns=[turn("a", "b"), turn("c", "d")],
        messages=[
            message("s", None, "system"),
            message("a", "s", "user"),
            message("b", "a", "assistant"),
            message("c", "b", "tool"),
            message("d", "c", "assistant"),
        ],
        parts=[
            part("s", text="Be brief"),
            part("a", text_ref=[{"fragment": 1}, {"literal": "\nAdd"}]),
            part("b", "tool_call", name="add", arguments={"a": 1}, tool_call_id="x"),
            part("c", "tool_result", name="add", output="3", tool_call_id="x"),
            part("d", text="Three."),
        ],
        fragments=[{"id": 1, "content": "1 and 2"}],
    )
    assert READER.recognises(path, path.read_bytes()[:4096])
    before = looks(path)
    reading = read_all(READER, path)
    assert looks(path) == before
    assert said(reading) == [
        ("user", "1 and 2\nAdd"),
        ("assistant", None),
        ("tool", "3"),
        ("assistant", "Three."),
    ]
    asked, call, result, answer = reading.messages
    assert (asked.id, asked.timestamp) == ("th/a", "2026-11-22T22:05:29.402Z")
    assert (call.tool_calls[0].arguments, result.tool_call_id) == ({"a": 1}, "x")
    assert (answer.model, answer.usage.input_tokens) == ("local", 11)
    assert reading.ledger.skipped == {"system prompt": 1}


def test_reads_the_older_form(path):
    first = {"id": "r1", "conversation_id": "c1", "prompt": "Add", "response": ""}
    second = {"id": "r2", "conversation_id": "c1", "prompt": "", "response": "Three."}
    alone = {"id": "r3", "prompt": "Hi", "response": "Ho", "resolved_model": "gpt-4-0613"}
    facts = {"model": "gpt-4", "datetime_utc": TIME, "system": "Be brief"}
    written(
        path,
        OLD,
        conversations=[{"id": "c1", "name": "Sums", "model": "gpt-4"}],
        responses=[{**row, **facts} for row in (first, second, alone)],
        tool_calls=[
            {"response_id": "r1", "name": "add", "arguments": '{"a": 1}', "tool_call_id": "x"}
        ],
        tool_results=[{"response_id": "r2", "name": "add", "output": "3", "tool_call_id": "x"}],
        attachments=[{"id": "at", "type": "image/png", "path": "/home/me/a.png"}],
        prompt_attachments=[{"response_id": "r1", "attachment_id": "at", "order": 0}],
        fragments=[{"id": 1, "content": "1 and 2"}],
        prompt_fragments=[{"response_id": "r1", "fragment_id": 1, "order": 0}],
    )
    assert READER.recognises(path, path.read_bytes()[:4096])
    reading = read_all(READER, path)
    assert said(reading) == [
        ("user", "1 and 2\n\nAdd\n\n[image: a.png, image/png]"),
        ("assistant", None),
        ("tool", "3"),
        ("assistant", "Three."),
        ("user", "Hi"),
        ("assistant", "Ho"),
    ]
    assert [heading.source_id for heading, _ in reading.conversations] == ["c1", "r3"]
    assert [heading.name for heading, _ in reading.conversations] == ["Sums", ""]
    assert reading.messages[-1].model == "gpt-4-0613"
    assert reading.ledger.total == reading.ledger.read == 3


def test_a_conversation_that_is_in_both_forms_is_read_once(path):
    written(
        path,
        NEW + OLD.replace("CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);", ""),
        threads=[{"id": "th", "tip_message_hash": "a"}],
        messages=[message("a", None, "user")],
        parts=[part("a", text="Hi")],
        responses=[{"id": "r1", "conversation_id": "th", "prompt": "Hi", "response": "Ho"}],
    )
    assert said(read_all(READER, path)) == [("user", "Hi")]


def test_finds_the_logs(path, tmp_path):
    assert not list(READER.find(Places(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path)})))
    written(path, OLD)
    (found,) = READER.find(Places(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path)}))
    (named,) = READER.find(Places(tmp_path, {"LLM_USER_PATH": str(path.parent)}))
    assert found.path == named.path == path


@pytest.mark.full
def test_survives_damaged_logs(path, tmp_path):
    rows = [{"id": f"r{n}", "prompt": "Hi", "response": "Ho"} for n in range(9)]
    check_mutants(READER, written(path, OLD, responses=rows), tmp_path)


@given(tree=trees())
def test_reads_back_any_thread(tmp_path_factory, tree):
    spoken, leaf = tree
    path = written(
        tmp_path_factory.mktemp("e") / "logs.db",
        NEW,
        threads=[{"id": "th", "tip_message_hash": leaf}],
        turns=[turn(each.parent, each.id) for each in spoken],
        messages=[message(each.id, each.parent or None, each.role) for each in spoken],
        parts=[part(each.id, text=each.text) for each in plain(spoken)],
    )
    read = read_all(READER, path).messages
    own = [each for each in read if not each.id.endswith(AGAIN)]
    parents = {f"th/{each.id}": f"th/{each.parent}" if each.parent else "" for each in spoken}
    assert {each.id: each.parent for each in own} == parents
    assert read[-1].id.removesuffix(AGAIN) == f"th/{leaf}"


@given(spoken=lines())
def test_reads_back_any_conversation_of_the_older_form(tmp_path_factory, spoken):
    spoken = plain(spoken)
    pairs = zip(spoken[::2], [*spoken[1::2], None], strict=False)
    rows = [
        {"id": asked.id, "conversation_id": "c", "prompt": asked.text,
         "response": answer.text if answer else ""}
        for asked, answer in pairs
    ]  # fmt: skip
    path = written(tmp_path_factory.mktemp("e") / "logs.db", OLD, responses=rows)
    check_said(read_all(READER, path).messages, spoken)
