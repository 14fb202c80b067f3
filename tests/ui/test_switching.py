"""From one session to another: by list, keys and walks, and back to where it was left."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.ui.screen import (
    conversation,
    go_to,
    have_answered,
    lines,
    mark,
    notices,
    press,
    rows,
    send,
    status,
)
from tests.ui.world import full_disk, messages
from tests.waiting import until
from tui.domain.views.session_rows import Group, SessionRow
from tui.errors import StorageError
from tui.screens.session_walk import SessionWalk
from tui.storage.journal import Journal
from tui.widgets.intents import MoreWanted


async def test_enter_in_the_sidebar_shows_a_session_and_the_first_key_opens_it(world):
    w = world(["Three."])
    there = await w.session("What is two?", "It is 2.")
    before = w.store.path(there).read_bytes()
    async with w.running() as (app, pilot):
        await until(lambda: there in rows(app), "the list")
        await go_to(app, pilot, there, "It is 2.")
        await until(lambda: there in status(app))
        assert app.chat.prompt.has_focus_within
        assert w.other_program().holder(there) is None
        assert w.store.path(there).read_bytes() == before
        await pilot.press("x")
        await until(lambda: w.other_program().holder(there) is not None, "the lease")
        await pilot.press("backspace")
        await have_answered(w, pilot, "And three?", "Three.")
    said = [text for _, text, _ in messages(w, there)]
    assert said == ["What is two?", "It is 2.", "And three?", "Three."]


async def test_an_answer_goes_on_while_the_reader_looks_elsewhere_and_is_unread_then(world):
    gates = asyncio.Event(), asyncio.Event()
    w = world(["Begun. ", gates[0], "On. ", gates[1], "Done."])
    there = await w.session("Elsewhere", "Yes.")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        await send(pilot, "Go", shows="Begun.")
        await go_to(app, pilot, there, "Elsewhere")
        assert "Begun." not in conversation(app)
        assert mark(app, first) == "running"
        # It is whole for who comes back to it.
        await go_to(app, pilot, first, "Begun.")
        gates[0].set()
        await until(lambda: "Begun. On." in conversation(app))
        await go_to(app, pilot, there, "Elsewhere")
        gates[1].set()
        await until(lambda: mark(app, first) == "unread", "the mark")
        assert messages(w, first)[-1] == ("assistant", "Begun. On. Done.", None)
        await until(lambda: w.other_program().holder(first) is None, "its end")
        await go_to(app, pilot, first, "Begun. On. Done.")
        await until(lambda: mark(app, first) == "")


async def test_a_session_that_cannot_be_saved_is_not_left_and_saved_before_another_is_read(
    world, monkeypatch
):
    w = world(["Hi."])
    there = await w.session("Elsewhere", "Yes.")

    def unreadable(*_):
        raise StorageError(f"Cannot read session {there}")

    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        with full_disk(w):
            await send(pilot, "hello")
            await until(lambda: "NOT SAVED: disk full" in status(app))
            await go_to(app, pilot, there)
            await until(lambda: '": could not save (disk full)' in notices(app))
            await until(lambda: first in status(app))
            assert app.chat.sidebar.rows.highlighted.id == first
        with monkeypatch.context() as broken:
            broken.setattr(Journal, "tail", unreadable)
            await go_to(app, pilot, there)
            await until(lambda: 'Cannot read "Elsewhere"' in notices(app))
            await until(lambda: first in status(app))
            assert app.chat.sidebar.rows.highlighted.id == first
            assert messages(w, first) == [("user", "hello", None)]
            await until(lambda: "NOT SAVED" not in status(app))
        await go_to(app, pilot, there, "Elsewhere")


async def test_alt_down_walks_through_the_sessions_without_leaving_the_prompt(world):
    w = world()
    made = [await w.session(f"Number {number}", "Yes.") for number in range(5)]
    async with w.running() as (app, pilot):
        await until(lambda: made[0] in rows(app))
        await press(pilot, "alt+down", shows="Number 4")
        await press(pilot, "alt+down", "alt+down", "alt+down", shows="Number 1")
        await press(pilot, "alt+up", shows="Number 2")
        assert app.chat.prompt.has_focus_within


async def test_earlier_messages_are_loaded_as_one_scrolls_up(world):
    w = world()
    texts = [f"text number {number}" for number in range(400)]
    there = await w.session(*texts)
    async with w.running(there) as (app, pilot):
        await until(lambda: "text number 399" in conversation(app))
        app.chat.transcript.focus()
        while not any(line.endswith("text number 0") for line in lines(app)):
            app.chat.transcript.scroll_to(y=0, animate=False)
            await pilot.pause()
        assert sum("text number" in line for line in lines(app)) > 5


async def test_a_session_held_by_another_program_is_read_only_and_says_who_holds_it(world):
    w = world()
    there = await w.session("Elsewhere", "Yes.")
    other = w.other_program()
    lease = other.lease(there)
    async with w.running() as (app, pilot):
        await until(lambda: there in rows(app))
        await go_to(app, pilot, there)
        await until(lambda: "Read-only: open in another window" in notices(app))
        await until(lambda: "read-only" in status(app))
        await send(pilot, "hello", says="is read-only here")
        assert app.chat.prompt.text == "hello"
    lease.release()
    assert [text for _, text, _ in messages(w, there)] == ["Elsewhere", "Yes."]
    assert w.drafts().aside(there)[0][1].text == "hello"


def rows_of(ids):
    """Rows of a list, from the top."""
    return [SessionRow(each, each, Group.TODAY, "", 1) for each in ids]


@pytest.fixture
def watch():
    """A clock, in seconds."""

    class Watch:
        now = 0.0

        def __call__(self):
            return self.now

    return Watch()


@pytest.fixture
def step(watch):
    """Steps through a list from the session on screen; gives the one that is selected."""
    said = []
    listed = SimpleNamespace(loaded=SimpleNamespace(more=True))
    sidebar = SimpleNamespace(rows=listed, post_message=said.append)
    prompt = SimpleNamespace(editor=SimpleNamespace(call_later=lambda _: None))
    walk = SessionWalk(sidebar, prompt, watch)

    def step(ids, shown, way, aim=None):
        said.clear()
        listed.shown, walk.shown, walk.aim = rows_of(ids), shown, aim
        walk.step(way)
        return walk.aim

    step.said = said
    return step


def test_the_way_back_is_the_way_there_though_the_session_that_was_left_moved_down(step):
    assert step("abcd", "a", 1) == "b"
    assert step("bcad", "b", -1) == "a"
    assert step("bcad", "a", 1) == "b"
    assert step("bcad", "b", 1) == "c"
    assert step("bcad", "c", 1) == "d"


def test_a_later_step_goes_by_the_list_as_it_is(step, watch):
    step("abcd", "a", 1)
    watch.now = 10
    assert step("bcad", "b", 1) == "c"
    assert step("bcad", "c", 1) == "a"


def test_a_step_from_where_another_way_led_goes_by_the_list_as_it_is(step):
    step("abcd", "a", 1)
    assert step("bcad", "d", -1) == "a"


def test_what_is_read_meanwhile_is_walked_through_behind_and_what_is_gone_is_not(step):
    step("ab", "a", 1)
    assert step("bcd", "b", 1) == "c"
    assert step("bcd", "c", -1) == "b"
    assert step("bcd", "b", -1) == "b"


def test_steps_go_on_from_what_was_aimed_at_not_from_what_is_shown_still(step):
    assert step("abc", "a", 1, aim=step("abc", "a", 1)) == "c"


def test_more_is_wanted_twenty_rows_before_the_end(step):
    names = [str(number) for number in range(50)]
    step(names, "28", 1)
    assert step.said == []
    step(names, "29", 1)
    assert [type(each) for each in step.said] == [MoreWanted]


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
        await go_to(app, pilot, other, "Elsewhere")
        await go_to(app, pilot, long)
        await until(lambda: lines(app) == before, "where it was left")
        await send(pilot, f"/load {other}", says='Opened "Elsewhere"')
        await send(pilot, f"/load {long}")
        await until(lambda: long in status(app))
        await until(lambda: lines(app)[:5] == before[:5], "where it was left")
        app.chat.transcript.focus()
        await until(lambda: app.focused is app.chat.transcript)
        await press(pilot, "end", shows="Message 399")


def said(count):
    return [f"message {number}" for number in range(count)]


async def test_home_leads_to_the_first_message_of_all_and_end_or_reading_on_back(running):
    async with running(talk=said(160)) as (_, app, pilot):
        await until(lambda: "message 159" in conversation(app), "the end")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await press(pilot, "home", shows="message 0\n")
        assert app.chat.conversation.cursor.message.text == "message 0"
        await pilot.press("pagedown")
        # Keys wait for a page that is being read.
        await until(lambda: "message 0\n" not in conversation(app), "the next rows")
        await press(pilot, "end", shows="message 159")
        await until(lambda: app.chat.conversation.following, "the end of it")
        await press(pilot, "home", shows="message 0\n")
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


async def test_what_is_all_at_hand_is_not_read_again(running):
    async with running(talk=said(30)) as (w, app, pilot):
        await until(lambda: "message 29" in conversation(app), "the end")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await press(pilot, "home", shows="message 0\n")
        assert w.workspace.current.pages.excerpt is None
