"""Tasks of Cline and Roo Code."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, elements_in, read_all, samples
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers import cline, roo_code
from tui.importers.protocol import ForeignSummary, Places

READER = cline.READER
MS = 1749477660000
DETAILS = "<environment_details>\n# Files\nmain.py\n</environment_details>"
SENT = [
    {
        "role": "user",
        "content": [{"type": "text", "text": f'<task>\nAdd "a" 😀\n</task>\n\n{DETAILS}'}],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "I write."},
            {"type": "tool_use", "id": "t1", "name": "write", "input": {"path": "a.py"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": "saved"}],
            },
            {"type": "text", "text": DETAILS},
        ],
    },
    {"role": "user", "content": [{"type": "text", "text": DETAILS}]},
    {"role": "assistant", "content": "Done."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "<feedback>\nand this\n</feedback>"},
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="},
            },
        ],
    },
]
SHOWN = [
    {
        "ts": MS,
        "type": "say",
        "say": "task",
        "text": 'Add "a" 😀\nplease',
        "conversationHistoryIndex": -1,
    },
    {
        "ts": MS + 500,
        "type": "say",
        "say": "api_req_started",
        "text": "{}",
        "conversationHistoryIndex": 0,
    },
    {
        "ts": MS + 9000,
        "type": "say",
        "say": "text",
        "text": "I write.",
        "conversationHistoryIndex": 1,
    },
]


def folder(home, extension="saoudrizwan.claude-dev", name=str(MS)):
    path = home / ".config" / "Code" / "User" / "globalStorage" / extension / "tasks" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def written(home, sent=SENT, **where):
    path = folder(home, **where)
    (path / "api_conversation_history.json").write_text(json.dumps(sent, ensure_ascii=False))
    (path / "ui_messages.json").write_text(json.dumps(SHOWN))
    history = path.parent.parent / "state" / "taskHistory.json"
    history.parent.mkdir(exist_ok=True)
    facts = {"id": path.name, "task": 'Add "a"\nplease', "modelId": "claude-4"}
    history.write_text(json.dumps([facts | {"cwdOnTaskInitialization": "/home/ann/shop"}]))
    return path


def records(path):
    return elements_in(path / "api_conversation_history.json")


def test_tasks_of_editors_and_of_the_command_line_are_found(tmp_path):
    task = written(tmp_path)
    session = newest(tmp_path)
    places = Places(tmp_path, {})
    assert [source.path for source in READER.find(places)] == [task, session]
    assert READER.recognises(task, b"")
    assert READER.recognises(task / "api_conversation_history.json", b"")
    assert READER.recognises(session, session.read_bytes()[:4096])
    roo = written(tmp_path, extension="rooveterinaryinc.roo-cline", name="0f0f")
    assert [source.path for source in roo_code.READER.find(places)] == [roo]


def test_a_task_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), records)
    ((heading, (question, call, result, answer, feedback)),) = reading.conversations
    assert (heading.source_id, heading.name) == (str(MS), 'Add "a"')
    assert (heading.project_path, heading.model) == ("/home/ann/shop", "claude-4")
    assert heading.created_at == "2025-06-09T14:01:00.000Z"
    assert question.content == 'Add "a" 😀'
    assert question.timestamp == "2025-06-09T14:01:00.500Z"
    assert call.content == "I write."
    assert call.timestamp == "2025-06-09T14:01:09.000Z"
    assert call.tool_calls == (ToolCall("t1", "write", {"path": "a.py"}),)
    assert (result.role, result.content, result.tool_call_id) == ("tool", "saved", "t1")
    assert answer.content == "Done."
    assert feedback.content == "and this\n\n[image: image/png, 5 bytes]"
    assert reading.ledger.skipped == {"injected text": 1}


def test_a_summary_stands_for_the_messages_that_name_it(tmp_path):
    sent = [message | {"ts": MS + 1000 * n} for n, message in enumerate(SENT)]
    for message in sent[:3]:
        message["condenseParent"] = "c"
    summary = {
        "role": "assistant",
        "isSummary": True,
        "condenseId": "c",
        "ts": MS,
        "content": [{"type": "text", "text": "A file."}],
    }
    path = written(tmp_path, [*sent[:5], summary, sent[5]])
    ((_, items),) = check(roo_code.READER, path, records).conversations
    result = next(item for item in items if item.role == "tool")
    assert ForeignSummary("A file.", through=result.id) in items
    assert items[-1].timestamp == "2025-06-09T14:01:05.000Z"


def newest(home):
    path = home / ".cline" / "data" / "sessions" / "1_a" / "1_a.messages.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    answer = {
        "id": "m2",
        "role": "assistant",
        "content": "Yes.",
        "ts": MS + 1000,
        "modelInfo": {"id": "claude"},
        "metrics": {"inputTokens": 9, "outputTokens": 2},
    }
    asked = [
        {"type": "text", "text": "Is it?"},
        {"type": "file", "path": "/a/b.py", "content": "x"},
    ]
    messages = [{"id": "m1", "role": "user", "content": asked, "ts": MS}, answer]
    path.write_text(json.dumps({"version": 1, "agent": "lead", "messages": messages}, indent=1))
    facts = {
        "session_id": "1_a",
        "cwd": "/home/ann",
        "model": "claude",
        "metadata": {"title": "It"},
    }
    path.with_name("1_a.json").write_text(json.dumps(facts))
    return path


def test_a_session_of_the_newest_command_line_is_read_whole(tmp_path):
    ((heading, (question, answer)),) = check(READER, newest(tmp_path), lambda _: 2).conversations
    assert (heading.source_id, heading.name, heading.project_path) == ("1_a", "It", "/home/ann")
    assert (question.id, question.content) == ("1_a/m1", "Is it?\n\n[file: b.py]")
    assert (answer.content, answer.model, answer.usage) == ("Yes.", "claude", TokenUsage(9, 2))


@pytest.mark.parametrize("path", samples("cline/**/tasks/*"))
def test_samples_of_tasks_are_read_whole(path, tmp_path):
    messages = check(READER, path, records).messages
    assert messages[0].content == "Add a hello function to src/main.py"
    assert "environment_details" not in "".join(each.content or "" for each in messages)
    check_mutants(READER, path, tmp_path)


@pytest.mark.parametrize("path", samples("cline/**/*.messages.json"))
def test_samples_of_sessions_are_read_whole(path):
    reading = check(READER, path, lambda path: len(json.loads(path.read_text())["messages"]))
    assert not reading.ledger.skipped


def test_messages_of_a_damaged_file_are_read(tmp_path):
    path = written(tmp_path)
    api = path / "api_conversation_history.json"
    api.write_text(api.read_text()[:-40])
    assert read_all(READER, path).messages[-1].content == "Done."


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    check_mutants(READER, written(tmp_path), tmp_path / "task")
    path = newest(tmp_path)
    check_mutants(READER, path, tmp_path / "session", root=path.parent)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    sent = [
        {
            "role": role,
            "content": [{"type": "text", "text": f"<task>\n{text}\n</task>\n\n{DETAILS}"}],
        }
        if role == "user"
        else {"role": role, "content": [{"type": "text", "text": text}]}
        for role, text in said
    ]
    reading = check(READER, written(tmp_path_factory.getbasetemp(), sent), records)
    expected = [(role, text.strip() if role == "user" else text) for role, text in said]
    assert [(each.role, each.content) for each in reading.messages] == [
        each for each in expected if each[1].strip()
    ]


def test_the_users_words_are_read_without_the_marks_around_them(tmp_path):
    sent = [{"role": "user", "content": '<user_input mode="act">Why?</user_input>'}]
    assert [each.content for each in read_all(READER, written(tmp_path, sent)).messages] == ["Why?"]


def test_what_the_model_is_sent_of_a_long_session_is_no_session(tmp_path):
    path = newest(tmp_path)
    copy = path.with_name(path.name.replace(".messages.json", ".compaction.json"))
    copy.write_bytes(path.read_bytes())
    assert READER.recognises(copy, copy.read_bytes())
    reading = read_all(READER, copy)
    assert not reading.conversations
    assert reading.ledger.skipped["duplicate"] == read_all(READER, path).ledger.total
