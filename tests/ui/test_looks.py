"""Themes, keys of one's own, and the line of keys, in the whole program."""

import re

import pytest

from tests.ui.screen import conversation, rows, send
from tests.waiting import until
from tui.appearance import Appearance
from tui.errors import ConfigError
from tui.screens.help import HelpScreen
from tui.storage import ui_state
from tui.widgets.key_line import KeyLine


def key_line(app):
    return app.screen.query_one(KeyLine).render_line(0).text


async def test_a_theme_is_shown_at_once_and_remembered(world):
    w = world()
    async with w.running() as (app, pilot):
        before = app.chat.transcript.rich_style.bgcolor
        await send(pilot, "/theme textual-light")
        await until(lambda: "Theme: textual-light" in conversation(app))
        assert app.chat.transcript.rich_style.bgcolor != before


async def test_an_unknown_theme_changes_nothing(world):
    w = world()
    async with w.running() as (app, pilot):
        before = app.theme
        await send(pilot, "/theme mauve")
        await until(lambda: "Unknown theme: mauve" in conversation(app))
        assert app.theme == before


async def test_the_configurations_theme_is_the_first(world):
    w = world()
    w.appearance = Appearance(theme="nord")
    async with w.running() as (app, _):
        assert app.theme == "nord"


async def test_what_was_chosen_on_the_screen_counts_more_and_is_kept(world):
    w = world()
    w.appearance = Appearance(theme="nord")
    async with w.running() as (_, pilot):
        await send(pilot, "/theme dracula")
    async with w.running() as (app, _):
        assert app.theme == "dracula"


async def test_another_theme_in_the_configuration_counts_from_then_on(world):
    w = world()
    async with w.running() as (_, pilot):
        await send(pilot, "/theme dracula")
    w.appearance = Appearance(theme="nord")
    async with w.running() as (app, _):
        assert app.theme == "nord"


async def test_what_was_chosen_and_is_not_there_any_more_is_passed_over(world):
    w = world()
    ui_state.change(w.ui_state_file, {"theme": "gone", "theme_over": "nord"})
    w.appearance = Appearance(theme="nord")
    async with w.running() as (app, _):
        assert app.theme == "nord"


async def test_a_theme_can_be_chosen_in_the_palette(world):
    w = world()
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+p", *"nord")
        await until(lambda: "Theme: nord" in shown(app))
        await pilot.press("enter")
        await until(lambda: app.theme == "nord")


async def test_the_palette_offers_what_has_a_key_and_the_sessions(world):
    w = world()
    one = await w.session("What is a [b]journal[/b]?", "A file.")
    async with w.running() as (app, pilot):
        await until(lambda: one in rows(app))
        await pilot.press("ctrl+p", *"journal")
        await until(lambda: "What is a [b]journal" in shown(app))
        await pilot.press("enter")
        await until(lambda: app.chat.shown == one)
        await pilot.press("ctrl+p", *"hide the")
        await until(lambda: "Show or hide the sidebar" in shown(app))
        await pilot.press("enter")
        await until(lambda: not app.chat.sidebar.display)


def shown(app):
    from textual.command import CommandList

    lists = app.screen.query(CommandList)
    if not lists:
        return ""
    found = lists.first()
    return "\n".join(str(found.get_option_at_index(i).prompt) for i in range(found.option_count))


async def test_a_key_of_ones_own_works_and_stands_in_the_help_and_in_the_line_of_keys(world):
    w = world()
    w.appearance = Appearance(keys={"help": "f9"})
    async with w.running() as (app, pilot):
        await until(lambda: "f9 Help" in key_line(app))
        await pilot.press("f1")
        await pilot.press("f9")
        await until(lambda: isinstance(app.screen, HelpScreen))
        text = app.screen.text()
        assert "f9" in text
        assert "f1 " not in text.split("Commands")[0].replace("f12", "")


@pytest.mark.parametrize(
    ("appearance", "words"),
    [
        (Appearance(keys={"neu": "f9"}), "config.toml: keys.neu: unknown action; there are"),
        (Appearance(keys={"new": "ctrl+s"}), "config.toml: keys.new: ctrl+s is the key of save"),
        (Appearance(theme="mauve"), "config.toml: theme: unknown theme; there are"),
    ],
)
async def test_what_cannot_be_is_said_before_there_is_a_screen(world, appearance, words):
    w = world()
    w.appearance = appearance
    with pytest.raises(ConfigError, match=re.escape(words)):
        async with w.running():
            pass


async def test_the_line_of_keys_gives_its_row_up_where_there_are_few(world):
    w = world()
    async with w.running(size=(80, 24)) as (app, pilot):
        assert app.screen.query_one(KeyLine).display
        await pilot.resize_terminal(60, 15)
        await until(lambda: not app.screen.query_one(KeyLine).display)


async def test_where_less_is_to_move_nothing_is_animated(world):
    w = world()
    w.appearance = Appearance(reduced_motion=True)
    async with w.running() as (app, _):
        assert app.animation_level == "none"
