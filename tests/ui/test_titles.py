"""Titles by the model, on screen."""

import asyncio

from tests.ui.screen import notices, send, wait_for_answer
from tests.waiting import until
from tui.errors import ModelUnavailable


def name_of(w, session_id):
    return w.other_program().journal(session_id).load().name


async def answered(w, pilot):
    """A session with one question and its answer."""
    await send(pilot, "What is two?")
    await until(lambda: w.model.requests, "the request")
    await wait_for_answer(w)


async def test_name_alone_offers_a_title_of_the_model_to_be_edited(world):
    may_answer = asyncio.Event()
    w = world(["It is 2."], [may_answer, '"A number"'])
    async with w.running() as (app, pilot):
        await answered(w, pilot)
        await send(pilot, "/name")
        line = app.chat.sidebar.rename_line
        await until(lambda: line.placeholder == "Asking scripted:model for a title…", "the words")
        await pilot.press("enter")
        may_answer.set()
        await until(lambda: line.value == "A number", "the title")
        assert w.workspace.current.session.name == ""
        await pilot.press(*" two", "enter")
        await until(lambda: name_of(w, w.workspace.current.id) == "A number two", "the name")


async def test_escape_ends_the_request_and_leaves_the_title(world):
    w = world(["It is 2."], [asyncio.Event()])
    async with w.running() as (app, pilot):
        await answered(w, pilot)
        await pilot.press("ctrl+b", "r", "tab")
        await until(lambda: len(w.model.requests) == 2, "the request")
        await pilot.press("escape")
        await until(lambda: w.model.closed == 2, "its end")
        assert app.chat.sidebar.rows.has_focus
        assert w.workspace.current.label() == "What is two?"


async def test_a_session_gets_its_title_by_itself_where_that_is_set(world):
    w = world(["It is 2."], ["A number"], ["It is 3."])
    w.titles_by_model = True
    async with w.running() as (_, pilot):
        await answered(w, pilot)
        await until(lambda: name_of(w, w.workspace.current.id) == "A number", "the name")
        await send(pilot, "And three?")
        await until(lambda: len(w.model.requests) == 3, "the request")
        await wait_for_answer(w)
        assert len(w.model.requests) == 3


async def test_a_private_session_and_one_with_a_name_are_left_alone(world):
    w = world(["It is 2."], ["It is 3."], ["It is 2."], ["It is 3."])
    w.titles_by_model = True
    said = []
    async with w.running() as (_, pilot):
        for first in ("/new Mine", "/private"):
            await send(pilot, first)
            for text in ("What is two?", "And three?"):
                said.append(text)
                await send(pilot, text)
                await until(lambda: len(w.model.requests) == len(said), "the request")
                await wait_for_answer(w)
    assert [request.messages[-1].text for request in w.model.requests] == said


async def test_a_title_that_fails_by_itself_is_not_told(world):
    w = world(["It is 2."], [ModelUnavailable("It is gone.")], ["It is 3."])
    w.titles_by_model = True
    async with w.running() as (app, pilot):
        await answered(w, pilot)
        await until(lambda: w.model.closed == 2, "the failure")
        await send(pilot, "And three?")
        await until(lambda: len(w.model.requests) == 3, "the request")
        await wait_for_answer(w)
        assert "gone" not in notices(app)
        assert w.workspace.current.label() == "What is two?"
