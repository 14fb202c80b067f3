"""To the beginning of a conversation, however long it is, and back."""

import asyncio

from tests.ui.screen import conversation
from tests.waiting import until


def said(count):
    return [f"message {number}" for number in range(count)]


async def test_home_leads_to_the_first_message_of_all_and_end_back(world):
    w = world()
    session_id = await w.session(*said(400))
    async with w.running(session_id) as (app, pilot):
        await until(lambda: "message 399" in conversation(app), "the end")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("home")
        await until(lambda: "message 0\n" in conversation(app), "the beginning")
        assert app.chat.conversation.cursor.message.text == "message 0"
        await pilot.press("pagedown")
        # Keys wait for a page that is being read.
        await until(lambda: "message 0\n" not in conversation(app), "the next rows")
        await pilot.press("end")
        await until(lambda: "message 399" in conversation(app), "the end")
        await until(lambda: app.chat.conversation.following, "the end of it")


async def test_from_the_beginning_one_reads_on_to_the_end(world):
    w = world()
    session_id = await w.session(*said(160))
    async with w.running(session_id) as (app, pilot):
        await until(lambda: "message 159" in conversation(app), "the end")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("home")
        await until(lambda: "message 0\n" in conversation(app), "the beginning")
        seen = [conversation(app)]

        async def read_on():
            while not app.chat.conversation.following:
                # Nothing moves while the next page is read.
                await pilot.press("pagedown")
                await pilot.pause()
                seen.append(conversation(app))

        await asyncio.wait_for(read_on(), 240)
        read = "\n".join(seen)
        assert all(f"message {number}" in read for number in range(160))


async def test_what_is_all_at_hand_is_not_read_again(world):
    w = world()
    session_id = await w.session(*said(30))
    async with w.running(session_id) as (app, pilot):
        await until(lambda: "message 29" in conversation(app), "the end")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("home")
        await until(lambda: "message 0\n" in conversation(app), "the beginning")
        assert w.workspace.current.pages.excerpt is None
