"""The line in which a session is renamed, and the width of the sidebar."""

import pytest

from tests.waiting import until
from tests.widgets.sidebar.world import NOW, many, row, rows, scrolled, shown
from tui.domain.screen_sizes import LEAST_SIDEBAR, MOST_SIDEBAR
from tui.terminal import first_frame
from tui.widgets import intents
from tui.widgets.sidebar import Sidebar
from tui.widgets.sidebar.sidebar import RenameLine


def line(app):
    return app.query_one(RenameLine)


def renamed(app):
    return [(said.session_id, said.name) for said in app.heard(intents.SessionRenamed)]


def drawn_at(app):
    """On which line of the list the line to edit is."""
    return line(app).region.y - app.list.region.y


async def test_r_makes_the_row_a_line_that_stays_with_it_while_rows_come_and_go():
    async with shown(rows(row(1), row(2, name="Old"))) as (app, pilot):
        await pilot.press("down", "r", "x")
        assert line(app).value == "Oldx"
        await until(lambda: line(app).region.height == 1, "the line")
        assert drawn_at(app) == 2
        assert line(app).region.right == app.size.width
        app.sidebar.show_rows(rows(row(9), row(8), row(1), row(2)), NOW)
        await until(lambda: drawn_at(app) == 4, "the place")
        await pilot.press("y")
        app.sidebar.show_rows(rows(row(1)), NOW)
        await pilot.press("z", "enter")
        assert renamed(app) == [("session-2", "Oldxyz")]


async def test_enter_says_another_name_or_none_and_escape_leaves_it():
    async with shown(rows(row(1, name="Old"))) as (app, pilot):
        await pilot.press("r", *"er", "escape")
        assert app.list.has_focus
        assert not line(app).display
        await pilot.press("r")
        assert line(app).value == "Old"
        await pilot.press("space", "enter")
        assert renamed(app) == []
        await pilot.press("r", *" one", "enter")
        assert renamed(app) == [("session-1", "Old one")]
        assert app.list.has_focus
        assert not line(app).display
        await pilot.press("r", "backspace", "backspace", "backspace", "enter")
        assert renamed(app)[1:] == [("session-1", "")]


async def test_a_session_without_a_name_offers_its_title_which_typing_replaces_and_a_move_keeps():
    async with shown(rows(row(1, label="What is tw…"))) as (app, pilot):
        await pilot.press("r")
        assert line(app).selected_text == line(app).value == "What is tw"
        await pilot.press("enter")
        assert renamed(app) == []
        await pilot.press("r", "backspace", "enter")
        assert renamed(app) == []
        await pilot.press("r", *"Sums", "enter")
        await pilot.press("r", "end", *"o", "enter")
        assert renamed(app) == [("session-1", "Sums"), ("session-1", "What is two")]
        for label in ("(empty)", "(unreadable)"):
            app.sidebar.show_rows(rows(row(1, label=label)), NOW)
            await pilot.press("r")
            assert line(app).value == ""
            await pilot.press("escape")


async def test_what_is_typed_at_once_goes_into_it_up_to_200_characters_and_is_no_command():
    async with shown(rows(row(1), row(2, name="会" * 199))) as (app, pilot):
        for key in ("r", *"ndau/dd"):
            app.simulate_key(key)
        await pilot.press("enter")
        assert [type(said) for said in app.said] == [intents.SessionRenamed]
        assert renamed(app) == [("session-1", "ndau/dd")]
        await pilot.press("down", "r", "x", "y", "enter")
        assert renamed(app)[1:] == [("session-2", "会" * 199 + "x")]
        app.sidebar.show_rows(rows(row(1), row(2, name="a\x1b]0;t\x1b\\")), NOW)
        await pilot.press("r")
        assert line(app).value == "a␛]0;t␛\\"
        await pilot.press("enter")
        assert len(renamed(app)) == 2


async def test_it_stays_in_view_when_its_row_is_scrolled_away_and_goes_below_a_filter():
    async with shown(many(100)) as (app, pilot):
        await pilot.press("r")
        await scrolled(app, 50)
        await until(lambda: drawn_at(app) == 0, "the place")
        assert line(app).has_focus
        await pilot.press("escape", "slash", *"00042", "enter")
        await until(lambda: app.list.has_focus, "the rows")
        await pilot.press("r")
        await until(lambda: drawn_at(app) == 1, "the place")
        await pilot.press("z", "enter")
        assert renamed(app) == [("session-00042", "z")]


