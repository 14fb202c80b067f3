"""Files of Gemini CLI, of one object and of lines."""

import hashlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from tests.importers.conversations import live, roles_and_texts, said, turns
from tests.importers.samples import check, check_junk_lines, check_mutants, read_all, samples
from tui.domain.journal.message import TokenUsage
from tui.importers.gemini_cli import READER
from tui.importers.protocol import ForeignSummary, Places

SESSION = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"
HEADER = {
    "sessionId": SESSION,
    "projectHash": hashlib.sha256(b"/home/u/shop").hexdigest(),
    "startTime": "2026-05-01T10:00:00.000Z",
    "lastUpdated": "2026-05-01T10:00:00.000Z",
}


class File:
    """A file of lines that is written one by one."""

    def __init__(self, home):
        self.home = home
        self.chats = home / ".gemini" / "tmp" / "shop" / "chats"
        self.chats.mkdir(parents=True)
        self.lines = [dict(HEADER)]

    @property
    def messages(self):
        return [line for line in self.lines if "type" in line]

    def message(self, kind, content, name=None, **fields):
        number = len(self.lines)
        made = {
            "id": name or f"m{number}",
            "timestamp": f"2026-05-01T10:00:{number % 60:02}.000Z",
            "type": kind,
            "content": content,
            **fields,
        }
        self.lines.append(made)
        return made

    def user(self, content, name=None, **fields):
        return self.message("user", [{"text": content}], name, **fields)

    def answer(self, content, calls=(), name=None, **fields):
        return self.message("gemini", content, name, toolCalls=list(calls), **fields)

    def set(self, **fields):
        self.lines.append({"$set": fields})

    def write(self):
        path = self.chats / "session-2026-05-01T10-00-0b6f1a52.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path

    def write_object(self):
        path = self.chats / "session-2026-05-01T10-00-0b6f1a52.json"
        path.write_text(json.dumps({**HEADER, "messages": self.messages}))
        return path

    def read(self):
        reading = check(READER, self.write())
        ((heading, items),) = reading.conversations
        return heading, items, reading.ledger


def call(name, output, status="success"):
    result = {"functionResponse": {"id": name, "name": "ls", "response": {"output": output}}}
    return {"id": name, "name": "ls", "args": {"path": "."}, "status": status, "result": [result]}


def texts(items):
    return [each.content for each in live(items)]


@pytest.fixture
def file(tmp_path):
    """A file with its first line."""
    return File(tmp_path)


def test_a_conversation_is_read_with_its_facts_in_both_forms(file):
    file.user("<session_context>x")
    file.message("user", [{"text": "Fix a.py\n--- Content"}], displayContent="Fix @a.py")
    file.answer(
        "",
        [call("c1", "a.py")],
        thoughts=[{}],
        model="pro",
        tokens={"input": 30, "output": 5, "cached": 20},
    )
    file.message("user", [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}])
    file.answer("Done.", model="flash")
    file.message("warning", "careful")
    for path in (file.write(), file.write_object()):
        count = len(file.lines) if path.suffix == ".jsonl" else len(file.messages)
        reading = check(READER, path, lambda _, count=count: count)
        ((heading, items),) = reading.conversations
        assert (heading.source_id, heading.model) == (SESSION, "flash")
        assert roles_and_texts(items) == [
            ("user", "Fix @a.py"),
            ("assistant", None),
            ("tool", "a.py"),
            ("user", "[image: image/png, 3 bytes]"),
            ("assistant", "Done."),
        ]
        assert items[1].tool_calls[0].arguments == {"path": "."}
        assert items[1].usage == TokenUsage(30, 5, 20)
        assert items[2].tool_call_id == "c1"
        assert reading.ledger.skipped == {"injected text": 1, "warning": 1}


def test_the_folder_or_the_index_names_the_project(file):
    file.user("Hello")
    index = file.home / ".gemini" / "projects.json"
    index.write_text(json.dumps({"projects": {"/home/u/shop": "inn"}}))
    assert file.read()[0].project_path == "/home/u/shop"
    (file.chats.parent / ".project_root").write_text("/home/u/other\n")
    assert file.read()[0].project_path == "/home/u/other"


def test_lines_set_the_title_and_the_session(file):
    file.user("Hello")
    file.set(summary="Greeting", sessionId="resumed")
    heading, (message,), _ = file.read()
    assert (heading.name, heading.source_id) == ("Greeting", "resumed")
    assert message.id == "resumed:m1"


def test_a_message_that_comes_again_replaces_the_first(file):
    file.user("Hello")
    file.answer("H", name="a")
    file.user("More")
    file.answer("Hi.", name="a")
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi.", "More"]


def test_rewound_messages_become_versions(file):
    file.user("Hello")
    file.answer("Hi.")
    file.user("Write it in C", name="c")
    file.answer("In C.")
    file.lines.append({"$rewindTo": "c"})
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi."]
    file.user("Write it in Rust")
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi.", "Write it in Rust"]
    assert {"Write it in C", "In C."} < {each.content for each in items}


def test_a_rewind_to_an_unknown_message_undoes_all(file):
    file.user("Helo")
    file.lines.append({"$rewindTo": "unknown"})
    file.user("Hello")
    _, items, _ = file.read()
    assert texts(items) == ["Hello"]
    assert len(items) == 2


def test_a_compaction_becomes_a_summary_and_loses_nothing(file):
    file.user("Hello")
    file.answer("Hi.")
    kept = [file.user("More"), file.answer("More.")]
    summary = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>greeted"}]}
    thanks = {"id": "t", "type": "gemini", "content": "Got it."}
    context = {"id": "c", "type": "user", "content": "<session_context>x"}
    file.lines.insert(1, {"$set": {"messages": [context]}})
    file.set(messages=[context, summary, thanks, *kept])
    file.user("Go on")
    _, items, _ = file.read()
    assert items[2] == ForeignSummary("<state_snapshot>greeted", items[1].id)
    messages = [item for item in items if not isinstance(item, ForeignSummary)]
    assert texts(messages) == ["Hello", "Hi.", "More", "More.", "Go on"]


