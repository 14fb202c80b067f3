"""Readers of long files hold no words: a conversation may be larger than the memory."""

import json
import tracemalloc

import pytest

from tui.importers.protocol import ForeignMessage, Ledger, Source
from tui.importers.readers import reader

_ID = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"
_TIME = "2026-05-01T10:00:00.000Z"
_MESSAGES, _CHARACTERS = 600, 20_000


def _words(number):
    return f"{number} " + "x" * _CHARACTERS


def _role(number):
    return "assistant" if number % 2 else "user"


def _claude_code():
    for n in range(_MESSAGES):
        name, before = f"{n:08x}{_ID[8:]}", f"{n - 1:08x}{_ID[8:]}" if n else None
        message = {"role": _role(n), "content": [{"type": "text", "text": _words(n)}]}
        yield {"type": _role(n), "uuid": name, "parentUuid": before, "message": message}


def _codex():
    yield {"type": "session_meta", "timestamp": _TIME, "payload": {"id": _ID}}
    for n in range(_MESSAGES):
        words = _words(n)
        if n % 2:
            content = [{"type": "output_text", "text": words}]
            said = {"type": "message", "role": "assistant", "content": content}
            yield {"type": "response_item", "timestamp": _TIME, "payload": said}
        else:
            asked = {"type": "user_message", "message": words}
            yield {"type": "event_msg", "timestamp": _TIME, "payload": asked}


def _pi():
    yield {"type": "session", "version": 3, "id": _ID, "timestamp": _TIME, "cwd": "/shop"}
    for n in range(_MESSAGES):
        message = {"role": _role(n), "content": _words(n)}
        before = f"{n - 1:08x}" if n else None
        yield {"type": "message", "id": f"{n:08x}", "parentId": before, "message": message}


@pytest.mark.parametrize(
    ("program", "lines"), [("claude-code", _claude_code), ("codex", _codex), ("pi", _pi)]
)
def test_the_words_of_a_long_file_are_never_all_in_memory(program, lines, tmp_path):
    path = tmp_path / f"{_ID}.jsonl"
    with path.open("w") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines())
    messages = 0
    tracemalloc.start()
    try:
        for conversation in reader(program).read(Source.of(path), Ledger()):
            messages += sum(isinstance(each, ForeignMessage) for each in conversation.items())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert messages == _MESSAGES
    assert most < path.stat().st_size / 2
