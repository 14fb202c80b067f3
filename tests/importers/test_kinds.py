"""Records of new kinds are told from those that are left out by rule."""

import json

from tests.importers.samples import read_all
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


@each_row("program", _FILES)
def test_a_kind_is_named_if_it_is_known_or_a_plain_word(program, tmp_path):
    written, known, words = _FILES[program]
    odd = ["sk-0123456789", "x" * 99, "é\x1b[31m", "<b>", 7, None, ["a"]]
    reasons = {known: words, "brand_new.kind": "unknown record brand new kind"}
    for kind in (*reasons, *odd):
        path = tmp_path / f"{_ID}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in written(kind)))
        reading = read_all(reader(program), path)
        assert reading.conversations
        skipped = reading.ledger.skipped
        assert {is_unknown(reason) for reason in skipped} == {kind != known}, kind
        if kind in odd:
            assert str(kind) not in "".join(skipped)
        else:
            assert set(skipped) == {reasons[kind]}
