"""The command itself."""

import stat
import sys

import pytest

from tests.failing import raiser
from tui import __main__, __version__, cli
from tui.cli import debug_log
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


def test_the_command_leaves_with_the_exit_code_of_the_command_line_or_of_an_interrupt(leave_with):
    assert leave_with(len)[0] == 2
    code, told = leave_with(raiser(KeyboardInterrupt))
    assert (code, told.err) == (130, "")


def test_a_defect_is_a_sentence_and_shows_no_control_raw(leave_with, state):
    code, told = leave_with(raiser(ZeroDivisionError("\x1b]0;title\x07")))
    assert code == 1
    assert told.err.startswith("Unexpected error: ZeroDivisionError: ␛]0;title␇\n")
    assert "Traceback" not in told.err
    assert told.out == ""


def fail_with_a_text(_):
    raise ZeroDivisionError("my text")


@pytest.fixture
def state(monkeypatch, tmp_path):
    monkeypatch.setattr(debug_log, "state_directory", lambda: tmp_path / "state")
    return tmp_path / "state"


def test_the_last_words_name_a_private_file_with_the_place_of_each_defect(leave_with, state):
    words = leave_with(fail_with_a_text)[1].err.splitlines()[-1]
    path = state / "crash.log"
    assert str(path) in words
    report = path.read_text()
    assert " fail_with_a_text\n" in report
    assert report.endswith("builtins.ZeroDivisionError\n\n")
    assert f"sibyl-tui {__version__}, Python 3." in report
    assert "my text" not in report
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    leave_with(fail_with_a_text)
    assert path.read_text().count(" fail_with_a_text\n") == 2


def test_the_last_words_name_a_textual_that_was_never_tried(leave_with, state, monkeypatch):
    monkeypatch.setattr(debug_log, "library_version", lambda _: "8.9.0")
    words = leave_with(fail_with_a_text)[1].err.splitlines()[-1]
    newest = debug_log.TEXTUAL[-1]
    assert words == (
        f"sibyl-tui is tested with Textual {newest}, not 8.9.0. To install that:"
        f" pip install textual=={newest}. The report is in {state / 'crash.log'}."
    )


def test_a_report_that_cannot_be_written_is_told(leave_with, state):
    state.write_text("a file in the way")
    words = leave_with(fail_with_a_text)[1].err.splitlines()[-1]
    assert words.endswith("Its report could not be written: File exists.")


def test_the_first_frame_is_begun_before_the_command_line_and_ended_after_it(
    leave_with, monkeypatch
):
    happened = []
    monkeypatch.setattr(first_frame, "begin", happened.append)
    monkeypatch.setattr(first_frame, "end", lambda: happened.append("end"))
    leave_with(lambda arguments: happened.append("run"))
    assert happened == [["sessions", "list"], "run", "end"]
