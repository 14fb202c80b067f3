"""The choice of a theme, which is seen before it is made."""

from time import monotonic

import pytest

from tests.ui.screen import notices, rows, send
from tests.waiting import until
from tui.app.appearance import Appearance
from tui.screens.dialog import ThemePicker
from tui.terminal.colours import BackgroundReported


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


async def test_a_theme_is_chosen_by_its_name_if_there_is_one(world):
    w = world()
    async with w.running() as (app, pilot):
        before = app.chat.transcript.rich_style.bgcolor
        await send(pilot, "/theme nord")
        await until(lambda: "Theme: nord" in notices(app))
        assert app.theme == "nord"
        assert app.chat.transcript.rich_style.bgcolor != before
        await send(pilot, "/theme mauve")
        await until(lambda: "Unknown theme: mauve" in notices(app))
        assert app.theme == "nord"


def background(*, light, late=0.0):
    """The terminal's answer."""
    reported = BackgroundReported(light=light)
    reported.time += late
    return reported


@pytest.mark.parametrize(
    ("configured", "answer", "theme"),
    [
        (None, {"light": True}, "textual-light"),
        (None, {"light": False}, "textual-dark"),
        (None, {"light": True, "late": 90}, "textual-dark"),
        ("nord", {"light": True}, "nord"),
    ],
)
async def test_the_first_theme_fits_the_terminal(world, configured, answer, theme):
    w = world()
    w.appearance = Appearance(theme=configured)
    async with w.running() as (app, pilot):
        app.controllers.themes.ask(monotonic())
        app.post_message(background(**answer))
        await pilot.pause()
        assert app.theme == theme


async def test_a_theme_that_was_chosen_is_not_asked_about_again(world):
    w = world()
    async with w.running() as (app, pilot):
        assert app.controllers.themes.ask(monotonic())
        await send(pilot, "/theme nord")
        assert not app.controllers.themes.ask(monotonic())
    async with w.running() as (app, _):
        assert not app.controllers.themes.ask(monotonic())
