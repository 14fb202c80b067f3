"""Prompts and answers, from the key to the file."""

import asyncio

import pytest

from tests.providers.chat_server import (
    ChatServer,
    answers,
    refuses,
)
from tests.providers.conftest import a_choice
from tests.ui.screen import (
    activity,
    answered,
    conversation,
    go_to,
    have_answered,
    mark,
    notices,
    press,
    send,
    status,
    type_at_once,
    wait_for_answer,
)
from tests.ui.world import messages
from tests.waiting import until
from tui.errors import ModelRefused
from tui.providers.protocol import AttemptFailed, TextTakenBack, ThinkingReceived
from tui.providers.source import LazyModel


async def test_a_prompt_is_on_disk_before_its_answer_which_is_then_on_screen_and_on_disk(running):
    gate = asyncio.Event()
    async with running([gate, "Hi ", "there."]) as (w, app, pilot):
        await send(pilot, "hello")
        await until(lambda: w.model.requests, "the request")
        session_id = w.workspace.current.id
        assert messages(w, session_id) == [("user", "hello", None)]
        assert "hello" in conversation(app)
        await until(lambda: mark(app, session_id) == "running")
        assert app.chat.rows.rows[0].label == "hello"
        assert app.chat.prompt.text == ""
        gate.set()
        await answered(w, app, "Hi there.")
        assert messages(w, session_id) == [
            ("user", "hello", None),
            ("assistant", "Hi there.", None),
        ]
        await until(lambda: "saved" in status(app))
    assert w.final_save.lines == [f"Resume with: sibyl-tui --session {session_id}"]


async def test_waiting_attempts_thinking_and_tokens_are_seen_in_the_line(running):
    begun, *gates = [asyncio.Event() for _ in range(6)]
    steps = [gates[4], AttemptFailed(1, "status 500", 0), gates[0]]
    steps += [AttemptFailed(2, "status 500", 0), gates[1], ThinkingReceived("They greet.")]
    steps += [gates[2], "Hello, hello.", gates[3]]
    async with running([begun, "one"], steps) as (w, app, pilot):
        await send(pilot, "think")
        await until(lambda: w.model.requests, "the request")
        w.seconds += 12
        await until(lambda: "waiting for scripted:model 12 s · Esc stops" in activity(app))
        begun.set()
        await wait_for_answer(w)
        await until(lambda: "waiting" not in activity(app))
        await until(lambda: "…" not in conversation(app))
        await send(pilot, "hello")
        await until(lambda: "waiting for scripted:model · Esc stops" in activity(app))
        gates[4].set()
        await until(lambda: "model: 2nd attempt after status 500 · Esc stops" in activity(app))
        gates[0].set()
        await until(lambda: "3rd attempt after status 500" in activity(app))
        gates[1].set()
        await until(lambda: "model · thinking" in activity(app))
        gates[2].set()
        await until(lambda: "model answers · ~8 tokens · Esc stops" in activity(app))
        gates[3].set()
        await wait_for_answer(w)
        await until(lambda: "answers" not in activity(app))
        assert messages(w, w.workspace.current.id)[-1] == ("assistant", "Hello, hello.", None)


async def test_thinking_is_shown_while_it_comes_then_folds_and_is_not_kept(running):
    gates = [asyncio.Event() for _ in range(4)]
    thought = [ThinkingReceived("They greet me."), gates[0], "Good day.", gates[1]]
    taken_back = ["They go.", gates[2], TextTakenBack(), "Good night.", gates[3]]
    async with running(thought, taken_back) as (w, app, pilot):
        await send(pilot, "hello", shows="They greet me.")
        w.seconds += 12
        gates[0].set()
        await until(lambda: "▸ thought for 12 s" in conversation(app))
        assert "They greet me." not in conversation(app)
        gates[1].set()
        await wait_for_answer(w)
        await press(pilot, "f6", "enter", shows="▾ thought for 12 s")
        assert "They greet me." in conversation(app)
        there = w.workspace.current.id
        assert messages(w, there)[-1] == ("assistant", "Good day.", None)
        journal = next(w.root.rglob(f"{there}*.jsonl")).read_text()
        assert "They greet me." not in journal
        await pilot.press("f6")
        # What came as text was thinking.
        await send(pilot, "bye", shows="They go.")
        gates[2].set()
        await until(lambda: "Good night." in conversation(app))
        assert "They go." not in conversation(app)
        gates[3].set()
        await wait_for_answer(w)
        await press(pilot, "f6", "enter", shows="They go.")
        assert messages(w, there)[-1] == ("assistant", "Good night.", None)


async def test_thinking_of_a_session_that_is_not_on_screen_is_there_when_it_comes_back(world):
    gates = [asyncio.Event() for _ in range(2)]
    w = world([gates[0], ThinkingReceived("They greet me."), gates[1], "Good day."])
    other = await w.session("elsewhere", "there")
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await until(lambda: w.model.requests)
        mine = w.workspace.current.id
        await go_to(app, pilot, other, "there")
        gates[0].set()
        await go_to(app, pilot, mine, "They greet me.")
        gates[1].set()
        await until(lambda: "Good day." in conversation(app))


