"""When the first frame is drawn, and what it looks like; how it goes on is in tests/terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from platformdirs.macos import MacOS

from tests.terminal.emulator import Emulator
from tui.cli.parser import build, parse
from tui.config import paths
from tui.errors import UsageError
from tui.storage import state_files
from tui.terminal import first_frame

ROOT = Path(__file__).parents[2]

OPTIONS = {option for action in build()._actions for option in action.option_strings}
LEAVING = {"-h", "--help", "--version"}
COMMANDS = ["ask", "sessions", "doctor", "config", "list"]
VALUES = ["", "x", "5", "300", "a b", "-", "a=b", "ask"]
NOT_YET = first_frame.KNOWN - OPTIONS


def _asked_for(arguments: list[str]) -> bool:
    """What the parser says; an unusable number is its own affair."""
    try:
        return parse(arguments).command == ""
    except UsageError as error:
        assume("invalid" not in str(error) or "COMMAND" in str(error))
        return False


words = st.sampled_from(
    [*sorted(OPTIONS - LEAVING), *COMMANDS, *VALUES, "--nosuch", "--", "-x", "--mod", "--scope="]
)
equations = st.builds("{}={}".format, st.sampled_from(sorted(OPTIONS - LEAVING)), st.text("ab-= "))
# Mostly what is right, or nothing right would ever be tried.
pairs = st.tuples(st.sampled_from(sorted(OPTIONS - LEAVING)), st.sampled_from(VALUES))
lines = st.lists(st.one_of(st.tuples(words), st.tuples(equations), pairs), max_size=5)


@given(lines)
def test_the_screen_is_asked_for_when_the_parser_says_so(groups):
    arguments = [word for group in groups for word in group]
    assume(not any(word.startswith(tuple(NOT_YET)) for word in arguments))
    assert first_frame.asks_for_screen(arguments) == _asked_for(arguments)


def test_every_option_of_the_screen_is_known():
    assert OPTIONS - LEAVING <= first_frame.KNOWN


SCREEN = [
    [],
    ["--continue"],
    ["--private"],
    ["--continue", "--debug"],
    ["--session", "3", "--scope=x"],
    ["--session=#2"],
    ["--model", "openai:x", "--data-dir", "/tmp/x", "--auto-save-interval", "0"],
    ["--scope", "ask"],
    ["-c"],
    ["-r"],
    ["-r", "Fix the login bug"],
    ["--session", "--scope", "x"],
]
NO_SCREEN = [
    ["ask"],
    ["--scope", "x", "sessions", "list"],
    ["-h"],
    ["--help"],
    ["--continue", "--version"],
    ["--continue", "--session", "3"],
    ["--continue", "--private"],
    ["--continue=1"],
    ["-r", "-c"],
    ["-c", "Why is the sky blue?"],
    ["--scope"],
    # What argparse reads differently from version to version draws nothing.
    ["--scope", "-1"],
    ["--sess", "3"],
    ["--", "x"],
    [""],
]


def test_these_ask_for_the_screen_and_those_do_not():
    assert [each for each in SCREEN if not first_frame.asks_for_screen(each)] == []
    assert [each for each in NO_SCREEN if first_frame.asks_for_screen(each)] == []


def _drawn(columns: int, rows: int) -> list[str]:
    emulator = Emulator(columns, rows, lambda _: None)
    emulator.feed((first_frame.ENTER + first_frame.outline(columns, rows, 32)).encode())
    return emulator.lines


def test_the_outline_is_sidebar_prompt_status_bar_and_name():
    lines = _drawn(100, 14)
    assert lines[:10] == [" " * 31 + "│"] * 10
    assert lines[10] == " " * 31 + "│╭" + "─" * 66 + "╮"
    assert lines[11] == " " * 31 + "││" + " " * 66 + "│"
    assert lines[12] == " " * 31 + "│╰" + "─" * 66 + "╯"
    assert lines[13] == " sibyl-tui"
    for columns, sidebar in ((120, 41), (100, 60)):
        assert f"\x1b[1;{sidebar}H│" in first_frame.outline(columns, 40, sidebar)


def test_there_is_no_sidebar_on_a_narrow_screen_and_no_outline_on_a_small_one():
    lines = _drawn(99, 20)
    assert lines[:15] == [""] * 15
    assert lines[15] == "╭" + "─" * 97 + "╮"
    assert lines[17].endswith("╯")
    # A row for the line of keys, which lower screens have not.
    assert lines[18] == ""
    assert lines[19] == f" {first_frame.NAME}" == " sibyl-tui"
    for columns, rows in ((39, 40), (200, 9), (0, 0)):
        assert first_frame.outline(columns, rows, 32) == ""


def test_nothing_happens_where_nothing_was_begun(capfd):
    first_frame.begin(["sessions"])
    assert first_frame.hand_over() is None
    first_frame.end()
    assert capfd.readouterr() == ("", "")


def test_nothing_slow_is_imported_for_it():
    code = (
        "import sys, tui; before = set(sys.modules); import tui.terminal.first_frame;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert set(done.stdout.split()) <= {
        "atexit",
        "gc",
        "termios",
        "tui.domain",
        "tui.domain.screen_sizes",
        "tui.terminal",
        "tui.terminal.first_frame",
    }


# --- the sidebar's width


@pytest.mark.parametrize("platform", [sys.platform, "darwin"])
def test_the_file_with_the_width_is_where_the_program_has_it(monkeypatch, platform):
    assert Path(first_frame.ui_state_file()) == paths.state_directory() / state_files.UI_STATE
    monkeypatch.setattr("sys.platform", platform)
    if platform == "darwin":
        monkeypatch.setattr("platformdirs.PlatformDirs", MacOS)
    for named in ("", "/state"):
        monkeypatch.setenv("XDG_STATE_HOME", named)
        assert Path(first_frame.ui_state_file()) == paths.state_directory() / state_files.UI_STATE


@pytest.fixture
def ui_file(tmp_path, monkeypatch):
    path = tmp_path / "ui.json"
    monkeypatch.setattr(first_frame, "ui_state_file", lambda: str(path))
    return path


def test_the_width_is_the_one_that_was_kept_if_it_can_be_read_else_the_usual_one(ui_file):
    for width, shown in ((41, 41), (5, 20), (400, 60)):
        state_files.change_ui_state(ui_file, {"theme": "nord", "sidebar_width": width})
        assert first_frame.sidebar_columns(120) == shown
    for data in ("", "{", '{"sidebar_width":', '{"sidebar_width":"41"}', '{"sidebar_width":99999}'):
        ui_file.write_text(data)
        assert first_frame.sidebar_columns(160) == 40
    for put in (os.mkfifo, os.mkdir):
        ui_file.unlink()
        put(ui_file)
        assert first_frame.sidebar_columns(160) == 40


def test_until_a_width_is_kept_it_follows_the_screen(ui_file):
    for columns in range(60, 320):
        assert first_frame.sidebar_columns(columns) == max(24, min(columns // 4, 60))
