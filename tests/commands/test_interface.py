"""``/help``, ``/import`` and ``/theme``."""

import pytest

from tui.commands import registry
from tui.domain.commands import COMMANDS

CHANGELOG = """\
# Changelog

After [a standard](https://example.org).

## [Unreleased]

## [1.1.0] - 2026-12-24

### Added

**Sessions**
- The [manual](docs/manual.md) has a page of common
  questions; `[keys]` stays.

## [1.0.0]
"""


async def test_help_opens_the_help(commands):
    await commands("/help")
    assert commands.calls == [("open", "help")]


@pytest.mark.parametrize("command", COMMANDS)
async def test_help_of_a_command_says_how_it_is_typed_and_what_it_does(commands, command):
    for argument in (command.name, f"/{command.name}", f"{command.name.upper()} please"):
        assert await commands(f"/help {argument}") == f"{command.line} - {command.help}"


async def test_help_has_the_changes_of_the_releases_as_plain_text(commands, monkeypatch, tmp_path):
    (tmp_path / "changes").write_text(CHANGELOG, "utf-8")
    monkeypatch.setattr(registry, "changelog", lambda: tmp_path / "changes")
    await commands("/help changes")
    shown = (
        "1.1.0 - 2026-12-24\n\nAdded\n\nSessions\n"
        "- The manual has a page of common questions; `[keys]` stays.\n\n1.0.0\n"
    )
    assert commands.calls == [("report", "Changes", shown)]


async def test_help_of_an_unknown_command_says_so(commands):
    assert await commands("/help /x") == "Unknown command: /x. Type /help."


@pytest.mark.parametrize("typed", ['"my files/a.zip"', "'my files/a.zip'", "my files/a.zip"])
async def test_the_path_of_an_import_may_be_quoted(commands, typed):
    await commands(f"/import {typed}")
    assert commands.calls == [("open", "import", "my files/a.zip")]


@pytest.mark.parametrize("name", ["", "light"])
async def test_a_theme_is_picked_or_chosen_by_its_name(commands, name):
    await commands(f"/theme {name}")
    assert commands.calls == [("open", "themes", name)]


# --- unknown commands


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("res", "/resume, /restore or /reset"), ("modle", "/model"), ("exprot", "/export")],
)
async def test_an_unknown_command_names_those_that_may_be_meant(commands, typed, meant):
    assert await commands(f"/{typed}") == f"Unknown command: /{typed}. Did you mean {meant}?"
