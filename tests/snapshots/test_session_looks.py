"""How the list of all sessions looks."""

from datetime import timedelta

import pytest

from tests.visible_text import visible_text
from tests.waiting import until


@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=["wide", "narrow"])
async def test_all_sessions(world, same_picture, size):
    w = world()
    w.store.archive(await w.session("What is a lease?", "The right to append to a session."))
    w.clock.now += timedelta(days=3)
    answer = "It is **2**, whatever the base:\n\n- in ten, `2`\n- in two, `10`"
    for question in ("What is two?", "What is two?", "Fix the login page that breaks in Safari"):
        await w.session(question, answer, scope="project:/home/u/farm")
        w.clock.now += timedelta(hours=2)
    await w.session("login の日本語は何ですか。", "「ログイン」です。", name="日本語の画面")
    async with w.running(size=size) as (app, pilot):
        await pilot.press("f2", "down", "down")
        await until(lambda: any("Safari" in each for each in visible_text(app.screen.preview)))
        await same_picture(pilot, "sessions" if size[0] == 120 else "sessions-narrow")
