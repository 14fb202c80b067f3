"""Errors of commands, as they are said, and commands that find nothing to do."""

import pytest

from tui.commands import registry
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
    assert commands.calls[-1] == ("open_sessions", "all", True, "the sh")


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
