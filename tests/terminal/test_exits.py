"""Every way out of the real program: what it leaves of the terminal, and what it has kept."""

import os
import random
import re
import select
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.providers.chat_server import Gate, answers, answers_at, is_silent
from tests.terminal.altered import SECRET
from tests.terminal.chats import words_shown
from tests.terminal.endings import (
    SIGNALS,
    assert_resumable,
    assert_whole,
    leave,
    quit_at_once,
    told,
)
from tests.terminal.program import SECONDS
from tui.terminal.driver import SECONDS_TO_TAKE

pytestmark = pytest.mark.full

WAYS = ["ctrl+q", "/quit", *SIGNALS]
FIRST = "The first piece, "
REST = "and the rest."


@pytest.fixture
def answering(chats):
    """The program, in the middle of an answer."""
    chats.answer(answers_at(Gate(), FIRST, REST))
    program = chats()
    program.type("A question\r")
    program.until(FIRST.strip())
    return program


@pytest.mark.parametrize("way", [pytest.param("ctrl+q", marks=pytest.mark.fast), signal.SIGTERM])
def test_an_answer_in_progress_is_kept_as_far_as_it_came(chats, answering, way):
    leave(answering, way)
    assert_resumable(answering, chats.only)
    assert chats.said() == [("user", "A question", None), ("assistant", FIRST, "interrupted")]
    assert not chats.is_held(chats.only)


@pytest.fixture
def talking(chats):
    """The program, with an answer in progress, a prompt that waits, and a draft."""

    def start(alterations="", **options):
        program = chats.altered(alterations, **options)
        program.type("A question\r")
        program.until(lambda it: words_shown(it) > 3, "an answer")
        program.type("Waits\r")
        program.until("Waits")
        program.type("a draft")
        program.until("a draft")
        return program

    return start


def _assert_kept(chats) -> None:
    """All that ``talking`` has brought about is on disk, and the session is free."""
    user, answer = chats.said()
    assert user == ("user", "A question", None)
    assert answer[1].startswith("w0 w1 w2 ")
    assert answer[2] == "interrupted"
    draft = chats.draft(chats.only)
    assert draft.queued == ("Waits",)
    assert draft.text.startswith("a draft")
    assert not chats.is_held(chats.only)


@pytest.mark.parametrize("way", ["ctrl+q", *SIGNALS])
def test_what_stands_in_the_prompt_and_what_waits_to_be_sent_comes_back(chats, talking, way):
    program = talking()
    leave(program, way)
    _assert_kept(chats)
    again = chats.altered("", "--session", chats.only)
    again.until("a draft")
    again.until("Waits")


def test_what_was_typed_or_sent_right_before_the_end_is_kept(chats):
    program = chats.altered("")
    program.type("the last words\x11")
    assert program.wait() == 0
    assert_whole(program)
    again = chats.altered("")
    again.until("the last words")
    again.type("\r\x11\x11")
    assert again.wait() == 0
    assert chats.said()[0] == ("user", "the last words", None)


@pytest.mark.parametrize("way", WAYS)
def test_an_end_without_a_word_said_leaves_nothing(chats, way):
    chats.answer(answers("Hello."))
    program = chats()
    leave(program, way)
    assert told(program) == []
    assert chats.entries == ()


def test_one_line_names_the_session_on_screen_and_the_data_and_the_others_are_saved_as_well(
    chats, private_home
):
    chats.root = private_home / "other place"
    chats.answer(answers_at(Gate(), FIRST, REST), answers("Hello."))
    program = chats("--data-dir", str(chats.root))
    program.type("Long\r")
    program.until(FIRST.strip())
    first = chats.only
    program.press("ctrl+n")
    program.until("Started a new session")
    program.type("Short\r")
    program.until("Hello.")
    second = next(entry.id for entry in chats.entries if entry.id != first)
    assert quit_at_once(program) == 0
    assert_resumable(program, second, ["--data-dir", f"'{chats.root}'"])
    assert chats.said(first)[-1] == ("assistant", FIRST, "interrupted")


# A terminal that goes away

_ALTERED = (sys.executable, "-m", "tests.terminal.altered", "")
_IGNORING = ("/bin/sh", "-c", 'trap "" HUP; exec "$0" "$@"', *_ALTERED)


@pytest.mark.parametrize(
    "options",
    [pytest.param({}, marks=pytest.mark.fast), {"command": _IGNORING}],
    ids=["", "of which no signal tells"],
)
def test_a_closed_terminal_saves_and_ends(chats, talking, options):
    leave(talking(**options), "closed")
    _assert_kept(chats)


_DETACHED = """
import subprocess, sys
program = subprocess.Popen(sys.argv[2:], start_new_session=True)
open(sys.argv[1], "w").write(str(program.pid))
program.wait()
"""


