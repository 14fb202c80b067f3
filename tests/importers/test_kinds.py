"""Records of new kinds are told from those that are left out by rule."""

import json
import re

import pytest

from tests.importers.samples import SOURCES, files_in, laid_out, read_all
from tests.tables import each_row
from tui.domain.imports import is_unknown
from tui.importers.readers import reader

_ID = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"
_TIME = "2026-05-01T10:00:00.000Z"


def _claude_code(kind):
    said = {"uuid": _ID, "parentUuid": None, "type": "user", "message": {"content": "Hello"}}
    return [said, {"type": kind, "sessionId": _ID}]


def _codex(kind):
    return [
        {"type": "session_meta", "timestamp": _TIME, "payload": {"id": _ID, "cwd": "/shop"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Hello"}},
        {"type": "event_msg", "payload": {"type": kind}},
        {"type": "response_item", "payload": {"type": kind}},
    ]


def _copilot_cli(kind):
    return [
        {"type": "session.start", "data": {"sessionId": _ID}, "id": "1", "timestamp": _TIME},
        {"type": "user.message", "data": {"content": "Hello"}, "id": "2", "timestamp": _TIME},
        {"type": kind, "data": {}, "id": "3", "timestamp": _TIME},
    ]


def _pi(kind):
    message = {"role": "user", "content": "Hello"}
    return [
        {"type": "session", "version": 3, "id": _ID, "timestamp": _TIME, "cwd": "/shop"},
        {"type": "message", "id": "1", "parentId": None, "message": message},
        {"type": kind, "id": "2", "parentId": "1"},
    ]


_FILES = {
    "claude-code": (_claude_code, "queue-operation", "queue-operation"),
    "codex": (_codex, "turn_diff", "turn diff"),
    "copilot-cli": (_copilot_cli, "assistant.turn_start", "assistant turn start"),
    "pi": (_pi, "thinking_level_change", "thinking level change"),
}


def _skipped(program, kind, tmp_path):
    path = tmp_path / f"{_ID}.jsonl"
    lines = _FILES[program][0](kind)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    reading = read_all(reader(program), path)
    assert reading.conversations
    return reading.ledger.skipped


@pytest.mark.parametrize("program", _FILES)
def test_a_new_kind_is_unknown_and_named(program, tmp_path):
    skipped = _skipped(program, "brand_new.kind", tmp_path)
    assert set(skipped) == {"unknown record brand new kind"}
    assert all(map(is_unknown, skipped))


@pytest.mark.parametrize("program", _FILES)
def test_a_kind_that_is_left_out_by_rule_keeps_its_name(program, tmp_path):
    _, kind, words = _FILES[program]
    assert set(_skipped(program, kind, tmp_path)) == {words}


@each_row("program", _FILES)
@each_row("kind", ["sk-0123456789", "x" * 99, "é\x1b[31m", "<b>", 7, None, ["a"]])
def test_a_kind_that_is_no_plain_word_is_not_repeated(program, kind, tmp_path):
    skipped = _skipped(program, kind, tmp_path)
    assert all(map(is_unknown, skipped))
    assert str(kind) not in "".join(skipped)


def test_a_new_kind_of_item_is_unknown(tmp_path):
    path = tmp_path / f"{_ID}.jsonl"
    items = [{"type": "Hologram"}, {"type": "ImageView"}, {"type": "Reasoning"}]
    lines = _codex("turn_diff")[:2] + [
        {"type": "event_msg", "payload": {"type": "item_completed", "item": item}} for item in items
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    skipped = read_all(reader("codex"), path).ledger.skipped
    assert set(skipped) == {"unknown record Hologram", "ImageView", "thinking"}


CASES = {
    "claude-ai": "gives-the-facts-of-a-conversation",
    "claude-code": "an-edited-prompt-makes-a-version",
    "cline": "messages-of-a-damaged-file-are-read",
    "crush": "reads-a-session-with-its-tools",
    "cursor-cli": "finds-stores-and-the-transcripts-of-other-sessions",
    "goose": "reads-a-session-with-its-tools-in-database",
    "jan": "a-thread-is-read-whole",
    "lm-studio": "the-selected-versions-are-shown",
    "kilo-code": "a-task-names-its-folder-and-model-in-what-is-injected",
    "kimi": "a-session-of-kimi-code-is-read-whole",
    "opencode": "gives-the-facts-of-a-session-stored",
    "pi": "a-conversation-is-read-with-its-facts",
}
"""A case of each program that has texts in blocks."""


@pytest.mark.parametrize("program", CASES)
def test_a_block_of_a_new_type_keeps_its_words_and_is_counted(program, tmp_path):
    case = SOURCES / program / f"{CASES[program]}.jsonl"
    program, sources = laid_out(case, tmp_path / "home")
    before = {each.content for path in sources for each in read_all(program, path).messages}
    for file in files_in(tmp_path / "home"):
        # As long as before: a database has places of bytes.
        file.write_bytes(re.sub(rb'("type": ?)"text"', rb'\1"news"', file.read_bytes()))
    readings = [read_all(program, path) for path in sources]
    after = {each.content or "" for reading in readings for each in reading.messages}
    assert {text.replace("[news] ", "") for text in after if "[news] " in text} & before
    assert any("news" in reason for each in readings for reason in each.ledger.skipped)


def _vscode(part):
    return [{"requests": [{"requestId": "r", "message": {"text": "Hi"}, "response": [part]}]}]


def _gemini_cli(part):
    return [{"sessionId": _ID, "messages": [{"id": "1", "type": "gemini", "content": [part]}]}]


def _copilot_cli_history(block):
    return [{"chatMessages": [{"role": "assistant", "content": [block]}]}]


def _codex_said(block):
    said = {"type": "message", "role": "assistant", "content": [block]}
    return [*_codex("turn_diff")[:2], {"type": "response_item", "payload": said}]


@pytest.mark.parametrize(
    ("program", "written", "block", "expected"),
    [
        ("vscode", _vscode, {"kind": "new", "content": {"value": "Two words"}}, "[new] Two words"),
        ("gemini-cli", _gemini_cli, {"new": {"code": "print()"}}, "[new] print()"),
        ("codex", _codex_said, {"type": "new", "title": "Ho"}, "[new] Ho"),
        ("copilot-cli", _copilot_cli_history, {"type": "new", "text": "Ho"}, "[new] Ho"),
        ("copilot-cli", _copilot_cli_history, {"type": "new", "id": "x", "data": "QUJD"}, "[new]"),
    ],
)
def test_the_words_of_a_new_block_stand_behind_its_type(
    program, written, block, expected, tmp_path
):
    lines = written(block)
    path = tmp_path / ("a.jsonl" if program == "codex" else "a.json")
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    reading = read_all(reader(program), path)
    assert expected in [(each.content or "").strip() for each in reading.messages]
    assert reading.ledger.skipped["unknown block new"] == 1
