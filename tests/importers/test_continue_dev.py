"""Sessions of Continue."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, read_all, samples
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers.continue_dev import READER
from tui.importers.protocol import ForeignSummary, Places

ID = "5f1d2c9a-8b34-4e21-9d6e-7a0c1b2e3f44"
CALL = {"id": "c1", "type": "function",
        "function": {"name": "read_file", "arguments": '{"filepath": "a.ts"}'}}  # fmt: skip
PICTURE = {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,aGVsbG8="}}
HISTORY = [
    {"message": {"role": "user", "content": [{"type": "text", "text": "Retry \"it\" 😀"}, PICTURE]},
     "contextItems": [{"name": "a.ts", "description": "src/a.ts", "content": "export {}"}]},
    {"message": {"role": "thinking", "content": "Hm."}},
    {"message": {"role": "assistant", "content": "I look.", "toolCalls": [CALL]},
     "toolCallStates": [{"toolCallId": "c1", "status": "done",
                         "output": [{"name": "a.ts", "content": "export {}"}]}]},
    {"message": {"role": "assistant", "content": "Done."},
     "conversationSummary": "A retry was added."},
    {"message": {"role": "user", "content": "thanks"}},
]  # fmt: skip
SESSION = {
    "sessionId": ID,
    "title": "Add retry",
    "workspaceDirectory": "file:///home/ann/my%20shop",
    "history": HISTORY,
    "chatModelTitle": "Claude Sonnet 4.5",
}
LISTED = [{"sessionId": "other"}, {"sessionId": ID, "dateCreated": "1718600000000"}]


def written(home, session=SESSION):
    path = home / ".continue" / "sessions" / f"{ID}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(session, indent=2, ensure_ascii=False))
    path.with_name("sessions.json").write_text(json.dumps(LISTED))
    return path


def records(path):
    return len(json.loads(path.read_text())["history"])


def test_sessions_are_found_without_their_list(tmp_path):
    path = written(tmp_path)
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [path]
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert not READER.recognises(path.with_name("sessions.json"), b'"sessionId"')


def test_a_session_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), records)
    ((heading, (question, call, result, answer, summary, thanks)),) = reading.conversations
    assert (heading.source_id, heading.name) == (ID, "Add retry")
    assert (heading.project_path, heading.model) == ("/home/ann/my shop", "Claude Sonnet 4.5")
    assert heading.created_at == "2024-06-17T04:53:20.000Z"
    assert question.content == (
        'Retry "it" 😀\n\n[image: image/png, 5 bytes]\n\n[context: a.ts, src/a.ts]'
    )
    assert call.tool_calls == (ToolCall("c1", "read_file", {"filepath": "a.ts"}),)
    assert (result.role, result.content, result.tool_call_id) == ("tool", "export {}", "c1")
    assert answer.content == "Done."
    assert summary == ForeignSummary("A retry was added.", through=answer.id)
    assert thanks.content == "thanks"
    assert reading.ledger.skipped == {"thinking": 1}


def test_the_command_line_names_the_model_beside_its_counts(tmp_path):
    counts = {"prompt_tokens": 5, "completion_tokens": 7, "model": "gpt-4o"}
    history = [
        {"message": {"role": "user", "content": "Why?"}},
        {"message": {"role": "assistant", "content": "Because.", "usage": counts}},
    ]
    session = {**SESSION, "title": "Untitled Session", "history": history}
    reading = check(READER, written(tmp_path, session), records)
    assert reading.conversations[0][0].name == ""
    assert reading.messages[1].model == "gpt-4o"
    assert reading.messages[1].usage == TokenUsage(5, 7)


def test_a_result_among_the_messages_is_read_once(tmp_path):
    result = {"message": {"role": "tool", "content": "export {}", "toolCallId": "c1"}}
    history = [*HISTORY[:3], result, *HISTORY[3:]]
    reading = check(READER, written(tmp_path, SESSION | {"history": history}), records)
    assert [each.role for each in reading.messages].count("tool") == 1


def test_messages_of_a_damaged_file_are_read(tmp_path):
    path = written(tmp_path)
    text = path.read_text()
    path.write_text(text[: text.index('"thanks"')])
    reading = read_all(READER, path)
    assert reading.messages[-1].content == "Done."
    assert reading.conversations[0][0].source_id == ID


@pytest.mark.parametrize("path", samples("continue/**/sessions/*-*.json"))
def test_samples_are_read_whole(path, tmp_path):
    reading = check(READER, path, records)
    assert reading.conversations[0][0].created_at
    assert not reading.ledger.skipped
    check_mutants(READER, path, tmp_path)


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    path = written(tmp_path)
    check_mutants(READER, path, tmp_path / "copy", root=path.parent)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    history = [{"message": {"role": role, "content": text}} for role, text in said]
    path = written(tmp_path_factory.getbasetemp(), SESSION | {"history": history})
    assert [(each.role, each.content) for each in check(READER, path, records).messages] == said
