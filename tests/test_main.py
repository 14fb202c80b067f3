"""The command itself."""

import sys

import pytest

from tui import __main__, cli
from tui.terminal import first_frame


@pytest.fixture
def leave_with(monkeypatch, capsys):
    """Runs the command with a command line that does something, and gives what came of it."""
    # Never the terminal that the tests are run on.
    monkeypatch.setattr(sys, "argv", ["sibyl-tui", "sessions", "list"])

    def leave(action):
        monkeypatch.setattr(cli, "run", action)
        with pytest.raises(SystemExit) as left:
            __main__.main()
        return left.value.code, capsys.readouterr()

    return leave


def test_the_command_leaves_with_the_exit_code_of_the_command_line(leave_with):
    assert leave_with(len)[0] == 2


def test_a_defect_is_a_sentence_and_shows_no_control_raw(leave_with):
    def fail(_):
        raise ZeroDivisionError("\x1b]0;title\x07")

    code, told = leave_with(fail)
    assert code == 1
    assert told.err.startswith("Unexpected error: ZeroDivisionError: ␛]0;title␇\n")
    assert "Traceback" not in told.err
    assert told.out == ""


def test_where_a_defect_is_is_shown_when_asked_for(leave_with, monkeypatch):
    def fail(_):
        raise ZeroDivisionError

    monkeypatch.setenv("SIBYL_TRACEBACK", "1")
    assert "test_main.py" in leave_with(fail)[1].err


def test_an_interrupt_before_the_command_began_is_no_traceback(leave_with):
    def interrupt(_):
        raise KeyboardInterrupt

    code, told = leave_with(interrupt)
    assert (code, told.err) == (130, "")


def test_the_first_frame_is_begun_before_the_command_line_and_ended_after_it(
    leave_with, monkeypatch
):
    happened = []
    monkeypatch.setattr(first_frame, "begin", happened.append)
    monkeypatch.setattr(first_frame, "end", lambda: happened.append("end"))
    leave_with(lambda arguments: happened.append("run"))
    assert happened == [["sessions", "list"], "run", "end"]
