"""Closing a session on screen."""

import asyncio

from tests.ui.screen import conversation, mark, question, rows, send, status, words
from tests.ui.world import messages
from tests.waiting import until
from tui.errors import StorageFull


async def test_ctrl_w_saves_closes_and_shows_the_session_used_before(world):
    w = world(["Yes."])
    before = await w.session("Earlier", "It was.")
    async with w.running() as (app, pilot):
        mine = w.workspace.current.id
        await send(pilot, "Is it?")
        await until(lambda: "Yes." in words(app))
        await pilot.press("x", "ctrl+w")
        await until(lambda: "It was." in conversation(app), "the other session")
        await until(lambda: f"Closed session: {mine}" in words(app))
        assert before in status(app)
        assert app.chat.prompt.draft == ""
        assert w.other_program().holder(mine) is None
        await until(lambda: set(rows(app)) == {mine, before})
    assert [text for _, text, _ in messages(w, mine)] == ["Is it?", "Yes."]
    assert w.drafts().load(mine).text == "x"


async def test_ctrl_w_stops_the_answer_and_keeps_what_arrived(world):
    gate = asyncio.Event()
    w = world(["Half an answer", gate, " more"])
    async with w.running() as (app, pilot):
        mine = w.workspace.current.id
        await send(pilot, "Go")
        await until(lambda: "Half an answer" in conversation(app))
        await send(pilot, "Next")
        await pilot.press("ctrl+w")
        await until(lambda: mine not in status(app), "the new session")
        assert mark(app, mine) in (None, "")
        assert w.workspace.open == (w.workspace.current,)
    assert messages(w, mine) == [
        ("user", "Go", None),
        ("assistant", "Half an answer", "interrupted"),
    ]
    assert w.drafts().load(mine).queued == ("Next",) or w.drafts().load(mine).text == "Next"


async def test_what_cannot_be_saved_is_asked_for_and_goes_to_a_rescue_file(world, monkeypatch):
    w = world(["Yes."])
    await w.session("Earlier", "It was.")
    async with w.running() as (app, pilot):
        mine = w.workspace.current.id
        await send(pilot, "Is it?")
        await until(lambda: "Yes." in words(app))
        await until(lambda: not w.workspace.current.unsaved)
        monkeypatch.setattr(w.store, "append", _full)
        await send(pilot, "/name Lost")
        await until(lambda: w.workspace.current.unsaved)
        await pilot.press("ctrl+w")
        assert f"Could not save {mine}: disk full. Close it all" in await question(app)
        await pilot.press("n")
        await until(lambda: f"Stayed in {mine}" in words(app))
        await pilot.press("ctrl+w")
        await question(app)
        await pilot.press("y")
        await until(lambda: "It was." in conversation(app), "the other session")
        await until(lambda: "What could not be saved is in" in words(app))
    (rescued,) = (w.root.parent / "rescue").iterdir()
    assert "Lost" in rescued.read_text()
    assert any("sessions import" in line for line in w.final_save.lines)


def _full(*_):
    raise StorageFull("No room.")
