"""Help and palette say what there is."""

from tests.ui.screen import conversation, send
from tests.waiting import until
from tui.domain.commands import COMMANDS
from tui.screens.help import HelpScreen


async def test_f1_shows_every_command_and_key_and_escape_closes_it(world):
    w = world()
    async with w.running() as (app, pilot):
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        text = app.screen.text()
        for command in COMMANDS:
            assert command.line in text
        assert "Ctrl+S" in text
        assert "Alt+Down" in text
        await pilot.press("escape")
        await until(lambda: app.screen is app.chat)


async def test_help_of_one_command_says_how_it_is_used(world):
    w = world()
    async with w.running() as (app, pilot):
        await send(pilot, "/help load")
        await until(lambda: "/load <target>" in conversation(app))


async def test_the_palette_carries_out_a_command(world):
    w = world()
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.press(*"save now")
        await until(lambda: "Save now" in "\n".join(str(o.prompt) for o in options(app)))
        await pilot.press("enter")
        await until(lambda: "Nothing to save yet." in conversation(app))


async def test_the_palette_puts_a_command_that_wants_a_name_into_the_prompt(world):
    w = world()
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.press(*"load a")
        await until(lambda: "Load a session" in "\n".join(str(o.prompt) for o in options(app)))
        await pilot.press("enter")
        await until(lambda: app.chat.prompt.text == "/load ")
        assert app.chat.prompt.has_focus_within


def options(app):
    from textual.command import CommandList

    found = app.screen.query(CommandList)
    return (
        [found.first().get_option_at_index(i) for i in range(found.first().option_count)]
        if found
        else []
    )
