"""From the first frame to the screen, with a small program that starts as the real one does."""

import signal
import sys
import termios

import pytest

from tests.terminal.endings import SIGNALS, assert_whole, quit_at_once

pytestmark = pytest.mark.full

READY = "The stand-in is ready"


def _is_raw(program) -> bool:
    return not program.attributes()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)


@pytest.fixture
def held(stand_in, hold):
    """The stand-in with its first frame on the screen, before it imports anything."""
    imports = hold("imports")
    program = stand_in()
    program.until("sibyl-tui")
    return program, imports


@pytest.mark.fast
def test_the_frame_is_there_before_anything_is_imported_and_goes_over_into_the_screen(held):
    program, imports = held
    assert program.is_alternate
    assert not program.is_cursor_visible
    assert _is_raw(program)
    assert "2004" in program.modes, "pastes are marked from the beginning"
    imports.let_go()
    program.until(READY)
    # Entering a second time would clear it.
    assert program.raw.count(b"\x1b[?1049h") == 1
    assert _is_raw(program)
    assert quit_at_once(program) == 0
    assert_whole(program)


def test_the_terminal_is_whole_while_the_screen_is_suspended(stand_in):
    program = stand_in()
    program.until(READY)
    program.signal(signal.SIGTSTP)
    program.until(lambda program: program.is_stopped, "the program stopped")
    program.until(lambda program: not program.is_alternate, "the normal screen")
    assert program.attributes() == program.found
    program.signal(signal.SIGCONT)
    program.until(READY)
    assert quit_at_once(program) == 0
    assert program.attributes() == program.found


TYPED = "aé日\r\x1b[A\x7f\x13\x04\x16\x03 \x1b[3~z"
KEYS = [
    *("a", "é", "日", "enter", "up", "backspace"),
    *("ctrl+s", "ctrl+d", "ctrl+v", "ctrl+c", "space", "delete", "z"),
]


def test_keys_typed_at_any_stage_of_the_start_reach_the_prompt_as_they_were_typed(
    held, hold, stand_in
):
    program, imports = held
    screen = hold("screen")
    program.type(TYPED)
    imports.let_go()
    program.type(TYPED)
    screen.let_go()
    program.type(TYPED)
    program.until(READY)
    program.type(TYPED)
    program.until(lambda _: len(stand_in.keys) >= 4 * len(KEYS), "all keys")
    assert stand_in.keys == KEYS * 4


def test_keys_typed_all_the_time_reach_the_prompt_in_order(stand_in):
    letters = "abcdefghijklmnopqrstuvwxyz"
    program = stand_in()
    program.until("sibyl-tui")
    count = 0
    while READY not in program.text:
        program.type(letters[count % 26])
        count += 1
    program.until(lambda _: len(stand_in.keys) >= count, f"{count} keys")
    assert "".join(stand_in.keys) == (letters * (count // 26 + 1))[:count]


def test_a_long_paste_during_the_start_arrives_whole_and_sends_nothing(
    held, stand_in, in_background
):
    program, imports = held
    lines = [f"line {number} of the paste" for number in range(500)]
    # The terminal's queue holds 4 KB; who pastes more waits.
    pasting = in_background(program.paste, "\r".join(lines))
    imports.let_go()
    program.until(lambda _: len(stand_in.keys) >= len(lines), "the paste")
    pasting.join()
    assert stand_in.keys == ["paste " + lines[0], *lines[1:]]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("stage", ["imports", "screen"])
def test_a_signal_before_the_screen_restores_the_terminal_and_ends_the_program(
    stand_in, hold, number, stage
):
    hold(stage)
    program = stand_in()
    program.until("sibyl-tui")
    program.until(lambda _: _is_raw(program))
    program.signal(number)
    # A shell shows it as 128 and the number.
    assert program.wait() == -number
    assert_whole(program)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_at_any_moment_leaves_a_whole_terminal(stand_in, number):
    for delay in (0, 0.03, 0.06, 0.09, 0.12, 0.15):
        program = stand_in()
        program.until(lambda program: program.is_alternate)
        end = program.seconds + delay
        program.until(lambda program, end=end: program.seconds >= end)
        program.signal(number)
        assert program.wait() in {-number, 128 + number}
        assert_whole(program)


def test_a_signal_that_was_ignored_stays_ignored(start, hold, tmp_path):
    imports = hold("imports")
    command = f'trap "" HUP; exec {sys.executable} -m tests.terminal.stand_in'
    program = start("/bin/sh", "-c", command, environment={"STAND_IN": str(tmp_path)})
    program.until("sibyl-tui")
    program.signal(signal.SIGHUP)
    program.signal(signal.SIGCONT)
    imports.let_go()
    program.until(READY)


def test_a_closed_terminal_ends_the_start(held):
    program, _ = held
    program.hang_up()
    assert program.wait() == -signal.SIGHUP


def test_what_was_typed_for_a_screen_that_never_came_is_not_left_to_a_shell(
    stand_in, hold, start, tmp_path
):
    imports = hold("imports")
    stand_in.fail()
    command = f"{sys.executable} -m tests.terminal.stand_in; printf 'rest: '; cat"
    program = start("/bin/sh", "-c", command, environment={"STAND_IN": str(tmp_path)})
    program.until("sibyl-tui")
    program.type("rm -r everything\r")
    imports.let_go()
    program.until("rest:")
    program.type("typed later\r")
    program.until("typed later\ntyped later")
    assert b"everything" not in program.raw


@pytest.mark.parametrize(
    ("redirection", "kind"),
    [
        *((each, "xterm") for each in ("</dev/null", "2>/dev/null", "<&- 2>/dev/null")),
        *(("", kind) for kind in ("dumb", "", None)),
    ],
)
def test_nothing_is_drawn_where_there_is_no_terminal_that_can_draw(
    start, stand_in, redirection, kind
):
    stand_in.fail()
    command = f"exec {sys.executable} -m tests.terminal.stand_in {redirection}"
    environment = {"STAND_IN": str(stand_in._place), "TERM": kind}
    program = start("/bin/sh", "-c", command, environment=environment)
    assert program.wait() == 2
    assert b"\x1b" not in program.raw


def test_nothing_is_drawn_by_a_job_in_the_background(start, stand_in):
    stand_in.fail()
    command = f"set -m; {sys.executable} -m tests.terminal.stand_in & wait; echo over"
    program = start("/bin/sh", "-c", command, environment={"STAND_IN": str(stand_in._place)})
    assert program.wait() == 0
    assert program.screen[:2] == ["Session not found: nosuch", "over"]
    assert b"\x1b" not in program.raw


@pytest.mark.parametrize(
    "options",
    [{"columns": 39, "rows": 9}, {"environment": {"PYTHONIOENCODING": "latin-1"}}],
    ids=["small", "a locale without lines"],
)
def test_a_terminal_without_room_or_lines_shows_nothing_yet_and_loses_no_key(
    stand_in, hold, options
):
    imports = hold("imports")
    program = stand_in(**options)
    program.until(lambda program: program.is_alternate)
    program.type("abc")
    assert program.text.strip() == ""
    imports.let_go()
    program.until(lambda _: stand_in.keys == ["a", "b", "c"], "the keys")
