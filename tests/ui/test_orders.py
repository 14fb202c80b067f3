"""What is typed while a slow disk carries out what was typed before."""

import asyncio
import threading

import pytest

from tests.ui.screen import (
    activity,
    answered,
    conversation,
    notices,
    send,
    status,
    type_at_once,
    wait_for_answer,
)
from tests.ui.world import kept, messages
from tests.waiting import SECONDS, until
from tui.domain.journal.records import State


class SlowDisk:
    """Writes of what is decided in a session, a name say, that do not end before they are let."""

    def __init__(self, w, monkeypatch):
        self.asked, self._gate = threading.Event(), threading.Event()
        append = w.store.append

        def slow(lease, records, *lines):
            if any(isinstance(record, State) and record.name for record in records):
                self.asked.set()
                assert self._gate.wait(SECONDS)
            return append(lease, records)

        monkeypatch.setattr(w.store, "append", slow)

    def let_go(self):
        self._gate.set()


def name_of(w, session_id):
    return w.other_program().entry(session_id).name


@pytest.fixture
def slow(monkeypatch):
    """Gives a world a slow disk, which lets go at the latest when the test fails."""
    disks = []

    def make(w):
        disks.append(SlowDisk(w, monkeypatch))
        return disks[-1]

    yield make
    for disk in disks:
        disk.let_go()


async def test_a_prompt_behind_a_command_waits_for_it_and_is_kept(running, slow):
    async with running(["Yes."], ["Again."]) as (w, app, _):
        disk = slow(w)
        session_id = w.workspace.current.id
        type_at_once(app, "/name x<enter>first<enter>second<enter>third")
        await until(lambda: w.workspace.current.prompt.queued == ["first", "second"])
        await until(lambda: app.chat.prompt.text == "third")
        await until(lambda: "2 queued" in status(app) and "second" in conversation(app))
        await until(lambda: kept(w, session_id) == ("third", ("first", "second")))
        assert w.model.requests == []
        disk.let_go()
        await answered(w, app, "Again.")
        said = [text for _, text, _ in messages(w, session_id)]
        assert said == ["first", "Yes.", "second", "Again."]
        assert app.chat.prompt.text == "third"
        assert "queued" not in conversation(app)


async def test_escape_takes_back_what_waits_for_a_command(running, slow):
    async with running(["Yes."]) as (w, app, pilot):
        disk = slow(w)
        type_at_once(app, "/name x<enter>first<enter>")
        await until(lambda: w.workspace.current.prompt.queued == ["first"])
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.text == "first", "what waited")
        disk.let_go()
        await until(lambda: not app.input_queue.pending)
        assert w.model.requests == []
        assert "Nothing to stop" not in notices(app)


async def test_a_prompt_behind_a_command_and_a_stop_is_sent_after_both(running, slow):
    async with running(["half", asyncio.Event()], ["Yes."]) as (w, app, pilot):
        await send(pilot, "hello", shows="half")
        disk = slow(w)
        type_at_once(app, "/name x<enter>")
        await until(disk.asked.is_set, "the save")
        type_at_once(app, "<escape>next<enter>")
        await until(lambda: w.workspace.current.prompt.queued == ["next"])
        disk.let_go()
        await answered(w, app, "Yes.")
        said = [(text, state) for _, text, state in messages(w, w.workspace.current.id)]
        assert said == [("hello", None), ("half", "interrupted"), ("next", None), ("Yes.", None)]


async def test_what_is_typed_behind_a_command_and_another_that_leads_elsewhere_goes_there(
    running, slow
):
    async with running(["Yes."]) as (w, app, _):
        disk = slow(w)
        named = w.workspace.current.id
        type_at_once(app, "/name x<enter>/new<enter>typed<enter>")
        await until(disk.asked.is_set, "the save")
        disk.let_go()
        await answered(w, app, "Yes.")
        assert w.workspace.current.id != named
        assert messages(w, w.workspace.current.id)[0][1] == "typed"
        assert messages(w, named) == []


async def test_a_choice_in_the_list_waits_for_the_command_before_it(running, slow):
    async with running(beside=("Elsewhere", "Yes.")) as (w, app, pilot):
        disk = slow(w)
        named = w.workspace.current.id
        type_at_once(app, "/name x<enter>")
        await until(disk.asked.is_set, "the save")
        await pilot.press("alt+down")
        disk.let_go()
        await until(lambda: "Elsewhere" in conversation(app))
        assert name_of(w, named) == "x"
        assert w.workspace.current.id == w.beside


