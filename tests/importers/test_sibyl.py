"""Sessions of Sibyl."""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, read_all
from tui.domain.journal.message import ToolCall
from tui.importers.protocol import ForeignSummary, Places
from tui.importers.sibyl import READER

ID = "session-20260217-143022-123456"
# Written by the functions of its session.lisp, in SBCL.
SAMPLE = r"""(:repl-session (:session-version 1) :id "session-20260217-143022-123456-auto-model" :created-at "2026-02-17T14:30:22Z" :last-modified "2026-02-17T14:35:00Z" :message-count 4 :command-count 2 :summary nil :messages ((:role :user :content "hi
; no comment \"x\" \\n #| |# 😀" :timestamp "2026-02-17T14:30:23Z") (:role :assistant :content nil :timestamp "2026-02-17T14:30:25Z" :tool-calls ((:id "tc_1" :name "shell" :arguments (("command" . "ls \"a\"") ("n" . 3) ("f" . 1.5d0) ("list" "a" "b") ("deep" . #<hash-table :TEST equal :COUNT 1 {1001574393}>) ("no") ("yes" . t))) (:id "tc_2" :name "none" :arguments nil))) (:role :tool :content "out" :timestamp "2026-02-17T14:30:26Z" :tool-call-id "tc_1") (:role :assistant :content "done" :timestamp "2026-02-17T14:30:27Z")))
"""  # noqa: E501


@pytest.fixture(autouse=True)
def east(monkeypatch):
    """A machine an hour east of Greenwich: Sibyl's times are local."""
    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def path(tmp_path):
    """The sample, where Sibyl keeps it."""
    return written(tmp_path, SAMPLE)


def written(home, text, name=ID):
    path = home / ".sibyl" / "sessions" / name / "session.lisp"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    return path


def records(path):
    return path.read_text().count("(:role ") + path.read_text().count("#<")


def test_sessions_are_found_where_sibyl_keeps_them(tmp_path, path):
    path.with_name("session.tmp").write_text("half")
    (tmp_path / ".sibyl" / "sessions" / "index.lisp").write_text("()")
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [path]
    assert READER.recognises(path, path.read_bytes()[:64])


def test_a_session_is_read_whole(path):
    ((heading, (question, call, result, answer)),) = check(READER, path, records).conversations
    assert heading.source_id == "session-20260217-143022-123456-auto-model"
    assert heading.name == "auto-model"
    assert (heading.created_at, heading.updated_at) == (
        "2026-02-17T13:30:22.000Z",
        "2026-02-17T13:30:27.000Z",
    )
    assert question.content == 'hi\n; no comment "x" \\n #| |# 😀'
    assert question.timestamp == "2026-02-17T13:30:23.000Z"
    assert call.content is None
    assert call.tool_calls == (
        ToolCall(
            "tc_1",
            "shell",
            {
                "command": 'ls "a"',
                "n": 3,
                "f": 1.5,
                "list": ["a", "b"],
                "deep": "#<hash-table :TEST equal :COUNT 1 {1001574393}>",
                "no": None,
                "yes": True,
            },
        ),
        ToolCall("tc_2", "none", {}),
    )
    assert (result.role, result.content, result.tool_call_id) == ("tool", "out", "tc_1")
    assert answer.content == "done"


def test_a_summary_goes_before_the_messages_that_are_left(tmp_path):
    path = written(tmp_path, SAMPLE.replace(":summary nil", ':summary "All about \\"x\\""'))
    ((_, (before, summary, *rest)),) = check(READER, path, records).conversations
    assert 'All about "x"' in before.content
    assert summary == ForeignSummary('All about "x"', through=before.id)
    assert len(rest) == 4


def test_messages_keep_their_ids_when_older_ones_are_gone(tmp_path, path):
    before = read_all(READER, path).messages
    start = SAMPLE.index("(:role :user")
    shorter = SAMPLE[:start] + SAMPLE[SAMPLE.index("(:role :assistant") :]
    after = read_all(READER, written(tmp_path, shorter)).messages
    assert [message.id for message in after] == [message.id for message in before[1:]]


def test_a_system_prompt_is_left_out(tmp_path):
    path = written(tmp_path, SAMPLE.replace(":role :user", ":role :system"))
    reading = check(READER, path, records)
    assert [message.role for message in reading.messages] == ["assistant", "tool", "assistant"]
    assert reading.ledger.skipped["system prompt"] == 1


def test_code_in_a_file_is_not_run(tmp_path):
    mark = tmp_path / "ran"
    path = written(tmp_path, SAMPLE.replace("#<hash", f'#.(open "{mark}") #<hash'))
    read_all(READER, path)
    assert not mark.exists()


def test_all_whole_messages_of_a_cut_file_are_read(tmp_path):
    ends = [SAMPLE.index(end) + len(end) for end in ('23Z")', "nil)))", 'tc_1")', '27Z")')]
    for cut in range(0, len(SAMPLE), 7):
        reading = read_all(READER, written(tmp_path, SAMPLE[:cut]))
        assert len(reading.messages) == sum(cut >= end for end in ends), SAMPLE[:cut]


def test_damage_to_one_message_hides_no_other(tmp_path):
    for damage in ('"out', 'out"', "(((((", "#<", "(" * 1000, "\x00", ")))))"):
        reading = read_all(READER, written(tmp_path, SAMPLE.replace('"out"', damage)))
        assert {message.content for message in reading.messages} >= {"done"}, damage
        assert reading.ledger.total >= 4


@pytest.mark.full
def test_mutants_do_not_fail(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_another_form_is_counted(tmp_path):
    assert read_all(READER, written(tmp_path, "(:other 1)")).ledger.skipped["unknown format"] == 1


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    path = written(tmp_path_factory.getbasetemp() / str(os.getpid()), printed(said))
    reading = check(READER, path, lambda _: len(said))
    assert [(message.role, message.content) for message in reading.messages] == said


def printed(said):
    messages = " ".join(
        f'(:role :{role} :content {quoted(text)} :timestamp "2026-02-17T14:30:23Z")'
        for role, text in said
    )
    return (
        f'(:repl-session (:session-version 1) :id "{ID}" :created-at "2026-02-17T14:30:22Z"'
        f" :summary nil :messages {f'({messages})' if said else 'nil'})\n"
    )


def quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