def test_a_program_that_leads_no_session_of_the_terminal_ends_with_it(chats, talking, tmp_path):
    note = tmp_path / "pid"
    program = talking(command=(sys.executable, "-c", _DETACHED, str(note), *_ALTERED))
    running = Path(f"/proc/{note.read_text()}")
    program.hang_up()
    _wait_until(lambda: not running.exists(), "the end")
    _assert_kept(chats)


def _wait_until(condition, what):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.01)


# Defects


def _assert_told_of_defect(program, chats) -> None:
    assert program.wait() == 1
    assert_whole(program)
    *resume, sentence, advice = told(program)
    # A new session on screen has nothing to go on with.
    assert all("Resume with: " in line for line in resume)
    assert sentence.startswith("Unexpected error: RuntimeError: broken ␛]0;BADTITLE␇<U+009B>31m")
    assert sentence.endswith("[@click=app.quit]here[/]")
    assert advice.startswith("This is a bug in sibyl-tui")
    assert SECRET not in program.raw.decode()


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("defect_in_handler", [*"break"]),
        ("defect_at_the_end", ["ctrl+q", "ctrl+q"]),
    ],
)
def test_a_defect_saves_everything_and_is_told_on_a_whole_terminal(chats, talking, name, keys):
    program = talking(name)
    for key in keys:
        program.press(key)
    _assert_told_of_defect(program, chats)
    _assert_kept(chats)


def test_a_defect_while_a_session_is_closed_is_a_failed_save_and_the_session_is_rescued(
    chats, talking, private_home
):
    program = talking("defect_while_closing")
    assert quit_at_once(program) == 1
    assert_whole(program)
    failure, rescued, *_ = told(program)
    error = f"Could not save {chats.only}: Unexpected error: RuntimeError: broken ␛]0;BADTITLE␇"
    assert failure.startswith(error)
    assert SECRET not in program.raw.decode()
    (file,) = private_home.rglob("rescue-*.jsonl")
    assert rescued == f"What could not be saved is in {file}."
    assert "w0 w1 w2 " in file.read_text("utf-8")
    assert chats.said()[0] == ("user", "A question", None)
    assert not chats.is_held(chats.only)


@pytest.mark.parametrize(
    ("name", "keys", "work"),
    [
        ("defect_in_command", ["f1"], "/help"),
        ("defect_in_worker", ["ctrl+n", "alt+down"], "open the session"),
        ("defect_in_thread", [*"break"], "spare work"),
        ("defect_in_callback", [*"break"], ""),
    ],
)
def test_a_defect_beside_the_screen_ends_nothing_and_is_told_there_and_at_the_end(
    chats, talking, name, keys, work
):
    program = talking(name)
    for key in keys:
        program.press(key)
        if key == "ctrl+n":
            program.until("Started a new session")
    not_done = f"Not done: {work}. " if work else ""
    program.until(f"{not_done}Unexpected error: RuntimeError: bro")
    program.type("typed on")
    program.until("typed on")
    # Twice: the answer goes on.
    program.press("ctrl+q", "ctrl+q")
    _assert_told_of_defect(program, chats)
    _assert_kept(chats)


def test_a_defect_while_drawing_saves_everything(chats):
    program = chats.altered("defect_while_drawing")
    program.type("A question\r")
    _assert_told_of_defect(program, chats)
    assert chats.said()[-1][2] == "interrupted"


# What must not hold it up


@pytest.mark.parametrize("name", ["slow_threads", "slow_import"])
def test_nothing_that_takes_long_holds_up_the_end(chats, name):
    program = chats.altered(name)
    program.type("A question\r")
    program.until(lambda it: words_shown(it) > 5, "an answer")
    leave(program, "ctrl+q")
    assert chats.said()[-1][2] == "interrupted"


def test_a_server_that_never_answers_does_not_hold_up_the_end(chats):
    server = chats.answer(is_silent(Gate()))
    program = chats()
    program.type("A question\r")
    server.wait_for_request()
    assert quit_at_once(program) == 0
    assert chats.said()[0] == ("user", "A question", None)


@contextmanager
def _stuck(program):
    """A terminal that takes nothing more: what reads it takes this lock for each piece."""
    with program._changed:
        yield


def _is_full(program) -> bool:
    return not select.select([], [program._slave], [], 0)[1]


def test_a_terminal_that_takes_nothing_does_not_keep_the_program_from_saving(chats):
    program = chats.altered("")
    program.type("A question\r")
    program.until(lambda it: words_shown(it) > 5, "an answer")
    session = chats.only
    with _stuck(program):
        _wait_until(lambda: _is_full(program), "a full terminal")
        before = chats.said(session)[-1]
        _wait_until(lambda: chats.said(session)[-1] != before, "more of the answer")
        program.signal(signal.SIGTERM)
        _wait_until(lambda: not chats.is_held(session), "the end of the session")
    assert program.wait() == 128 + signal.SIGTERM
    assert_whole(program)


