"""Chats of VS Code, with Copilot and others."""

import json

import pytest
from hypothesis import given

from tests.importers.conversations import live, said, turns
from tests.importers.samples import check, check_junk_lines, check_mutants, read_all
from tui.domain.journal.todo import TodoItem
from tui.importers.protocol import ForeignTodos, Places
from tui.importers.vscode import READER

ID = "0f7c2f0e-5c58-4a7e-9d55-6f6f3f1f2a11"
TERMINAL = {"kind": "terminal", "commandLine": {"original": "npm test"},
            "terminalCommandOutput": {"text": "3 passed"}}  # fmt: skip
LIST = {"kind": "todoList", "todoList": [
    {"id": 1, "title": "Test it", "status": "in-progress"},
    {"id": 2, "title": "Ship it", "status": "not-started"}]}  # fmt: skip


def tool(call, name, **facts):
    return {"kind": "toolInvocationSerialized", "toolCallId": call, "toolId": name,
            "invocationMessage": f"Using {name}", "isComplete": True, **facts}  # fmt: skip


def words(text):
    return {"value": text, "isTrusted": False}


REQUESTS = [
    {"requestId": "request_1", "timestamp": 1718600000000, "modelId": "copilot/gpt-4.1",
     "message": {"text": "Test #file:a.ts", "parts": []},
     "variableData": {"variables": [
         {"kind": "file", "name": "a.ts"}, {"kind": "tool", "name": "x"}]},
     "response": [
         {"kind": "thinking", "value": "Hm."},
         words("I look at "),
         {"kind": "inlineReference", "inlineReference": {"path": "/shop/src/a.ts"}},
         words(" first."),
         tool("c1", "copilot_readFile", pastTenseMessage=words("Read a.ts")),
         tool("c2", "run_in_terminal", toolSpecificData=TERMINAL),
         tool("c3", "grep", subAgentInvocationId="c9"),
         tool("c4", "mcp_docs", resultDetails={"input": '{"q": "ts"}', "isError": False,
              "output": [{"type": "embed", "isText": True, "value": "Found."}]}),
         tool("c5", "manage_todo_list", toolSpecificData=LIST),
         words("All **pass**."),
     ],
     "modelState": {"value": 1, "completedAt": 1718600009000}},
    {"requestId": "request_2", "timestamp": 1718600010000, "message": "And now?",
     "response": [words("Well, ")], "modelState": {"value": 2}},
    {"requestId": "request_3", "timestamp": 1718600020000, "message": {"text": "Again"},
     "response": [], "result": {"errorDetails": {"message": "You are over the limit."}}},
    {"requestId": "request_4", "timestamp": 1718600030000, "message": {"text": "Undone"},
     "response": [words("Never seen.")], "shouldBeRemovedOnSend": {"requestId": "request_4"}},
]  # fmt: skip
CHAT = {"version": 3, "requesterUsername": "ann", "responderUsername": "GitHub Copilot",
        "sessionId": ID, "creationDate": 1718599990000, "customTitle": "Testing a.ts",
        "requests": REQUESTS}  # fmt: skip


def folder(home, editor="Code"):
    path = home / ".config" / editor / "User" / "workspaceStorage" / "5b1f" / "chatSessions"
    path.mkdir(parents=True, exist_ok=True)
    facts = {"folder": "file:///home/ann/my%20shop"}
    path.with_name("workspace.json").write_text(json.dumps(facts))
    return path


def written(home, chat=CHAT):
    path = folder(home) / f"{ID}.json"
    path.write_text(json.dumps(chat, indent=2))
    return path


def logged(home, *changes):
    path = folder(home) / f"{ID}.jsonl"
    lines = (json.dumps(change, separators=(",", ":")) for change in changes)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def requests(path):
    return len(json.loads(path.read_text())["requests"])


def test_chats_of_all_editors_are_found(tmp_path):
    path = written(tmp_path)
    other = folder(tmp_path, "VSCodium") / "b.jsonl"
    other.write_text(json.dumps({"kind": 0, "v": CHAT}, separators=(",", ":")))
    alone = path.parents[3] / "globalStorage" / "emptyWindowChatSessions" / "c.json"
    alone.parent.mkdir(parents=True)
    alone.write_bytes(path.read_bytes())
    found = [source.path for source in READER.find(Places(tmp_path, {}))]
    assert sorted(found) == sorted([path, other, alone])
    assert all(READER.recognises(each, each.read_bytes()[:4096]) for each in found)
    assert not READER.recognises(path.with_name("state.json"), b'{"requests": []}')


def test_a_chat_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), requests)
    ((heading, items),) = reading.conversations
    assert (heading.source_id, heading.name, heading.model) == (ID, "Testing a.ts", "gpt-4.1")
    assert heading.project_path == "/home/ann/my shop"
    assert heading.created_at == "2024-06-17T04:53:10.000Z"
    question, called, *_ = items
    assert question.content == "Test #file:a.ts\n\n[file: a.ts]"
    assert question.timestamp == "2024-06-17T04:53:20.000Z"
    assert (called.content, called.model) == ("I look at `a.ts` first.", "gpt-4.1")
    assert called.timestamp == "2024-06-17T04:53:29.000Z"
    assert "All **pass**." in [message.content for message in reading.messages]


