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


@pytest.fixture(autouse=True)
def _no_width_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(first_frame, "ui_state_file", lambda: str(tmp_path / "ui.json"))


def widths(app):
    return [said.columns for said in app.heard(intents.WidthChanged)]


@pytest.mark.parametrize(("wider", "narrower"), [(">", "<"), ("ctrl+right", "ctrl+left")])
async def test_keys_make_it_wider_and_narrower(wider, narrower):
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        wider, narrower = _NAMES.get(wider, wider), _NAMES.get(narrower, narrower)
        await pilot.press(wider)
        await until(lambda: app.sidebar.outer_size.width == 32, "the width")
        await pilot.press(narrower)
        await until(lambda: app.sidebar.outer_size.width == 30, "the width")
        assert widths(app) == [32, 30]


_NAMES = {"<": "less_than_sign", ">": "greater_than_sign"}


async def test_keys_that_come_faster_than_the_screen_is_laid_out_all_count():
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        for _ in range(5):
            app.simulate_key("ctrl+right")
        await until(lambda: widths(app) == [32, 34, 36, 38, 40], "the widths")
        await pilot.pause()
        assert app.sidebar.outer_size.width == 40


async def test_it_has_bounds():
    async with shown(rows(row(1)), size=(200, 10)) as (app, pilot):
        for key, bound in (("ctrl+left", LEAST_SIDEBAR), ("ctrl+right", MOST_SIDEBAR)):
            await pilot.press(*[key] * 30)
            await until(lambda bound=bound: app.sidebar.outer_size.width == bound, "the width")
            assert app.sidebar.outer_size.width == bound
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


async def test_until_it_is_set_it_follows_the_screen_as_the_first_frame_has_it():
    async with shown(rows(row(1)), size=(80, 10)) as (app, pilot):
        for columns in (80, 120, 128, 131, 133, 150, 159, 191, 200, 300, 66):
            await pilot.resize_terminal(columns, 10)
            await until(lambda columns=columns: app.size.width == columns, "the size")
            usual = first_frame.sidebar_columns(columns)
            await until(lambda usual=usual: app.sidebar.outer_size.width == usual, "the width")
        assert widths(app) == []


async def test_a_width_that_was_set_stays_on_a_wider_screen():
    async with shown(rows(row(1)), size=(160, 10)) as (app, pilot):
        await until(lambda: app.sidebar.outer_size.width == 40, "the usual width")
        await pilot.press("ctrl+right")
        await until(lambda: app.sidebar.outer_size.width == 42, "the width")
        await pilot.resize_terminal(240, 10)
        await until(lambda: app.size.width == 240, "the size")
        await pilot.pause()
        assert app.sidebar.outer_size.width == 42


async def test_its_edge_can_be_dragged():
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        await pilot.mouse_down(Sidebar, offset=(29, 4))
        await pilot.hover(offset=(43, 5))
        await until(lambda: app.sidebar.outer_size.width == 44, "the width")
        assert widths(app) == []
        await pilot.mouse_up(offset=(43, 5))
        await until(lambda: widths(app) == [44], "the end of it")
        await pilot.hover(offset=(60, 5))
        assert app.sidebar.outer_size.width == 44


async def test_a_click_beside_the_edge_drags_nothing():
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        await pilot.mouse_down(Sidebar, offset=(20, 8))
        await pilot.hover(offset=(43, 8))
        await pilot.mouse_up(offset=(43, 8))
        assert widths(app) == []
        assert app.sidebar.outer_size.width == 30
