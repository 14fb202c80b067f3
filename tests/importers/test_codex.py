"""Files of Codex, as its versions since 2025 write them."""

import json
import tempfile
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.conversations import live, odd_texts, roles_and_texts, said, turns
from tests.importers.samples import check, check_junk_lines, check_mutants, read_all, samples
from tui.domain.journal.message import TokenUsage
from tui.importers.codex import READER
from tui.importers.protocol import ForeignSummary, ForeignTodos, Places

THREAD = "019a0000-0000-7000-8000-000000000001"
NAME = f"rollout-2026-05-01T12-00-00-{THREAD}.jsonl"


class File:
    """A file that is written line by line."""

    def __init__(self, home):
        self.path = home / "sessions" / "2026" / "05" / "01" / NAME
        self.path.parent.mkdir(parents=True)
        self.lines = []

    def line(self, kind, **payload):
        time = f"2026-05-01T10:{len(self.lines) // 60:02}:{len(self.lines) % 60:02}.000Z"
        self.lines.append({"timestamp": time, "type": kind, "payload": payload})

    def meta(self, name=THREAD, **fields):
        fields = {"cwd": "/home/u/shop", "cli_version": "0.144.4", "source": "cli", **fields}
        self.line("session_meta", id=name, timestamp="2026-05-01T10:00:00.000Z", **fields)

    def event(self, kind, **fields):
        self.line("event_msg", type=kind, **fields)

    def item(self, kind, **fields):
        self.line("response_item", type=kind, **fields)

    def sent(self, text, role="user", *more):
        kind = "output_text" if role == "assistant" else "input_text"
        self.item("message", role=role, content=[{"type": kind, "text": text}, *more])

    def prompt(self, text):
        self.sent(text)
        self.event("user_message", message=text, images=[])

    def answer(self, text):
        self.event("agent_message", message=text)
        self.sent(text, "assistant")

    def call(self, name, tool="shell", **arguments):
        self.item("function_call", name=tool, call_id=name, arguments=json.dumps(arguments))

    def result(self, name, output):
        self.item("function_call_output", call_id=name, output=output)

    def write(self):
        self.path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return self.path

    def read(self):
        reading = check(READER, self.write())
        ((heading, items),) = reading.conversations
        return heading, items, reading.ledger


@pytest.fixture
def file(tmp_path):
    """A file with its header."""
    made = File(tmp_path / ".codex")
    made.meta()
    return made


def texts(items):
    return [each.content for each in live(items)]


def test_a_conversation_is_read_with_its_facts(file):
    file.sent("<environment_context>x</environment_context>")
    file.sent("You are Codex", "developer")
    file.prompt("Fix the bug")
    file.line("turn_context", cwd="/home/u/shop", model="gpt-5.2")
    file.item("reasoning", encrypted_content="x")
    file.answer("Reading.")
    file.call("c1", command=["ls"])
    file.result("c1", [{"type": "input_text", "text": "a.py"}])
    file.event(
        "token_count",
        info={
            "last_token_usage": {"input_tokens": 30, "cached_input_tokens": 20, "output_tokens": 5}
        },
    )
    file.answer("Done.")
    file.event("thread_name_updated", thread_name="Bug in a.py")
    heading, items, ledger = file.read()
    assert (heading.source_id, heading.name, heading.project_path) == (
        THREAD,
        "Bug in a.py",
        "/home/u/shop",
    )
    assert (heading.model, heading.version) == ("gpt-5.2", "0.144.4")
    assert roles_and_texts(items) == [
        ("user", "Fix the bug"),
        ("assistant", "Reading."),
        ("tool", "a.py"),
        ("assistant", "Done."),
    ]
    assert items[1].tool_calls[0].arguments == {"command": ["ls"]}
    assert items[1].usage == TokenUsage(30, 5, 20)
    assert items[2].tool_call_id == "c1"
    assert ledger.skipped == {"injected text": 1, "system prompt": 1, "thinking": 1, "duplicate": 3}


