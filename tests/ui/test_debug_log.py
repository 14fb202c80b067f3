"""The debug log of the screen: what it does, and nothing of a private session."""

from tests.ui.screen import go_to, have_answered, send
from tests.waiting import until
from tui.cli.debug_log import DebugLog
from tui.storage.protocol import SessionFilter

SECRET = "xyzzyplugh"


async def test_saves_turns_switches_and_defects_are_entries_without_a_text(world, tmp_path):
    w = world([f"It is {SECRET}."], [ZeroDivisionError(SECRET)])
    other = await w.session(SECRET, SECRET, name=SECRET)
    with DebugLog(tmp_path / "debug.log").collecting():
        async with w.running() as (app, pilot):
            own = w.workspace.current.id
            await have_answered(w, pilot, SECRET)
            await send(pilot, SECRET, says="Unexpected error")
            await go_to(app, pilot, other)
    text = (tmp_path / "debug.log").read_text()
    for entry in (
        "first frame painted",
        f"lease of {own} taken",
        f"saved {own}: ",
        f"turn of {own}: complete, ",
        "unexpected error in a turn",
        "builtins.ZeroDivisionError",
        "turn.py",
        f"switch to {other}: ",
    ):
        assert entry in text
    assert SECRET not in text


async def test_nothing_of_a_private_session_is_an_entry(world, tmp_path):
    w = world([f"It is {SECRET}."])
    with DebugLog(tmp_path / "debug.log").collecting():
        async with w.running() as (_, pilot):
            await send(pilot, "/private")
            await until(lambda: w.workspace.current.private, "a private session")
            await have_answered(w, pilot, SECRET)
            await send(pilot, "/keep")
            await until(lambda: not w.workspace.current.private, "the kept session")
    text = (tmp_path / "debug.log").read_text()
    assert not [word for word in ("private-", SECRET, "turn of") if word in text]
    (kept,) = w.store.list(SessionFilter(), None, 9).entries
    assert f"saved {kept.id}: " in text
