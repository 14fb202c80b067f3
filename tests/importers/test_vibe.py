"""Sessions of Mistral Vibe."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import (
    check,
    check_junk_lines,
    check_mutants,
    lines_in,
    read_all,
    samples,
)
from tui.domain.journal.message import ToolCall
from tui.importers.protocol import ForeignSummary, Places
from tui.importers.vibe import READER

ID = "0f0f0f0f-1111-4222-8333-444444444444"
META = {
    "session_id": ID,
    "parent_session_id": None,
    "start_time": "2026-08-17T12:00:00+00:00",
    "end_time": "2026-08-17T12:05:00+00:00",
    "environment": {"working_directory": "/home/ann/shop"},
    "title": "Repair the till",
    "total_messages": 6,
    "config": {"active_model": "devstral-2"},
    "system_prompt": {"role": "system", "content": "You are Vibe."},
}
CALL = {"id": "c1", "index": 0, "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "till.py"}'}}  # fmt: skip
IMAGE = {"alias": "cat.png", "mime_type": "image/png",
         "source": {"kind": "inline", "data": "aGVsbG8="}}  # fmt: skip
MESSAGES = [
    {"role": "user", "content": "Repair \"it\"\u2028😀", "images": [IMAGE], "injected": False,
     "message_id": "m1"},
    {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [CALL],
     "injected": False, "message_id": "m2"},
    {"role": "tool", "content": "print()", "name": "read_file", "tool_call_id": "c1",
     "injected": False},
    {"role": "user", "content": "You are in plan mode.", "injected": True, "message_id": "m3"},
    {"role": "user", "content": "All was read.", "injected": True,
     "context_boundary": "compaction", "message_id": "m4"},
    {"role": "assistant", "content": "Repaired.", "injected": False, "message_id": "m5"},
]  # fmt: skip


def written(home, messages=MESSAGES, meta=META):
    path = home / ".vibe" / "logs" / "session" / "session_20260817_120000_0f0f0f0f"
    path.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
    (path / "messages.jsonl").write_text(lines)
    (path / "meta.json").write_text(json.dumps(meta, indent=2))
    return path


def as_file(home):
    """Write a session as version 1 did."""
    path = home / ".vibe" / "logs" / "session" / "session_20260101_120000_0f0f0f0f.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"metadata": META, "messages": MESSAGES}, indent=2))
    return path


def lines(path):
    return lines_in(path / "messages.jsonl")


def test_sessions_are_found_with_those_of_version_1_and_without_sub_agents(tmp_path):
    paths = [as_file(tmp_path), written(tmp_path)]
    (paths[1] / "agents" / "session_x").mkdir(parents=True)
    (paths[1] / "agents" / "session_x" / "messages.jsonl").touch()
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == paths
    moved = Places(tmp_path / "none", {"VIBE_HOME": str(tmp_path / ".vibe")})
    assert [source.path for source in READER.find(moved)] == paths
    assert READER.recognises(paths[0], paths[0].read_bytes()[:200])
    assert READER.recognises(paths[1], b"")
    assert READER.recognises(paths[1] / "messages.jsonl", b"")


def test_a_session_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), lines)
    ((heading, (question, call, result, summary, answer)),) = reading.conversations
    assert (heading.source_id, heading.name) == (ID, "Repair the till")
    assert (heading.project_path, heading.model) == ("/home/ann/shop", "devstral-2")
    assert heading.created_at == "2026-08-17T12:00:00.000Z"
    assert heading.updated_at == "2026-08-17T12:05:00.000Z"
    assert question.id == "m1"
    assert question.content == 'Repair "it"\u2028😀\n\n[image: cat.png, image/png, 5 bytes]'
    assert call.tool_calls == (ToolCall("c1", "read_file", {"path": "till.py"}),)
    assert (result.role, result.content, result.tool_call_id) == ("tool", "print()", "c1")
    assert summary == ForeignSummary("All was read.", through=result.id)
    assert (answer.role, answer.content) == ("assistant", "Repaired.")
    assert reading.ledger.skipped == {"injected text": 1}


def test_a_session_of_version_1_is_read_alike(tmp_path):
    new = read_all(READER, written(tmp_path)).conversations
    old = check(READER, as_file(tmp_path), lambda _: len(MESSAGES)).conversations
    assert old == new


@pytest.mark.parametrize("path", samples("vibe/**/messages.jsonl"))
def test_samples_are_read_whole(path):
    reading = check(READER, path.parent, lines)
    assert reading.messages
    assert reading.ledger.read > reading.ledger.skipped.total()


@pytest.mark.full
@pytest.mark.parametrize("path", samples("vibe/**/messages.jsonl"))
def test_mutants_of_samples_do_not_fail(path, tmp_path):
    check_mutants(READER, path.parent, tmp_path)


@pytest.mark.full
def test_mutants_do_not_fail_and_hide_nothing(tmp_path):
    check_mutants(READER, written(tmp_path), tmp_path)
    check_mutants(READER, as_file(tmp_path), tmp_path / "file")
    path = written(tmp_path) / "messages.jsonl"
    (path.parent / "meta.json").unlink()
    check_junk_lines(READER, path, tmp_path)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    messages = [
        {"role": role, "content": text, "injected": False, "message_id": f"m{n}"}
        for n, (role, text) in enumerate(said)
    ]
    reading = check(READER, written(tmp_path_factory.getbasetemp(), messages), lines)
    assert [(each.role, each.content) for each in reading.messages] == said
