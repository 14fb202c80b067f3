"""Closing a session on screen."""

import pytest

from tests.ui.screen import (
    highlight,
    notices,
    press,
    question,
    rows,
    send,
    status,
    words,
)
from tests.ui.world import full_disk, messages
from tests.waiting import until

pytestmark = pytest.mark.full


@pytest.mark.fast
async def test_x_in_the_list_saves_closes_and_shows_the_session_used_before(world):
    w = world(["Yes."])
    before = await w.session("Earlier", "It was.")
    async with w.running() as (app, pilot):
        mine = w.workspace.current.id
        await send(pilot, "Is it?")
        await until(lambda: "Yes." in words(app))
        await press(pilot, "x", "ctrl+b", "x", shows="It was.")
        await until(lambda: 'Closed "' in notices(app))
        await until(lambda: before in status(app))
        assert app.chat.prompt.draft == ""
        assert w.other_program().holder(mine) is None
        await until(lambda: set(rows(app)) == {mine, before})
        # It is about the row, not about the session on screen.
        await highlight(app, mine)
        await press(pilot, "x", says=f"No open session has the id {mine}.")
    assert [text for _, text, _ in messages(w, mine)] == ["Is it?", "Yes."]
    assert w.drafts().load(mine).text == "x"


async def test_what_cannot_be_saved_is_asked_for_and_goes_to_a_rescue_file(world):
    w = world(["Yes."])
    await w.session("Earlier", "It was.")
    async with w.running() as (app, pilot):
        await send(pilot, "Is it?")
        await until(lambda: "Yes." in words(app))
        await until(lambda: not w.workspace.current.unsaved)
        with full_disk(w):
            await send(pilot, "/name Lost")
            await until(lambda: w.workspace.current.unsaved)
            await send(pilot, "/session close")
            assert ": disk full. Close it anyway?" in await question(app)
            await press(pilot, "n", says='Stayed in "')
            await send(pilot, "/session close")
            await question(app)
            await press(pilot, "y", shows="It was.")
        await until(lambda: "What could not be saved is in" in notices(app))
    (rescued,) = (w.root.parent / "rescue").iterdir()
    assert "Lost" in rescued.read_text()
    assert any("sessions import" in line for line in w.final_save.lines)


@pytest.mark.parametrize(
    "way",
    [[], ["ctrl+b", "slash"], ["ctrl+b", "r"], ["ctrl+r"], ["ctrl+g"], ["ctrl+f"]],
    ids=["prompt", "filter", "rename", "history", "find", "search"],
)
async def test_ctrl_w_cuts_a_word_in_every_line_of_text_and_closes_nothing(running, way):
    async with running(talk=("Hello", "Yes.")) as (w, app, pilot):
        there = w.workspace.current.id
        await until(lambda: rows(app) == [there], "the list")
        await pilot.press(*way)
        line = app.focused
        await pilot.press(*"one", "space", *"two", "ctrl+w")
        await until(lambda: getattr(line, "value", getattr(line, "text", "")) == "one ")
        assert app.focused is line
        assert w.workspace.current.id == there
        assert w.other_program().holder(there) is not None