def test_exports_without_ids_are_different_chats(tmp_path):
    names = set()
    for number in range(2):
        path = tmp_path / str(number) / "chat.json"
        path.parent.mkdir()
        asked = {"requestId": f"request_{number}", "message": {"text": "Why?"}}
        path.write_text(json.dumps({"responderUsername": "Copilot", "requests": [asked]}))
        ((heading, _),) = check(READER, path, requests).conversations
        names.add(heading.source_id)
    assert len(names) == 2


def test_what_tools_were_given_and_gave_is_read(tmp_path):
    made = check(READER, written(tmp_path), requests).messages
    calls = {call.name: call.arguments for message in made for call in message.tool_calls}
    assert calls == {
        "readFile": {"shown as": "Using copilot_readFile"},
        "run_in_terminal": {"command": "npm test"},
        "mcp_docs": {"q": "ts"},
        "manage_todo_list": {"shown as": "Using manage_todo_list"},
    }
    results = [(each.tool_call_id, each.content) for each in made if each.role == "tool"]
    assert results == [
        ("c1", "Read a.ts"),
        ("c2", "3 passed"),
        ("c4", "Found."),
        ("c5", "Using manage_todo_list"),
    ]


def test_the_last_to_do_list_is_read(tmp_path):
    ((_, items),) = read_all(READER, written(tmp_path)).conversations
    assert items[-1] == ForeignTodos(
        (TodoItem("Test it", "in_progress", "Test it"), TodoItem("Ship it", "pending", "Ship it"))
    )


def test_what_was_undone_is_another_version_and_the_rest_is_shown(tmp_path):
    ((_, items),) = read_all(READER, written(tmp_path)).conversations
    shown = [message.content for message in live(items)]
    assert shown[-4:] == ["And now?", "Well, ", "Again", None]
    assert "Never seen." in [getattr(item, "content", "") for item in items]


def test_an_answer_that_was_stopped_or_failed_says_so(tmp_path):
    ((_, items),) = read_all(READER, written(tmp_path)).conversations
    stopped, _, failed = live(items)[-3:]
    assert (stopped.status, stopped.error) == ("interrupted", None)
    assert (failed.status, failed.error) == ("failed", "You are over the limit.")


def test_a_log_of_changes_gives_what_was_there_last(tmp_path):
    first, *_, last = REQUESTS
    begun = CHAT | {"requests": [first | {"response": first["response"][:2]}, last]}
    path = logged(
        tmp_path,
        {"kind": 0, "v": begun | {"customTitle": "Old"}},
        {"kind": 1, "k": ["customTitle"], "v": "Testing a.ts"},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": first["response"][1:]},
        {"kind": 2, "k": ["requests"], "i": 1, "v": REQUESTS[1:]},
        {"kind": 1, "k": ["requests", 1, "modelId"], "v": "x"},
        {"kind": 3, "k": ["requests", 1, "modelId"]},
    )
    whole = read_all(READER, written(tmp_path / "whole"))
    assert check(READER, path, lambda _: len(REQUESTS)).conversations == whole.conversations
    check_junk_lines(READER, path, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 1, "k": ["requests", 9, "message"], "v": "?"},
        {"kind": 2, "k": ["requests", True], "v": []},
        {"kind": 1, "k": [], "v": {}},
        {"kind": 4, "k": ["requests"]},
    ],
)
def test_a_change_that_fits_nowhere_is_counted(tmp_path, change):
    path = logged(tmp_path, {"kind": 0, "v": CHAT}, change)
    reading = check(READER, path, lambda _: len(REQUESTS) + 1)
    assert reading.ledger.skipped == {"unreadable line": 1}


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    path = written(tmp_path)
    check_mutants(READER, path, tmp_path / "a", root=path.parent)
    path.unlink()
    path = logged(tmp_path, {"kind": 0, "v": CHAT}, {"kind": 2, "k": ["requests"], "v": REQUESTS})
    check_mutants(READER, path, tmp_path / "b", root=path.parent)


def request(number, turn):
    calls = [
        tool(f"{number}-{n}", "look", resultDetails={"input": "{}", "output": result})
        for n, result in enumerate(turn.results)
    ]
    return {"requestId": f"r{number}", "message": {"text": turn.prompt},
            "response": [*calls, words(turn.answer)]}  # fmt: skip


@given(turns(linear=True))
def test_any_chat_comes_back(tmp_path_factory, made):
    chat = CHAT | {"requests": [request(number, turn) for number, turn in enumerate(made)]}
    path = written(tmp_path_factory.getbasetemp(), chat)
    read = check(READER, path, requests).messages
    spoken = [(each.role, each.content) for each in read]
    # Each call stands with its own result.
    assert [each for each in spoken if each != ("assistant", None)] == [
        each for each in said(made) if each != ("assistant", None)
    ]