def test_prompts_of_a_turn_without_events_come_from_the_other_log(file):
    file.sent("# AGENTS.md instructions")
    file.sent("Hello")
    file.sent("Hi.", "assistant")
    file.prompt("More")
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi.", "More"]


def test_a_prompt_has_the_pictures_that_were_sent(file):
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    file.event("user_message", message="Look")
    file.sent("Look", "user", picture)
    _, items, _ = file.read()
    assert texts(items) == ["Look\n\n[image: image/png, 3 bytes]"]


def test_a_conversation_that_is_only_in_events_is_read(file):
    def done(number, kind, **fields):
        file.event("item_completed", item={"type": kind, "id": f"i{number}", **fields})

    done(1, "UserMessage", content=[{"type": "text", "text": "Hello"}])
    done(2, "Reasoning")
    done(3, "CommandExecution", command=["ls"], aggregated_output="a.py")
    done(4, "AgentMessage", content=[{"type": "Text", "text": "Done."}])
    done(5, "UserMessage", content=[{"type": "text", "text": "Again"}])
    done(6, "AgentMessage", content=[{"type": "Text", "text": "Done."}])
    _, items, _ = file.read()
    assert texts(items) == ["Hello", None, "a.py", "Done.", "Again", "Done."]


def test_an_item_that_the_other_log_has_counts_once(file):
    file.prompt("Hello")
    file.call("c1")
    file.result("c1", "a.py")
    file.event(
        "item_completed", item={"type": "CommandExecution", "id": "c1", "aggregated_output": "a.py"}
    )
    file.answer("Done.")
    file.event(
        "item_completed",
        item={"type": "AgentMessage", "content": [{"type": "Text", "text": "Done."}]},
    )
    _, items, _ = file.read()
    assert texts(items) == ["Hello", None, "a.py", "Done."]


def test_undone_turns_become_versions(file):
    file.prompt("Hello")
    file.answer("Hi.")
    file.prompt("Write it in C")
    file.answer("In C.")
    file.event("thread_rolled_back", num_turns=1)
    file.prompt("Write it in Rust")
    file.answer("In Rust.")
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi.", "Write it in Rust", "In Rust."]
    assert len(items) == 6


def test_a_turn_that_was_undone_last_is_not_shown(file):
    file.prompt("Hello")
    file.answer("Hi.")
    file.prompt("Oops")
    file.event("thread_rolled_back", num_turns=1)
    _, items, _ = file.read()
    assert texts(items) == ["Hello", "Hi."]
    assert "Oops" in {each.content for each in items}


def test_a_compaction_becomes_a_summary(file):
    file.prompt("Hello")
    file.answer("Hi.")
    file.line("compacted", message="They greeted.", replacement_history=[{"a": "x"}])
    file.prompt("Go on")
    _, items, _ = file.read()
    assert items[2] == ForeignSummary("They greeted.", items[1].id)
    assert texts(items) == ["Hello", "Hi.", "Go on"]


def test_a_summary_of_another_file_is_a_message(file):
    file.line("compacted", message="They greeted.")
    file.prompt("Go on")
    _, items, _ = file.read()
    assert items[1] == ForeignSummary("They greeted.", items[0].id)
    assert texts([items[0], items[2]]) == ["Summary of earlier messages:\n\nThey greeted.", "Go on"]


def test_a_stopped_answer_is_interrupted_and_an_error_is_a_failed_one(file):
    file.prompt("Hello")
    file.answer("Once upon")
    file.sent("<turn_aborted>x</turn_aborted>")
    file.event("turn_aborted", reason="interrupted")
    file.prompt("Again")
    file.event("error", message="usage limit")
    _, items, _ = file.read()
    assert [(each.status, each.error) for each in items] == [
        (None, None),
        ("interrupted", None),
        (None, None),
        ("failed", "usage limit"),
    ]