async def test_a_failed_answer_says_why_and_can_be_tried_again(running):
    async with running(
        [ModelRefused("The key was refused.")],
        ["Better."],
        ["Half of it", ModelRefused("It was cut.")],
        [ModelRefused("There is no net.")],
        ["half", ZeroDivisionError("a defect")],
        ["fine"],
    ) as (w, app, pilot):
        here = w.workspace.current.id
        await have_answered(w, pilot, "hello", "The key was refused.")
        await have_answered(w, pilot, "/retry", "Better.")
        assert "The key was refused." not in conversation(app)
        assert [text for _, text, _ in messages(w, here)] == ["hello", "Better."]
        await have_answered(w, pilot, "and then", "It was cut.")
        await have_answered(w, pilot, "/retry", "There is no net.")
        # What had come is shown again.
        assert "Half of it" in conversation(app)
        assert "It was cut." not in conversation(app)
        await send(pilot, "on", says="Unexpected error: ZeroDivisionError")
        await wait_for_answer(w)
        assert messages(w, here)[-1] == ("assistant", "half", "interrupted")
        await have_answered(w, pilot, "again", "fine")


async def test_a_prompt_sent_during_an_answer_waits_and_is_sent_next_or_comes_back(running):
    gate = asyncio.Event()
    async with running(["one", gate], ["two"], ["three", asyncio.Event()]) as (w, app, pilot):
        here = w.workspace.current.id
        await send(pilot, "first", shows="one")
        await send(pilot, "second")
        assert "second" in conversation(app)
        assert "queued" in conversation(app)
        await until(lambda: "1 queued" in status(app))
        await pilot.press("x")
        await until(lambda: w.drafts().load(here), "the draft")
        assert w.drafts().load(here).queued == ("second",)
        gate.set()
        await answered(w, app, "two")
        said = [text for _, text, _ in messages(w, here)]
        assert said == ["first", "one", "second", "two"]
        assert app.chat.prompt.text == "x"
        await pilot.press("backspace")
        await send(pilot, "third", shows="three")
        await send(pilot, "fourth")
        await pilot.press("escape")
        await wait_for_answer(w)
        await until(lambda: app.chat.prompt.text == "fourth", "the prompt")
        assert "queued" not in conversation(app)


@pytest.mark.full
async def test_a_prompt_larger_than_8_mib_is_refused_and_kept(running):
    async with running() as (_, app, pilot):
        text = "x" * (8 * 1024 * 1024 + 1)
        app.chat.prompt.set_text(text)
        await press(pilot, "enter", says="Prompt is larger than 8 MiB.")
        assert app.chat.prompt.text == text
        app.chat.prompt.set_text("")


@pytest.mark.full
async def test_a_flood_of_ten_thousand_pieces_arrives_whole_and_escape_still_works(running):
    async with running(["word "] * 10_000, ["word "] * 500_000) as (w, _, pilot):
        await have_answered(w, pilot, "hello")
        assert messages(w, w.workspace.current.id)[-1][1] == "word " * 10_000
        await send(pilot, "more")
        await until(
            lambda: w.workspace.current.activity.running and w.workspace.current.opened.arriving
        )
        async with asyncio.timeout(5):
            await pilot.press("escape")
            await wait_for_answer(w)
        at = w.workspace.current.id
        await until(lambda: messages(w, at)[-1][2] == "interrupted", "the end on disk")


async def test_an_unknown_command_can_be_gone_on_with_and_sent_again(running):
    async with running() as (w, app, _):
        type_at_once(app, "/nam<enter>e x<enter>")
        await until(lambda: 'Renamed to "x"' in notices(app))
        assert w.model.requests == []


async def test_f6_goes_to_the_newest_answer_if_the_end_is_in_sight(running):
    async with running(["Yes."], ["No."]) as (w, app, pilot):
        cursor = app.chat.conversation.cursor
        for question, said in (("Well?", "Yes."), ("And now?", "No.")):
            await have_answered(w, pilot, question, said)
            await pilot.press("f6")
            assert app.chat.transcript.has_focus
            assert cursor.message.text == said
            await pilot.press("f6", "x")
            assert app.chat.prompt.draft == "x"
            await pilot.press("backspace")
        await pilot.press("f6", "k", "f6", "f6")
        assert cursor.message.text == "And now?"


async def test_esc_stops_the_pause_before_a_retry(world):
    with ChatServer(refuses(503, Retry_After="60"), answers("Late.")) as server:
        w = world()
        choice = a_choice("local", "test-model", server.base_url, retries=2)
        w.models.model = LazyModel(choice)
        async with w.running() as (app, pilot):
            await send(pilot, "Hello?")
            await until(lambda: "2nd attempt in 60 s after status 503" in activity(app), "it")
            await pilot.press("escape")
            await wait_for_answer(w)
            assert "Late." not in conversation(app)
            assert len(server.requests) == 1
