"""Renaming a session in the place of its row."""

import pytest

from tests.waiting import until
from tests.widgets.sidebar.world import NOW, many, row, rows, scrolled, shown
from tui.widgets import intents
from tui.widgets.sidebar.sidebar import RenameLine


def line(app):
    return app.query_one(RenameLine)


def renamed(app):
    return [(said.session_id, said.name) for said in app.heard(intents.SessionRenamed)]


def drawn_at(app):
    """On which line of the list the line to edit is."""
    return line(app).region.y - app.list.region.y


async def test_r_makes_the_row_a_line_with_its_name():
    async with shown(rows(row(1), row(2, name="The old name"))) as (app, pilot):
        await pilot.press("down", "r")
        assert line(app).value == "The old name"
        await until(lambda: line(app).region.height == 1, "the line")
        assert drawn_at(app) == 2
        assert line(app).region.right == app.size.width


async def test_enter_says_the_new_name_and_gives_the_keys_back_to_the_rows():
    async with shown(rows(row(1, name="Old"))) as (app, pilot):
        await pilot.press("r", *" one", "enter")
        assert renamed(app) == [("session-1", "Old one")]
        assert app.list.has_focus
        assert not line(app).display


async def test_escape_leaves_the_name_as_it_is():
    async with shown(rows(row(1, name="Old"))) as (app, pilot):
        await pilot.press("r", *"er", "escape")
        assert renamed(app) == []
        assert app.list.has_focus
        assert not line(app).display
        await pilot.press("r")
        assert line(app).value == "Old"


async def test_a_name_that_was_not_changed_is_not_said():
    async with shown(rows(row(1, name="Old"))) as (app, pilot):
        await pilot.press("r", "space", "enter")
        assert renamed(app) == []


async def test_a_name_that_was_emptied_is_taken_away():
    async with shown(rows(row(1, name="Old"))) as (app, pilot):
        await pilot.press("r", "backspace", "backspace", "backspace", "enter")
        assert renamed(app) == [("session-1", "")]


async def test_a_session_without_a_name_offers_its_title_and_keeps_it_as_such():
    async with shown(rows(row(1, label="What is two?"))) as (app, pilot):
        await pilot.press("r")
        assert line(app).selected_text == line(app).value == "What is two?"
        await pilot.press("enter")
        assert renamed(app) == []
        await pilot.press("r", "backspace", "enter")
        assert renamed(app) == []


async def test_typing_replaces_the_offered_title_and_a_move_keeps_it():
    async with shown(rows(row(1, label="What is tw…"))) as (app, pilot):
        await pilot.press("r", *"Sums", "enter")
        await pilot.press("r", "end", *"o", "enter")
        assert renamed(app) == [("session-1", "Sums"), ("session-1", "What is two")]


@pytest.mark.parametrize("label", ["(empty)", "(unreadable)"])
async def test_a_title_that_is_no_words_of_the_session_is_not_offered(label):
    async with shown(rows(row(1, label=label))) as (app, pilot):
        await pilot.press("r")
        assert line(app).value == ""


async def test_no_more_than_200_characters_are_taken():
    async with shown(rows(row(1, name="会" * 199))) as (app, pilot):
        await pilot.press("r", "x", "y", "enter")
        assert renamed(app) == [("session-1", "会" * 199 + "x")]


async def test_letters_that_are_typed_into_it_are_no_commands():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("r", *"nadu", "slash", "d", "d", "enter")
        assert [type(said) for said in app.said] == [intents.SessionRenamed]
        assert renamed(app) == [("session-1", "nadu/dd")]


async def test_what_is_typed_at_once_after_r_goes_into_it():
    async with shown(rows(row(1))) as (app, pilot):
        for key in ("r", "n", "d", "d"):
            app.simulate_key(key)
        await pilot.press("enter")
        assert renamed(app) == [("session-1", "ndd")]


async def test_it_stays_with_its_row_while_rows_arrive():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "r", "x")
        app.sidebar.show_rows(rows(row(9), row(8), row(1), row(2)), NOW)
        await until(lambda: drawn_at(app) == 4, "the place")
        await pilot.press("y", "enter")
        assert renamed(app) == [("session-2", "xy")]


async def test_it_stays_when_its_row_goes_away():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "r", "x")
        app.sidebar.show_rows(rows(row(1)), NOW)
        await pilot.press("y", "enter")
        assert renamed(app) == [("session-2", "xy")]


async def test_it_stays_in_view_when_its_row_is_scrolled_away():
    async with shown(many(100)) as (app, pilot):
        await pilot.press("r")
        await scrolled(app, 50)
        await until(lambda: drawn_at(app) == 0, "the place")
        assert line(app).has_focus


async def test_it_goes_below_a_filter():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("slash", "2", "enter")
        await until(lambda: app.list.has_focus, "the rows")
        await pilot.press("r")
        await until(lambda: drawn_at(app) == 1, "the place")
        await pilot.press("z", "enter")
        assert renamed(app) == [("session-2", "z")]


async def test_it_is_left_when_the_keys_go_elsewhere():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("r", "x")
        app.sidebar.focus()
        await until(lambda: not line(app).display, "the end")
        assert app.list.has_focus
        assert renamed(app) == []


async def test_it_stays_when_the_terminal_is_left_for_another_window():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("r", "x")
        app.app_focus = False
        await pilot.pause()
        app.app_focus = True
        await until(lambda: line(app).has_focus, "the line")
        await pilot.press("y", "enter")
        assert renamed(app) == [("session-1", "xy")]


async def test_a_session_without_a_row_is_renamed_at_the_top():
    async with shown(rows(row(1))) as (app, pilot):
        app.sidebar.begin_renaming("elsewhere", "Old", "", app.list.focus)
        await until(lambda: drawn_at(app) == 0, "the place")
        await pilot.press("x", "enter")
        assert renamed(app) == [("elsewhere", "Oldx")]


async def test_names_are_shown_safely():
    async with shown(rows(row(1, name="a\x1b]0;t\x1b\\"))) as (app, pilot):
        await pilot.press("r")
        assert line(app).value == "a␛]0;t␛\\"
        await pilot.press("enter")
        assert renamed(app) == []
