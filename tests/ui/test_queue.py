"""Prompts that wait for an answer, and what follows its end."""

import asyncio

import pytest
from textual import events
from textual.widgets import TextArea

from tests.ui.screen import (
    answered,
    conversation,
    go_to,
    mark,
    notices,
    press,
    send,
    status,
    wait_for_answer,
)
from tests.ui.world import kept, messages
from tests.waiting import until
from tui.app.controllers.side_requests import Summaries
from tui.widgets.prompt import Prompt


async def kept_busy(app):
    """As while something slow is done: what comes waits in its order until what is given is set."""
    at_work, done = asyncio.Event(), asyncio.Event()

    async def work():
        at_work.set()
        await done.wait()

    app.call_later(work)
    await at_work.wait()
    return done


async def test_a_prompt_taken_back_is_not_sent_and_kept_as_a_draft(running):
    gate = asyncio.Event()
    async with running(["one", gate], ["two"]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        await send(pilot, "third")
        await until(lambda: kept(w) == ("", ("second", "third")))
        await pilot.press("up", "!")
        assert app.chat.prompt.text == "third!"
        await until(lambda: "1 queued" in status(app))
        assert "third" not in conversation(app)
        await until(lambda: kept(w) == ("third!", ("second",)))
        gate.set()
        await answered(w, app, "two")
        session_id = w.workspace.current.id
        asked = [text for role, text, _ in messages(w, session_id) if role == "user"]
        assert asked == ["first", "second"]
        assert app.chat.prompt.text == "third!"
        await until(lambda: kept(w) == ("third!", ()), "the draft without what was sent")


async def test_what_is_being_sent_already_is_told_and_not_sent_twice(running):
    async with running(["one", asyncio.Event()]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        w.workspace.current.prompt.next_queued()
        await press(pilot, "up", says="This prompt was already sent")
        assert app.chat.prompt.text == ""


async def test_prompts_sent_as_an_answer_ends_are_answered_one_after_the_other(running):
    gate = asyncio.Event()
    async with running(["one", gate], ["two"], ["three"], ["four"]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        await until(lambda: w.workspace.current.prompt.queued == ["second"])
        done = await kept_busy(app)
        app.post_message(Prompt.Submitted("third"))
        app.post_message(Prompt.Submitted("fourth"))
        gate.set()
        await until(lambda: not w.workspace.current.activity.running)
        done.set()
        said = "first", "one", "second", "two", "third", "three", "fourth", "four"
        # Between an answer's end and the next prompt nothing is at work either.
        await until(lambda: len(messages(w, w.workspace.current.id)) == len(said))
        await wait_for_answer(w)
        assert tuple(text for _, text, _ in messages(w, w.workspace.current.id)) == said


async def test_an_answer_begun_before_the_end_of_another_was_told_is_made_alone(running):
    gate, late = asyncio.Event(), asyncio.Event()
    async with running(["one", gate], ["two", late], ["three"]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        done = await kept_busy(app)
        app.post_message(Prompt.Submitted("second"))
        app.post_message(Prompt.Submitted("third"))
        gate.set()
        await until(lambda: not w.workspace.current.activity.running)
        done.set()
        await until(lambda: "two" in conversation(app))
        assert w.workspace.current.prompt.queued == ["third"]
        late.set()
        await answered(w, app, "three")
        assert [(text, status) for _, text, status in messages(w, w.workspace.current.id)] == [
            (text, None) for text in ("first", "one", "second", "two", "third", "three")
        ]


async def test_a_paste_that_was_folded_is_folded_again_after_a_restart(running):
    pasted = "".join(f"line {number}\n" for number in range(120))
    async with running(["Read."]) as (w, app, pilot):
        await pilot.press(*"See", "colon")
        app.chat.query_one(TextArea).post_message(events.Paste(pasted))
        await until(lambda: app.chat.prompt.text == f"See:{pasted}", "the paste")
        await pilot.press("o", "k")
    async with w.running(None) as (app, pilot):
        await until(lambda: app.chat.prompt.text == f"See:{pasted}ok", "the draft")
        rows = list(app.chat.query_one(TextArea).document.lines)
        assert rows == ["See:", "[pasted 120 lines]", "ok"]
        await pilot.press("enter")
        await wait_for_answer(w)
        assert messages(w, w.workspace.current.id)[0][1] == f"See:{pasted}ok"


async def test_any_that_waits_can_be_taken_back_and_nothing_is_kept_of_what_is_dropped(running):
    gate = asyncio.Event()
    answers = ["one", gate], ["two"], ["three"], ["four", asyncio.Event()]
    async with running(*answers) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        for text in ("second", "third", "fourth"):
            await send(pilot, text)
        await until(lambda: kept(w) == ("", ("second", "third", "fourth")))
        await pilot.press("up", "up")
        assert app.chat.prompt.text == "third"
        await until(lambda: w.workspace.current.prompt.queued == ["second", "fourth"])
        await pilot.press("ctrl+a", "delete")
        gate.set()
        await answered(w, app, "three")
        asked = [text for role, text, _ in messages(w, w.workspace.current.id) if role == "user"]
        assert asked == ["first", "second", "fourth"]
        await send(pilot, "fifth", shows="four")
        for text in ("sixth", "seventh"):
            await send(pilot, text)
        await until(lambda: kept(w) == ("", ("sixth", "seventh")))
        await pilot.press("delete", "delete")
        await until(lambda: kept(w) is None)
        assert w.workspace.current.prompt.queued == []
        await until(lambda: "queued" not in status(app))


async def test_one_that_goes_back_when_the_last_answer_has_ended_is_sent(running):
    async with running(["one", asyncio.Event()], ["two"]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        await send(pilot, "third")
        await pilot.press("up")
        await until(lambda: w.workspace.current.prompt.queued == ["second"])
        w.workspace.current.prompt.next_queued()
        w.workspace.current.activity.end_answer()
        await pilot.press("up")
        await until(lambda: "two" in conversation(app) and "third" in conversation(app))
        assert "This prompt was already sent" in notices(app)


async def test_after_a_failure_what_waited_stays_apart_and_goes_on_when_the_user_says_so(running):
    fail = asyncio.Event()
    async with running(
        ["one", fail, ZeroDivisionError("a defect")], ["two"], ["three"], ["last"]
    ) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        for text in ("second", "third", "fourth"):
            await send(pilot, text)
        await until(lambda: len(w.workspace.current.prompt.queued) == 3)
        fail.set()
        await wait_for_answer(w)
        await until(lambda: app.chat.prompt.text == "second")
        assert w.workspace.current.prompt.queue.held == ("third", "fourth")
        await until(lambda: kept(w) == ("second", ("third", "fourth")))
        await pilot.press("enter")
        await answered(w, app, "two")
        assert w.workspace.current.prompt.queue.held == ("third", "fourth")
        await pilot.press("enter")
        await answered(w, app, "last")
        session_id = w.workspace.current.id
        asked = [text for role, text, _ in messages(w, session_id) if role == "user"]
        assert asked == ["first", "second", "third", "fourth"]
        await until(lambda: kept(w) is None)


async def test_escape_takes_nothing_of_what_waits_into_a_text_and_sends_what_is_sent_since(running):
    async with running(["one", asyncio.Event()], ["two"]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        await until(lambda: w.workspace.current.prompt.queued == ["second"])
        await pilot.press(*"new", "escape", "enter")
        await answered(w, app, "two")
        session_id = w.workspace.current.id
        asked = [text for role, text, _ in messages(w, session_id) if role == "user"]
        assert asked == ["first", "new"]
        assert w.workspace.current.prompt.queue.held == ("second",)
        assert app.chat.prompt.text == ""


async def test_a_prompt_sent_before_its_session_is_open_is_in_the_draft_until_it_is_sent(running):
    async with running(["two"], talk=("Hello", "Yes.")) as (w, app, pilot):
        done = asyncio.Event()
        app.input_queue.add(done.wait)
        await send(pilot, "second")
        await until(lambda: kept(w) == ("", ("second",)))
        assert app.chat.prompt.text == ""
        done.set()
        await until(lambda: "two" in conversation(app))
        await until(lambda: kept(w) is None)


async def test_prompts_sent_while_their_session_is_opened_are_in_the_draft_and_then_sent(
    world, monkeypatch
):
    w = world(["two"], ["three"])
    there = await w.session("Hello", "Yes.")
    other = await w.session("Hello", "Yes.")
    async with w.running(other) as (app, pilot):
        await go_to(app, pilot, there)
        await until(lambda: w.workspace.current.id == there)
        take, waiting, gate = w.workspace.take, asyncio.Event(), asyncio.Event()

        async def held_up(loaded):
            waiting.set()
            await gate.wait()
            await take(loaded)

        monkeypatch.setattr(w.workspace, "take", held_up)
        app.post_message(Prompt.Submitted("second"))
        await waiting.wait()
        await w.workspace.keep_drafts()
        assert "second" in w.workspace.current.draft().queued
        app.post_message(Prompt.Submitted("third"))
        await until(lambda: "third" in w.workspace.current.prompt.queued)
        gate.set()
        await answered(w, app, "three")
        asked = [text for role, text, _ in messages(w, there) if role == "user"]
        assert asked == ["Hello", "second", "third"]
        await until(lambda: kept(w) is None)


class SlowEnd:
    """Turns that do not end before they are let."""

    def __init__(self, app, monkeypatch):
        self._app = app
        self.asked, self.gate = asyncio.Event(), asyncio.Event()
        self._consider = app.controllers.summaries.consider
        monkeypatch.setattr(Summaries, "consider", staticmethod(self._slow))

    def is_over(self):
        """Whether nothing follows an answer any more."""
        return all(each.name != "continue after the answer" for each in self._app.workers)

    async def _slow(self, conversation):
        self.asked.set()
        await self.gate.wait()
        await self._consider(conversation)


async def test_what_waits_is_not_sent_where_the_answer_before_it_was_stopped(running, monkeypatch):
    async with running(["one"], ["two", asyncio.Event()]) as (w, app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first")
        await until(end.asked.is_set, "the end of the first answer")
        await send(pilot, "second", shows="two")
        await send(pilot, "third")
        await until(lambda: w.workspace.current.prompt.queued == ["third"])
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.text == "third", "what waited")
        await wait_for_answer(w)
        end.gate.set()
        await until(end.is_over, "the end")
        assert w.workspace.current.prompt.queued == []
        await wait_for_answer(w)
        said = [(text, status) for _, text, status in messages(w, w.workspace.current.id)]
        assert said == [("first", None), ("one", None), ("second", None), ("two", "interrupted")]
    assert len(w.model.requests) == 2


async def test_what_waits_is_not_sent_in_a_session_closed_meanwhile(running, monkeypatch):
    hold = asyncio.Event()
    async with running(["one", hold]) as (w, app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        closed = w.workspace.current
        await until(lambda: closed.prompt.queued == ["second"])
        hold.set()
        await until(end.asked.is_set, "the end of the answer")
        await send(pilot, "/session close", says='Closed "')
        end.gate.set()
        await until(end.is_over, "the end")
        assert not closed.notices
        assert w.drafts().load(closed.id).queued == ("second",)
        await go_to(app, pilot, closed.id)
        await until(lambda: app.chat.prompt.text == "second", "what waited")


async def test_an_answer_read_to_its_end_is_not_unread_for_having_been_left(world, monkeypatch):
    w = world(["one"])
    other = await w.session("elsewhere", "there")
    async with w.running() as (app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first")
        read = w.workspace.current.id
        await until(end.asked.is_set, "the end of the answer")
        await go_to(app, pilot, other, "there")
        end.gate.set()
        await until(end.is_over, "the end")
        await until(lambda: mark(app, read) is not None)
        assert mark(app, read) != "unread"


async def test_two_ends_at_once_lead_to_what_waits_in_each(running, monkeypatch):
    hold = asyncio.Event()
    async with running(["one", hold], ["eins", hold], ["two"], ["zwei"]) as (w, app, pilot):
        end = SlowEnd(app, monkeypatch)
        ids = []
        for first, answer, waiting in (("first", "one", "next"), ("erstens", "eins", "dann")):
            await send(pilot, first, shows=answer)
            await send(pilot, waiting)
            await until(lambda waiting=waiting: w.workspace.current.prompt.queued == [waiting])
            ids.append(w.workspace.current.id)
            await pilot.press("ctrl+n")
            await until(lambda: w.workspace.current.id not in ids, "a new session")
        hold.set()
        await until(end.asked.is_set, "an end")
        end.gate.set()
        await until(lambda: len(w.model.requests) == 4, "what waited")
        await until(
            lambda: not any(w.workspace.switcher.find(each) for each in ids), "both to be closed"
        )
        for session_id, prompts in zip(ids, (["first", "next"], ["erstens", "dann"]), strict=True):
            said = messages(w, session_id)
            assert [text for role, text, _ in said if role == "user"] == prompts
            assert len(said) == 4
            await until(lambda session_id=session_id: mark(app, session_id) == "unread")


async def test_what_waits_goes_back_by_escape_while_the_end_before_it_is_saved(
    running, monkeypatch
):
    hold = asyncio.Event()
    async with running(["one", hold], ["two"]) as (w, app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        await until(lambda: w.workspace.current.prompt.queued == ["second"])
        hold.set()
        await until(end.asked.is_set, "the end of the answer")
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.text == "second", "what waited")
        assert w.workspace.current.prompt.queued == []
        await pilot.press("!", "enter")
        end.gate.set()
        await answered(w, app, "two")
        said = [text for role, text, _ in messages(w, w.workspace.current.id) if role == "user"]
        assert said == ["first", "second!"]
        assert "Nothing to stop" not in notices(app)


@pytest.mark.parametrize(
    "where", ["summaries.consider", pytest.param("session_list.refresh", marks=pytest.mark.full)]
)
async def test_a_defect_after_an_answer_is_told_and_loses_nothing(world, monkeypatch, where):
    hold = asyncio.Event()
    w = world(["one", hold], ["two"])
    w.defect = ZeroDivisionError
    async with w.running() as (app, pilot):
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        await until(lambda: w.workspace.current.prompt.queued == ["second"])

        async def fail(*_):
            raise ZeroDivisionError("a defect")

        with monkeypatch.context() as broken:
            part, name = where.split(".")
            broken.setattr(type(getattr(app.controllers, part)), name, fail)
            hold.set()
            await until(lambda: "Unexpected error: ZeroDivisionError" in notices(app))
        if where == "summaries.consider":
            await until(lambda: app.chat.prompt.text == "second", "what waited")
            await pilot.press("enter")
        await answered(w, app, "two")
    said = [text for _, text, _ in messages(w, w.workspace.current.id)]
    assert said == ["first", "one", "second", "two"]
