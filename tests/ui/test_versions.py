"""Asking again, editing a question, walking through versions, copying: on screen and on disk."""

import asyncio
import threading

import pytest

from tests.ui.screen import (
    answered,
    conversation,
    have_answered,
    notice,
    press,
    send,
)
from tests.ui.world import messages
from tests.waiting import until
from tui.engine.sessions import open_sessions
from tui.engine.sessions.loaded_pages import LoadedPages


def asked(w):
    """The texts of the last request."""
    return [message.text for message in w.model.requests[-1].messages]


def texts(w, session_id):
    return [text for _, text, _ in messages(w, session_id)]


async def test_r_asks_again_and_both_answers_stay(running, monkeypatch):
    async with running(["first"], ["second"]) as (w, app, pilot):
        await have_answered(w, pilot, "hello", "first")
        await pilot.press("f6", "r", "enter")
        await answered(w, app, "second")
        await until(lambda: "version 2/2" in conversation(app))
        assert "first" not in conversation(app)
        assert asked(w) == ["hello"]
        there = w.workspace.current.id
    assert texts(w, there) == ["hello", "first", "second"]
    async with w.running(there) as (app, _):
        await until(lambda: "version 2/2" in conversation(app))
    # A long session is shown before its versions are counted.
    monkeypatch.setattr(open_sessions, "_COUNTED_AT_ONCE", 0)
    async with w.running(there) as (app, _):
        await until(lambda: "version 2/2" in conversation(app), "the mark")


async def test_brackets_walk_through_the_versions_and_a_prompt_goes_on_from_what_is_shown(running):
    async with running(["first"], ["second"], ["third"]) as (w, app, pilot):
        await have_answered(w, pilot, "hello", "first")
        await pilot.press("f6", "r", "enter")
        await answered(w, app, "second")
        there = w.workspace.current.id
        before = w.store.path(there).read_bytes()
        await until(lambda: "version 2/2" in conversation(app))
        await press(pilot, "left_square_bracket", shows="version 1/2")
        assert "first" in conversation(app)
        await pilot.press("left_square_bracket")
        await until(lambda: notice(app) == "This is the first version.")
        await press(pilot, "right_square_bracket", shows="second")
        assert w.store.path(there).read_bytes() == before
        await press(pilot, "left_square_bracket", shows="version 1/2")
        await pilot.press("f6")
        await have_answered(w, pilot, "more", "third")
        assert asked(w) == ["hello", "first", "more"]
        assert "second" not in conversation(app)


async def test_an_edited_question_is_in_the_draft_until_it_is_in_the_session(running, monkeypatch):
    async with running(["one"], ["two"]) as (w, app, pilot):
        await have_answered(w, pilot, "alpha", "one")
        here, gate, waiting = w.workspace.current, threading.Event(), threading.Event()

        def held_up(_):
            waiting.set()
            return asyncio.to_thread(gate.wait, 20)

        monkeypatch.setattr(w.workspace, "take", held_up)
        await pilot.press("f6", "e", "enter")
        await until(lambda: app.chat.prompt.text == "alpha")
        await pilot.press("!", "enter")
        await until(waiting.is_set)
        await w.workspace.keep_drafts()
        assert w.drafts().load(here.id).queued == ("alpha!",)
        gate.set()
        await answered(w, app, "two")
        await w.workspace.keep_drafts()
        assert w.drafts().load(here.id) is None
    assert texts(w, here.id) == ["alpha", "one", "alpha!", "two"]


async def test_the_draft_that_stood_there_comes_back_by_esc_and_behind_the_edited_question(running):
    async with running(["one"], ["two"]) as (w, app, pilot):
        await have_answered(w, pilot, "alpha", "one")
        there = w.workspace.current.id
        await pilot.press(*"draft")
        for key in ("escape", "enter"):
            await pilot.press("f6", "e", "enter")
            await until(lambda: app.chat.prompt.text == "alpha")
            await pilot.press("!", key)
            await until(lambda: app.chat.prompt.text == "draft", f"the draft after {key}")
        await answered(w, app, "two")
    assert texts(w, there) == ["alpha", "one", "alpha!", "two"]


async def test_esc_gives_the_draft_back_that_an_earlier_prompt_was_recalled_over(running):
    async with running(["one"]) as (w, app, pilot):
        await have_answered(w, pilot, "alpha", "one")
        await pilot.press(*"draft", "up")
        await until(lambda: app.chat.prompt.text == "alpha", "the earlier prompt")
        await pilot.press("f6", "e", "enter", "!")
        await until(lambda: app.chat.prompt.text == "alpha!", "the question")
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.text == "draft", "the draft")


@pytest.mark.parametrize("keys", [["escape"], ["e", "enter"]])
async def test_what_was_written_of_a_question_comes_back_with_ctrl_z(running, keys):
    async with running(["one"], ["two"]) as (w, app, pilot):
        await have_answered(w, pilot, "alpha", "one")
        await have_answered(w, pilot, "beta", "two")
        await pilot.press("f6", "e", "enter")
        await until(lambda: app.chat.prompt.text == "beta")
        await pilot.press("!")
        if "e" in keys:
            await pilot.press("f6", *["left_curly_bracket"] * 2)
        await pilot.press(*keys)
        await until(lambda: app.chat.prompt.text == ("alpha" if "e" in keys else ""))
        await pilot.press("ctrl+z")
        await until(lambda: app.chat.prompt.text == "beta!")


async def test_an_earlier_version_asks_for_no_page_behind_its_end(world, monkeypatch):
    w = world(["first"], ["second"])
    asked_for = []
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "hello", "first")
        await pilot.press("f6", "r", "enter")
        await answered(w, app, "second")
        take = LoadedPages.read_later
        monkeypatch.setattr(
            LoadedPages, "read_later", lambda *about: asked_for.append(about) or take(*about)
        )
        await press(pilot, "left_square_bracket", shows="version 1/2")
        await pilot.press("f6", *"more")
        await until(lambda: app.chat.prompt.text == "more")
    assert len(asked_for) <= 1


async def test_asking_again_stops_the_answer_that_is_arriving(running):
    async with running(["first", asyncio.Event()], ["second"]) as (w, app, pilot):
        await send(pilot, "hello", shows="first")
        await pilot.press("f6", "r", "enter")
        await answered(w, app, "second")
        there = w.workspace.current.id
    assert texts(w, there) == ["hello", "first", "second"]
