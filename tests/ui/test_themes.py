"""The choice of a theme, which is seen before it is made."""

import pytest

from tests.ui.screen import rows, send
from tests.waiting import until
from tui.screens.list_dialog import ThemePicker


@pytest.fixture
async def picking(world):
    """A program with the list of themes open."""
    w = world()
    async with w.running() as (app, pilot):
        await until(lambda: rows(app))
        await send(pilot, "/theme")
        await until(lambda: isinstance(app.screen, ThemePicker))
        yield app, pilot


async def test_the_highlighted_theme_is_shown_and_escape_gives_back_the_old_one(picking):
    app, pilot = picking
    before = app.theme
    await pilot.press("home")
    await until(lambda: app.theme == "ansi-dark")
    await pilot.press("down")
    await until(lambda: app.theme == "ansi-light")
    await pilot.press("escape")
    await until(lambda: app.theme == before and app.screen is app.chat)


async def test_enter_keeps_the_highlighted_theme_even_before_it_was_shown(picking):
    app, pilot = picking
    await pilot.press("home", "enter")
    await until(lambda: app.screen is app.chat and app.theme == "ansi-dark")
    await send(pilot, "/theme")
    await until(lambda: isinstance(app.screen, ThemePicker))
    await pilot.press("down")
    await until(lambda: app.theme == "ansi-light")
    await pilot.press("escape")
    await until(lambda: app.screen is app.chat and app.theme == "ansi-dark")
