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


async def test_what_is_ambiguous_names_its_candidates(commands, monkeypatch):
    error = AmbiguousSession("shop", ["one", "two"])
    assert (
        await fail_with(commands, monkeypatch, error)
        == "Several sessions match shop:\n  one\n  two"
    )


async def test_of_many_candidates_the_first_ten_are_named(commands, monkeypatch):
    told = await fail_with(
        commands, monkeypatch, AmbiguousSession("s", [f"s{n}" for n in range(13)])
    )
    assert told.splitlines()[1:] == [*(f"  s{number}" for number in range(10)), "  and 3 more"]
