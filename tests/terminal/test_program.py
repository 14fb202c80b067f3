"""What drives programs on terminals, itself."""

import signal
import subprocess
import termios

import pytest

from tests.terminal.keys import sequence
from tests.terminal.program import SECONDS, Program

SIZE = "trap 'stty size' WINCH; stty size; while :; do read line; done"


def test_what_is_typed_reaches_the_program_and_what_it_writes_is_on_the_screen(start):
    program = start("/bin/sh", "-c", 'read line; echo "got $line"')
    program.type("日本\r")
    program.until("got 日本")
    assert program.wait() == 0


def test_the_terminal_is_the_controlling_one(start):
    # Only that one turns ctrl+c into a signal.
    program = start("/bin/cat")
    program.type("here\r")
    program.until("here\nhere")
    program.press("ctrl+c")
    assert program.wait() == -signal.SIGINT


def test_the_size_is_what_was_asked_for_and_what_it_was_changed_to(start):
    program = start("/bin/sh", "-c", SIZE, columns=70, rows=20)
    program.until(r"20 70")
    program.resize(90, 25)
    program.until(r"25 90")
    assert len(program.screen) == 25


def test_a_wait_for_what_never_comes_tells_what_is_there(start):
    program = start("/bin/sh", "-c", "echo something else")
    program.until("something else")
    with pytest.raises(AssertionError, match=r"(?s)never came: the text\n.*something else"):
        program.until("expected", "the text", seconds=0.2)


def test_a_wait_ends_when_the_program_has(start):
    program = start("/bin/sh", "-c", "echo bye; exit 3")
    assert program.wait() == 3
    with pytest.raises(AssertionError, match="ended with 3"):
        program.until("expected")


def test_a_wait_is_over_as_soon_as_a_program_ends_that_nobody_waited_for(start):
    program = start("/bin/sh", "-c", "seq 5000; exit 3")
    with pytest.raises(AssertionError, match="ended with 3"):
        program.until("expected")
    assert program.seconds < SECONDS
    assert program.screen[-2] == "5000"


def test_all_that_was_written_before_the_end_is_on_the_screen(start):
    program = start("/bin/sh", "-c", "seq 5000; echo last")
    program.wait()
    assert program.screen[-2] == "last"
    assert program.raw.startswith(b"1\r\n2\r\n")
    times = [chunk.seconds for chunk in program.chunks]
    assert times == sorted(times)


def test_a_program_that_does_not_end_is_told(start):
    program = start("/bin/cat")
    with pytest.raises(AssertionError, match="still running"):
        program.wait(0.1)


def test_a_closed_terminal_hangs_up(start):
    program = start("/bin/cat")
    program.type("here\r")
    program.until("here\nhere")
    program.hang_up()
    assert program.wait() == -signal.SIGHUP


def test_the_attributes_are_those_that_the_program_set(start):
    program = start("/bin/sh", "-c", "stty -echo; echo set; read line; stty echo")
    program.until("set")
    assert not program.attributes()[3] & termios.ECHO
    program.press("enter")
    program.wait()
    assert program.attributes()[3] & termios.ECHO


def test_leaving_kills_what_the_program_started_too(private_home):
    with Program(["/bin/sh", "-c", "trap '' HUP TERM; sleep 1000 & echo $!; wait"]) as program:
        program.until(r"\d+")
        child = program.text.strip()
    found = subprocess.run(["/bin/ps", "-o", "stat=", "-p", child], capture_output=True, text=True)
    assert found.stdout.strip()[:1] in {"", "Z"}


def test_a_variable_can_be_taken_away(start):
    program = start("/bin/sh", "-c", "echo [$TERM]", environment={"TERM": None})
    program.wait()
    assert program.screen[0] in {"[]", "[dumb]"}


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("a", "a"),
        ("enter", "\r"),
        ("ctrl+q", "\x11"),
        ("alt+1", "\x1b1"),
        ("alt+up", "\x1b[1;3A"),
        ("ctrl+shift+right", "\x1b[1;6C"),
        ("f2", "\x1bOQ"),
    ],
)
def test_keys_are_sent_as_terminals_send_them(key, sent):
    assert sequence(key) == sent


def test_a_key_that_no_terminal_sends_is_an_error():
    with pytest.raises(ValueError, match="hyper"):
        sequence("hyper+x")
