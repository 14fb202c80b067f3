"""The debug log of the screen: what it does, and nothing of a private session."""

import pytest

from tests.ui.screen import go_to, have_answered, send
from tests.waiting import until
from tui.cli.debug_log import DebugLog
from tui.storage.protocol import SessionFilter

SECRET = "xyzzyplugh"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "debug.log"


async def test_switches_saves_and_turns_are_entries_without_a_text(world, place):
    w = world([f"It is {SECRET}."])
    other = await w.session(SECRET, SECRET, name=SECRET)
    with DebugLog(place).collecting():
        async with w.running() as (app, pilot):
            own = w.workspace.current.id
            await have_answered(w, pilot, SECRET)
            await go_to(app, pilot, other)
    text = place.read_text()
    for entry in (
        "first frame painted",
        f"lease of {own} taken",
        f"saved {own}: ",
        f"turn of {own}: complete, ",
        f"switch to {other}: ",
    ):
        assert entry in text
    assert SECRET not in text


async def test_nothing_of_a_private_session_is_an_entry(world, place):
    w = world([f"It is {SECRET}."], ["Yes."])
    with DebugLog(place).collecting():
        async with w.running() as (_, pilot):
            await send(pilot, "/private")
            await until(lambda: w.workspace.current.private, "a private session")
            await have_answered(w, pilot, SECRET)
            await send(pilot, "/keep")
            await until(lambda: not w.workspace.current.private, "the kept session")
    text = place.read_text()
    assert "private-" not in text
    assert SECRET not in text
    assert "turn of" not in text
    (kept,) = w.store.list(SessionFilter(), None, 9).entries
    assert f"saved {kept.id}: " in text


async def test_a_defect_in_a_turn_is_an_entry_with_its_place(world, place):
    w = world([ZeroDivisionError(SECRET)])
    with DebugLog(place).collecting():
        async with w.running() as (_, pilot):
            await send(pilot, SECRET, says="Unexpected error")
    text = place.read_text()
    assert "unexpected error in a turn" in text
    assert "builtins.ZeroDivisionError" in text
    assert "turn.py" in text
    assert SECRET not in text
