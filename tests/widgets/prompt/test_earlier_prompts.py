"""Earlier prompts: Up and Down walk through them, and nothing that was typed is lost."""

import pytest

from tests.waiting import until
from tui.widgets.prompt.earlier_prompts import EarlierPrompts


@pytest.fixture
def history():
    earlier = EarlierPrompts()
    earlier.show(["three", "two", "one"])
    return earlier


def test_walking_back_and_forth_ends_at_what_was_typed_also_when_older_ones_are_added(history):
    assert history.go_to(1, "draft") == "three"
    assert history.go_to(2, "three") == "two"
    assert history.go_to(1, "two") == "three"
    assert history.go_to(0, "three") == "draft"
    assert history.go_to(-1, "draft") is None
    assert history.go_to(4, "draft") is None
    history.go_to(3, "draft")
    history.show(["three", "two", "one", "zero"])
    assert history.is_at("one")
    assert history.go_to(4, "one") == "zero"
    assert history.go_to(0, "zero") == "draft"


def test_a_changed_entry_stays_changed_until_the_walk_is_over(history):
    history.go_to(1, "")
    assert history.go_to(2, "three!") == "two"
    assert history.go_to(1, "two") == "three!"
    assert history.go_to(2, "three") == "two"
    assert history.go_to(1, "two") == "three"
    history.go_to(2, "three!")
    history.leave()
    assert history.go_to(1, "") is None
    history.show(["three"])
    assert history.go_to(1, "") == "three"


def test_equal_neighbours_are_walked_once_and_words_are_found_in_any_case():
    earlier = EarlierPrompts()
    earlier.show(["one", "two", "two", "one"])
    assert [earlier.go_to(place, "") for place in (1, 2, 3)] == ["one", "two", "one"]
    assert len(earlier.prompts) == 3
    earlier = EarlierPrompts()
    earlier.show(["Fix it", "x", "Fix it", "prefix"])
    assert earlier.find("fix", 1) == 1
    earlier.go_to(1, "")
    # A repetition is passed over.
    assert earlier.find("fix", 2) == 4
    assert earlier.find("FIX", 1) == 1
    earlier.go_to(4, "Fix it")
    assert earlier.find("fix", 5) is None
    assert earlier.find("fix", 3, -1) == 3


async def test_up_recalls_one_a_key_and_down_brings_back_what_was_typed(app, pilot):
    app.history = ["one\n1", "two\n2"]
    await pilot.press(*"draft", "up", "up")
    assert app.prompt.text == "one\n1"
    await pilot.press("down")
    assert app.prompt.text == "one\n1"
    await pilot.press("down")
    assert app.prompt.text == "two\n2"
    await pilot.press("down", "down")
    assert app.prompt.text == "draft"


async def test_up_and_down_inside_a_text_move_the_caret(app, pilot):
    app.history = ["earlier"]
    for text in ("one\ntwo", "word " * 20):
        app.prompt.set_text(text)
        await pilot.pause()
        await pilot.press("up")
        assert app.prompt.text == text
        await pilot.press("up", "up")
        assert app.prompt.text == "earlier"
    app.prompt.set_text("one\ntwo")
    await pilot.press("ctrl+a", "up", "up", "down")
    assert app.prompt.text == "one\ntwo"
    app.editor.move_cursor((0, 0))
    await pilot.press("down")
    assert app.editor.cursor_location == (1, 0)


async def test_changing_an_earlier_prompt_is_a_change_and_once_it_was_sent_the_draft_is_back(
    app, pilot
):
    app.history = ["earlier"]
    await pilot.press("d", "up")
    assert (app.prompt.text, app.prompt.draft) == ("earlier", "d")
    await pilot.press("!", "down")
    assert (app.prompt.text, app.prompt.draft) == ("d", "d")
    await until(lambda: app.edited == ["d", "earlier!", "d"])
    await pilot.press("up", "enter", "n")
    await until(lambda: app.submitted == ["earlier!"])
    assert (app.prompt.text, app.prompt.draft) == ("dn", "dn")
    await until(lambda: app.edited[-1:] == ["dn"])


async def test_a_recalled_prompt_can_be_sent_and_the_walk_is_over(app, pilot):
    app.history = ["one", "two"]
    await pilot.press("up", "up", "enter")
    await until(lambda: app.submitted == ["one"])
    app.history = ["one", "two", "one"]
    await pilot.press("up", "up")
    assert app.prompt.text == "two"


async def test_what_was_sent_does_not_come_again_whatever_was_recalled_around_it(app, pilot):
    app.history = ["one"]
    await pilot.press(*"mine", "up", "down", "enter")
    await until(lambda: app.submitted == ["mine"])
    assert (app.prompt.text, app.prompt.draft) == ("", "")
    await pilot.press("up")
    assert (app.prompt.text, app.prompt.draft) == ("one", "")
    await pilot.press("enter")
    await until(lambda: app.submitted == ["mine", "one"])
    assert app.prompt.text == ""


async def test_a_recalled_command_opens_no_list_and_another_sessions_text_ends_the_walk(app, pilot):
    app.history = ["text", "/load "]
    await pilot.press("up")
    assert app.prompt.text == "/load "
    await pilot.press("up")
    assert app.prompt.text == "text"
    app.prompt.set_text("other")
    await pilot.press("down")
    assert app.prompt.text == "other"


async def test_words_are_searched_narrowed_and_searched_further_back(app, pilot):
    app.history = ["fix the login", "test", "fix the list", "write"]
    await pilot.press(*"mine")
    app.prompt.search_history()
    await pilot.press(*"fix")
    await until(lambda: app.prompt.text == "fix the list")
    app.prompt.search_history()
    await until(lambda: app.prompt.text == "fix the login")
    await pilot.press("down")
    assert app.prompt.text == "fix the list"
    await pilot.press("up", *"x")
    await until(lambda: "no match" in app.screen_lines[app.prompt.region.y])
    await pilot.press("backspace", *" the lo", "enter")
    assert app.prompt.text == "fix the login"
    assert app.submitted == []
    # It goes on as any recalled prompt.
    await pilot.press("!", "up")
    assert app.prompt.text == "fix the login!"
    await pilot.press("down", "down", "down", "down")
    assert app.prompt.text == "mine"


@pytest.mark.parametrize("leave", ["escape", "click", "another session"])
async def test_leaving_the_search_brings_the_old_text_back(app, pilot, leave):
    app.history = ["one", "two"]
    await pilot.press(*"mine")
    app.prompt.search_history()
    await pilot.press(*"one")
    await until(lambda: app.prompt.text == "one")
    assert app.prompt.draft == "mine"
    if leave == "escape":
        await pilot.press("escape")
    elif leave == "click":
        await pilot.click("Editor")
    else:
        app.prompt.set_text("mine")
    await until(lambda: app.prompt.text == "mine")
    await pilot.press("!")
    assert app.prompt.text == "mine!"
    assert app.edited[-1] == "mine!"
