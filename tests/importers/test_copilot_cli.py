"""Files of Copilot CLI."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from tests.importers.conversations import roles_and_texts, said, turns
from tests.importers.samples import check, check_junk_lines, check_mutants, read_all, samples
from tui.domain.journal.message import TokenUsage
from tui.importers.copilot_cli import READER
from tui.importers.protocol import ForeignSummary, Places

SESSION = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"


class File:
    """A file of events that is written one by one."""

    def __init__(self, home):
        self.path = home / "session-state" / SESSION / "events.jsonl"
        self.path.parent.mkdir(parents=True)
        self.lines = []
        self.event(
            "session.start",
            sessionId=SESSION,
            copilotVersion="1.0.70",
            selectedModel="gpt-5",
            context={"cwd": "/home/u/shop"},
        )

    def event(self, kind, agent=None, **data):
        number = len(self.lines)
        self.lines.append(
            {
                "type": kind,
                "data": data,
                "id": f"{number:08x}-0000-4000-8000-000000000000",
                "timestamp": f"2026-05-01T10:00:{number % 60:02}.000Z",
                "parentId": None,
                **({"agentId": agent} if agent else {}),
            }
        )

    def user(self, content, **data):
        self.event("user.message", content=content, transformedContent="<x>" + content, **data)

    def answer(self, content, calls=(), **data):
        requests = [
            {"toolCallId": each, "name": "bash", "arguments": '{"command":"ls"}'} for each in calls
        ]
        self.event("assistant.message", content=content, toolRequests=requests, **data)

    def result(self, call, content, **data):
        self.event("tool.execution_complete", toolCallId=call, result={"content": content}, **data)

    def write(self):
        self.path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return self.path

    def read(self):
        reading = check(READER, self.write())
        ((heading, items),) = reading.conversations
        return heading, items, reading.ledger


@pytest.fixture
def file(tmp_path):
    """A file with its first event."""
    return File(tmp_path / ".copilot")


def test_a_conversation_is_read_with_its_facts(file):
    file.event("system.message", content="You are")
    file.user(
        "Fix the bug",
        attachments=[{"displayName": "a.png", "mimeType": "image/png", "byteLength": 3}],
    )
    file.answer("Reading.", ["c1"], messageId="m1")
    file.event("tool.execution_start", toolCallId="c1")
    file.result("c1", "a.py", success=True)
    file.answer("Done.", messageId="m2", model="opus")
    file.event("session.title_changed", title="Bug in a.py")
    heading, items, ledger = file.read()
    assert (heading.source_id, heading.name, heading.project_path) == (
        SESSION,
        "Bug in a.py",
        "/home/u/shop",
    )
    assert (heading.model, heading.version) == ("opus", "1.0.70")
    assert roles_and_texts(items) == [
        ("user", "Fix the bug\n\n[image: a.png, image/png, 3 bytes]"),
        ("assistant", "Reading."),
        ("tool", "a.py"),
        ("assistant", "Done."),
    ]
    assert items[1].tool_calls[0].arguments == {"command": "ls"}
    assert items[2].tool_call_id == "c1"
    assert [items[1].model, items[3].model] == ["gpt-5", "opus"]
    assert ledger.skipped == {"system prompt": 1, "duplicate": 1}


def test_sub_agents_are_counted_and_left_out(file):
    file.user("Hello")
    file.answer("Searching", agent="a")
    file.result("c", "x", parentToolCallId="c1")
    _, items, ledger = file.read()
    assert roles_and_texts(items) == [("user", "Hello")]
    assert ledger.skipped == {"sub-agent": 2}


def test_a_stopped_answer_is_interrupted_and_an_error_is_a_failed_one(file):
    file.user("Hello")
    file.answer("Once", ["c1"])
    file.result("c1", "")
    file.event("abort", reason="user")
    file.user("Again")
    file.event("session.error", message="no quota")
    _, items, _ = file.read()
    assert [(each.status, each.error) for each in items] == [
        (None, None),
        ("interrupted", None),
        (None, None),
        (None, None),
        ("failed", "no quota"),
    ]


def test_a_failed_tool_has_its_error_for_a_result(file):
    file.event("tool.execution_complete", toolCallId="c", success=False, error={"message": "no"})
    _, items, _ = file.read()
    assert roles_and_texts(items) == [("tool", "no")]


def test_an_answer_has_the_token_counts_of_its_request(file):
    file.event(
        "session.usage_record",
        usage={"apiCallId": "a", "inputTokens": 30, "outputTokens": 5, "cacheReadTokens": 20},
    )
    file.answer("Hi.", apiCallId="a")
    file.answer("Well?", apiCallId="b")
    _, items, _ = file.read()
    assert [each.usage for each in items] == [TokenUsage(30, 5, 20), None]


def test_an_answer_in_pieces_is_one_message(file):
    file.answer("Once ", messageId="m", chunkIndex=0)
    file.answer("upon", ["c1"], messageId="m", chunkIndex=1)
    _, items, _ = file.read()
    assert roles_and_texts(items) == [("assistant", "Once upon")]
    assert len(items[0].tool_calls) == 1


def test_a_compaction_becomes_a_summary(file):
    file.user("Hello")
    file.answer("Hi.")
    file.event("session.compaction_complete", success=True, summaryContent="They greeted.")
    file.user("Go on")
    _, items, _ = file.read()
    assert items[2] == ForeignSummary("They greeted.", items[1].id)
    assert items[3].parent == items[1].id


@pytest.mark.parametrize(
    ("yaml", "name"),
    [
        ("name: Mine\nuser_named: true\n", "Mine"),
        ("name: Mine\nuser_named: false\n", "Made"),
        ('name: "Mine: \\"x\\""\nuser_named: true\n', 'Mine: "x"'),
        ("name: >-\n  Mine\n  too\nuser_named: true\n", "Mine too"),
        ("name: 'It''s'\nuser_named: true\n", "It's"),
    ],
)
def test_the_users_title_comes_first(file, yaml, name):
    file.user("Hello")
    file.event("session.title_changed", title="Made")
    file.path.with_name("workspace.yaml").write_text("cwd: /home/u/inn\n" + yaml)
    heading, _, _ = file.read()
    assert (heading.name, heading.project_path) == (name, "/home/u/inn")


def test_files_are_found_and_recognised(file, tmp_path):
    path = file.write()
    older = tmp_path / ".copilot" / "session-state" / "old.jsonl"
    older.write_bytes(path.read_bytes())
    assert [each.path for each in READER.find(Places(tmp_path, {}))] == [path, older]
    moved = Places(tmp_path / "x", {"COPILOT_HOME": str(tmp_path / ".copilot")})
    assert len(list(READER.find(moved))) == 2
    assert READER.recognises(path, path.read_bytes())
    assert not READER.recognises(path, b'{"type":"user","uuid":"x"}')


def test_files_of_the_first_versions_are_read(tmp_path):
    path = tmp_path / "session_1.json"
    calls = [{"id": "c1", "function": {"name": "bash", "arguments": "{}"}}]
    path.write_text(
        json.dumps(
            {
                "sessionId": SESSION,
                "chatMessages": [
                    {"role": "system", "content": "You are"},
                    {"role": "user", "content": "Hello"},
                    {"role": "assistant", "content": None, "tool_calls": calls},
                    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
                ],
            }
        )
    )
    assert READER.recognises(path, path.read_bytes())
    reading = check(READER, path, lambda _: 4)
    assert roles_and_texts(reading.messages) == [
        ("user", "Hello"),
        ("assistant", None),
        ("tool", "a.py"),
    ]


def test_a_huge_picture_is_skipped(file):
    file.event("session.binary_asset", data="x" * 3_000_000)
    line = json.dumps(file.lines.pop(), separators=(",", ":"))
    file.user("Hello")
    path = file.write()
    path.write_text(line + "\n" + path.read_text())
    reading = check(READER, path)
    assert reading.ledger.skipped == {"session binary asset": 1}
    assert roles_and_texts(reading.messages) == [("user", "Hello")]


def test_a_damaged_file_is_read(file, tmp_path):
    file.user("Hello the world")
    file.answer("Hi.")
    check_mutants(READER, file.write(), tmp_path)


@given(turns(linear=True))
def test_any_conversation_is_read_back(made):
    with tempfile.TemporaryDirectory() as folder:
        file = File(Path(folder))
        for number, turn in enumerate(made):
            file.user(turn.prompt)
            calls = [f"c{number}-{place}" for place, _ in enumerate(turn.results)]
            if calls:
                file.answer("", calls)
            for each, content in zip(calls, turn.results, strict=True):
                file.result(each, content)
            file.answer(turn.answer)
        reading = read_all(READER, file.write())
    assert roles_and_texts(reading.messages) == said(made)
    assert reading.ledger.total == len(file.lines)


@pytest.mark.parametrize("path", samples("copilot-cli/**/*.jsonl"))
def test_samples_are_read(path, tmp_path):
    assert READER.recognises(path, path.read_bytes()[:4096])
    check(READER, path)
    check_junk_lines(READER, path, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("path", samples("copilot-cli/**/*.jsonl"))
def test_damaged_samples_are_read(path, tmp_path):
    check_mutants(READER, path, tmp_path)
