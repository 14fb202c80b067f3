"""The start: what waits for the first screen, and what that waits for."""

import pytest
from textual import events

from tests.visible_text import visible_text
from tests.waiting import until
from tui.app.app import SibylApp
from tui.screens.beginning import FirstPaint
from tui.screens.chat import ChatScreen


@pytest.fixture
def first_shown(monkeypatch):
    """What stands in the prompt each time that the chat is about to be painted as a whole."""
    seen = []

    def note(chat, event):
        seen.append(chat.prompt.text)
        resume(chat, event)

    resume = ChatScreen.on_screen_resume
    monkeypatch.setattr(ChatScreen, "on_screen_resume", note)
    return seen


@pytest.fixture
def typed_before(monkeypatch):
    """Keys that wait before the application has begun."""

    def wait(app):
        for key in "ab":
            app.post_message(events.Key(key, key))
        load(app)

    load = SibylApp.on_load
    monkeypatch.setattr(SibylApp, "on_load", wait)


@pytest.mark.usefixtures("typed_before")
async def test_what_was_typed_before_the_first_screen_stands_in_it(world, first_shown):
    async with world().running() as (app, _):
        await until(lambda: app.chat.prompt.text == "ab", "the keys")
        assert first_shown == ["ab"]


async def test_the_first_screen_comes_where_the_prompt_never_takes_its_turn(world, monkeypatch):
    monkeypatch.setattr("tui.widgets.prompt.editor.Editor.call_later", lambda *_: False)
    async with world().running() as (app, _):
        await until(lambda: app.chat.first_paint.has_come, "the first screen")
        assert app.chat.size


@pytest.fixture
def rows_painted(monkeypatch):
    """The conversation's rows each time that something was painted."""
    seen = []
    monkeypatch.setattr(
        SibylApp, "post_display_hook", lambda app: seen.append(visible_text(app.chat.transcript))
    )
    return seen


async def test_what_was_said_is_painted_right_behind_the_prompt(world, rows_painted, monkeypatch):
    monkeypatch.setattr("tui.screens.beginning.SECONDS_UNPAINTED", 60)
    begun = world()
    session_id = await begun.session("Hello there")
    async with begun.running(session_id):
        await until(lambda: len(rows_painted) > 1, "two paintings")
    first, second, *_ = ["Hello there" in "".join(rows) for rows in rows_painted]
    assert (first, second) == (False, True)


class _Pump:
    def __init__(self):
        self.later = []

    def call_later(self, call):
        self.later.append(call)

    call_next = call_later


@pytest.fixture
def pump():
    return _Pump()


@pytest.fixture
def first_paint(pump):
    return FirstPaint(pump)


def test_what_comes_after_the_first_painting_is_drawn_in_its_turn(pump, first_paint):
    first_paint.begin()
    first_paint.follow_with(print)
    assert pump.later[-1] is print


async def test_the_rest_is_drawn_when_the_terminal_has_the_first(pump, first_paint):
    looks = iter([False, False, True])
    drawn = []
    first_paint.follow_with(lambda: drawn.append(next(looks, "taken")))
    first_paint.may_come(lambda: next(looks))
    first_paint.begin()
    await pump.later[0]()
    assert drawn == ["taken"]


async def test_the_rest_does_not_wait_for_a_terminal_that_is_slow(pump, first_paint):
    drawn = []
    first_paint.follow_with(lambda: drawn.append("rest"))
    first_paint.may_come(lambda: False)
    first_paint.begin()
    await pump.later[0]()
    assert drawn == ["rest"]