def test_the_last_plan_is_the_todo_list(file):
    file.prompt("Plan")
    file.call("c1", "update_plan", plan=[{"step": "Test", "status": "in_progress"}])
    _, items, _ = file.read()
    (todos,) = (item for item in items if isinstance(item, ForeignTodos))
    assert [(each.content, each.status) for each in todos.items] == [("Test", "in_progress")]


def test_calls_of_all_kinds_have_names_and_arguments(file):
    file.prompt("Work")
    file.item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch")
    file.item("custom_tool_call_output", call_id="c1", output='{"output":"ok","metadata":{}}')
    file.item("local_shell_call", call_id="c2", action={"command": ["ls"]})
    file.item("web_search_call", action={"query": "x"})
    file.item("function_call", name="odd", call_id="c3", arguments="{")
    _, items, _ = file.read()
    calls = [(call.id, call.name, call.arguments) for each in items for call in each.tool_calls]
    assert calls == [
        ("c1", "apply_patch", {"input": "*** Begin Patch"}),
        ("c2", "local_shell", {"command": ["ls"]}),
        ("call-2", "web_search", {"query": "x"}),
        ("c3", "odd", {"_raw": "{"}),
    ]
    assert items[2].content == "ok"


def test_the_first_header_counts_and_a_fork_has_the_ids_of_its_original(file):
    file.prompt("Hello")
    _, (original,), _ = file.read()
    ancestors, file.lines = file.lines, []
    file.meta("019b0000-0000-7000-8000-000000000002", forked_from_id=THREAD)
    file.lines += ancestors
    heading, (copy,), _ = file.read()
    assert heading.source_id == "019b0000-0000-7000-8000-000000000002"
    assert (copy.id, heading.root) == (original.id, THREAD)


@pytest.mark.parametrize(
    ("source", "reason"),
    [({"subagent": "review"}, "sub-agent"), ("exec", "one-shot run")],
)
def test_conversations_that_were_not_the_users_are_counted_and_left_out(file, source, reason):
    file.lines.clear()
    file.meta(source=source)
    file.prompt("Hello")
    reading = check(READER, file.write())
    assert (reading.conversations, reading.ledger.skipped) == ([], {reason: 3})


def test_the_index_has_the_titles(file, tmp_path):
    index = tmp_path / ".codex" / "session_index.jsonl"
    names = [{"id": THREAD, "thread_name": name} for name in ("Old", "New")]
    index.write_text("".join(json.dumps(name) + "\n" for name in names))
    assert file.read()[0].name == "New"


def test_files_are_found_and_recognised(file, tmp_path):
    path = file.write()
    path.with_name(NAME + ".zst").write_bytes(b"\x28\xb5\x2f\xfd")
    archived = tmp_path / ".codex" / "archived_sessions" / "rollout-x.jsonl.zst"
    archived.parent.mkdir()
    archived.write_bytes(b"\x28\xb5\x2f\xfd")
    (tmp_path / ".codex" / "history.jsonl").touch()
    assert [each.path for each in READER.find(Places(tmp_path, {}))] == [path, archived]
    assert READER.recognises(path, path.read_bytes())
    assert READER.recognises(archived, archived.read_bytes())
    assert not READER.recognises(path, b'{"type":"user","uuid":"x"}')


def test_a_compressed_file_is_read_as_far_as_it_is_whole(file, tmp_path):
    file.prompt("Hello")
    file.answer("Hi.")
    whole = zstd.compress(file.write().read_bytes())
    path = tmp_path / "x" / (NAME + ".zst")
    path.parent.mkdir()
    path.write_bytes(whole)
    reading = check(READER, path, lambda _: len(file.lines))
    assert roles_and_texts(reading.messages) == [("user", "Hello"), ("assistant", "Hi.")]
    for damaged in (whole[:40], whole[:10] + b"x" * 90):
        path.write_bytes(damaged)
        assert read_all(READER, path).ledger.skipped == {"unreadable file": 1}


