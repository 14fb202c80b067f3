"""Cursor's sessions on the command line: a database of blobs, and readable copies."""

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.samples import check, check_junk_lines, check_mutants, read_all, samples
from tests.importers.spoken import check_said, lines
from tests.importers.tables import written
from tui.importers.cursor_cli import READER, turns
from tui.importers.protocol import Ledger, Places

TRANSCRIPTS = samples("cursor-cli/**/*.jsonl")
STORES = samples("cursor-cli/agent-sessions/*.db")
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
"""
FACTS = {
    "agentId": "a1",
    "name": "Bread",
    "createdAt": 1700000000000,
    "lastUsedModel": "sonnet",
    "workspacePath": "/home/me/bread",
}


def message(role, *blocks):
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    return {"role": role, "content": content}


def store(folder, *messages, others=(), root=None):
    """A database whose last state refers to some messages, by way of one turn for each."""
    blobs = {}

    def add(data):
        name = sha256(data).hexdigest()
        blobs[name] = data
        return bytes.fromhex(name)

    for each in others:
        add(json.dumps(each).encode())
    turns = [
        add(b"\x0a\x20" + add(json.dumps(each).encode()) + bytes([n]))
        for n, each in enumerate(messages)
    ]
    last = add(b"".join(b"\x12\x20" + turn for turn in turns)).hex()
    value = json.dumps({**FACTS, "latestRootBlobId": root or last}).encode().hex()
    rows = [{"id": name, "data": data} for name, data in blobs.items()]
    path = folder / "chats" / "0123" / "a1" / "store.db"
    return written(path, TABLES, "wal", meta=[{"key": "0", "value": value}], blobs=rows)


def field(number, data):
    low, high = len(data) & 127, len(data) >> 7
    length = bytes([low | 128, high]) if high else bytes([low])
    return bytes([number << 3 | 2]) + length + data


def store_of_turns(folder, *turns, others=()):
    """A database whose prompts and answers stand in turns, beside messages that are neither."""
    blobs = {}

    def add(data):
        blobs[sha256(data).hexdigest()] = data
        return sha256(data).digest()

    above = b"".join(field(1, add(json.dumps(each).encode())) for each in others)
    for prompt, *steps in turns:
        agent = field(1, add(field(1, prompt.encode()) + field(2, b"m1") + b"\x18\x96\x01"))
        agent += b"".join(field(2, add(step)) for step in steps)
        above += field(8, add(field(1, agent)))
    value = json.dumps({**FACTS, "latestRootBlobId": add(above).hex()}).encode().hex()
    rows = [{"id": name, "data": data} for name, data in blobs.items()]
    path = folder / "chats" / "0123" / "a1" / "store.db"
    return written(path, TABLES, "wal", meta=[{"key": "0", "value": value}], blobs=rows)


def answer(text):
    return field(1, field(1, text.encode()))


def transcript(folder, *messages, name="a2"):
    path = folder / "projects" / "bread" / "agent-transcripts" / name / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [{"role": each["role"], "message": {"content": each["content"]}} for each in messages]
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


FORMS = pytest.mark.parametrize("form", [store, transcript])


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


@pytest.mark.parametrize("path", TRANSCRIPTS)
def test_reads_the_transcripts_of_others(path):
    reading = check(READER, path)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} >= {"user", "assistant"}
    calls = {call.id for message in reading.messages for call in message.tool_calls}
    answered = {each.tool_call_id for each in reading.messages if each.role == "tool"}
    assert all(answered)
    # Some transcripts have the results alone.
    assert not calls or answered <= calls
    assert not any("user_query" in (message.content or "") for message in reading.messages)


@pytest.mark.full
@pytest.mark.parametrize("path", TRANSCRIPTS)
def test_survives_damaged_transcripts(path, tmp_path):
    check_mutants(READER, path, tmp_path)
    check_junk_lines(READER, path, tmp_path)


@pytest.mark.parametrize("path", STORES)
def test_reads_an_empty_store_of_others(path, tmp_path):
    reading = check(READER, path, lambda _: 0)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert reading.conversations[0][0].name == "Test Session"
    check_mutants(READER, path, tmp_path)


@FORMS
def test_reads_a_session_with_its_tools(tmp_path, form):
    call = {"type": "tool-call", "toolCallId": "x", "toolName": "ls", "args": {"path": "."}}
    result = {"type": "tool-result", "toolCallId": "x", "toolName": "ls", "result": "a.txt"}
    path = form(
        tmp_path,
        message("system", "Be nice."),
        message("user", "<user_info>\nLinux\n</user_info>"),
        message("user", "<user_query>\nList\n</user_query>"),
        message("assistant", {"type": "reasoning", "text": "hm"}, "[REDACTED]", call),
        message("tool", result),
        message("assistant", "One."),
    )
    assert READER.recognises(path, path.read_bytes()[:4096])
    reading = read_all(READER, path)
    _, called, answer, _ = reading.messages
    assert said(reading) == [
        ("user", "List"),
        ("assistant", None),
        ("tool", "a.txt"),
        ("assistant", "One."),
    ]
    assert (called.tool_calls[0].arguments, answer.tool_call_id) == ({"path": "."}, "x")
    assert reading.ledger.skipped == {"system prompt": 1, "injected text": 1}


def test_gives_the_facts_of_a_stored_session(tmp_path):
    path = store(tmp_path, message("user", "Hi"), message("assistant", "Ho"))
    heading, (_, answer) = check(READER, path, lambda _: 2).conversations[0]
    assert (heading.source_id, heading.name) == ("a1", "Bread")
    assert (heading.project_path, answer.model) == ("/home/me/bread", "sonnet")
    assert heading.created_at == "2023-11-14T22:13:20.000Z"


def test_reads_what_the_last_state_refers_to_and_counts_the_rest(tmp_path):
    again = message("user", "ok")
    gone = [message("user", "undone")]
    path = store(tmp_path, again, message("assistant", "Ho"), again, others=gone)
    reading = read_all(READER, path)
    assert said(reading) == [("user", "ok"), ("assistant", "Ho"), ("user", "ok")]
    assert reading.ledger.skipped == {"message of an earlier state": 1}


def test_reads_all_messages_where_the_last_state_is_unknown(tmp_path):
    path = store(tmp_path, message("user", "Hi"), message("assistant", "Ho"), root="beef")
    assert said(read_all(READER, path)) == [("user", "Hi"), ("assistant", "Ho")]


def test_reads_the_turns_of_a_state_that_refers_to_no_prompt(tmp_path):
    path = store_of_turns(
        tmp_path,
        ("Why? \N{GRINNING FACE}", field(3, b"Hm."), answer("Because."), field(2, b"ls")),
        ("And then?", answer("Bread.")),
        others=[message("system", "Be brief.")],
    )
    reading = check(READER, path, lambda _: 7)
    assert said(reading) == [
        ("user", "Why? \N{GRINNING FACE}"),
        ("assistant", "Because."),
        ("user", "And then?"),
        ("assistant", "Bread."),
    ]
    assert reading.ledger.skipped == {"thinking": 1, "tool call": 1, "system prompt": 1}


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_damaged_turns_do_no_harm(root, step):
    blobs = {"a": root}
    read = list(turns("a", lambda name: blobs.get(name, step), Ledger()))
    assert {each["role"] for each in read} <= {"user", "assistant"}


def test_finds_stores_and_the_transcripts_of_other_sessions(tmp_path):
    path = store(tmp_path / ".cursor", message("user", "Hi"))
    transcript(tmp_path / ".cursor", message("user", "Hi"), name="a1")
    other = transcript(tmp_path / ".cursor", message("user", "Hi"))
    inner = other.parent / "subagents" / "b.jsonl"
    inner.parent.mkdir()
    inner.write_text("")
    assert [found.path for found in READER.find(Places(tmp_path, {}))] == [path, other]
    places = Places(tmp_path / "away", {"CURSOR_CONFIG_DIR": str(tmp_path / ".cursor")})
    assert [found.path for found in READER.find(places)] == [path, other]


@pytest.mark.full
def test_survives_damaged_stores(tmp_path):
    path = store(tmp_path / "a", *(message("user", f"{n}") for n in range(9)))
    check_mutants(READER, path, tmp_path)


@given(spoken=lines())
def test_reads_back_any_session(tmp_path_factory, spoken):
    folder = tmp_path_factory.mktemp("e")
    for form in (store, transcript):
        path = form(folder, *(message(each.role, each.text) for each in spoken))
        check_said(read_all(READER, path).messages, spoken)
