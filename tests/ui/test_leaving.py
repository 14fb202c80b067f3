"""Words and keys that leave the program, and those that only look so."""

import asyncio

import pytest

from tests.ui.screen import activity, answer, conversation, notice, question, send, type_at_once
from tests.ui.world import messages
from tests.waiting import until

_OTHER_WORDS = ("quit", ":q", "/exit", "/quit")


@pytest.mark.parametrize(
    "typed", ["exit", *(pytest.param(each, marks=pytest.mark.full) for each in _OTHER_WORDS)]
)
async def test_a_word_leaves_the_program_and_is_not_sent(running, typed):
    async with running(["No."]) as (w, app, pilot):
        await send(pilot, typed)
        await until(lambda: not app.is_running, "the end")
    assert w.model.requests == []


async def test_ctrl_d_leaves_only_from_an_empty_prompt(world):
    async with world().running() as (app, pilot):
        await pilot.press("a", "b", "home", "ctrl+d")
        assert app.chat.prompt.text == "b"
        await pilot.press("ctrl+d")
        assert app.chat.prompt.text == ""
        assert app.is_running
        await pilot.press("ctrl+d")
        await until(lambda: not app.is_running, "the end")


async def test_a_slash_alone_and_what_begins_with_an_exclamation_mark_are_not_sent(running):
    async with running(["No."]) as (w, app, pilot):
        await pilot.press("slash", "escape")
        assert not app.chat.prompt.completing
        await pilot.press("enter")
        assert app.chat.prompt.completing
        assert app.chat.prompt.text == "/"
        await pilot.press("escape", "backspace")
        await send(pilot, "!ls")
        await until(lambda: "runs no commands" in notice(app), "the hint")
        assert (app.chat.prompt.text, w.model.requests) == ("!ls", [])
        await pilot.press("home", "space", "enter")
        await until(lambda: w.model.requests, "the request")
    assert w.model.requests[0].messages[-1].text == " !ls"


async def answering(pilot):
    """Send a prompt, and wait for the first half of its answer."""
    await send(pilot, "Fix the login bug", shows="half")


async def test_the_end_of_the_last_answer_is_a_yes(running):
    ends = asyncio.Event(), asyncio.Event()
    async with running(*(["half", end, "whole"] for end in ends)) as (w, app, pilot):
        await answering(pilot)
        await pilot.press("ctrl+n")
        await until(lambda: "half" not in conversation(app), "the new session")
        await send(pilot, "Second", shows="half")
        await pilot.press("ctrl+q")
        asked = await question(app)
        assert "2 answers are still in progress:" in asked
        assert '"Fix the login bug"' in asked
        assert '"Second"' in asked
        ends[0].set()
        await until(lambda: asks(app, "1 answer is still in progress"), "one answer less")
        assert app.is_running
        ends[1].set()
        await until(lambda: not app.is_running, "the end")
    assert w.final_save.lines[-1].startswith("Resume with:")


async def test_a_private_session_is_not_closed_by_the_end_of_its_answer(running):
    end = asyncio.Event()
    async with running(["half", end, "whole"]) as (_, app, pilot):
        await send(pilot, "/private")
        await answering(pilot)
        await send(pilot, "/session close")
        assert "still in progress" in await question(app)
        end.set()
        await until(lambda: not asks(app, "still in progress"), "the end of the answer")
        assert asks(app, "nothing of it is kept")


async def test_ctrl_c_stops_the_answer_and_keeps_what_is_typed_or_waits_and_quits_then(running):
    async with running(*[["half", asyncio.Event()]] * 2) as (w, app, pilot):
        await answering(pilot)
        await pilot.press(*"typed", "ctrl+c")
        await until(lambda: not w.workspace.current.activity.running, "the end of the answer")
        assert app.chat.prompt.text == "typed"
        await send(pilot, "")
        await until(lambda: w.workspace.current.activity.running, "the next answer")
        await send(pilot, "next")
        await send(pilot, "after that")
        await pilot.press("ctrl+c")
        await until(lambda: app.chat.prompt.text == "next", "the first that waits")
        await pilot.press("ctrl+u", "ctrl+c", "ctrl+c")
        await until(lambda: not app.is_running, "the end")
    assert w.drafts().load(w.workspace.current.id).queued == ("after that",)


async def test_ctrl_c_twice_leaves_from_an_empty_prompt_only(world):
    async with world().running() as (app, pilot):
        await pilot.press("x", "ctrl+c", "ctrl+c")
        assert notice(app) == "Nothing is selected. Ctrl+Q quits."
        await pilot.press("backspace", "ctrl+c")
        assert notice(app) == "Ctrl+C again quits."
        assert app.is_running
        await pilot.press("ctrl+c")
        await until(lambda: not app.is_running, "the end")


async def test_quitting_while_an_answer_arrives_asks_and_names_it(running):
    async with running(["half", asyncio.Event()]) as (w, app, pilot):
        await answering(pilot)
        await pilot.press("ctrl+q")
        asked = await question(app)
        assert asked.splitlines() == [
            "Quit? (y/n)",
            "1 answer is still in progress:",
            '"Fix the login bug"',
            "The part that arrived is kept.",
            "Or wait: it is a yes once the answer ends.",
        ]
        await until(lambda: "Esc stops" not in activity(app), "a line that is true")
        await pilot.press("n")
        await until(lambda: app.screen is app.chat)
        await until(lambda: "Esc stops" in activity(app))
        line = app.chat.key_line
        await until(lambda: "^N New" in line.render_line(0).text, "the keys are named again")
        assert app.is_running
        assert w.workspace.current.activity.running
        await pilot.press("ctrl+q")
        await question(app)
        await pilot.press("ctrl+q")
        await until(lambda: not app.is_running, "the end")
    session_id = w.workspace.current.id
    assert messages(w, session_id)[-1] == ("assistant", "half", "interrupted")
    assert w.other_program().holder(session_id) is None


async def test_the_second_key_leaves_also_when_both_come_at_once(running):
    async with running(["half", asyncio.Event()]) as (_, app, pilot):
        await answering(pilot)
        type_at_once(app, "<ctrl+q><ctrl+q>", in_one_read=True)
        await until(lambda: not app.is_running, "the end")


async def test_closing_a_session_while_its_answer_arrives_asks_and_quitting_takes_its_place(
    running,
):
    async with running(["half", asyncio.Event()]) as (w, app, pilot):
        await answering(pilot)
        there = w.workspace.current.id
        await send(pilot, "/session close")
        assert "Close this session? (y/n)" in await question(app)
        await pilot.press("ctrl+q")
        await until(lambda: asks(app, "Quit?"), "the other question")
        await answer(app, pilot, "n")
        await until(lambda: app.screen is app.chat)
        assert w.workspace.current.activity.running
        await send(pilot, "/session close")
        await answer(app, pilot, "y")
        await until(lambda: w.workspace.current.id != there, "another session")


def asks(app, words):
    return any(words in str(part.content) for part in app.screen.query("#question Static"))
