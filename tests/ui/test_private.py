"""Private sessions on the screen: nothing of them reaches a disk, and they ask before they go."""

import asyncio

import pytest

from tests.ui.screen import (
    answer,
    conversation,
    go_to,
    have_answered,
    notices,
    press,
    question,
    rows,
    send,
    status,
)
from tests.ui.world import messages
from tests.visible_text import results_text
from tests.waiting import until
from tui.screens.search import SearchScreen
from tui.screens.session_picker import SessionPicker
from tui.storage.protocol import SessionFilter
from tui.widgets.prompt.top_border import TopBorder
from tui.widgets.sidebar.rows_view import RowsView

SECRET = "xyzzyplugh"


async def begin(world, app, pilot, *prompts):
    """Begin a private session, and have these prompts answered; gives its id."""
    await send(pilot, "/private")
    await until(lambda: world.workspace.current.private, "a private session")
    for prompt in prompts:
        await have_answered(world, pilot, prompt)
    return world.workspace.current.id


def on_disk(world):
    """All that is in files, and their names."""
    files = [path for path in world.root.parent.rglob("*") if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


async def test_it_has_a_frame_and_a_mark_of_its_own_until_all_of_it_is_kept(running):
    async with running(["Good day."], ["Again."]) as (w, app, pilot):
        border = app.chat.prompt.query_one(TopBorder)
        assert border.render_line(0).text.startswith("╭─")
        before = await begin(w, app, pilot, "hello")
        assert border.render_line(0).text.startswith("┏╍")
        rows_view = app.chat.sidebar.query_one(RowsView)
        assert any("◌ hello" in rows_view.render_line(y).text for y in range(5))
        await send(pilot, "/name Kept")
        await send(pilot, "/keep")
        await until(lambda: not w.workspace.current.private, "the session that is kept")
        kept = w.workspace.current.id
        await until(lambda: border.render_line(0).text.startswith("╭─"), "the usual frame")
        await until(lambda: kept in rows(app) and before not in rows(app), "the list")
        assert not any("◌" in rows_view.render_line(y).text for y in range(5))
        await until(lambda: "saved" in status(app) and "PRIVATE" not in status(app), "the status")
        assert "Good day." in conversation(app)
        await have_answered(w, pilot, "more")
        await send(pilot, "/keep", says="This session is already saved")
    assert [text for _, text, _ in messages(w, kept)] == ["hello", "Good day.", "more", "Again."]
    assert w.other_program().entry(kept).name == "Kept"
    assert w.final_save.lines == [f"Resume with: sibyl-tui --session {kept}"]


async def test_nothing_of_it_is_on_disk_while_it_runs_or_afterwards(running):
    async with running([f"It is {SECRET}."], interval=0.05) as (w, app, pilot):
        session_id = await begin(w, app, pilot, SECRET)
        assert "PRIVATE, not saved" in status(app)
        await send(pilot, f"/name {SECRET}")
        await press(pilot, *SECRET, "f4", says="No editor for a private session")
        await send(pilot, "x")
        for command in ("/archive", "/save", "/fork", "/session save", "/export"):
            await send(pilot, command)
        await until(lambda: notices(app).count("A private session is not") == 5, "the refusals")
        assert session_id in rows(app)
        found = await asyncio.to_thread(w.workspace.reader.search, SECRET, 10)
        assert not found.hits
        assert SECRET.encode() not in on_disk(w)
    assert SECRET.encode() not in on_disk(w)
    assert b"private-" not in on_disk(w)
    assert w.final_save.lines == []


async def leave(way, w, app, pilot, other):
    match way:
        case "sidebar":
            await go_to(app, pilot, other)
        case "f2":
            await pilot.press("f2")
            await until(lambda: isinstance(app.screen, SessionPicker), "the picker")
            await pilot.press(*"needle")
            await until(lambda: len(app.screen.shown) == 1, "the session")
            await pilot.press("enter")
        case "alt+down" | "ctrl+n":
            await pilot.press(way)
        case _:
            await send(pilot, way.format(other))


_OTHER_WAYS = ("ctrl+n", "/session close", "alt+down", "f2", "/load {}", "/delete")


@pytest.mark.parametrize(
    "way",
    [
        "sidebar",
        *(pytest.param(way, marks=pytest.mark.full) for way in _OTHER_WAYS),
    ],
)
async def test_it_asks_once_before_it_is_left(running, way):
    async with running(["Good day."], beside=("needle",)) as (w, app, pilot):
        left = await begin(w, app, pilot, "hello")
        await leave(way, w, app, pilot, w.beside)
        asked = await question(app)
        assert '"hello"' in asked
        assert "nothing of it is kept" in asked
        await pilot.press("n")
        await until(lambda: app.screen is app.chat)
        assert w.workspace.current.id == left
        assert "Good day." in conversation(app)
        await leave(way, w, app, pilot, w.beside)
        await answer(app, pilot, "y")
        await until(lambda: w.workspace.current.id != left, "another session")
        await until(lambda: left not in rows(app), "the list without it")
        assert w.workspace.switcher.find(left) is None


async def test_a_hit_elsewhere_is_gone_to_once_the_user_agrees(world):
    w = world(["Good day."])
    other = await w.session("needle")
    async with w.running() as (app, pilot):
        left = await begin(w, app, pilot, "hello")
        await pilot.press("ctrl+f")
        await until(lambda: isinstance(app.screen, SearchScreen), "the search")
        search = app.screen
        await until(lambda: search.line.has_focus, "the line of the search")
        await pilot.press(*"needle")
        # Enter takes no hit of an earlier query, such as "needl".
        await until(lambda: results_text(search) == "needle", "the hit")
        await pilot.press("enter")
        await answer(app, pilot, "n", asked="nothing of it is kept")
        await until(lambda: app.screen is search, "the search again")
        assert w.workspace.current.id == left
        await pilot.press("enter")
        await answer(app, pilot, "y")
        await until(lambda: w.workspace.current.id == other, "the session with the hit")
        await until(lambda: app.screen is app.chat, "the conversation")


@pytest.mark.parametrize(
    "command", ["/restore {}", pytest.param("/fork {}", marks=pytest.mark.full)]
)
async def test_a_command_that_is_done_all_the_same_says_that_it_stays(world, command):
    w = world(["Good day."])
    other = await w.session("there")
    if "restore" in command:
        w.other_program().archive(other)
    async with w.running() as (app, pilot):
        left = await begin(w, app, pilot, "hello")
        await send(pilot, command.format(other), says="Stayed in the private session")
        assert w.workspace.current.id == left
        assert len(w.other_program().list(SessionFilter(), None, 9).entries) == 1 + (
            "fork" in command
        )
        assert app.screen is app.chat


async def test_an_answer_that_arrives_is_stopped_when_it_is_left(running):
    async with running(["half", asyncio.Event()], beside=("there",)) as (w, app, pilot):
        await begin(w, app, pilot)
        await send(pilot, "hello", shows="half")
        await go_to(app, pilot, w.beside)
        await answer(app, pilot, "y")
        await until(lambda: w.workspace.current.id == w.beside)
        await until(lambda: w.workspace.open == (), "the end of the private session")
        assert "NOT SAVED" not in status(app)


async def test_quitting_asks_and_never_says_that_an_answer_is_kept_that_is_not(running):
    async with running(["Good day."], ["half", asyncio.Event()]) as (w, app, pilot):
        await begin(w, app, pilot, "hello")
        await pilot.press("ctrl+q")
        await answer(app, pilot, "n", asked="nothing of it is kept")
        await until(lambda: app.screen is app.chat)
        await send(pilot, "and on", shows="half")
        await pilot.press("ctrl+q")
        asked = await question(app)
        assert "1 answer is still in progress" in asked
        assert "arrived is kept" not in asked
        assert "nothing of it is kept" in asked
        await pilot.press("ctrl+q")
        await until(lambda: not app.is_running, "the end")
    assert w.final_save.lines == []
