"""``/help``, ``/import`` and ``/quit``."""

import pytest

from tui.domain.commands import COMMANDS


async def test_help_opens_the_help(commands):
    await commands("/help")
    assert commands.calls == [("open", "help")]


@pytest.mark.parametrize("command", COMMANDS)
async def test_help_of_a_command_says_how_it_is_typed_and_what_it_does(commands, command):
    for argument in (command.name, f"/{command.name}", f"{command.name.upper()} please"):
        assert await commands(f"/help {argument}") == f"{command.line} - {command.help}"


async def test_help_of_an_unknown_command_says_so(commands):
    assert await commands("/help /x") == "Unknown command: /x. Type /help."


async def test_quit_leaves(commands):
    await commands("/quit")
    assert commands.calls == [("exit",)]


@pytest.mark.parametrize("typed", ['"my files/a.zip"', "'my files/a.zip'", "my files/a.zip"])
async def test_the_path_of_an_import_may_be_quoted(commands, typed):
    await commands(f"/import {typed}")
    assert commands.calls == [("open", "import", "my files/a.zip")]
