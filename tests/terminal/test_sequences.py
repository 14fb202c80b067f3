"""Nothing from outside speaks to the terminal: the very bytes that it got, place by place."""

import itertools
import os
import re

import msgspec
import pytest

from tests.providers.chat_server import answers, calls_tools, refuses
from tests.terminal.chats import words_shown
from tests.terminal.endings import assert_whole, quit_at_once, told
from tests.terminal.hostile import HOSTILE, MARKUP, SEQUENCES, spoken
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Opened
from tui.domain.text import make_visible_line

pytestmark = pytest.mark.full

TEXTS = [f"{sequence}{MARKUP}" for sequence in SEQUENCES]


def _leave(program) -> None:
    """Quit: had anything been obeyed, it would be seen by now."""
    assert quit_at_once(program) == 0
    assert_whole(program)
    assert spoken(program.raw) == []


@pytest.fixture
def sessions(chats):
    """Writes sessions as another program would have."""
    numbers = itertools.count(1)

    def write(*messages, name="") -> str:
        session_id = f"session-20260111-153000-{next(numbers):06d}"
        store = chats.store
        scope = f"project:{os.path.realpath(chats.project)}"
        lease = store.create(scope, str(chats.project), "offline:guide", session_id=session_id)
        records = [message(place) for place, message in enumerate(messages)]
        store.append(lease, [Opened(at=_time(0)), *records])
        state = store.journal(session_id).load().state(_time(50))
        store.append(lease, [msgspec.structs.replace(state, name=name)])
        lease.release()
        return session_id

    return write


def _time(seconds: int) -> str:
    return f"2026-01-11T14:30:{seconds:02d}.000Z"


def _says(role, text, **more):
    return lambda place: Message(f"m{place}", role, text, _time(place), **more)


def test_answers_that_come_a_character_at_a_time(chats):
    chats.answer(answers(*HOSTILE, "\n\n", *MARKUP, "\n```\n", *HOSTILE, "\n```\n", "the end"))
    program = chats(rows=60)
    program.type("A question\r")
    program.until("the end")
    assert "␛]52;c;" in program.text
    assert "[@click=app.quit]x[/]" in program.text
    _leave(program)


def test_tools_models_and_errors_of_the_past(chats, sessions):
    calls = [ToolCall(f"t{n}", text, {text: text}) for n, text in enumerate(TEXTS)]
    session = sessions(
        _says("user", "A question"),
        _says("assistant", "Calling.", tool_calls=tuple(calls), model=HOSTILE + MARKUP),
        *[_says("tool", text, tool_call_id=f"t{n}") for n, text in enumerate(TEXTS)],
        *[_says("assistant", "No.", status="failed", error=t, model=t) for t in TEXTS],
    )
    program = chats.altered("", "--session", session, rows=100)
    program.until("MARKED")
    assert MARKUP[:20] in program.text
    program.press(*["pageup"] * 6)
    program.until("TUFSS0VS")
    _leave(program)


def test_names_and_first_prompts_in_sidebar_status_table_and_completion(chats, sessions):
    for text in TEXTS:
        sessions(_says("user", "A question"), name=text)
        sessions(_says("user", text))
    program = chats.altered(
        "", "--session", "session-20260111-153000-000002", rows=100, columns=160
    )
    program.until("␛]0;MARK")
    program.type("/sessions\r")
    program.until("all projects")
    program.press("escape")
    program.type("/load session-20260111-153000-00000")
    program.until(r"\[@click")
    program.press("escape")
    for _ in range(len(TEXTS)):
        program.press("alt+up")
    program.until("MARKED")
    program.press("f1")
    program.press("escape")
    _leave(program)


@pytest.mark.parametrize("reply", [refuses(401, HOSTILE + MARKUP), refuses(400, body=HOSTILE)])
def test_errors_of_the_server(chats, reply):
    chats.answer(reply)
    program = chats(rows=60)
    program.type("A question\r")
    program.until("✗")
    assert "TUFSS0VS" in program.text or "MARKED" in program.text or "400" in program.text
    _leave(program)


def test_calls_of_tools_that_nobody_offered(chats):
    calls = [(f"c{n}", text, ['{"a": "', "x", '"}']) for n, text in enumerate(TEXTS)]
    chats.answer(calls_tools(*calls, text="Calling."), answers("the end"))
    program = chats(rows=100)
    program.type("A question\r")
    program.until("the end")
    _leave(program)


def test_pasted_queued_and_named(chats):
    program = chats.altered("")
    # An escape within a paste is a key to Textual; what else there is comes through.
    pasted = "".join(c for c in HOSTILE if c not in "\x1b\x00\x07\x08\x05") + MARKUP
    program.type("A question\r")
    program.until(lambda it: words_shown(it) > 3, "an answer")
    program.paste(pasted)
    program.until("MARKED")
    program.press("enter")
    program.until("MARKED")
    program.type("/name ")
    program.paste(make_visible_line(MARKUP) + pasted[:80].replace("\n", " "))
    program.press("enter")
    program.until("Renamed to")
    program.type("draft")
    program.paste(pasted)
    program.until("draft")
    program.press("escape")
    program.until("interrupted")
    _leave(program)


def test_names_of_models_directories_and_settings(chats, private_home):
    bad = "\x1b]0;MARKED\x07\x9b2J\x1b]52;c;TUFSS0VS\x1b\\\u202e[@click=app.quit]x"
    project = private_home / "project" / bad
    project.mkdir()
    data = private_home / f"data{bad}"
    chats.root = data
    model = "local:" + bad.replace("]", ")")
    chats.answer(answers("Hello."), model=model)
    program = chats.launch("--data-dir", str(data), directory=str(project))
    program.until(r"session-\d+")
    program.type("A question\r")
    program.until("Hello.")
    program.type("/model\r")
    program.until("Enter choose")
    program.press("escape")
    program.type("/model nosuch\x9b\r")
    program.until("A model is named|Enter choose")
    program.press("escape")
    _leave(program)
    assert any("--data-dir" in line and "MARKED" in line for line in told(program))


def test_errors_before_there_is_a_screen(chats, private_home):
    place = private_home / "settings\x1b]0;MARKED\x07\x9b2J"
    place.mkdir()
    chats.config = place / "config.toml"
    chats.config.write_text('"col\\u001B]0;MARKED\\u0007our" = 1\n', "utf-8")
    program = chats.launch()
    assert program.wait() == 2
    assert "MARKED" in program.text
    assert spoken(program.raw) == []
    program = chats.launch("--session", HOSTILE.replace("\x00", ""))
    assert program.wait() == 2
    assert spoken(program.raw) == []


def test_only_what_the_user_copies_goes_to_the_clipboard_and_that_as_it_was_written(chats):
    chats.answer(answers(*HOSTILE, "\n\n```\ncode\n```\n"))
    program = chats(rows=60)
    program.type("A question\r")
    program.until("code")
    program.type("/copy code\r")
    program.until("Copied 1 line")
    assert re.findall(rb"\x1b\]52;[^\x07\x1b]*\x07", program.raw) == [b"\x1b]52;c;Y29kZQ==\x07"]
    assert b"TUFSS0VS\x1b" not in program.raw


def test_what_is_copied_within_gnu_screen_is_marked_for_the_terminal_around_it(chats):
    chats.answer(answers("```\ncode\n```\n"))
    program = chats(environment={"TERM": "screen", "STY": "1.pts"})
    program.type("A question\r")
    program.until("code")
    program.type("/copy code\r")
    program.until("Copied")
    assert b"\x1bP\x1b]52;c;Y29kZQ==\x07\x1b\\" in program.raw
