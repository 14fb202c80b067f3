"""What is done while a slow disk saves what an answer has led to."""

import asyncio

import pytest

from tests.ui.screen import conversation, go_to, mark, notices, send, wait_for_answer
from tests.ui.world import messages
from tests.waiting import until
from tui.app.controllers.side_requests import Summaries


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


async def test_what_waits_is_not_sent_where_the_answer_before_it_was_stopped(world, monkeypatch):
    w = world(["one"], ["two", asyncio.Event()])
    async with w.running() as (app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first")
        await until(end.asked.is_set, "the end of the first answer")
        await send(pilot, "second")
        await until(lambda: "two" in conversation(app))
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


async def test_what_waits_is_not_sent_in_a_session_closed_meanwhile(world, monkeypatch):
    hold = asyncio.Event()
    w = world(["one", hold])
    async with w.running() as (app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first")
        await until(lambda: "one" in conversation(app))
        await send(pilot, "second")
        closed = w.workspace.current
        await until(lambda: closed.prompt.queued == ["second"])
        hold.set()
        await until(end.asked.is_set, "the end of the answer")
        await send(pilot, "/session close")
        await until(lambda: 'Closed "' in notices(app))
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
        await go_to(app, pilot, other)
        await until(lambda: "there" in conversation(app))
        end.gate.set()
        await until(end.is_over, "the end")
        await until(lambda: mark(app, read) is not None)
        assert mark(app, read) != "unread"


async def test_two_ends_at_once_lead_to_what_waits_in_each(world, monkeypatch):
    hold = asyncio.Event()
    w = world(["one", hold], ["eins", hold], ["two"], ["zwei"])
    async with w.running() as (app, pilot):
        end = SlowEnd(app, monkeypatch)
        ids = []
        for first, answer, waiting in (("first", "one", "next"), ("erstens", "eins", "dann")):
            await send(pilot, first)
            await until(lambda answer=answer: answer in conversation(app))
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


async def test_what_waits_goes_back_by_escape_while_the_end_before_it_is_saved(world, monkeypatch):
    hold = asyncio.Event()
    w = world(["one", hold], ["two"])
    async with w.running() as (app, pilot):
        end = SlowEnd(app, monkeypatch)
        await send(pilot, "first")
        await until(lambda: "one" in conversation(app))
        await send(pilot, "second")
        await until(lambda: w.workspace.current.prompt.queued == ["second"])
        hold.set()
        await until(end.asked.is_set, "the end of the answer")
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.text == "second", "what waited")
        assert w.workspace.current.prompt.queued == []
        await pilot.press("!", "enter")
        end.gate.set()
        await until(lambda: "two" in conversation(app))
        await wait_for_answer(w)
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
        await send(pilot, "first")
        await until(lambda: "one" in conversation(app))
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
        await until(lambda: "two" in conversation(app), "the next answer")
        await wait_for_answer(w)
    said = [text for _, text, _ in messages(w, w.workspace.current.id)]
    assert said == ["first", "one", "second", "two"]