def test_messages_that_are_set_are_read(file):
    message = {"id": "a", "type": "user", "content": "Hello"}
    file.set(messages=[message, {"id": "b", "type": "gemini", "content": "Hi."}])
    assert texts(file.read()[1]) == ["Hello", "Hi."]
    file.set(messages=[message])
    file.answer("Pardon?")
    assert texts(file.read()[1]) == ["Hello", "Pardon?"]


def test_a_chat_that_is_resumed_goes_on(file):
    context = {"id": "c", "type": "user", "content": "<session_context>x"}
    file.set(messages=[context])
    chat = [context, file.user("Hello"), file.answer("Hi.")]
    file.lines.append(dict(HEADER))
    file.set(messages=[context])
    file.set(sessionId=SESSION)
    file.set(messages=chat)
    file.user("Go on")
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi.", "Go on"]


def test_errors_and_cancellations_end_the_answer_before(file):
    file.user("Hello")
    file.answer("Once")
    file.message("info", "Request cancelled.")
    file.user("Again")
    file.answer("Upon")
    file.message("error", "no quota")
    file.user("Please")
    file.message("error", "no network")
    _, items, _ = file.read()
    assert [(each.status, each.error) for each in items if each.role == "assistant"] == [
        ("interrupted", None),
        ("failed", "no quota"),
        ("failed", "no network"),
    ]


def test_sub_agents_are_counted_and_left_out(file):
    file.lines[0]["kind"] = "subagent"
    file.user("Hello")
    reading = check(READER, file.write())
    assert (reading.conversations, reading.ledger.skipped) == ([], {"sub-agent": 2})


def test_what_was_saved_by_hand_is_read(file):
    path = file.chats.parent / "checkpoint-before.json"
    path.write_text(
        json.dumps(
            [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a.py"}}}],
                },
                {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Done."}]},
            ]
        )
    )
    assert READER.recognises(path, path.read_bytes())
    reading = check(READER, path, lambda _: 4)
    assert reading.conversations[0][0].name == "before"
    assert roles_and_texts(reading.messages) == [
        ("user", "Hello"),
        ("assistant", None),
        ("tool", "a.py"),
        ("assistant", "Done."),
    ]


def test_files_are_found_and_recognised_but_those_of_sub_agents(file):
    file.user("Hello")
    paths = [file.write_object(), file.write()]
    sub_agent = file.chats / SESSION / "x.jsonl"
    sub_agent.parent.mkdir()
    sub_agent.write_bytes(paths[1].read_bytes())
    (file.chats.parent / "logs.json").write_text("[]")
    assert [each.path for each in READER.find(Places(file.home, {}))] == paths
    assert all(READER.recognises(path, path.read_bytes()) for path in paths)
    assert not READER.recognises(paths[1], b'{"type":"user","uuid":"x"}')


@pytest.mark.full
def test_damaged_files_are_read(file, tmp_path):
    file.user("Hello the world")
    file.answer("Hi.", [call("c1", "the end")])
    file.set(messages=[{"id": "s", "type": "user", "content": "the"}])
    check_mutants(READER, file.write(), tmp_path / "lines")
    check_mutants(READER, file.write_object(), tmp_path / "object")


@given(turns(linear=True))
def test_any_conversation_is_read_back(made):
    with tempfile.TemporaryDirectory() as folder:
        file = File(Path(folder))
        for number, turn in enumerate(made):
            file.user(turn.prompt)
            calls = [call(f"c{number}-{n}", text) for n, text in enumerate(turn.results)]
            if calls:
                file.answer("", calls)
            file.answer(turn.answer)
        readings = [read_all(READER, path) for path in (file.write(), file.write_object())]
    assert roles_and_texts(readings[0].messages) == said(made)
    assert readings[0].messages == readings[1].messages


@pytest.mark.parametrize("path", samples("gemini-cli/**/*.json*"))
def test_samples_are_read(path, tmp_path):
    assert READER.recognises(path, path.read_bytes()[:4096])
    if path.suffix == ".jsonl":
        check(READER, path)
        check_junk_lines(READER, path, tmp_path)
    else:
        fields = json.loads(path.read_bytes())
        check(READER, path, lambda _: len(fields.get("messages") or fields["history"]))


@pytest.mark.full
@pytest.mark.parametrize("path", samples("gemini-cli/**/*.json*"))
def test_damaged_samples_are_read(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_a_file_of_the_history_alone_is_recognised_and_has_its_times_and_model(tmp_path):
    path = tmp_path / "session.json"
    history = [
        {"role": "user", "parts": [{"text": "What is it?"}], "ts": 1695000000},
        {"role": "gemini", "parts": [{"text": "A cat."}], "ts": 1695000005},
    ]
    fields = {"history": history, "meta": {"model": "gemini-pro"}, "start_time": 1695000000}
    path.write_text(json.dumps(fields, indent=2))
    assert READER.recognises(path, path.read_bytes())
    reading = check(READER, path, lambda _: len(history))
    ((heading, _),) = reading.conversations
    assert (heading.model, heading.created_at) == ("gemini-pro", "2023-09-18T01:20:00.000Z")
    assert [(each.role, each.content, each.timestamp) for each in reading.messages] == [
        ("user", "What is it?", "2023-09-18T01:20:00.000Z"),
        ("assistant", "A cat.", "2023-09-18T01:20:05.000Z"),
    ]
