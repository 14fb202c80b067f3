"""What the ancestors had, sentence by sentence, where no other test has it."""

import asyncio
from datetime import timedelta

import pytest

from tests.ui.screen import (
    conversation,
    go_to,
    lines,
    mark,
    newest_notice,
    notices,
    rows,
    send,
    status,
)
from tests.ui.world import messages
from tests.waiting import until


@pytest.mark.full
async def test_each_session_is_gone_on_reading_where_it_was_left_however_far_up(world):
    w = world()
    long = await w.session(*(f"Message {number}" for number in range(400)))
    other = await w.session("Elsewhere")
    async with w.running(long) as (app, pilot):
        await until(lambda: other in rows(app))

        async def read_up_to(text):
            while text not in conversation(app):
                await pilot.press("pageup")

        await read_up_to("Message 60")
        before = lines(app)
        await go_to(app, pilot, other)
        await until(lambda: "Elsewhere" in conversation(app))
        await go_to(app, pilot, long)
        await until(lambda: lines(app) == before, "where it was left")
        await send(pilot, f"/load {other}")
        await until(lambda: 'Opened "Elsewhere"' in notices(app))
        await send(pilot, f"/load {long}")
        await until(lambda: long in status(app))
        await until(lambda: lines(app)[:5] == before[:5], "where it was left")
        app.chat.transcript.focus()
        await until(lambda: app.focused is app.chat.transcript)
        await pilot.press("end")
        await until(lambda: "Message 399" in conversation(app), "its end")


@pytest.mark.full
async def test_of_ten_sessions_at_work_all_go_on_and_an_eleventh_is_told_the_limit(world, tmp_path):
    gate = asyncio.Event()
    w = world(*(["Begun. ", gate, f"Done {number}."] for number in range(10)))
    other = await w.session("Closed before", name="closed", project=str(tmp_path))
    async with w.running() as (app, pilot):
        made = []
        for number in range(10):
            await send(pilot, f"Go {number}")
            await until(lambda: "Begun." in conversation(app))
            made.append(w.workspace.current.id)
            if number < 9:
                await pilot.press("ctrl+n")
                await until(lambda: w.workspace.current.untouched, "a new one")
        limit = "The limit is 10 open sessions. Close one first."
        for command in ("/new", "/load closed", "/resume closed", "/fork"):
            before = newest_notice(app)
            await send(pilot, command)
            await until(lambda before=before: newest_notice(app) is not before, command)
            assert limit in newest_notice(app).notice.text
            assert w.workspace.current.id == made[-1]
        assert {w.other_program().entry(each).status for each in made} == {"open"}
        assert w.other_program().entry(other).status == "closed"
        gate.set()
        opened = w.workspace.open
        await until(lambda: not any(each.activity.running for each in opened), "the answers")
        await until(lambda: [mark(app, each) for each in made[:-1]] == ["unread"] * 9, "the marks")
    assert [messages(w, each)[-1][1] for each in made] == [
        f"Begun. Done {number}." for number in range(10)
    ]


async def test_the_count_of_what_other_projects_have_follows_what_the_start_archives(world):
    w = world()
    await w.session("Long ago", scope="project:/other")
    w.clock.now += timedelta(days=31)
    await w.session("Elsewhere", scope="project:/other")
    async with w.running() as (app, _):
        await until(lambda: "1 older session moved to the archive" in notices(app), "the line")
        await until(lambda: app.chat.rows.elsewhere == 1, "the count")


@pytest.mark.full
@pytest.mark.parametrize("target", ["shop#2", "#2", "project:/shop#2"])
async def test_a_project_is_meant_by_its_short_name_as_the_status_bar_shows_it(world, target):
    w = world()
    await w.session("One")
    await w.session("Two", "Yes.")
    async with w.running() as (app, pilot):
        await until(lambda: " shop" in status(app))
        await send(pilot, f"/load {target}")
        await until(lambda: 'Opened "Two"' in notices(app))
