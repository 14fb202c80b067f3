"""How wide the sidebar is, and how its reader changes that."""

import pytest

from tests.waiting import until
from tests.widgets.sidebar.world import row, rows, shown
from tui.widgets.sidebar import Sidebar
from tui.widgets.sidebar.panel import LEAST_COLUMNS, MOST_COLUMNS


def widths(app):
    return [said.columns for said in app.heard(Sidebar.WidthChanged)]


@pytest.mark.parametrize(("wider", "narrower"), [(">", "<"), ("ctrl+right", "ctrl+left")])
async def test_keys_make_it_wider_and_narrower(wider, narrower):
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        wider, narrower = _NAMES.get(wider, wider), _NAMES.get(narrower, narrower)
        await pilot.press(wider)
        await until(lambda: app.sidebar.outer_size.width == 34, "the width")
        await pilot.press(narrower)
        await until(lambda: app.sidebar.outer_size.width == 32, "the width")
        assert widths(app) == [34, 32]


_NAMES = {"<": "less_than_sign", ">": "greater_than_sign"}


async def test_keys_that_come_faster_than_the_screen_is_laid_out_all_count():
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        for _ in range(5):
            app.simulate_key("ctrl+right")
        await until(lambda: widths(app) == [34, 36, 38, 40, 42], "the widths")
        await pilot.pause()
        assert app.sidebar.outer_size.width == 42


async def test_it_has_bounds():
    async with shown(rows(row(1)), size=(200, 10)) as (app, pilot):
        for key, bound in (("ctrl+left", LEAST_COLUMNS), ("ctrl+right", MOST_COLUMNS)):
            await pilot.press(*[key] * 30)
            await until(lambda bound=bound: app.sidebar.outer_size.width == bound, "the width")
            assert app.sidebar.outer_size.width == bound
            assert widths(app)[-1] == bound


async def test_it_leaves_room_for_the_rest_of_a_small_screen():
    async with shown(rows(row(1)), size=(80, 10)) as (app, pilot):
        app.sidebar.styles.max_width = "60%"
        app.sidebar.show_width(60)
        await until(lambda: app.sidebar.outer_size.width == 48, "the width")
        await pilot.press("ctrl+left")
        await until(lambda: app.sidebar.outer_size.width == 46, "the width")
        app.sidebar.show_width(1000)
        await pilot.resize_terminal(200, 10)
        await until(lambda: app.sidebar.outer_size.width == MOST_COLUMNS, "the width")


async def test_its_edge_can_be_dragged():
    async with shown(rows(row(1)), size=(120, 10)) as (app, pilot):
        await pilot.mouse_down(Sidebar, offset=(31, 4))
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
        assert app.sidebar.outer_size.width == 32
