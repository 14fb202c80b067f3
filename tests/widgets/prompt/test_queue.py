"""Prompts that wait to be sent: the border says so, and an empty prompt takes them back."""

import pytest

from tests.waiting import until
from tui.domain.views.shown_session import PromptQueue
from tui.widgets.prompt import Prompt, Waiting


def bottom(app):
    return app.screen_lines[app.prompt.region.bottom - 1]


async def test_the_border_says_how_they_are_taken_back(running):
    async with running() as (app, _):
        app.prompt.show_queue(PromptQueue(("one",)))
        await until(lambda: "1 queued · ↑ edits it · Del drops it" in bottom(app))
        app.prompt.show_queue(PromptQueue(("one", "two")))
        await until(lambda: "2 queued · ↑ edits the last · Del drops the last" in bottom(app))


@pytest.mark.parametrize("key", ["up", "backspace"])
async def test_the_last_comes_back_and_the_keys_that_follow_are_about_it(running, key):
    async with running() as (app, pilot):
        app.history = ["earlier"]
        app.prompt.show_queue(PromptQueue(("one", "two")))
        await pilot.press(key, "!")
        assert app.prompt.text == "two!"
        await until(lambda: app.taken_back == [["two"]])
        await pilot.press("ctrl+u", key)
        assert app.prompt.text == "one"
        await pilot.press("ctrl+u", "up")
        assert app.prompt.text == "earlier"


async def test_delete_drops_the_last_and_undoing_brings_it_into_the_prompt(running):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(("one", "two")))
        await pilot.press("delete")
        assert app.prompt.text == ""
        await until(lambda: app.taken_back == [["two"]])
        await pilot.press("ctrl+z")
        assert app.prompt.text == "two"


async def test_enter_in_an_empty_prompt_wants_the_held_ones_sent_and_the_border_says_so(running):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(held=("one", "two")))
        await until(lambda: "2 queued · Enter sends · ↑ edits the last" in bottom(app))
        await pilot.press("enter")
        await until(lambda: [*map(type, app.posted)] == [Prompt.HeldWanted])


async def test_enter_in_an_empty_prompt_sends_nothing_that_is_sent_anyway(running):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(("one",)))
        await pilot.press("enter", "x")
        await until(lambda: app.edited == ["x"])
        assert [*map(type, app.posted)] == [Prompt.Edited]


async def test_a_held_one_that_goes_back_is_held_again(running):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(("one",), ("two", "three")))
        await pilot.press("up", "up", "up")
        assert app.prompt.text == "one"
        backs = [event.back for event in app.posted if isinstance(event, Prompt.TakenBack)]
        assert backs == [None, Waiting("three", 1, held=True), Waiting("two", 0, held=True)]


@pytest.mark.parametrize("key", ["up", "backspace", "delete"])
async def test_in_a_prompt_with_text_the_keys_are_what_they_are(running, key):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(("one",)))
        await pilot.press("a", "b", key)
        assert app.prompt.text in ("ab", "a")
        assert app.taken_back == []


async def test_up_again_takes_the_one_before_and_lets_the_other_wait_at_its_place(running):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(("one", "two", "three")))
        await pilot.press("up")
        assert app.prompt.text == "three"
        await until(lambda: "2 queued · ↑ edits the one before instead" in bottom(app))
        await pilot.press("up")
        assert app.prompt.text == "two"
        await pilot.press("up")
        assert app.prompt.text == "one"
        await until(lambda: "2 queued · ↑ edits the last" in bottom(app))
        await until(lambda: app.taken_back == [["three"], ["two"], ["one"]])
        backs = [event.back for event in app.posted if isinstance(event, Prompt.TakenBack)]
        assert backs == [None, Waiting("three", 1), Waiting("two", 0)]


async def test_one_that_was_changed_does_not_go_back(running):
    async with running() as (app, pilot):
        app.prompt.show_queue(PromptQueue(("one", "two")))
        await pilot.press("up", "!", "up")
        assert app.prompt.text == "two!"
        await until(lambda: app.taken_back == [["two"]])
        await until(lambda: "1 queued · ↑ edits it · Del drops it" in bottom(app))