async def test_it_is_left_when_the_keys_go_elsewhere_but_not_with_the_terminal():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("r", "x")
        app.sidebar.focus()
        await until(lambda: not line(app).display, "the end")
        assert app.list.has_focus
        assert renamed(app) == []
        await pilot.press("r", "x")
        app.app_focus = False
        await pilot.pause()
        app.app_focus = True
        await until(lambda: line(app).has_focus, "the line")
        await pilot.press("y", "enter")
        assert renamed(app) == [("session-1", "xy")]
        # A session without a row is renamed at the top.
        app.sidebar.begin_renaming("elsewhere", "Old", "", app.list.focus)
        await until(lambda: drawn_at(app) == 0, "the place")
        await pilot.press("x", "enter")
        assert renamed(app)[1:] == [("elsewhere", "Oldx")]


@pytest.fixture(autouse=True)
def _no_width_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(first_frame, "ui_state_file", lambda: str(tmp_path / "ui.json"))


def widths(app):
    return [said.columns for said in app.heard(intents.WidthChanged)]


async def test_keys_make_it_wider_and_narrower_within_bounds_and_all_count():
    async with shown(rows(row(1)), size=(200, 10)) as (app, pilot):
        app.sidebar.show_width(30)
        for wider, narrower in (
            ("greater_than_sign", "less_than_sign"),
            ("ctrl+right", "ctrl+left"),
        ):
            await pilot.press(wider)
            await until(lambda: app.sidebar.outer_size.width == 32, "the width")
            await pilot.press(narrower)
            await until(lambda: app.sidebar.outer_size.width == 30, "the width")
        assert widths(app) == [32, 30, 32, 30]
        # Faster than the screen is laid out.
        for _ in range(5):
            app.simulate_key("ctrl+right")
        await until(lambda: widths(app)[4:] == [32, 34, 36, 38, 40], "the widths")
        await pilot.pause()
        assert app.sidebar.outer_size.width == 40
        for key, bound in (("ctrl+left", LEAST_SIDEBAR), ("ctrl+right", MOST_SIDEBAR)):
            await pilot.press(*[key] * 30)
            await until(lambda bound=bound: app.sidebar.outer_size.width == bound, "the width")
            assert widths(app)[-1] == bound


async def test_it_leaves_room_for_the_rest_of_a_small_screen():
    async with shown(rows(row(1)), size=(80, 10)) as (app, pilot):
        app.sidebar.show_width(60)
        await until(lambda: app.sidebar.outer_size.width == 48, "the width")
        await pilot.press("ctrl+left")
        await until(lambda: app.sidebar.outer_size.width == 46, "the width")
        app.sidebar.show_width(1000)
        await pilot.resize_terminal(200, 10)
        await until(lambda: app.sidebar.outer_size.width == MOST_SIDEBAR, "the width")


async def test_until_it_is_set_it_follows_the_screen_as_the_first_frame_has_it_and_stays_then():
    async with shown(rows(row(1)), size=(80, 10)) as (app, pilot):
        for columns in (80, 120, 128, 131, 133, 150, 159, 191, 200, 300, 66, 160):
            await pilot.resize_terminal(columns, 10)
            await until(lambda columns=columns: app.size.width == columns, "the size")
            usual = first_frame.sidebar_columns(columns)
            await until(lambda usual=usual: app.sidebar.outer_size.width == usual, "the width")
        assert widths(app) == []
        await pilot.press("ctrl+right")
        await until(lambda: app.sidebar.outer_size.width == 42, "the width")
        await pilot.resize_terminal(240, 10)
        await until(lambda: app.size.width == 240, "the size")
        await pilot.pause()
        assert app.sidebar.outer_size.width == 42


async def test_its_edge_alone_can_be_dragged():
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        await pilot.mouse_down(Sidebar, offset=(20, 8))
        await pilot.hover(offset=(43, 8))
        await pilot.mouse_up(offset=(43, 8))
        assert app.sidebar.outer_size.width == 30
        await pilot.mouse_down(Sidebar, offset=(29, 4))
        await pilot.hover(offset=(43, 5))
        await until(lambda: app.sidebar.outer_size.width == 44, "the width")
        assert widths(app) == []
        await pilot.mouse_up(offset=(43, 5))
        await until(lambda: widths(app) == [44], "the end of it")
        await pilot.hover(offset=(60, 5))
        assert app.sidebar.outer_size.width == 44
