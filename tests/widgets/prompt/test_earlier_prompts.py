"""Earlier prompts: Up and Down walk through them, and nothing that was typed is lost."""

import pytest

from tests.waiting import until
from tui.widgets.prompt.earlier_prompts import EarlierPrompts


@pytest.fixture
def history():
    earlier = EarlierPrompts()
    earlier.show(["one", "two", "three"])
    return earlier


def test_walking_back_and_forth_ends_at_what_was_typed(history):
    assert history.earlier("draft") == "three"
    assert history.earlier("three") == "two"
    assert history.later("two") == "three"
    assert history.later("three") == "draft"
    assert history.later("draft") is None


def test_nothing_is_before_the_oldest(history):
    for text in ("", "three", "two"):
        history.earlier(text)
    assert history.earlier("one") is None


def test_a_changed_entry_stays_changed_until_the_walk_is_over(history):
    history.earlier("")
    assert history.earlier("three!") == "two"
    assert history.later("two") == "three!"
    history.leave()
    assert history.earlier("") == "three"


def test_an_entry_changed_back_is_as_it_was_sent(history):
    history.earlier("")
    history.earlier("three!")
    history.later("two")
    history.earlier("three")
    assert history.later("two") == "three"


def test_equal_neighbours_are_walked_once():
    earlier = EarlierPrompts()
    earlier.show(["one", "two", "two", "one"])
    assert [earlier.earlier(text) for text in ("", "one", "two")] == ["one", "two", "one"]


def test_a_prompt_added_while_walking_moves_nobody(history):
    history.earlier("draft")
    history.show(["one", "two", "three", "four"])
    assert history.is_at("three")
    assert history.later("three") == "four"
    assert history.later("four") == "draft"


def test_a_prompt_added_while_typing_is_the_first_to_come(history):
    history.show(["one", "two", "three", "four"])
    assert history.earlier("draft") == "four"


def test_another_list_while_walking_loses_neither_place_nor_draft(history):
    history.earlier("draft")
    history.show(["two", "three", "four"])
    assert history.later("three") == "draft"
    history.show([])
    assert history.earlier("draft") is None


async def test_up_recalls_and_down_brings_back_what_was_typed(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["first", "second"])
        await pilot.press(*"draft", "up", "up")
        assert app.prompt.text == "first"
        await pilot.press("down", "down")
        assert app.prompt.text == "draft"


@pytest.mark.parametrize("text", ["one\ntwo", "word " * 20])
async def test_up_inside_a_text_moves_the_caret(running, text):
    async with running() as (app, pilot):
        app.prompt.show_history(["earlier"])
        app.prompt.set_text(text)
        await pilot.pause()
        await pilot.press("up")
        assert app.prompt.text == text
        await pilot.press("up", "up")
        assert app.prompt.text == "earlier"


async def test_down_inside_a_text_moves_the_caret(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["earlier"])
        app.prompt.set_text("one\ntwo")
        await pilot.press("ctrl+a", "up", "up", "down")
        assert app.prompt.text == "one\ntwo"
        app.editor.move_cursor((0, 0))
        await pilot.press("down")
        assert app.editor.cursor_location == (1, 0)


async def test_entries_of_several_lines_are_walked_one_a_key(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["one\n1", "two\n2"])
        await pilot.press("up", "up")
        assert app.prompt.text == "one\n1"
        await pilot.press("down")
        assert app.prompt.text == "one\n1"
        await pilot.press("down")
        assert app.prompt.text == "two\n2"


async def test_looking_at_an_earlier_prompt_is_no_change_but_changing_it_is(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["earlier"])
        await pilot.press("d", "up")
        assert (app.prompt.text, app.prompt.draft) == ("earlier", "d")
        await pilot.press("!", "down")
        assert (app.prompt.text, app.prompt.draft) == ("d", "d")
        await until(lambda: app.edited == ["d", "earlier!", "d"])


async def test_a_recalled_prompt_can_be_sent_and_the_walk_is_over(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["one", "two"])
        await pilot.press("up", "up", "enter")
        await until(lambda: app.submitted == ["one"])
        app.prompt.show_history(["one", "two", "one"])
        await pilot.press("up", "up")
        assert app.prompt.text == "two"


async def test_what_was_typed_before_a_recalled_prompt_was_sent_stands_there_again(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["one"])
        await pilot.press(*"mine", "up", "!", "enter", "n")
        await until(lambda: app.submitted == ["one!"])
        app.prompt.show_history(["one", "one!"])
        assert (app.prompt.text, app.prompt.draft) == ("minen", "minen")
        await until(lambda: app.edited[-1:] == ["minen"])


async def test_what_was_brought_back_and_sent_does_not_come_again(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["one"])
        await pilot.press(*"mine", "up", "down", "enter")
        await until(lambda: app.submitted == ["mine"])
        assert (app.prompt.text, app.prompt.draft) == ("", "")


async def test_what_was_sent_does_not_come_again_below_an_earlier_prompt(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["one"])
        await pilot.press(*"mine", "enter", "up")
        await until(lambda: app.submitted == ["mine"])
        assert (app.prompt.text, app.prompt.draft) == ("one", "")
        await pilot.press("enter")
        await until(lambda: app.submitted == ["mine", "one"])
        assert app.prompt.text == ""


async def test_a_recalled_command_opens_no_list(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["text", "/load "])
        await pilot.press("up")
        assert app.prompt.text == "/load "
        await pilot.press("up")
        assert app.prompt.text == "text"


async def test_another_sessions_text_ends_the_walk(running):
    async with running() as (app, pilot):
        app.prompt.show_history(["one", "two"])
        await pilot.press("d", "up", "up")
        app.prompt.set_text("other")
        await pilot.press("down")
        assert app.prompt.text == "other"
