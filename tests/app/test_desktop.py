"""The desktop: what is copied to its clipboard, and how it alerts the user."""

import base64
import os
from types import SimpleNamespace

import pytest
from textual.app import App

from tests.waiting import until
from tui.app.desktop import OSC52_BYTES, Attention, Clipboard, Tried, desktop_tools, run_tools
from tui.config.settings_schema import NotifySettings
from tui.terminal.environment import RESTORE_TITLE, SAVE_TITLE

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
                Clipboard(app, told.append, self.environment).start(text)
                await until(lambda: told)
                return told[0].text, app.clipboard

    return Desk()


LONG = "x" * OSC52_BYTES
FITTING = "x" * (OSC52_BYTES // 4 * 3)
WAYLAND, X11, TMUX = {"WAYLAND_DISPLAY": "wayland-0"}, {"DISPLAY": ":0"}, {"TMUX": "/tmp/x,1,0"}
TOO_LONG = "133 KB exceed the limit of terminals (100 KB)"


@pytest.mark.parametrize(
    ("tools", "variables", "text", "told", "at_terminal"),
    [
        # The terminal never says whether it did.
        ({}, {}, "text", COPIED, "text"),
        ({}, {}, FITTING, COPIED, FITTING),
        ({}, {}, LONG, f"Could not copy: {TOO_LONG}.", ""),
        ({}, {"TERM": "linux"}, "x", "Could not copy: the console has no clipboard.", ""),
        # The one around it is asked.
        ({}, {"TERM": "screen", "STY": "1.pts"}, "text", COPIED, "text"),
        ({"wl-copy": "exit 0"}, WAYLAND, "text", COPIED, "text"),
        ({"wl-copy": "exit 3", "xclip": "exit 0"}, {**WAYLAND, **X11}, "text", COPIED, "text"),
        ({"xclip": "exit 1"}, X11, LONG, f"Could not copy: xclip: exit code 1; {TOO_LONG}.", ""),
        ({"tmux": "exit 0"}, TMUX, LONG, f"Copied to tmux only: {TOO_LONG}.", ""),
        (
            {"wl-copy": "echo 'Failed to connect.\x1b[2J' >&2; echo more >&2; exit 1"},
            WAYLAND,
            "text",
            f"{COPIED} through the terminal (wl-copy: Failed to connect.␛[2J)",
            "text",
        ),
    ],
)
async def test_what_became_of_a_copy_is_told(desk, tools, variables, text, told, at_terminal):
    for name, script in tools.items():
        desk(name, script)
    assert await desk.sits(**variables).copy(text) == (told, at_terminal)
    assert len(base64.b64encode(FITTING.encode())) == OSC52_BYTES


async def test_a_tool_of_a_desktop_that_is_not_there_is_not_run(desk):
    desk("wl-copy")
    await desk.copy("text")
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


def test_tools_are_those_of_the_display_that_is_there(desk):
    for name in ("wl-copy", "xclip", "xsel", "pbcopy"):
        desk(name)
    assert desk.tools() == []
    assert desk.tools("darwin") == [["pbcopy"]]
    x11 = [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    assert desk.sits(DISPLAY=":0").tools() == x11
    assert desk.sits(WAYLAND_DISPLAY="wayland-0").tools() == [["wl-copy"], *x11]
    # Its clipboard is that of a machine which the user does not sit at.
    del desk.environment["DISPLAY"], desk.environment["WAYLAND_DISPLAY"]
    assert desk.sits(SSH_CONNECTION="1.2.3.4 5 6.7.8.9 22").tools("darwin") == []


async def test_tmux_gets_it_and_asks_the_terminal(desk):
    desk("tmux", '[ "$*" = "load-buffer -w -" ] && /bin/cat > "$OUT"')
    told, _ = await desk.sits(TMUX="/tmp/x,1,0", TERM="tmux-256color").copy("text")
    assert told == COPIED
    assert desk.out.read_text("utf-8") == "text"


def test_a_tool_that_does_not_answer_or_cannot_be_run_is_given_up(desk, tmp_path, monkeypatch):
    monkeypatch.setattr("tui.app.desktop.SECONDS", 0.2)
    desk("xclip", "exec /bin/sleep 600")
    tools = [*desktop_tools({**desk.environment, "DISPLAY": ":0"}, "linux")]
    tried = run_tools([*tools, (str(tmp_path / "gone"),)], "x" * 10**6)
    reasons = "xclip: no answer", "gone: No such file or directory"
    assert tried == Tried(failures=reasons)


def test_what_serves_the_clipboard_from_then_on_is_not_waited_for(desk, monkeypatch):
    # Were it waited for, it would be given up as one that does not answer.
    monkeypatch.setattr("tui.app.desktop.SECONDS", 60)
    desk("xclip", '/bin/sleep 600 & echo $! > "$OUT"')
    tried = run_tools([*desktop_tools({**desk.environment, "DISPLAY": ":0"}, "linux")], "text")
    assert tried == Tried("xclip")
    os.kill(int(desk.out.read_text("utf-8")), 9)


async def test_the_last_copy_is_the_one_that_stays(desk):
    desk("xclip", 'read -r line; [ "$line" = slow ] && /bin/sleep 0.3; echo "$line" > "$OUT"')
    app, told = App(), []
    async with app.run_test():
        copying = Clipboard(app, told.append, desk.sits(DISPLAY=":0").environment)
        copying.start("slow\n")
        copying.start("quick\n")
        await until(lambda: len(told) == 2)
    assert desk.out.read_text("utf-8") == "quick\n"


async def test_no_control_character_is_copied_but_newline_and_tab_and_no_lone_surrogate(desk):
    desk("wl-copy")
    desk.sits(WAYLAND_DISPLAY="wayland-0")
    odd = "a\x1b]52;c;x\x07\n\tb\x00\x7f\x9bc\r\nd\re \u202e會"
    copied = "a]52;c;x\n\tbc\nd\ne \u202e會"
    assert await desk.copy(odd) == ("Copied 4 lines", copied)
    assert desk.out.read_text("utf-8") == copied
    await desk.copy("a\ud800b")
    assert desk.out.read_text("utf-8") == "a\ufffdb"


ANSWERED = '\x1b]9;"Fix the login" answered\x1b\\'
TITLE = '\x1b]2;● "Fix the login" answered\x1b\\'
NAMED = {"TERM": "xterm-256color"}


class Terminal:
    """A terminal that keeps what it is sent."""

    def __init__(self):
        self.app_focus = True
        self.sent = []

    def bell(self):
        self.sent.append("\a")

    def write_to_terminal(self, sequence):
        self.sent.append(sequence)


@pytest.fixture
def app():
    return Terminal()


@pytest.fixture
def session():
    return SimpleNamespace(label=lambda: "Fix the login")


def attention(app, current, environment=NAMED, **settings):
    switcher = SimpleNamespace(current=current)
    return Attention(app, switcher, NotifySettings(**settings), environment)


def test_it_is_told_unless_the_session_is_looked_at(app, session):
    attention(app, session).tell(session, "answered")
    assert app.sent == []
    attention(app, object()).tell(session, "answered")
    assert app.sent == [ANSWERED, SAVE_TITLE + TITLE, "\a"]


def test_a_terminal_without_focus_is_told_and_gets_its_title_back(app, session):
    app.app_focus = False
    told = attention(app, session)
    told.tell(session, "answered")
    told.tell(session, "answered")
    told.end()
    told.end()
    assert "".join(app.sent).count(SAVE_TITLE) == 1
    assert app.sent.count(RESTORE_TITLE) == 1


@pytest.mark.parametrize(
    ("off", "gone"), [("bell", "\a"), ("desktop", ANSWERED), ("title", SAVE_TITLE + TITLE)]
)
def test_each_can_be_switched_off(app, session, off, gone):
    attention(app, None, **{off: False}).tell(session, "answered")
    assert gone not in app.sent
    assert len(app.sent) == 2


def test_no_sequence_of_a_title_gets_out(app, session):
    session.label = lambda: "a\x1b]2;evil\x07\x9c\x1b\\;b\ud800\u202e"
    attention(app, None, {"TERM": "rxvt"}).tell(session, "answered")
    text = "".join(app.sent).replace("\a", "", 1)
    assert "evil\x07" not in text
    assert "\x9c" not in text
    assert text.count("\x1b]") == 2
    assert text.count("\x1b\\") == 2


@pytest.mark.parametrize(
    ("environment", "begins"),
    [
        ({"TERM": "rxvt-unicode"}, "\x1b]777;notify;sibyl-tui;"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "\x1b]777;notify;sibyl-tui;"),
        ({"TERM": "tmux-256color", "TMUX": "/run/tmux"}, "\x1bPtmux;\x1b\x1b]9;"),
        ({"TERM": "screen", "STY": "1"}, "\x1bP\x1b]9;"),
        ({"TERM": "linux"}, ""),
    ],
)
def test_each_terminal_gets_what_it_knows(app, session, environment, begins):
    attention(app, None, environment, title=False, bell=False).tell(session, "answered")
    assert app.sent[0].startswith(begins)
    assert bool(app.sent[0]) == bool(begins)
