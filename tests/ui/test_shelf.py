"""Sessions are archived, deleted, forked and brought back, by the user or by their age."""

import asyncio
from datetime import timedelta

import pytest

from tests.ui.screen import (
    answer,
    have_answered,
    highlight,
    notices,
    press,
    question,
    report,
    rows,
    send,
    words,
)
from tests.ui.world import messages
from tests.waiting import until
from tui.domain.views.session_rows import Group

pytestmark = pytest.mark.full


def where(world, session_id):
    """Where a session lies on disk."""
    return world.other_program().entry(session_id).status


def archived(app):
    """The sessions in the group of what is archived, and how many its heading says there are."""
    listed = app.chat.rows
    if listed is None:
        return None, None
    found = [row.id for row in listed.rows if row.group is Group.ARCHIVED]
    return found, listed.archived


@pytest.mark.fast
async def test_the_session_on_screen_is_archived_and_comes_back(world):
    w = world()
    other = await w.session("The other", "Yes.")
    here = await w.session("This one", "Yes.", name="会話")
    async with w.running(here) as (app, pilot):
        await until(lambda: here in rows(app))
        await send(pilot, "/archive", says='Archived "会話". /undo')
        assert "The other" in words(app)
        assert w.workspace.current.id == other
        assert where(w, here) == "archived"
        await until(lambda: here not in rows(app) and archived(app)[1] == 1, "the list")
        await send(pilot, "/undo", says="Brought back ")
        assert w.workspace.current.id == here
        await until(lambda: here in rows(app) and archived(app)[1] == 0, "the list")
        assert where(w, here) == "closed"
        await send(pilot, "/resume clear")
        await answer(app, pilot, "y", asked="closed session")
        await until(lambda: other not in rows(app), "the list without it")
    assert where(w, other) == "trashed"


@pytest.mark.full
@pytest.mark.fast
async def test_a_running_answer_is_stopped_and_kept_by_its_deletion(world):
    w = world(["half", asyncio.Event()])
    async with w.running() as (app, pilot):
        await send(pilot, "hello", shows="half")
        here = w.workspace.current.id
        await send(pilot, "later")
        await send(pilot, "/delete")
        assert "Its answer will be stopped." in await question(app)
        await press(pilot, "y", says="to the trash. /undo brings it back")
        assert w.workspace.current.untouched
        assert messages(w, here)[-1] == ("assistant", "half", "interrupted")
        assert w.drafts().load(here).queued == ("later",)
        await send(pilot, "/undo")
        await until(lambda: w.workspace.current.id == here)
        await until(lambda: app.chat.prompt.text == "later", "what waited")


@pytest.mark.fast
async def test_a_session_of_many_messages_is_forked_and_gone_on_with(world):
    w = world(["And on."])
    here = await w.session(*(f"Message {number}" for number in range(200)))
    async with w.running(here) as (_, pilot):
        await send(pilot, "/fork", says="This is a copy of")
        fork = w.workspace.current.id
        assert fork != here
        await have_answered(w, pilot, "more", "And on.")
        assert len(messages(w, fork)) == 202
        assert len(messages(w, here)) == 200


@pytest.mark.fast
async def test_the_keys_of_the_list_archive_delete_and_undo(world):
    w = world()
    one = await w.session("One", "Yes.")
    two = await w.session("Two", "Yes.")
    async with w.running() as (app, pilot):
        here = w.workspace.current.id
        await until(lambda: {one, two} <= {*rows(app)})
        await highlight(app, one)
        await pilot.press("a")
        await until(lambda: one not in rows(app), "the list")
        assert where(w, one) == "archived"
        await highlight(app, two)
        await pilot.press("d")
        await until(lambda: app.focused.can_be_answered, "the question")
        await pilot.press("enter")
        await until(lambda: two not in rows(app), "the list")
        assert where(w, two) == "trashed"
        await pilot.press("u")
        await until(lambda: two in rows(app), "the list")
        await pilot.press("u")
        await until(lambda: one in rows(app), "the list")
        assert w.workspace.current.id == here


