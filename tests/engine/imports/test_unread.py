"""Files of the four ancestors that cannot be read are named, and those that can are imported."""

import json

import pytest

from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.importers.protocol import Places
from tui.importers.readers import reader

SIBYL = (
    "sibyl",
    ".sibyl/sessions/session-20250101-120000-000001/session.lisp",
    b'(:repl-session (:session-version 1) :id "s" :messages ((:role :user :content "Hi")))',
    b'(:repl-session (:session-version 1) :id "s" :messages 7)',
)
JIDOCODE = (
    "jidocode",
    ".jido_code/sessions/s.json",
    json.dumps({"id": "s", "conversation": [{"role": "user", "content": "Hi"}]}).encode(),
    b'{"id": "s", "conversation": 7}',
)
AGENT_Q = (
    "agent-q",
    ".emacs.d/agent-q-sessions/session-1.lisp",
    b';;; Agent-Q Session v2\n(:id "s" :messages ((:role :user :content "Hi")))',
    b';;; Agent-Q Session v2\n(:id "s" :messages 7)',
)
PICOCLAW = (
    "picoclaw",
    ".picoclaw/workspace/sessions/s.json",
    json.dumps({"key": "s", "messages": [{"role": "user", "content": "Hi"}]}).encode(),
    b'{"key": "s", "messages": 7}',
)


@pytest.fixture(params=[SIBYL, JIDOCODE, AGENT_Q, PICOCLAW], ids=lambda each: each[0])
def program(request):
    return request.param


@pytest.fixture
def failures(store, tmp_path, program):
    """Imports what a program has kept; gives the files that could not be read."""
    name, place, _, _ = program
    path = tmp_path / "home" / place
    path.parent.mkdir(parents=True)

    def failed(data):
        if data is None:
            path.mkdir()
        else:
            path.write_bytes(data)
        plan = make_plan(store, Wanted(Places(tmp_path / "home", {})), readers=[reader(name)])
        outcome = run(store, plan)
        found = [each.path for each in (*outcome.programs[0].failures, *outcome.unread)]
        assert set(found) <= {path}
        assert outcome.is_whole == (not found)
        return len(found)

    return failed


def test_a_whole_one_is_imported(failures, program):
    assert failures(program[2]) == 0


@pytest.mark.parametrize("damage", ["empty", "nul", "noise", "half", "other", "folder", "odd"])
def test_one_that_cannot_be_read_is_named(failures, program, damage):
    _, _, whole, odd = program
    data = {
        "empty": b"",
        "nul": b"\0" * 500,
        "noise": bytes(range(128, 256)),
        "half": whole[: len(whole) // 2],
        "other": b"[1, 2]",
        "folder": None,
        "odd": odd,
    }
    assert failures(data[damage]) == 1
