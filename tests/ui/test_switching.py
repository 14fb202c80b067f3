"""Looking at sessions, opening them, and going back."""

import asyncio

from tests.ui.screen import (
    conversation,
    go_to,
    lines,
    mark,
    notices,
    rows,
    send,
    status,
    wait_for_answer,
)
from tests.ui.world import messages
from tests.waiting import until
from tui.errors import StorageError, StorageFull
from tui.storage.journal import Journal


async def test_enter_in_the_sidebar_shows_a_session_and_writes_nothing(world):
    w = world()
    there = await w.session("What is two?", "It is 2.")
    before = w.store.path(there).read_bytes()
    async with w.running() as (app, pilot):
        await until(lambda: there in rows(app), "the list")
        await go_to(app, pilot, there)
        await until(lambda: "It is 2." in conversation(app), "the other session")
        await until(lambda: there in status(app))
        assert app.chat.prompt.has_focus_within
        assert w.other_program().holder(there) is None
    assert w.store.path(there).read_bytes() == before


async def test_the_first_key_opens_a_session_that_was_only_looked_at(world):
    w = world(["Three."])
    there = await w.session("What is two?", "It is 2.")
    async with w.running() as (app, pilot):
        await until(lambda: there in rows(app))
        await go_to(app, pilot, there)
        await until(lambda: there in status(app))
        await pilot.press("x")
        await until(lambda: w.other_program().holder(there) is not None, "the lease")
        await pilot.press("backspace")
        await send(pilot, "And three?")
        await until(lambda: "Three." in conversation(app))
        await wait_for_answer(w)
    assert [text for _, text, _ in messages(w, there)] == [
        "What is two?",
        "It is 2.",
        "And three?",
        "Three.",
    ]


async def test_an_answer_goes_on_while_the_reader_looks_elsewhere_and_is_unread_then(world):
    gate = asyncio.Event()
    w = world(["Begun. ", gate, "Done."])
    there = await w.session("Elsewhere", "Yes.")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        await send(pilot, "Go")
        await until(lambda: "Begun." in conversation(app))
        await go_to(app, pilot, there)
        await until(lambda: "Elsewhere" in conversation(app))
        assert "Begun." not in conversation(app)
        assert mark(app, first) == "running"
        gate.set()
        await until(lambda: mark(app, first) == "unread", "the mark")
        assert messages(w, first)[-1] == ("assistant", "Begun. Done.", None)
        await until(lambda: w.other_program().holder(first) is None, "its end")
        await go_to(app, pilot, first)
        await until(lambda: "Begun. Done." in conversation(app))
        await until(lambda: mark(app, first) == "")


async def test_a_running_answer_is_whole_on_screen_for_who_comes_back_to_it(world):
    gate = asyncio.Event()
    w = world(["Begun. ", gate, "Done."])
    there = await w.session("Elsewhere", "Yes.")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        await send(pilot, "Go")
        await until(lambda: "Begun." in conversation(app))
        await go_to(app, pilot, there)
        await until(lambda: "Elsewhere" in conversation(app))
        await go_to(app, pilot, first)
        await until(lambda: "Begun." in conversation(app))
        gate.set()
        await until(lambda: "Begun. Done." in conversation(app))
        await wait_for_answer(w)


async def test_a_session_that_cannot_be_saved_is_not_left(world, monkeypatch):
    w = world(["Hi."])
    there = await w.session("Elsewhere", "Yes.")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        append = w.store.append

        def full(lease, records, *lines):
            raise StorageFull("No space left on device")

        monkeypatch.setattr(w.store, "append", full)
        await send(pilot, "hello")
        await until(lambda: "NOT SAVED: disk full" in status(app))
        await go_to(app, pilot, there)
        await until(lambda: '": could not save (disk full)' in notices(app))
        await until(lambda: first in status(app))
        assert app.chat.sidebar.highlighted == first
        monkeypatch.setattr(w.store, "append", append)
        await go_to(app, pilot, there)
        await until(lambda: "Elsewhere" in conversation(app))
    assert messages(w, first) == [("user", "hello", None)]


async def test_a_session_is_saved_before_another_one_that_cannot_be_read_is_loaded(
    world, monkeypatch
):
    w = world(["Hi."])
    there = await w.session("Elsewhere", "Yes.")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        append = w.store.append

        def full(lease, records, *lines):
            raise StorageFull("No space left on device")

        monkeypatch.setattr(w.store, "append", full)
        await send(pilot, "hello")
        await until(lambda: "NOT SAVED: disk full" in status(app))
        monkeypatch.setattr(w.store, "append", append)

        def unreadable(*_):
            raise StorageError(f"Cannot read session {there}")

        monkeypatch.setattr(Journal, "tail", unreadable)
        await go_to(app, pilot, there)
        await until(lambda: 'Cannot read "Elsewhere"' in notices(app))
        await until(lambda: first in status(app))
        assert app.chat.sidebar.highlighted == first
        assert messages(w, first) == [("user", "hello", None)]
        await until(lambda: "NOT SAVED" not in status(app))


async def test_alt_down_walks_through_the_sessions_without_leaving_the_prompt(world):
    w = world()
    made = [await w.session(f"Number {number}", "Yes.") for number in range(5)]
    async with w.running() as (app, pilot):
        await until(lambda: made[0] in rows(app))
        await pilot.press("alt+down")
        await until(lambda: "Number 4" in conversation(app))
        await pilot.press("alt+down", "alt+down", "alt+down")
        await until(lambda: "Number 1" in conversation(app))
        await pilot.press("alt+up")
        await until(lambda: "Number 2" in conversation(app))
        assert app.chat.prompt.has_focus_within


async def test_each_session_has_its_own_draft(world):
    w = world()
    there = await w.session("Elsewhere", "Yes.", name="there")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app))
        await pilot.press(*"one")
        await go_to(app, pilot, there)
        await until(lambda: there in status(app))
        assert app.chat.prompt.text == ""
        await pilot.press(*"two")
        await until(lambda: w.workspace.current.opened is not None)
        await go_to(app, pilot, first)
        await until(lambda: first in status(app))
        assert app.chat.prompt.text == "one"
        await go_to(app, pilot, there)
        await until(lambda: there in status(app))
        assert app.chat.prompt.text == "two"
    assert w.drafts().load(there).text == "two"
    assert w.drafts().load(first).text == "one"


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
        await send(pilot, "hello")
        await until(lambda: "is read-only here" in notices(app))
        assert app.chat.prompt.text == "hello"
    lease.release()
    assert [text for _, text, _ in messages(w, there)] == ["Elsewhere", "Yes."]
    assert w.drafts().aside(there)[0][1].text == "hello"
