"""Errors of commands, as they are said."""

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
