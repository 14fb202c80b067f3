"""Copying tells the truth: which tool took it, whether the terminal was asked, or neither."""

import base64
import os

import pytest
from textual.app import App

from tests.waiting import until
from tui.app.services.clipboard import OSC52_BYTES, Clipboard, Tried, desktop_tools, run_tools

COPIED = "Copied 1 line"


@pytest.fixture
def desk(tmp_path):
    """A desktop: ``desk("wl-copy", script)`` puts a tool on its PATH, which may write to $OUT."""

    class Desk:
        out = tmp_path / "out"

        def __init__(self):
            self.environment = {"PATH": str(tmp_path / "bin"), "TERM": "xterm-256color"}

        def __call__(self, name, script='/bin/cat > "$OUT"'):
            tool = tmp_path / "bin" / name
            tool.parent.mkdir(exist_ok=True)
            tool.write_text(f'#!/bin/sh\nOUT="{self.out}"\n{script}\n', "utf-8")
            tool.chmod(0o700)

        def sits(self, **variables):
            self.environment = {**self.environment, **variables}
            return self

        def tools(self, platform="linux"):
            return [
                [os.path.basename(t[0]), *t[1:]] for t in desktop_tools(self.environment, platform)
            ]

        async def copy(self, text):
            """What is told, and what the terminal was asked to copy."""
            app, told = App(), []
            async with app.run_test():
                Clipboard(app, self.environment).start(text, told.append)
                await until(lambda: told)
                return told[0].text, app.clipboard

    return Desk()


async def test_without_a_desktop_the_terminal_is_asked_which_never_says_whether_it_did(desk):
    desk("wl-copy")
    assert await desk.copy("text") == (COPIED, "text")
    assert not desk.out.exists()


@pytest.mark.parametrize(
    ("tool", "variable"),
    [("wl-copy", "WAYLAND_DISPLAY"), ("xclip", "DISPLAY"), ("xsel", "DISPLAY")],
)
async def test_the_desktops_tool_gets_the_text_whole_and_is_named(desk, tool, variable):
    text = "one\n二つ目\n]52;c;QUJD " + "x" * 200_000
    desk(tool)
    told, _ = await desk.sits(**{variable: ":0"}).copy(text)
    assert told == "Copied 3 lines"
    assert desk.out.read_bytes() == text.encode()


async def test_the_terminal_is_asked_too(desk):
    desk("wl-copy")
    assert await desk.sits(WAYLAND_DISPLAY="wayland-0").copy("text") == (
        COPIED,
        "text",
    )


def test_tools_are_those_of_the_display_that_is_there(desk):
    for name in ("wl-copy", "xclip", "xsel", "pbcopy"):
        desk(name)
    assert desk.tools() == []
    assert desk.tools("darwin") == [["pbcopy"]]
    x11 = [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    assert desk.sits(DISPLAY=":0").tools() == x11
    assert desk.sits(WAYLAND_DISPLAY="wayland-0").tools() == [["wl-copy"], *x11]


def test_a_mac_that_one_has_come_to_by_ssh_has_a_clipboard_of_its_own(desk):
    desk("pbcopy")
    assert desk.sits(SSH_CONNECTION="1.2.3.4 5 6.7.8.9 22").tools("darwin") == []


async def test_why_a_tool_failed_is_told_and_that_only_the_terminal_was_asked(desk):
    desk("wl-copy", "echo 'Failed to connect.\x1b[2J' >&2; echo more >&2; exit 1")
    told, clipboard = await desk.sits(WAYLAND_DISPLAY="wayland-0").copy("text")
    assert told == f"{COPIED} through the terminal (wl-copy: Failed to connect.␛[2J)"
    assert clipboard == "text"


async def test_the_next_tool_is_tried(desk):
    desk("wl-copy", "exit 3")
    desk("xclip")
    told, _ = await desk.sits(WAYLAND_DISPLAY="wayland-0", DISPLAY=":0").copy("text")
    assert told == COPIED


async def test_what_is_too_long_for_the_terminal_is_not_asked_for_and_told(desk):
    text = "x" * OSC52_BYTES
    told, clipboard = await desk.copy(text)
    assert told == "Could not copy: 133 KB exceed the limit of terminals (100 KB)."
    assert clipboard == ""


async def test_as_much_as_a_terminal_takes_is_asked_for(desk):
    text = "x" * (OSC52_BYTES // 4 * 3)
    assert len(base64.b64encode(text.encode())) == OSC52_BYTES
    assert await desk.copy(text) == (COPIED, text)


async def test_all_that_failed_is_told(desk):
    desk("xclip", "exit 1")
    told, _ = await desk.sits(DISPLAY=":0").copy("x" * 100_000)
    assert told.startswith("Could not copy: xclip: exit code 1; 133 KB")


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"TERM": "linux"}, "the console has no clipboard"),
    ],
)
async def test_a_terminal_known_not_to_copy_is_not_asked(desk, variables, reason):
    assert await desk.sits(**variables).copy("x") == (f"Could not copy: {reason}.", "")


