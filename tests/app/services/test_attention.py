"""The user's attention is drawn only where he does not look, and only by what is switched on."""

from types import SimpleNamespace

import pytest

from tui.app.services.attention import Attention
from tui.config.settings_schema import NotifySettings
from tui.terminal.environment import RESTORE_TITLE, SAVE_TITLE

ANSWERED = '\x1b]9;"Fix the login" answered\x1b\\'
TITLE = '\x1b]2;● "Fix the login" answered\x1b\\'
NAMED = {"TERM": "xterm-256color"}


class App:
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
    return App()


@pytest.fixture
def session():
    return SimpleNamespace(label=lambda: "Fix the login")


def attention(app, current, environment=NAMED, **settings):
    switcher = SimpleNamespace(current=current)
    return Attention(app, switcher, NotifySettings(**settings), environment)


def test_nothing_is_sent_while_the_session_is_looked_at(app, session):
    attention(app, session).tell(session, "answered")
    assert app.sent == []


def test_another_session_on_screen_is_told(app, session):
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