def test_the_oldest_files_are_one_object(tmp_path):
    path = tmp_path / "rollout-2025-04-20-x.json"
    path.write_text(
        json.dumps(
            {
                "session": {
                    "id": THREAD,
                    "timestamp": "2025-04-20T10:00:00.000Z",
                    "instructions": "",
                },
                "items": [
                    {"type": "message", "role": "user", "content": [{"text": "Hello"}]},
                    {"type": "message", "role": "assistant", "content": [{"text": "Hi."}]},
                    "odd",
                ],
            }
        )
    )
    assert READER.recognises(path, path.read_bytes())
    reading = check(READER, path, lambda _: 3)
    assert reading.conversations[0][0].source_id == THREAD
    assert roles_and_texts(reading.messages) == [("user", "Hello"), ("assistant", "Hi.")]


def test_lines_without_an_envelope_are_read(file):
    file.lines = [
        {"id": THREAD, "timestamp": "2025-08-01T10:00:00.000Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"role": "assistant", "content": "Hi."},
    ]
    heading, items, _ = file.read()
    assert heading.source_id == THREAD
    assert roles_and_texts(items) == [("user", "Hello"), ("assistant", "Hi.")]


@given(turns(linear=True), st.lists(st.integers(0, 9), min_size=6, max_size=6), odd_texts)
def test_any_conversation_is_read_back(made, undone, title):
    with tempfile.TemporaryDirectory() as folder:
        file = File(Path(folder))
        file.meta()
        shown = []
        for number, turn in enumerate(made):
            if count := undone[number] % (len(shown) + 1):
                file.event("thread_rolled_back", num_turns=count)
                del shown[-count:]
            write_turn(file, turn, number)
            shown.append(turn)
        file.event("thread_name_updated", thread_name=title)
        reading = read_all(READER, file.write())
    ((_, items),) = reading.conversations
    assert roles_and_texts(live(items)) == said(shown)
    assert {each.content for each in items} >= {turn.prompt for turn in made}
    assert reading.ledger.total == len(file.lines)


def write_turn(file, turn, number):
    file.prompt(turn.prompt)
    calls = [f"c{number}-{place}" for place, _ in enumerate(turn.results)]
    for each in calls:
        file.call(each)
    for each, output in zip(calls, turn.results, strict=True):
        file.result(each, output)
    file.answer(turn.answer)


@pytest.mark.parametrize("path", samples("codex/**/*.jsonl"))
def test_samples_are_read(path, tmp_path):
    assert READER.recognises(path, path.read_bytes()[:4096])
    check(READER, path)
    check_junk_lines(READER, path, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("path", samples("codex/**/*.jsonl"))
def test_damaged_samples_are_read(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_a_damaged_file_is_read(file, tmp_path):
    file.prompt("Hello the world")
    file.answer("Hi.")
    check_mutants(READER, file.write(), tmp_path)


def test_messages_of_the_oldest_lines_have_their_words_in_other_fields(tmp_path):
    path = tmp_path / "rollout-old.jsonl"
    lines = [
        {"created_at": "2025-09-10T12:00:00Z", "role": "user", "message": "Hello in Spanish?"},
        {
            "created_at": "2025-09-10T12:00:01Z",
            "type": "function_call",
            "function": {"name": "translate"},
            "arguments": {"to": "es"},
        },
        {"created_at": "2025-09-10T12:00:01Z", "type": "function_result", "result": "hola"},
        {"created_at": "2025-09-10T12:00:02Z", "role": "assistant", "content": "Hola"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert READER.recognises(path, path.read_bytes())
    reading = check(READER, path)
    assert [(each.role, each.content) for each in reading.messages] == [
        ("user", "Hello in Spanish?"),
        ("assistant", None),
        ("tool", "hola"),
        ("assistant", "Hola"),
    ]
    assert all(each.timestamp for each in reading.messages)
