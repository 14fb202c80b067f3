"""Errors of commands, commands that find nothing to do, ``/help``, ``/import`` and ``/theme``."""

import pytest

from tui.commands import registry
from tui.domain.commands import COMMANDS
from tui.errors import AmbiguousSession, SessionNotFound, StorageError


async def fail_with(commands, monkeypatch, error):
    async def fail(*_):
        raise error

    monkeypatch.setitem(registry.FUNCTIONS, "save", fail)
    return await commands("/save")


async def test_what_goes_wrong_is_said(commands, monkeypatch):
    assert await fail_with(commands, monkeypatch, StorageError("It broke.")) == "It broke."
    assert commands.severity == "error"


async def test_what_is_not_found_names_what_is_like_it(commands, monkeypatch):
    error = SessionNotFound("shap", ["shop", "shape"])
    words = "Session not found: shap Closest: shop, shape"
    assert await fail_with(commands, monkeypatch, error) == words


async def test_what_is_not_found_and_like_nothing_is_only_not_found(commands, monkeypatch):
    words = "Session not found: shap"
    assert await fail_with(commands, monkeypatch, SessionNotFound("shap")) == words


async def test_what_is_ambiguous_opens_the_list_filtered_to_it(commands, monkeypatch):
    told = await fail_with(commands, monkeypatch, AmbiguousSession("the sh…", ["one", "two"]))
    assert told == 'Several sessions match "the sh…". Choose one'
    assert commands.calls[-1] == ("open", "sessions", "the sh")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        *((f"/{name}", f"Nothing to {name} yet.") for name in ("archive", "delete", "fork")),
        *((f"/{name}", f"Nothing to {name} yet.") for name in ("save", "reset")),
        ("/session save", "Nothing to save yet."),
        ("/retry", "Nothing to ask again."),
        ("/edit", "No question to edit yet."),
        ("/compact", "Nothing to compact."),
        ("/stop", "Nothing to stop."),
        ("/copy", "Nothing to copy."),
        ("/copy code", "Nothing to copy."),
        ("/copy all", "Usage: /copy [code | id]"),
        ("/undo", "Nothing to undo."),
        ("/resume clear", "There are no closed sessions."),
        ("/search", "Usage: /search TEXT"),
        ("/search nowhere", 'No session matches "nowhere".'),
    ],
)
async def test_in_a_new_session_there_is_nothing_to_do(commands, typed, told):
    assert await commands(typed) == told
    assert commands.current.untouched


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


# --- unknown commands


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("res", "/resume, /restore or /reset"), ("modle", "/model"), ("exprot", "/export")],
)
async def test_an_unknown_command_names_those_that_may_be_meant(commands, typed, meant):
    assert await commands(f"/{typed}") == f"Unknown command: /{typed}. Did you mean {meant}?"
