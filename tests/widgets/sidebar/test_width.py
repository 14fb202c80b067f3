"""How wide the sidebar is, and how its reader changes that."""

import pytest

from tests.waiting import until
from tests.widgets.sidebar.world import row, rows, shown
from tui.domain.screen_sizes import LEAST_SIDEBAR, MOST_SIDEBAR
from tui.terminal import first_frame
from tui.widgets import intents
from tui.widgets.sidebar import Sidebar


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
