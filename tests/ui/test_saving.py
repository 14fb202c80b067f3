"""When things are written, and what is said about it."""

import asyncio
import json
import threading
from contextlib import ExitStack

import pytest

from tests.ui.screen import (
    conversation,
    have_answered,
    press,
    rows,
    send,
    status,
    type_at_once,
    wait_for_answer,
)
from tests.ui.world import full_disk, messages
from tests.waiting import SECONDS, until
from tui.app.controllers.prompt import PromptController
from tui.domain.journal.session import Draft
from tui.storage.drafts import Drafts


async def test_the_tick_writes_what_could_not_be_written_before(running):
    async with running(["Hi."], interval=0.02) as (w, app, pilot):
        with full_disk(w):
            await send(pilot, "hello")
            await until(lambda: "NOT SAVED: disk full" in status(app))
        await until(lambda: "saved" in status(app).replace("NOT SAVED", ""), "the tick")
        assert messages(w, w.workspace.current.id) == [("user", "hello", None)]


async def test_a_save_that_takes_long_while_an_answer_arrives_is_shown(running, monkeypatch):
    monkeypatch.setattr("tui.app.controllers.turns._SLOW_SAVE", 0)
    more, last, go_on = asyncio.Event(), asyncio.Event(), threading.Event()
    async with running(["The beginning", more, " goes on", last, " and ends."]) as (w, app, pilot):
        await send(pilot, "hello", shows="The beginning")
        await until(lambda: not w.workspace.current.unsaved, "its first save")
        append = w.store.append

        def wait(*arguments):
            assert go_on.wait(SECONDS)
            return append(*arguments)

        monkeypatch.setattr(w.store, "append", wait)
        more.set()
        await until(lambda: "saving" in status(app), "the save that takes long")
        go_on.set()
        await until(lambda: "saving" not in status(app), "its end")
        last.set()
        await wait_for_answer(w)


UNFORESEEN = RecursionError("too deep")


@pytest.mark.parametrize("error", [None, UNFORESEEN])
async def test_what_cannot_be_saved_at_the_end_goes_to_a_rescue_file(running, error):
    with ExitStack() as disk:
        async with running(["Hi."]) as (w, app, pilot):
            disk.enter_context(full_disk(w, error))
            await send(pilot, "hello")
            await until(lambda: "NOT SAVED" in status(app))
    assert w.final_save.failed
    said = "\n".join(w.final_save.lines)
    (rescue,) = (w.root.parent / "rescue").glob("rescue-*")
    assert f"What could not be saved is in {rescue}." in said
    assert f"sessions import {rescue}" in said
    records = [json.loads(line) for line in rescue.read_text().splitlines()]
    assert [r["content"] for r in records if r["type"] == "message"] == ["hello"]
    assert rescue.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("error", "shown", "said"),
    [
        (None, "disk full", "Not sent: "),
        (UNFORESEEN, "RecursionError: too deep", "Not sent: Unexpected error: RecursionError: too"),
    ],
)
async def test_a_prompt_that_cannot_be_saved_is_told_shown_saved_by_a_key_and_sent_then(
    running, error, shown, said
):
    async with running(["Hi."]) as (w, app, pilot):
        with full_disk(w, error):
            await send(pilot, "hello", says=said)
            await until(lambda: f"NOT SAVED: {shown}" in status(app))
            assert "hello" in conversation(app)
            assert not w.model.requests
        await press(pilot, "ctrl+s", says='Saved "')
        assert messages(w, w.workspace.current.id) == [("user", "hello", None)]
        await until(lambda: "NOT SAVED" not in status(app))
        await have_answered(w, pilot, "/retry", "Hi.")
        assert [text for _, text, _ in messages(w, w.workspace.current.id)] == ["hello", "Hi."]


async def test_a_draft_is_kept_a_moment_after_the_last_key_and_taken_up_by_the_next_start(running):
    async with running() as (w, app, pilot):
        session_id = w.workspace.current.id
        await pilot.press(*"not")
        await until(lambda: w.drafts().load(session_id), "the draft")
        assert w.drafts().load(session_id).text == "not"
        await pilot.press(*"yet")
    async with w.running() as (app, _):
        assert w.workspace.current.id == session_id
        assert app.chat.prompt.text == "notyet"


