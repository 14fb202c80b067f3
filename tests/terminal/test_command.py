"""The start of the real program, up to the import of its command line and a little further."""

import sys
from pathlib import Path

import pytest

from tests.terminal.endings import SIGNALS, assert_whole, quit_at_once

pytestmark = pytest.mark.full

FRAME = {
    "tui",
    "tui.__main__",
    "tui.terminal",
    "tui.terminal.first_frame",
    "atexit",
    "gc",
    "termios",
}
SLOW = {"argparse", "asyncio", "msgspec", "rich", "signal", "textual", "tui.errors"}


def _loaded(place: Path) -> set[str]:
    file = place / "modules"
    return set(file.read_text("utf-8").split()) if file.exists() else set()


@pytest.fixture
def held(start, hold, tmp_path):
    """The real program, stopped before it imports its command line."""
    cli = hold("cli")

    def run(*arguments):
        module = ("-m", "tests.terminal.held", str(tmp_path))
        return start(sys.executable, *module, *arguments), cli

    return run


@pytest.mark.parametrize("arguments", [[], ["--scope", "x"]])
def test_the_frame_is_there_before_the_command_line_is_imported(held, tmp_path, arguments):
    program, _ = held(*arguments)
    program.until("sibyl-tui")
    assert program.is_alternate
    program.until(lambda _: _loaded(tmp_path) >= FRAME, "the list of modules")
    assert _loaded(tmp_path) & SLOW == set()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_the_imports_restores_the_terminal(held, number):
    program, _ = held()
    program.until("sibyl-tui")
    program.signal(number)
    assert program.wait() == -number
    assert_whole(program)


def test_a_defect_is_told_on_the_normal_screen(held, tmp_path):
    (tmp_path / "fail").touch()
    program, cli = held()
    program.until("sibyl-tui")
    cli.let_go()
    assert program.wait() == 1
    assert not program.is_alternate
    assert program.screen[0] == "Unexpected error: ZeroDivisionError: the import failed"


@pytest.mark.parametrize(
    "line",
    [
        "colour = 1",
        'theme = "mauve"',
        '[keys]\nneu = "f9"',
        '[keys]\nnew = "ctrl+s"',
        '[keys]\nsearch-next = "x"',
        '[keys]\nprompt-unfold = "enter"',
    ],
)
def test_a_mistake_in_the_settings_is_told_on_the_normal_screen(sibyl, private_home, line):
    settings = private_home / "config.toml"
    settings.write_text(f"{line}\n", "utf-8")
    program = sibyl(environment={"SIBYL_CONFIG": str(settings)})
    assert program.wait() == 2
    assert program.is_cursor_visible
    assert "config.toml" in program.text


def test_a_session_that_is_not_there_is_told_on_the_normal_screen_and_a_command_draws_nothing(
    sibyl,
):
    program = sibyl("--session", "nosuch")
    assert program.wait() == 2
    assert program.screen[0] == "Session not found: nosuch"
    assert_whole(program)
    assert program.raw.count(b"\x1b[?1049h") == program.raw.count(b"\x1b[?1049l") == 1
    assert program.raw.index(b"\x1b[?1049l") < program.raw.index(b"Session not found")
    program = sibyl("config", "path")
    assert program.wait() == 0
    assert b"\x1b" not in program.raw


@pytest.mark.fast
def test_the_outline_is_where_the_screen_puts_its_lines_and_keys_typed_before_reach_it(held):
    program, cli = held()
    program.until("sibyl-tui")
    drawn = program.screen
    program.type("already ")
    cli.let_go()
    program.type("typed ")
    program.until(r"session-\d+")
    shown = program.screen
    assert drawn[0].index("│") == shown[0].index("│")
    top, bottom = len(drawn) - 5, len(drawn) - 3
    assert drawn[top].index("╭") == shown[top].index("╭")
    assert drawn[top].index("╮") == shown[top].index("╮")
    assert drawn[bottom].index("╰") == shown[bottom].index("╰")
    program.type("日本")
    program.until("already typed 日本")


def test_a_list_is_as_wide_as_its_terminal_whatever_the_environment_says(chats):
    session = chats.altered("finite")
    session.type("A question of many words, so that the list of sessions has to cut it\r")
    session.until("w29")
    assert quit_at_once(session) == 0
    shown = {}
    for columns in ("40", "200"):
        program = chats.launch("sessions", "list", environment={"COLUMNS": columns}, columns=90)
        assert program.wait() == 0
        shown[columns] = program.screen
    assert shown["40"] == shown["200"]
    assert 80 < max(map(len, shown["40"])) <= 90