async def test_tmux_gets_it_and_asks_the_terminal(desk):
    desk("tmux", '[ "$*" = "load-buffer -w -" ] && /bin/cat > "$OUT"')
    told, _ = await desk.sits(TMUX="/tmp/x,1,0", TERM="tmux-256color").copy("text")
    assert told == COPIED
    assert desk.out.read_text("utf-8") == "text"


async def test_tmux_has_it_where_the_terminal_would_not_take_it(desk):
    desk("tmux")
    told, _ = await desk.sits(TMUX="/tmp/x,1,0").copy("x" * 100_000)
    assert told == "Copied to tmux only: 133 KB exceed the limit of terminals (100 KB)."


async def test_within_gnu_screen_the_terminal_around_it_is_asked(desk):
    told, clipboard = await desk.sits(TERM="screen", STY="1.pts").copy("text")
    assert told == COPIED
    assert clipboard == "text"


async def test_a_lone_surrogate_is_copied_as_what_can_be_written(desk):
    desk("xclip")
    await desk.sits(DISPLAY=":0").copy("a\ud800b")
    assert desk.out.read_text("utf-8") == "a\ufffdb"


def test_a_tool_that_does_not_answer_is_given_up(desk, monkeypatch):
    monkeypatch.setattr("tui.app.services.clipboard.SECONDS", 0.2)
    desk("xclip", "exec /bin/sleep 600")
    tried = run_tools([*desktop_tools({**desk.environment, "DISPLAY": ":0"}, "linux")], "x" * 10**6)
    assert tried == Tried(failures=("xclip: no answer",))


def test_what_serves_the_clipboard_from_then_on_is_not_waited_for(desk, monkeypatch):
    # Were it waited for, it would be given up as one that does not answer.
    monkeypatch.setattr("tui.app.services.clipboard.SECONDS", 60)
    desk("xclip", '/bin/sleep 600 & echo $! > "$OUT"')
    tried = run_tools([*desktop_tools({**desk.environment, "DISPLAY": ":0"}, "linux")], "text")
    assert tried == Tried("xclip")
    os.kill(int(desk.out.read_text("utf-8")), 9)


def test_a_tool_that_cannot_be_run_is_told(desk, tmp_path):
    assert run_tools([(str(tmp_path / "gone"),)], "text").failures == (
        "gone: No such file or directory",
    )


async def test_the_last_copy_is_the_one_that_stays(desk):
    desk("xclip", 'read -r line; [ "$line" = slow ] && /bin/sleep 0.3; echo "$line" > "$OUT"')
    app, told = App(), []
    async with app.run_test():
        copying = Clipboard(app, desk.sits(DISPLAY=":0").environment)
        copying.start("slow\n", told.append)
        copying.start("quick\n", told.append)
        await until(lambda: len(told) == 2)
    assert desk.out.read_text("utf-8") == "quick\n"


async def test_no_control_character_is_copied_but_newline_and_tab(desk):
    desk("wl-copy")
    desk.sits(WAYLAND_DISPLAY="wayland-0")
    odd = "a\x1b]52;c;x\x07\n\tb\x00\x7f\x9bc\r\nd\re \u202e會"
    copied = "a]52;c;x\n\tbc\nd\ne \u202e會"
    assert await desk.copy(odd) == ("Copied 4 lines", copied)
    assert desk.out.read_text("utf-8") == copied
