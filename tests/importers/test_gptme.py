"""Conversations of gptme."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import (
    check,
    check_junk_lines,
    check_mutants,
    files_in,
    lines_in,
    read_all,
    samples,
)
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers.gptme import READER
from tui.importers.protocol import Places


def said(role, content, second, **more):
    stamp = f"2026-06-08T10:00:{second:02}.500000"
    return {"role": role, "content": content, "timestamp": stamp, **more}


CALL = '@shell(call-1): {"command": "ls"}'
MESSAGES = [
    said("system", "You are gptme.", 0, pinned=True, hide=True),
    said("user", "What is here? 😀", 1, files=["/home/ann/shop/cat.png"]),
    said("assistant", f"I look.\n\n{CALL}", 2,
         metadata={"model": "glm", "usage": {"input_tokens": 9, "output_tokens": 3}}),
    said("system", "a.py", 3, call_id="call-1"),
    said("assistant", "A file.\n```shell\nrm a.py\n```", 4),
    said("system", "Removed.", 5),
]  # fmt: skip
CONFIG = """
[chat]
name = "Files of the shop"
model = "local/glm"
workspace = "/home/ann/shop"
"""


@pytest.fixture(autouse=True)
def east(monkeypatch):
    """A machine an hour east of Greenwich: times without a zone are local."""
    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def written(home, messages=MESSAGES, name="2026-06-08-dancing-fox", config=CONFIG, branches=()):
    path = home / ".local" / "share" / "gptme" / "logs" / name
    (path / "branches").mkdir(parents=True, exist_ok=True)
    (path / "config.toml").write_text(config)
    for place, lines in (("conversation", messages), *branches):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (path / f"{place}.jsonl").write_text(text)
    return path


def lines(path):
    return sum(lines_in(file) for file in files_in(path) if file.suffix == ".jsonl")


def test_conversations_are_found(tmp_path):
    path = written(tmp_path)
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [path]
    moved = Places(tmp_path / "none", {"GPTME_LOGS_HOME": str(path.parent)})
    assert [source.path for source in READER.find(moved)] == [path]
    assert READER.recognises(path, b"")
    assert READER.recognises(path / "conversation.jsonl", b"")


def test_a_conversation_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), lines)
    ((heading, (question, call, result, answer, removed)),) = reading.conversations
    assert (heading.source_id, heading.name) == ("2026-06-08-dancing-fox", "Files of the shop")
    assert (heading.project_path, heading.model) == ("/home/ann/shop", "local/glm")
    assert question.content == "What is here? 😀\n\n[file: cat.png]"
    assert question.timestamp == "2026-06-08T09:00:01.500Z"
    assert (call.content, call.model) == ("I look.", "glm")
    assert call.tool_calls == (ToolCall("call-1", "shell", {"command": "ls"}),)
    assert call.usage == TokenUsage(9, 3)
    assert (result.role, result.content, result.tool_call_id) == ("tool", "a.py", "call-1")
    assert answer.content == "A file.\n```shell\nrm a.py\n```"
    assert (removed.role, removed.content) == ("tool", "Removed.")
    assert reading.ledger.skipped == {"system prompt": 1}


def test_what_gptme_says_for_the_user_is_left_out_and_its_home_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    nudge = said("user", "<system>No tool call detected.</system>", 2)
    messages = [MESSAGES[1], nudge, said("assistant", "Done.", 3)]
    config = CONFIG.replace('"/home/ann/shop"', '"~/shop"')
    reading = check(READER, written(tmp_path, messages, config=config), lines)
    assert reading.conversations[0][0].project_path == "/home/ann/shop"
    assert [each.role for each in reading.messages] == ["user", "assistant"]
    assert reading.ledger.skipped == {"injected text": 1}


@pytest.mark.parametrize(("folder", "name"), [("2026-06-08-a-b", ""), ("my-shop", "my-shop")])
def test_a_folder_with_a_given_name_has_it(tmp_path, folder, name):
    path = written(tmp_path, name=folder, config="")
    assert read_all(READER, path).conversations[0][0].name == name


def test_another_branch_is_an_earlier_version(tmp_path):
    other = [*MESSAGES[:2], said("assistant", "I do not know.", 9)]
    path = written(tmp_path, branches=[("branches/other", other)])
    messages = check(READER, path, lines).messages
    (version,) = [message for message in messages if message.content == "I do not know."]
    question = next(message for message in messages if message.role == "user")
    assert version.parent == question.id
    assert messages[-1].content == "Removed."
    assert read_all(READER, path).ledger.skipped == {"system prompt": 1, "duplicate": 2}


@pytest.mark.parametrize("config", ["[chat", "chat = 7", "\x00", "[chat]\nname = 7"])
def test_a_damaged_configuration_hides_nothing(tmp_path, config):
    assert len(check(READER, written(tmp_path, config=config), lines).messages) == 5


@pytest.mark.parametrize("path", samples("gptme/**/conversation.jsonl"))
def test_samples_are_read_whole(path, tmp_path):
    reading = check(READER, path.parent, lines)
    assert {message.role for message in reading.messages} >= {"user", "assistant"}
    check_mutants(READER, path.parent, tmp_path)


@pytest.mark.full
def test_mutants_do_not_fail_and_hide_nothing(tmp_path):
    branches = [("branches/other", [*MESSAGES[:2], said("assistant", "No.", 9)])]
    path = written(tmp_path, branches=branches)
    check_mutants(READER, path, tmp_path)
    check_junk_lines(READER, written(tmp_path / "one") / "conversation.jsonl", tmp_path)


@given(st.lists(texts, min_size=1, max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, spoken):
    roles = ["user", "assistant"] * 3
    messages = [said(role, text, n) for n, (role, text) in enumerate(zip(roles, spoken))]  # noqa: B905
    reading = check(READER, written(tmp_path_factory.getbasetemp(), messages), lines)
    assert [each.content for each in reading.messages] == spoken
