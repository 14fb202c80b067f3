"""Files of Claude Code, as its versions since 2025 write them."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.conversations import branch, live, roles_and_texts, said, turns
from tests.importers.samples import check, check_junk_lines, check_mutants, read_all, samples
from tui.domain.journal.message import TokenUsage
from tui.importers.claude_code import READER
from tui.importers.protocol import ForeignSummary, ForeignTodos, Places

SESSION = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"


def uuid(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


class File:
    """A file that is written line by line; each line follows the one before it."""

    def __init__(self, folder, name=SESSION):
        self.path = folder / f"{name}.jsonl"
        self.lines = []
        self.last = None
        self.number = 0

    def note(self, **fields):
        self.lines.append({"sessionId": SESSION, **fields})

    def line(self, kind, follows=..., **fields):
        self.number += 1
        parent = self.last if follows is ... else follows
        self.last = fields.pop("uuid", uuid(self.number))
        self.lines.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "cwd": "/home/u/shop",
                "sessionId": SESSION,
                "version": "2.1.209",
                "type": kind,
                **fields,
                "uuid": self.last,
                "timestamp": f"2026-05-01T10:00:{self.number % 60:02}.000Z",
            }
        )
        return self.last

    def user(self, content, follows=..., **fields):
        message = {"role": "user", "content": content}
        return self.line("user", follows, message=message, **fields)

    def answer(self, *blocks, name=None, follows=..., model="claude-opus-5", **fields):
        message = {
            "id": name or f"msg_{self.number}",
            "role": "assistant",
            "model": model,
            "content": [text(b) if isinstance(b, str) else b for b in blocks],
            "stop_reason": fields.pop("stop", "end_turn"),
            "usage": fields.pop("usage", {}),
        }
        return self.line("assistant", follows, message=message, requestId="req_1", **fields)

    def write(self):
        lines = [json.dumps(line) for line in self.lines]
        self.path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return self.path

    def read(self):
        reading = check(READER, self.write())
        ((heading, items),) = reading.conversations
        return heading, items, reading.ledger


def text(words):
    return {"type": "text", "text": words}


def call(name, tool="Bash", **arguments):
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name, content):
    return {"type": "tool_result", "tool_use_id": name, "content": content}


@pytest.fixture
def file(tmp_path):
    """An empty file."""
    folder = tmp_path / ".claude" / "projects" / "-home-u-shop"
    folder.mkdir(parents=True)
    return File(folder)


def shown(file):
    """Read a file, and list roles and texts of the shown branch."""
    _, items, _ = file.read()
    return roles_and_texts(live(items))


def test_a_conversation_is_read_with_its_facts(file):
    file.user("Fix the bug")
    file.answer(
        "Reading.",
        call("c1", command="ls"),
        usage={
            "input_tokens": 3,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 7,
            "output_tokens": 5,
        },
    )
    file.user(
        [
            result(
                "c1",
                [
                    text("a.py"),
                    {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}},
                ],
            )
        ],
        toolUseResult={"stdout": "a.py"},
    )
    file.answer("Done.", stop="max_tokens")
    file.note(type="ai-title", aiTitle="Bug in a.py")
    heading, items, _ = file.read()
    assert (heading.source_id, heading.name, heading.project_path) == (
        SESSION,
        "Bug in a.py",
        "/home/u/shop",
    )
    assert (heading.model, heading.version) == ("claude-opus-5", "2.1.209")
    assert heading.updated_at == "2026-05-01T10:00:04.000Z"
    assert roles_and_texts(items) == [
        ("user", "Fix the bug"),
        ("assistant", "Reading."),
        ("tool", "a.py\n\n[image: image/png, 3 bytes]"),
        ("assistant", "Done."),
    ]
    assert items[1].tool_calls[0].arguments == {"command": "ls"}
    assert items[1].usage == TokenUsage(30, 5, 20, 7)
    assert items[2].tool_call_id == "c1"
    assert items[3].status == "truncated"


def test_the_lines_of_one_answer_become_one_message(file):
    file.user("Look at both")
    file.answer({"type": "thinking", "thinking": "hm"}, name="m", usage={"output_tokens": 1})
    file.answer("Both then.", name="m", usage={"output_tokens": 1})
    first = file.answer(call("c1"), name="m", usage={"output_tokens": 2})
    second = file.answer(call("c2"), name="m", usage={"output_tokens": 9})
    file.user([result("c1", "one")], follows=first)
    file.user([result("c2", "two")], follows=second)
    file.answer("Seen.")
    _, items, ledger = file.read()
    assert roles_and_texts(live(items)) == [
        ("user", "Look at both"),
        ("assistant", "Both then."),
        ("tool", "one"),
        ("tool", "two"),
        ("assistant", "Seen."),
    ]
    assert len(items) == 5
    assert [each.id for each in items[1].tool_calls] == ["c1", "c2"]
    assert items[1].usage.output_tokens == 9
    assert ledger.skipped == {"thinking": 1}


def test_an_edited_prompt_makes_a_version(file):
    file.user("Hello")
    greeting = file.answer("Hi.")
    file.user("Write it in C")
    file.answer("In C.")
    file.user("Write it in Rust", follows=greeting)
    file.answer("In Rust.")
    _, items, _ = file.read()
    assert len(items) == 6
    assert [each.content for each in live(items)] == [
        "Hello",
        "Hi.",
        "Write it in Rust",
        "In Rust.",
    ]


def test_an_edited_first_prompt_makes_a_version(file):
    file.user("Helo")
    file.answer("Pardon?")
    file.user("Hello", follows=None)
    file.answer("Hi.")
    _, items, _ = file.read()
    assert [each.content for each in live(items)] == ["Hello", "Hi."]
    assert len(items) == 4


def test_the_noted_leaf_is_shown_until_the_conversation_goes_on_from_it(file):
    file.user("Hello")
    greeting = file.answer("Hi.")
    file.user("More")
    file.answer("Enough.")
    file.note(type="last-prompt", leafUuid=greeting, explicit=True)
    assert shown(file) == [("user", "Hello"), ("assistant", "Hi.")]
    file.user("Other", follows=greeting)
    assert [words for _, words in shown(file)] == ["Hello", "Hi.", "Other"]


def test_links_pass_over_lines_without_words(file):
    file.user("Hello")
    file.line("progress", data={"type": "hook_progress"})
    file.line("system", subtype="turn_duration")
    file.answer("Hi.")
    _, items, ledger = file.read()
    assert items[1].parent == items[0].id
    assert ledger.skipped == {"progress": 1, "system": 1}


def test_a_file_without_links_is_read_from_top_to_bottom(file):
    for words in ("One", "Two"):
        file.user(words, follows=None)
        file.answer(words + "!", follows=None)
    assert [words for _, words in shown(file)] == ["One", "One!", "Two", "Two!"]


def test_a_message_follows_the_line_before_if_its_parent_is_in_another_file(file):
    file.user("Hello", follows="gone")
    file.answer("Hi.", follows="gone, too")
    assert [words for _, words in shown(file)] == ["Hello", "Hi."]


def test_a_compaction_becomes_a_summary_of_what_came_before(file):
    file.user("Hello")
    last = file.answer("Hi.")
    file.line("system", None, subtype="compact_boundary", logicalParentUuid=last)
    file.user("They greeted.", isCompactSummary=True)
    file.user("Go on")
    _, items, _ = file.read()
    assert items[2] == ForeignSummary("They greeted.", last)
    assert [each.content for each in live(items)] == ["Hello", "Hi.", "Go on"]


def test_a_summary_of_2025_stands_without_a_boundary(file):
    file.user("Hello")
    last = file.answer("Hi.")
    file.user("They greeted.", None, isCompactSummary=True)
    file.user("Go on")
    _, items, _ = file.read()
    assert ForeignSummary("They greeted.", last) in items
    assert [each.content for each in live(items)] == ["Hello", "Hi.", "Go on"]


@pytest.mark.parametrize(
    "injected",
    [
        "<command-name>/clear</command-name>\n<command-args></command-args>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<local-command-caveat>x</local-command-caveat>",
        "<system-reminder>x</system-reminder>",
        "<task-notification>x</task-notification>",
        "Caveat: The messages below were generated",
    ],
)
def test_text_of_the_program_is_not_the_users(file, injected):
    file.user(injected)
    file.user("Hello")
    file.user("Expanded", isMeta=True)
    _, items, ledger = file.read()
    assert roles_and_texts(items) == [("user", "Hello")]
    assert ledger.skipped == {"injected text": 2}


def test_the_words_of_a_slash_command_are_the_users(file):
    file.user(
        "<command-message>review is running</command-message>\n"
        "<command-name>/review</command-name>\n<command-args>the last commit</command-args>"
    )
    file.user("<bash-input>ls</bash-input>")
    assert [words for _, words in shown(file)] == ["/review the last commit", "!ls"]


def test_a_prompt_that_waited_for_its_turn_is_the_users(file):
    file.user("Hello")
    file.line(
        "attachment",
        attachment={"type": "queued_command", "prompt": "Hurry", "commandMode": "prompt"},
    )
    file.line(
        "attachment",
        attachment={"type": "queued_command", "prompt": "done", "commandMode": "task-notification"},
    )
    assert [words for _, words in shown(file)] == ["Hello", "Hurry"]


def test_a_stopped_answer_is_interrupted(file):
    file.user("Hello")
    file.answer(call("c1"))
    file.user([result("c1", "rejected"), text("[Request interrupted by user for tool use]")])
    file.user("Again")
    file.answer("Once upon")
    file.user([text("[Request interrupted by user]")])
    _, items, _ = file.read()
    assert [each.status for each in items] == [None, "interrupted", None, None, "interrupted"]


def test_an_error_of_the_provider_is_a_failed_answer(file):
    file.user("Hello")
    file.answer("API Error: 529 Overloaded", model="<synthetic>", isApiErrorMessage=True)
    file.answer("No response requested.", model="<synthetic>")
    heading, items, ledger = file.read()
    assert (items[1].status, items[1].error) == ("failed", "API Error: 529 Overloaded")
    assert (items[1].content, items[1].model, heading.model) == (None, None, "")
    assert ledger.skipped == {"notice": 1}


def test_the_last_todos_count(file):
    def todo(content, status):
        return {"content": content, "status": status, "activeForm": f"{content}ing"}

    file.user("Plan")
    file.answer(call("c1", "TodoWrite", todos=[todo("Test", "pending"), "broken"]))
    file.answer(call("c2", "TodoWrite", todos=[todo("Test", "in_progress"), todo("Ship", "?")]))
    _, items, _ = file.read()
    (todos,) = (item for item in items if isinstance(item, ForeignTodos))
    assert [(each.content, each.status) for each in todos.items] == [
        ("Test", "in_progress"),
        ("Ship", "pending"),
    ]


def test_tasks_are_the_todo_list_of_later_versions(file):
    file.user("Plan")
    file.answer(call("c1", "TaskCreate", subject="Test"), call("c2", "TaskCreate", subject="Ship"))
    for number in (1, 2):
        file.user([result(f"c{number}", f"Task #{number} created successfully: x")])
    file.answer(call("c3", "TaskCreate", subject="Rest"))
    file.user([result("c3", "Task #3 created successfully: Rest")])
    file.answer(call("c4", "TaskUpdate", taskId="1", status="completed"))
    file.answer(call("c5", "TaskUpdate", taskId="2", status="in_progress", activeForm="Shipping"))
    file.answer(call("c6", "TaskUpdate", taskId="3", status="deleted"))
    _, items, _ = file.read()
    (todos,) = (item for item in items if isinstance(item, ForeignTodos))
    assert [(each.content, each.status, each.active_form) for each in todos.items] == [
        ("Test", "completed", "Test"),
        ("Ship", "in_progress", "Shipping"),
    ]


def test_a_summary_of_another_file_is_a_message(file):
    summary = file.user("They greeted.", None, isCompactSummary=True)
    file.user("Go on")
    _, items, _ = file.read()
    assert items[1] == ForeignSummary("They greeted.", summary)
    texts = [each.content for each in live([items[0], items[2]])]
    assert texts == ["Summary of earlier messages:\n\nThey greeted.", "Go on"]


def test_sub_agents_are_counted_and_left_out(file):
    file.user("Hello")
    file.user("Search", None, isSidechain=True)
    file.answer("Found", isSidechain=True)
    file.answer("Hi.", follows=uuid(1))
    _, items, ledger = file.read()
    assert len(items) == 2
    assert ledger.skipped == {"sub-agent": 2}


def test_a_fork_has_the_ids_of_its_original(file):
    original = "0c000000-0000-4000-8000-00000000000a"
    file.user("Hello", forkedFrom={"sessionId": "x", "messageUuid": original})
    heading, items, _ = file.read()
    assert items[0].id == heading.root == original


def test_a_line_that_is_there_twice_counts_once(file):
    file.user("Hello")
    file.lines *= 2
    _, items, ledger = file.read()
    assert len(items) == 1
    assert ledger.skipped == {"duplicate": 1}


@pytest.mark.parametrize(
    ("notes", "name"),
    [
        ([{"type": "summary", "summary": "Old", "leafUuid": "elsewhere"}], "Old"),
        (
            [{"type": "ai-title", "aiTitle": "Made"}, {"type": "agent-name", "agentName": "Ann"}],
            "Ann",
        ),
        (
            [
                {"type": "custom-title", "customTitle": "Mine"},
                {"type": "ai-title", "aiTitle": "No"},
            ],
            "Mine",
        ),
        ([], ""),
    ],
)
def test_the_users_title_comes_first(file, notes, name):
    file.user("Hello")
    for note in notes:
        file.note(**note)
    heading, _, _ = file.read()
    assert heading.name == name


def test_files_are_found_and_recognised_but_those_of_sub_agents(file, tmp_path):
    file.user("Hello")
    path = file.write()
    path.with_name("agent-1.jsonl").write_bytes(path.read_bytes())
    sub_agent = path.with_suffix("") / "subagents" / "agent-2.jsonl"
    sub_agent.parent.mkdir(parents=True)
    sub_agent.write_bytes(path.read_bytes())
    (path.parent / "notes.txt").touch()
    assert [each.path for each in READER.find(Places(tmp_path, {}))] == [path]
    moved = Places(tmp_path / "x", {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")})
    assert [each.path for each in READER.find(moved)] == [path]
    assert READER.recognises(path, path.read_bytes())
    assert READER.recognises(path, b'{"type":"user","message":{"role":"user","content":"Long')
    assert not READER.recognises(path, b'{"type":"session","version":3}')
    reading = check(READER, sub_agent)
    assert (reading.conversations, reading.ledger.skipped) == ([], {"sub-agent": 1})


def test_a_huge_line_without_words_is_skipped_and_hides_nothing(file):
    file.user("Hello")
    file.line("progress", data="x" * 3_000_000)
    file.answer("Hi.")
    _, items, ledger = file.read()
    assert roles_and_texts(live(items)) == [("user", "Hello"), ("assistant", "Hi.")]
    assert ledger.skipped == {"progress": 1}


@given(turns(), st.data())
def test_any_conversation_is_read_back(made, data):
    shown = data.draw(st.integers(0, len(made) - 1))
    with tempfile.TemporaryDirectory() as folder:
        file = File(Path(folder))
        ends = []
        for number, turn in enumerate(made):
            follows = ends[turn.follows] if turn.follows >= 0 else None
            ends.append(write_turn(file, turn, number, follows))
        file.note(type="last-prompt", leafUuid=ends[shown], explicit=True)
        reading = read_all(READER, file.write())
    ((_, items),) = reading.conversations
    assert roles_and_texts(live(items)) == said(branch(made, shown))
    every = {each.content for each in items}
    assert every >= {turn.prompt for turn in made} | {turn.answer for turn in made}
    assert reading.ledger.total == len(file.lines)


def write_turn(file, turn, number, follows):
    file.user(turn.prompt, follows=follows)
    calls = [f"c{number}-{place}" for place, _ in enumerate(turn.results)]
    lines = [file.answer(call(each), name=f"calls{number}") for each in calls]
    for each, line, content in zip(calls, lines, turn.results, strict=True):
        file.user([result(each, content)], follows=line)
    return file.answer(turn.answer)


@pytest.mark.parametrize("path", samples("claude-code/**/*.jsonl"))
def test_samples_are_read(path, tmp_path):
    assert READER.recognises(path, path.read_bytes()[:4096])
    check(READER, path)
    check_junk_lines(READER, path, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("path", samples("claude-code/**/*.jsonl"))
def test_damaged_samples_are_read(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_a_damaged_file_is_read(file, tmp_path):
    file.user("Hello the world")
    file.answer("Hi.")
    check_mutants(READER, file.write(), tmp_path)


def test_lines_without_ids_are_recognised_and_read(tmp_path):
    path = tmp_path / "chat.jsonl"
    time = "2024-01-01T10:00:00Z"
    lines = [
        {"type": "user", "timestamp": time, "message": {"content": "Hi"}, "cwd": "/home/u/shop"},
        {"type": "assistant", "timestamp": time, "message": {"content": [text("Hello")]}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert READER.recognises(path, path.read_bytes())
    ((heading, items),) = check(READER, path).conversations
    assert heading.project_path == "/home/u/shop"
    assert roles_and_texts(items) == [("user", "Hi"), ("assistant", "Hello")]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_of_a_session_on_the_web_is_read_as_its_lines_would_be(file, tmp_path, indent):
    file.user("Fix the bug")
    file.answer("Reading.", call("c1", command="ls"))
    file.user([result("c1", "a.py {")])
    _, items, ledger = file.read()
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"id": "s", "loglines": file.lines}, indent=indent))
    assert READER.recognises(path, path.read_bytes()[:4096])
    reading = check(READER, path, lambda _: len(file.lines))
    assert [each.content for each in reading.messages] == [each.content for each in items]
    assert reading.ledger.read == ledger.read
    check_mutants(READER, path, tmp_path / "copies")


def test_files_of_one_name_are_different_conversations(tmp_path):
    paths = [tmp_path / place / "session.jsonl" for place in "ab"]
    for number, path in enumerate(paths):
        path.parent.mkdir()
        line = {"type": "user", "message": {"content": f"Question {number}"}}
        path.write_text(json.dumps(line) + "\n")
    (first, _), (other, _) = (check(READER, path).conversations[0] for path in paths)
    assert first.source_id != other.source_id
    assert first.root != other.root