async def test_a_look_around_leaves_nothing_behind(running):
    async with running() as (w, _, pilot):
        await pilot.press("a", "backspace")
    assert not list(w.root.glob("sessions/*"))
    assert not list(w.root.glob("drafts/*"))
    assert w.final_save.lines == []


async def test_what_is_typed_while_an_answer_ends_stays(running, monkeypatch):
    async with running(["Hi."]) as (w, app, pilot):
        append, gate = w.store.append, threading.Event()

        def slow(lease, records, *lines):
            if any(getattr(record, "role", "") == "assistant" for record in records):
                gate.wait(20)
            return append(lease, records)

        monkeypatch.setattr(w.store, "append", slow)
        await send(pilot, "hello", shows="Hi.")
        await pilot.press(*"typed")
        gate.set()
        await pilot.press(*"more")
        await wait_for_answer(w)
        await until(lambda: not app.chat.answering)
        assert app.chat.prompt.text == "typedmore"
        assert w.workspace.current.prompt.text == "typedmore"


async def test_a_draft_is_kept_though_a_key_came_when_its_time_was_over(world):
    async with world().running() as (app, _):
        app.chat.settle_draft()
        app.chat._draft_deadline = 0.0
        app.chat.settle_draft()
        await until(lambda: app.chat._draft_timer is None, "the draft to be settled")


class SlowDisk:
    """Writes that do not end before they are let; ``ended`` says which did."""

    def __init__(self):
        self.asked, self._gate = threading.Event(), threading.Event()
        self.ended = []

    def write(self, write, *arguments, **options):
        self.asked.set()
        self._gate.wait(SECONDS)
        self.ended.append(arguments)
        return write(*arguments, **options)

    def let_go(self):
        self._gate.set()


async def test_typing_goes_on_while_a_slow_disk_keeps_what_was_typed_before(world, monkeypatch):
    w, disk = world(), SlowDisk()
    save = Drafts.save
    monkeypatch.setattr(Drafts, "save", lambda *a, **k: disk.write(save, *a, **k))
    async with w.running() as (app, _):
        type_at_once(app, "first")
        await until(disk.asked.is_set, "the draft's turn")
        type_at_once(app, " second")
        await until(lambda: app.chat.prompt.text == "first second")
        assert disk.ended == []
        disk.let_go()
    assert w.drafts().load(w.workspace.current.id).text == "first second"


async def test_typing_goes_on_while_a_slow_disk_saves_after_an_answer(running, monkeypatch):
    async with running(["Hi."]) as (w, app, pilot):
        try_save, asked, gate = w.workspace.pool.try_save, asyncio.Event(), asyncio.Event()

        async def slow(conversation):
            asked.set()
            await gate.wait()
            await try_save(conversation)

        monkeypatch.setattr(type(w.workspace.pool), "try_save", staticmethod(slow))
        await send(pilot, "hello")
        await until(asked.is_set, "the save at the end")
        type_at_once(app, "next")
        await until(lambda: app.chat.prompt.text == "next")
        gate.set()
        await wait_for_answer(w)


async def test_what_goes_on_from_a_draft_takes_its_place_though_the_end_comes_at_once(
    world, monkeypatch
):
    w = world()
    there = await w.session("Elsewhere", "Yes.")
    w.drafts().save(Draft(there, "project:/shop", "/shop", "ab"))
    async with w.running() as (app, pilot):
        await until(lambda: there in rows(app))
        await pilot.press("alt+down")
        await until(lambda: app.chat.prompt.text == "ab")

        async def never(_):
            await asyncio.Event().wait()

        # What the first key begins is not done when the end comes.
        monkeypatch.setattr(PromptController, "open_for_change", staticmethod(never))
        await pilot.press("home", "x")
        await until(lambda: w.workspace.current.prompt.text == "xab")
    assert w.drafts().load(there).text == "xab"
    async with w.running(there) as (app, _):
        assert app.chat.prompt.text == "xab"
