"""How painting keeps to the pace of the terminal, with both threads' parts in any order."""

from contextlib import contextmanager
from typing import ClassVar

import pytest
from textual._compositor import LayoutUpdate
from textual.app import ComposeResult
from textual.widgets import Static

from tests.waiting import until
from tui.terminal.flow_control import SECONDS_SLOW, FlowControl, FlowControlledApp


class _Screen:
    asked = 0

    def check_idle(self):
        self.asked += 1


class _App:
    """What is asked of an application."""

    def __init__(self):
        self.screen_stack = [_Screen(), _Screen()]
        self.resting = 0
        self.whole = 0

    @contextmanager
    def batch_update(self):
        self.resting += 1
        yield
        self.resting -= 1

    def refresh(self):
        self.whole += 1

    def call_later(self, callback):
        callback()


class Terminal:
    """Takes frames when it is told to; ``told`` is what the thread that writes has passed on."""

    def __init__(self):
        self.app, self.now, self.told = _App(), 0.0, []
        self.flow_control = FlowControl(self.app, lambda: self.now)
        self.flow_control.begin(self.told.append)

    def frame(self):
        self.flow_control.note_given()
        self.flow_control.end_frame()
        self.flow_control.note_painting()

    def take(self, count=1, seconds=0.0):
        self.now += seconds
        self.flow_control.note_taken(count)
        while self.told:
            self.told.pop()()


@pytest.fixture
def terminal():
    return Terminal()


def test_frames_follow_each_other_where_each_is_taken_before_the_next(terminal):
    for _ in range(5):
        terminal.frame()
        assert not terminal.app.resting
        assert not terminal.flow_control.has_taken_all()
        terminal.take()
        assert terminal.flow_control.has_taken_all()


def test_painting_rests_while_a_frame_waits_behind_another_and_repeats_what_was_in_vain(terminal):
    terminal.frame()
    terminal.frame()
    assert terminal.app.resting == 1
    terminal.take()
    assert terminal.app.resting == 1
    terminal.take()
    assert not terminal.app.resting
    assert [screen.asked for screen in terminal.app.screen_stack] == [1, 1]
    assert not terminal.app.whole
    terminal.frame()
    terminal.frame()
    terminal.flow_control.note_painting()
    terminal.take(2)
    assert terminal.app.whole == 1


def test_a_slow_terminal_has_one_frame_at_a_time_until_it_takes_one_fast(terminal):
    terminal.frame()
    terminal.frame()
    terminal.take(2, 2 * SECONDS_SLOW)
    terminal.frame()
    assert terminal.app.resting
    terminal.take(seconds=SECONDS_SLOW / 2)
    terminal.frame()
    assert not terminal.app.resting


def test_a_frame_that_goes_while_the_rest_begins_ends_it(terminal):
    begin = terminal.app.batch_update

    @contextmanager
    def taken_meanwhile():
        with begin():
            terminal.flow_control.note_taken(2)
            yield

    terminal.app.batch_update = taken_meanwhile
    terminal.frame()
    terminal.frame()
    assert not terminal.app.resting
    terminal.told.pop()()  # what the other thread said comes late, and to nobody
    assert not terminal.app.resting


def test_what_is_painted_is_seen_though_always_something_waits(terminal):
    is_seen = terminal.flow_control.sight()
    assert is_seen()
    terminal.frame()
    assert not is_seen()
    terminal.take()
    assert is_seen()
    terminal.frame()
    for _ in range(2):
        terminal.frame()
        terminal.take()
        assert not is_seen()
    for _ in range(2):
        terminal.frame()
        terminal.take()
    assert not terminal.flow_control.has_taken_all()
    assert is_seen()


def test_late_news_of_one_rest_or_terminal_is_nothing_to_the_next(terminal):
    terminal.frame()
    terminal.frame()
    terminal.flow_control.note_taken(2)
    terminal.told[0]()
    terminal.frame()
    terminal.frame()
    terminal.told[0]()
    assert terminal.app.resting
    terminal.flow_control.end()
    assert not terminal.app.resting
    terminal.told.clear()
    terminal.flow_control.begin(terminal.told.append)
    terminal.frame()
    terminal.take()
    terminal.frame()
    assert not terminal.app.resting


class _Words(FlowControlledApp):
    CSS: ClassVar[str] = "Static { height: 1 }"

    def compose(self) -> ComposeResult:
        yield Static("first")


async def test_what_changes_during_a_rest_is_painted_behind_it(monkeypatch):
    app = _Words()
    painted = []
    async with app.run_test() as pilot:
        await pilot.pause()
        words = app.query_one(Static)
        render = words.render_line
        noting = lambda y: painted.append(render(y).text.strip()) or render(y)  # noqa: E731
        monkeypatch.setattr(words, "render_line", noting)
        _rest(app)
        words.update("last")
        await pilot.pause()
        assert "last" not in painted
        app.flow_control.note_taken(2)
        await until(lambda: "last" in painted, "the painting")


async def test_what_is_painted_in_vain_during_a_rest_is_painted_behind_it(monkeypatch):
    app = _Words()
    painted = []
    async with app.run_test() as pilot:
        await pilot.pause()
        _rest(app)
        app.screen._refresh_layout()  # as for another theme, and the size that a terminal gets
        await until(lambda: app.flow_control._is_missed, "a painting in vain")
        monkeypatch.setattr(app, "_display", lambda _, update: painted.append(update))
        app.flow_control.note_taken(2)
        await until(lambda: any(isinstance(each, LayoutUpdate) for each in painted), "all of it")


def _rest(app):
    """Two frames that the terminal does not take."""
    app.flow_control.begin(app.call_later)
    for _ in range(2):
        app.flow_control.note_given()
        app.flow_control.end_frame()
        app.flow_control.note_painting()
