"""The activity line is painted for the session on screen, and only while something happens."""

from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import Chat, Clock
from tui.app.controllers.activity_line import ActivityLine
from tui.engine.sessions.activity import Activity
from tui.engine.turns.events import AnswerStarted, AttemptRepeated, TextAdded, ThinkingAdded


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
    return SimpleNamespace(activity=Activity(), model=SimpleNamespace(name="fake:qwen3"))


@pytest.fixture
def parts():
    return SimpleNamespace(
        app=App(), chat=Chat(), switcher=SimpleNamespace(current=session()), clock=Clock()
    )


@pytest.fixture
def line(parts):
    return ActivityLine(parts.app, parts.chat, parts.switcher, parts.clock)


def test_a_timer_runs_only_while_something_is_in_progress(line, parts):
    line.show()
    assert parts.app.timers == []
    line.begin(parts.switcher.current)
    line.show()
    line.show()
    assert [timer.seconds for timer in parts.app.timers] == [0.25]
    parts.switcher.current.activity.end_answer()
    parts.app.timers[0].tick()
    assert parts.app.timers == []
    assert parts.chat.shown[-1] is None


def test_without_motion_it_is_painted_once_a_second(line, parts):
    parts.app.animation_level = "none"
    line.begin(parts.switcher.current)
    line.show()
    assert [timer.seconds for timer in parts.app.timers] == [1.0]


def test_a_session_that_is_not_on_screen_neither_paints_nor_ticks(line, parts):
    other = session()
    line.begin(other)
    line.note(other, TextAdded("m2", "text"))
    line.show()
    assert parts.chat.shown == [None]
    assert parts.app.timers == []
    parts.switcher.current = other
    line.show()
    assert parts.chat.shown[-1].phase == "answering"


def test_a_new_phase_is_painted_at_once_and_more_of_it_with_the_next_tick(line, parts):
    current = parts.switcher.current
    line.begin(current)
    line.show()
    for event in (
        AnswerStarted("m2"),
        AttemptRepeated("m2", 2, "status 500", 3),
        ThinkingAdded("m2", "hm"),
        TextAdded("m2", "some text"),
    ):
        line.note(current, event)
    phases = [view.phase for view in parts.chat.shown]
    assert phases == ["saving", "waiting", "retrying", "thinking", "answering"]
    for _ in range(100):
        line.note(current, TextAdded("m2", "more"))
    assert len(parts.chat.shown) == 5
    parts.app.timers[0].tick()
    assert parts.chat.shown[-1].tokens > 100
