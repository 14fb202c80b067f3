"""The activity line is painted for the session on screen, and only while something happens."""

from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import Chat, Clock
from tui.app.controllers.session_view import SessionPresenter
from tui.engine.sessions.loaded_session import Activity


class App:
    """Keeps its timers, which a test lets run."""

    animation_level = "full"

    def __init__(self):
        self.timers = []

    def set_interval(self, seconds, callback):
        timer = SimpleNamespace(seconds=seconds, tick=callback)
        timer.stop = lambda: self.timers.remove(timer)
        self.timers.append(timer)
        return timer


def session():
    return SimpleNamespace(activity=Activity())


@pytest.fixture
def parts():
    return SimpleNamespace(
        app=App(), chat=Chat(), workspace=SimpleNamespace(current=session()), clock=Clock()
    )


@pytest.fixture
def line(parts):
    return SessionPresenter(parts.app, parts.chat, parts.workspace, None, None, parts.clock, None)


@pytest.mark.parametrize(("motion", "seconds"), [("full", 0.25), ("none", 1.0)])
def test_a_timer_runs_only_while_something_is_in_progress(line, parts, motion, seconds):
    parts.app.animation_level = motion
    line.show_activity()
    assert parts.app.timers == []
    parts.workspace.current.activity.begin_answer()
    line.show_activity()
    line.show_activity()
    assert [timer.seconds for timer in parts.app.timers] == [seconds]
    parts.workspace.current.activity.end_answer()
    parts.app.timers[0].tick()
    assert parts.app.timers == []
    assert parts.chat.shown[-1] is None


def test_a_session_that_is_not_on_screen_neither_paints_nor_ticks(line, parts):
    other = session()
    other.activity.begin_answer()
    other.activity.receive("answering", "text", at=1)
    line.show_activity()
    assert parts.chat.shown == [None]
    assert parts.app.timers == []
    parts.workspace.current = other
    line.show_activity()
    assert parts.chat.shown[-1].phase == "answering"
