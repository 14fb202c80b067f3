"""Files of pi, of all three versions."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.conversations import branch, live, roles_and_texts, said, turns
from tests.importers.samples import check, check_junk_lines, check_mutants, read_all, samples
from tui.domain.journal.message import TokenUsage
from tui.importers.pi import READER
from tui.importers.protocol import ForeignSummary, Places

SESSION = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"


class File:
    """A file that is written line by line; each entry follows the one before it."""

    def __init__(self, folder, version=3, **header):
        self.path = folder / f"2026-05-01T10-00-00-000Z_{SESSION}.jsonl"
        self.version = version
        self.last = None
        kept = {"version": version} if version > 1 else {"provider": "p", "modelId": "m"}
        time = "2026-05-01T10:00:00.000Z"
        self.lines = [
            {
                "type": "session",
                **kept,
                "id": SESSION,
                "timestamp": time,
                "cwd": "/home/u/shop",
                **header,
            }
        ]

    def entry(self, kind, follows=..., **fields):
        number = len(self.lines)
        links = {}
        if self.version > 1:
            links = {"id": f"{number:08x}", "parentId": self.last if follows is ... else follows}
            self.last = links["id"]
        time = f"2026-05-01T10:00:{number % 60:02}.000Z"
        self.lines.append({"type": kind, **links, "timestamp": time, **fields})
        return self.last

    def message(self, role, content, follows=..., **fields):
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        message = {"role": role, "content": blocks, **fields}
        return self.entry("message", follows, message=message)

    def user(self, content, follows=...):
        return self.message("user", content, follows)

    def answer(self, content, reason="stop", **fields):
        return self.message("assistant", content, model="opus", stopReason=reason, **fields)

    def result(self, call, content):
        return self.message("toolResult", content, toolCallId=call)

    def write(self):
        self.path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return self.path

    def read(self):
        reading = check(READER, self.write())
        ((heading, items),) = reading.conversations
        return heading, items, reading.ledger


def call(name, **arguments):
    return {"type": "toolCall", "id": name, "name": "bash", "arguments": arguments}


def texts(items):
    return [each.content for each in live(items)]


@pytest.fixture
def file(tmp_path):
    """A file of version 3 with its header."""
    folder = tmp_path / ".pi" / "agent" / "sessions" / "--home-u-shop--"
    folder.mkdir(parents=True)
    return File(folder)


def test_a_conversation_is_read_with_its_facts(file):
    file.user(
        [
            {"type": "text", "text": "Look"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ]
    )
    file.answer(
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Reading."},
            call("c1", command="ls"),
        ],
        "toolUse",
        usage={"input": 3, "cacheRead": 20, "cacheWrite": 7, "output": 5},
    )
    file.result("c1", "a.py")
    file.answer("Done.")
    file.entry("session_info", name="Bug in a.py")
    heading, items, ledger = file.read()
    assert (heading.source_id, heading.name, heading.project_path) == (
        SESSION,
        "Bug in a.py",
        "/home/u/shop",
    )
    assert (heading.model, heading.version) == ("opus", "3")
    assert roles_and_texts(items) == [
        ("user", "Look\n\n[image: image/png, 3 bytes]"),
        ("assistant", "Reading."),
        ("tool", "a.py"),
        ("assistant", "Done."),
    ]
    assert items[1].tool_calls[0].arguments == {"command": "ls"}
    assert items[1].usage == TokenUsage(30, 5, 20, 7)
    assert items[2].tool_call_id == "c1"
    assert ledger.read == 6


@pytest.mark.parametrize(
    ("reason", "status", "error"),
    [("aborted", "interrupted", None), ("length", "truncated", None), ("error", "failed", "no")],
)
def test_an_answer_that_ended_early_says_so(file, reason, status, error):
    file.user("Hello")
    file.answer([], reason, errorMessage="no")
    _, items, _ = file.read()
    assert (items[1].status, items[1].error, items[1].content) == (status, error, None)


def test_the_users_own_command_is_the_users_text(file):
    file.entry("message", message={"role": "bashExecution", "command": "ls", "output": "a.py"})
    _, items, _ = file.read()
    assert roles_and_texts(items) == [("user", "!ls\n\na.py")]


def test_the_branch_of_the_last_entry_is_shown(file):
    file.user("Hello")
    greeting = file.answer("Hi.")
    file.user("Write it in C")
    file.entry("branch_summary", greeting, summary="C was tried")
    file.user("Write it in Rust")
    file.user("Never mind", greeting)
    file.entry("label", greeting, label="here")
    _, items, ledger = file.read()
    assert texts(items) == ["Hello", "Hi."]
    assert {"Write it in C", "Write it in Rust"} < {each.content for each in items}
    assert ledger.skipped == {"branch summary": 1, "label": 1}


def test_what_follows_a_torn_line_follows_the_line_before_it(file):
    file.user("A")
    file.answer("a")
    file.user("B")
    file.answer("b")
    path = file.write()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], lines[2][:40] + "\n", *lines[3:]]))
    ((_, items),) = check(READER, path).conversations
    assert texts(items) == ["A", "B", "b"]


def test_a_compaction_stands_for_what_is_before_the_first_that_is_kept(file):
    file.user("Hello")
    file.answer("Hi.")
    kept = file.user("More")
    file.entry("compaction", summary="They greeted.", firstKeptEntryId=kept)
    file.answer("More.")
    _, items, _ = file.read()
    (summary,) = (item for item in items if isinstance(item, ForeignSummary))
    assert summary == ForeignSummary("They greeted.", items[1].id)
    messages = [item for item in items if not isinstance(item, ForeignSummary)]
    assert texts(messages) == ["Hello", "Hi.", "More", "More."]


def test_messages_have_the_same_ids_once_pi_has_given_them_its_own(tmp_path):
    ids = []
    for version in (1, 3):
        folder = tmp_path / str(version)
        folder.mkdir()
        file = File(folder, version)
        file.user("Hello")
        file.answer("Hi.")
        ids.append([each.id for each in file.read()[1]])
    assert ids[0] == ids[1]


def test_a_fork_has_the_ids_of_its_original(file, tmp_path):
    file.user("Hello")
    _, (original,), _ = file.read()
    fork = File(tmp_path, parentSession=str(file.path))
    fork.lines[0]["id"] = "other"
    fork.user("Hello")
    heading, (copy,), _ = fork.read()
    assert (heading.source_id, heading.root, copy.id) == ("other", SESSION, original.id)


def test_files_are_found_and_recognised_but_those_of_sub_agents(file, tmp_path):
    file.user("Hello")
    path = file.write()
    sub_agent = path.parent / "x" / "run-1" / "session.jsonl"
    sub_agent.parent.mkdir(parents=True)
    sub_agent.write_bytes(path.read_bytes())
    assert [each.path for each in READER.find(Places(tmp_path, {}))] == [path]
    assert READER.recognises(path, path.read_bytes())
    assert not READER.recognises(path, b'{"type":"user","uuid":"x"}')
    reading = check(READER, sub_agent)
    assert (reading.conversations, reading.ledger.skipped) == ([], {"sub-agent": 2})


def test_a_damaged_file_is_read(file, tmp_path):
    file.user("Hello the world")
    file.answer("Hi.")
    check_mutants(READER, file.write(), tmp_path)


@given(turns(), st.data(), st.sampled_from([1, 3]))
def test_any_conversation_is_read_back(made, data, version):
    if version == 1:
        made = [turn._replace(follows=number - 1) for number, turn in enumerate(made)]
    shown = data.draw(st.integers(0, len(made) - 1)) if version > 1 else len(made) - 1
    with tempfile.TemporaryDirectory() as folder:
        file = File(Path(folder), version)
        ends = []
        for number, turn in enumerate(made):
            write_turn(file, turn, number, ends[turn.follows] if turn.follows >= 0 else None)
            ends.append(file.last)
        file.entry("label", ends[shown], label="x")
        reading = read_all(READER, file.write())
    ((_, items),) = reading.conversations
    assert roles_and_texts(live(items)) == said(branch(made, shown))
    assert {each.content for each in items} >= {turn.prompt for turn in made}
    assert reading.ledger.total == len(file.lines)


def write_turn(file, turn, number, follows):
    file.user(turn.prompt, follows)
    calls = [f"c{number}-{place}" for place, _ in enumerate(turn.results)]
    if calls:
        file.answer([call(each) for each in calls], "toolUse")
    for each, content in zip(calls, turn.results, strict=True):
        file.result(each, content)
    file.answer(turn.answer)


@pytest.mark.parametrize("path", samples("pi/**/*.jsonl"))
def test_samples_are_read(path, tmp_path):
    assert READER.recognises(path, path.read_bytes()[:4096])
    check(READER, path)
    check_junk_lines(READER, path, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("path", samples("pi/session-migrate/**/*.jsonl"))
def test_damaged_samples_are_read(path, tmp_path):
    check_mutants(READER, path, tmp_path)
