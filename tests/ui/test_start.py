"""The start: what waits for the first screen, and what that waits for."""

import pytest
from textual import events

from tests.waiting import until
from tui.app import SibylApp
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
        assert not app.chat.may_be_painted.is_set()
        assert app.chat.size