@contextmanager
def _filled(program):
    """The same, once what was typed has filled it."""
    with _stuck(program):
        while not _is_full(program):
            program.type("x" * 5 + "\x15")
            time.sleep(0.05)
        yield


def test_a_terminal_that_takes_something_again_shows_what_has_come_meanwhile(chats):
    program = chats.altered("finite")
    with _filled(program):
        # Not needed for it to pass: by then it has lost what it would have drawn.
        time.sleep(SECONDS_TO_TAKE + 0.5)
        program.type("\x15A question\r")
        _wait_until(lambda: chats.entries and len(chats.said()) == 2, "an answer")
        _wait_until(lambda: chats.said()[-1][1].endswith("w29 "), "all of it")
    program.type("y")
    program.until(lambda it: words_shown(it) == 30, "the answer")
    leave(program, "ctrl+q")


def test_a_slow_terminal_gets_what_is_there_by_then_and_not_each_step_to_it(chats):
    program = chats.altered("")
    with _filled(program):
        # Each would be a frame: Textual lets ten of them wait.
        for number in range(30):
            program.type(f"\x15step{number:02}")
            time.sleep(0.05)
    program.until("step29")
    steps = {found.decode() for found in re.findall(rb"step\d\d", program.raw)}
    assert len(steps) < 6, steps
    leave(program, "ctrl+q")


@pytest.mark.fast
def test_a_full_disk_at_the_end_leaves_a_rescue_file_that_can_be_imported(chats, tmp_path):
    full = tmp_path / "full"
    program = chats.altered("full_disk", environment={"FULL": str(full)})
    program.type("A question\r")
    program.until(lambda it: words_shown(it) > 5, "an answer")
    session = chats.only
    full.touch()
    program.until(lambda it: words_shown(it) > 40, "more of the answer")
    shown = words_shown(program)
    assert quit_at_once(program) == 1
    assert_whole(program)
    lines = told(program)
    assert any(line.startswith(f"Could not save {session}: ") for line in lines)
    take_back = next(line for line in lines if line.startswith("Import it with: "))
    words = take_back.removeprefix("Import it with: sibyl-tui ").split()
    rescue = Path(words[-1])
    assert rescue.stat().st_mode & 0o777 == 0o600
    command = chats.launch(*words)
    assert command.wait() == 0
    command.until(f"Imported session: {session}")
    role, text, status = chats.said(session)[-1]
    assert (role, status) == ("assistant", "interrupted")
    assert len(text.split()) >= shown


# Signals at any moment

MOMENTS = int(os.environ.get("TUI_TESTS_MOMENTS", "1"))


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("stage", ["start", "idle", "streaming", "switching", "saving"])
def test_a_signal_at_any_moment_loses_nothing(chats, number, stage):
    chance = random.Random(f"{number} {stage}")
    for _ in range(MOMENTS):
        _signalled(chats, number, stage, chance.random())


def _signalled(chats, number, stage, delay):
    known = {entry.id for entry in chats.entries}
    program = chats.altered(
        "slow_saves,finite" if stage in {"saving", "switching"} else "", wait=False
    )
    if stage == "start":
        program.until(lambda it: it.is_alternate)
        time.sleep(delay * 0.5)
    else:
        program.until(r"session-\d+")
        if stage != "idle":
            program.type("A question\r")
            program.until(lambda it: words_shown(it) > 2, "an answer")
        if stage == "switching":
            program.type("draft")
            program.press("ctrl+n", "alt+down", "alt+down", "alt+up")
        time.sleep(delay * (0.1 if stage != "saving" else 0.3))
    seen, shown = program.text, words_shown(program)
    program.signal(number)
    status = program.wait()
    assert status == 128 + number or (stage == "start" and status == -number)
    assert_whole(program)
    new = [entry.id for entry in chats.entries if entry.id not in known]
    # A switch may have led to a session of an earlier round.
    session = next((each for each in new if each in seen), None)
    if session is not None and shown:
        (role, text, status) = chats.said(session)[-1]
        assert role == "assistant"
        assert shown <= len(text.split())
        assert any(session in line for line in told(program))
    for session in new:
        assert not chats.is_held(session)


@pytest.mark.parametrize("way", ["ctrl+q", *SIGNALS])
def test_the_end_with_a_question_open_does_not_answer_it(chats, way):
    program = chats.altered("finite")
    program.type("A question\r")
    program.until("w29")
    program.type("/delete\r")
    program.until("to the trash?")
    program.until(r"Yes \(y\)")
    leave(program, way)
    assert_resumable(program, chats.only)
    assert not chats.is_held(chats.only)