@pytest.mark.parametrize("key", ["ctrl+q", ""])
async def test_what_waits_for_a_command_is_done_before_the_end(running, slow, key):
    async with running(["Yes."]) as (w, app, _):
        disk = slow(w)
        session_id = w.workspace.current.id
        type_at_once(app, "/name one<enter>/name two<enter>first<enter>then")
        await until(lambda: w.workspace.current.prompt.queued == ["first"])
        if key:
            type_at_once(app, f"<{key}><{key}>")
        else:
            app.exit(return_code=143)
        disk.let_go()
        await until(lambda: app._exit, "the end")
    assert name_of(w, session_id) == "two"
    draft = w.drafts().load(session_id)
    said = [text for role, text, _ in messages(w, session_id) if role == "user"]
    assert said == ["first"] or draft.queued == ("first",)
    assert draft.text == "then"


async def test_a_command_for_a_session_that_is_left_meanwhile_is_not_done_elsewhere(running):
    async with running(beside=("Elsewhere", "Yes.")) as (w, app, _):
        left = w.workspace.current.id
        done = asyncio.Event()

        async def lead():
            await done.wait()
            await w.workspace.switcher.look_at(w.beside)
            app.controllers.presenter.show_session()

        app.input_queue.add(lead)
        type_at_once(app, "/name x<enter>")
        await until(lambda: app.chat.prompt.text == "" and app.input_queue.pending > 1)
        done.set()
        await until(
            lambda: "Not done, because another session is on screen now: /name x" in notices(app)
        )
        assert w.workspace.current.session.name == ""
        assert (
            w.workspace.switcher.find(left) is None
            or w.workspace.switcher.find(left).session.name == ""
        )


async def test_a_defect_in_a_command_is_told_and_the_next_is_carried_out(world, monkeypatch):
    w = world()
    w.defect = ZeroDivisionError
    async with w.running() as (_, pilot):

        async def fail(*_):
            raise ZeroDivisionError("a defect")

        with monkeypatch.context() as broken:
            broken.setattr(w.workspace, "change", fail)
            await send(pilot, "/name x", says="Unexpected error: ZeroDivisionError: a defect")
        await send(pilot, "/name y", says='Renamed to "y"')


async def test_what_was_opened_is_shown_before_a_slow_disk_has_noted_it(running, monkeypatch):
    async with running(beside=("Elsewhere", "Yes.")) as (w, app, pilot):
        set_active, gate = w.store.set_active, threading.Event()

        def slow(*arguments):
            assert gate.wait(SECONDS)
            set_active(*arguments)

        monkeypatch.setattr(w.store, "set_active", slow)
        await send(pilot, f"/load {w.beside}")
        await until(lambda: w.workspace.current.id == w.beside)
        await until(lambda: w.beside in status(app) and "Elsewhere" in conversation(app))
        gate.set()
    assert w.other_program().active("project:/shop") == w.beside


async def test_what_waited_for_too_long_is_told_at_the_end(world, monkeypatch):
    w = world()
    monkeypatch.setattr("tui.app.input_queue.SECONDS_AT_MOST", 0.01)
    async with w.running() as (app, _):
        app.input_queue.add(asyncio.Event().wait)
        type_at_once(app, "/name x<enter>")
        await until(lambda: app.input_queue.pending > 1)
        app.exit()
        await until(lambda: app._exit, "the end")
    assert "Not done: /name x" in w.final_save.lines


async def test_escape_stops_an_answer_whose_prompt_is_still_being_saved(running, monkeypatch):
    async with running(["Yes."]) as (w, app, pilot):
        append, asked, gate = w.store.append, threading.Event(), threading.Event()

        def slow(*arguments):
            asked.set()
            assert gate.wait(SECONDS)
            return append(*arguments)

        monkeypatch.setattr(w.store, "append", slow)
        await send(pilot, "hello")
        await until(asked.is_set, "the save")
        await until(lambda: "waiting" in activity(app))
        await pilot.press("escape")
        gate.set()
        await until(lambda: not app.input_queue.pending)
        await wait_for_answer(w)
        assert w.model.requests == []
        assert [text for _, text, _ in messages(w, w.workspace.current.id)] == ["hello"]