@pytest.mark.full
async def test_what_is_brought_back_to_the_screen_has_the_highlight_again(world):
    w = world()
    one, two = await w.session("One", "Yes."), await w.session("Two", "Yes.")
    async with w.running(one) as (app, pilot):
        await until(lambda: {one, two} <= {*rows(app)})
        await highlight(app, one)
        await pilot.press("a")
        await until(lambda: app.chat.shown == two and one not in rows(app), "the other")
        await pilot.press("u")
        await until(lambda: app.chat.shown == one and one in rows(app), "it again")
        shown = app.chat.sidebar.rows
        await until(lambda: shown.highlighted and shown.highlighted.id == one, "the highlight")


async def test_what_is_archived_is_counted_at_once_and_read_when_it_is_unfolded(world):
    w = world(["There."])
    kept = await w.session("Kept", "Yes.")
    made = [await w.session(f"Old {number}", "Yes.") for number in range(3)]
    elsewhere = await w.session("Elsewhere", "Yes.", scope="project:/other")
    for session_id in (*made, elsewhere):
        w.other_program().archive(session_id)
    async with w.running() as (app, pilot):
        await until(lambda: kept in rows(app) and archived(app) == ([], 3), "the count")
        app.chat.sidebar.focus()
        await pilot.press("end", "enter")
        await until(lambda: archived(app) == ([*reversed(made)], 3), "what is archived")
        await highlight(app, made[1])
        await pilot.press("enter")
        await until(lambda: w.workspace.current.id == made[1], "the session")
        assert "Old 1" in words(app)
        assert where(w, made[1]) == "archived"
        await send(pilot, "/restore", says="Restored this session from the archive")
        await until(lambda: archived(app) == ([made[2], made[0]], 2), "the list")
        # A change takes a session out of the group as well.
        await highlight(app, made[0])
        await pilot.press("enter")
        await until(lambda: w.workspace.current.id == made[0], "the session")
        await send(pilot, "hello", shows="There.")
        await until(lambda: archived(app) == ([made[2]], 1), "the list")
        assert where(w, made[0]) == "open"


async def test_what_is_archived_is_found_by_a_search_and_what_is_deleted_is_not(world):
    w = world()
    here = await w.session("The needle", "Yes.")
    await w.session("The other", "Yes.")
    async with w.running(here) as (app, pilot):

        async def search():
            await send(pilot, "/new", says="Started a new session")
            await send(pilot, "/search needle")
            await until(lambda: "needle" in report(app))
            found = report(app)
            await pilot.press("escape")
            return found

        await send(pilot, "/archive", says="/undo brings it back")
        assert "Found 1 match:" in await search()
        app.chat.prompt.set_text(f"/delete {here}")
        await pilot.press("enter")
        await question(app)
        await press(pilot, "y", says="to the trash. /undo")
        await send(pilot, "/search needle", says='No session matches "needle".')


@pytest.mark.fast
async def test_the_start_archives_what_is_old_and_says_so_also_what_the_hook_does_wrong(world):
    w = world()
    w.hook = ("/nowhere/to/be/found",)
    old = await w.session("Long ago")
    await w.session("Long ago, elsewhere", scope="project:/other")
    w.clock.now += timedelta(days=31)
    new = await w.session("Just now")
    await w.session("Elsewhere", scope="project:/other")
    async with w.running() as (app, _):
        await until(lambda: "2 older sessions moved to the archive" in notices(app), "the line")
        await until(lambda: "The archive hook could not be started" in notices(app), "the failure")
        await until(lambda: rows(app)[1:] == [new], "the list without it")
        await until(lambda: app.chat.rows.elsewhere == 1, "the count")
    assert [where(w, each) for each in (old, new)] == ["archived", "closed"]
