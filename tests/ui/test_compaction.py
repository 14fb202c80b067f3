"""Summaries on screen: made now or by themselves, beside everything else that goes on."""

import asyncio

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.ui.screen import (
    activity,
    conversation,
    go_to,
    lines,
    newest_notice,
    notices,
    rows,
    send,
    status,
    wait_for_answer,
)
from tests.ui.world import World, full_disk, messages
from tests.waiting import until
from tui.errors import ModelRefused

pytestmark = pytest.mark.full

SUMMARY = "summary of earlier messages"


@pytest.fixture
def small_world(tmp_path):
    """A model with a small window, so that a few long messages fill it."""

    def made(*answers, window=2000):
        world = World(tmp_path / "data", *answers)
        world.model = ScriptedModel(*answers, context_window=window)
        world.models.model = world.model
        return world

    return made


async def ended(world):
    await until(lambda: not world.workspace.current.activity.summarising, "the end of the summary")


async def talked(world, pilot, *prompts):
    for prompt in prompts:
        count = world.workspace.current.session.prompt_count
        await send(pilot, prompt)
        await until(lambda n=count: world.workspace.current.session.prompt_count > n, "the prompt")
        await wait_for_answer(world)


@pytest.mark.fast
async def test_the_built_in_guide_summarises_nothing_and_says_what_does(world):
    w = world(["One."], ["Two."])
    w.model.name = "offline:guide"
    async with w.running() as (_, pilot):
        await talked(w, pilot, "first", "second")
        await send(pilot, "/compact", says="writes no summaries. F5 connects a model")


@pytest.mark.fast
async def test_what_was_said_is_compacted_now(running):
    async with running(
        ["One."], ["Two."], ["They spoke of tea.\nAnd of cups."], ["Three."], ["Four."]
    ) as (w, app, pilot):
        await talked(w, pilot, "first", "second")
        await send(pilot, "/compact", says="Summarised 2 messages.")
        assert f"▸ {SUMMARY}: They spoke of tea." in conversation(app)
        assert "And of cups." not in conversation(app)
        # Prompts before a summary are not lost from sight.
        shown = [line.strip() for line in lines(app)]
        place = next(n for n, line in enumerate(shown) if SUMMARY in line)
        assert shown.index("┃ first") < shown.index("┃ second") < place
        app.chat.transcript.focus()
        await pilot.press("enter")
        assert "And of cups." in conversation(app)
        app.chat.prompt.focus()
        await talked(w, pilot, "third")
        session = w.workspace.current.id
    request = w.model.requests[-1]
    assert "They spoke of tea." in request.system_prompt
    assert [each.text for each in request.messages] == ["second", "Two.", "third"]
    assert [text for _, text, _ in messages(w, session)] == [
        *("first", "One.", "second", "Two.", "third", "Three.")
    ]
    async with w.running(session) as (app, pilot):
        await until(lambda: f"▸ {SUMMARY}: They spoke of tea." in conversation(app))
        await talked(w, pilot, "fourth")
    assert "They spoke of tea." in w.model.requests[-1].system_prompt
    assert w.model.requests[-1].messages[0].text == "second"


@pytest.mark.fast
async def test_it_begins_by_itself_when_the_window_is_nearly_full(small_world):
    gate = asyncio.Event()
    long = "x" * 1200
    w = small_world([long], [long], [long], [long], ["So far.", gate], ["At last."], ["More."])
    async with w.running() as (app, pilot):
        await talked(w, pilot, "first", "second", "third", "fourth")
        await until(lambda: "summarising" in activity(app))
        # An answer is made meanwhile, and the summary does not hold it up.
        await talked(w, pilot, "fifth")
        assert "At last." in conversation(app)
        assert w.workspace.current.activity.summarising
        gate.set()
        await ended(w)
        assert SUMMARY in conversation(app)
        await until(lambda: "summarising" not in activity(app))
        await talked(w, pilot, "sixth")
    sent = [each.text for each in w.model.requests[-1].messages]
    assert sent[-3:] == ["fifth", "At last.", "sixth"]
    assert "first" not in sent
    assert "So far." in w.model.requests[-1].system_prompt


@pytest.mark.fast
async def test_messages_that_are_not_sent_are_told_once(small_world):
    w = small_world(["One."], [ModelRefused("429")], ["Two."], window=100)
    session = await w.session("x" * 400, "y" * 400, "more", "Yes.")
    async with w.running(session) as (app, pilot):
        await talked(w, pilot, "first")
        await until(lambda: "Not summarised: 429" in notices(app))
        await talked(w, pilot, "second")
        assert notices(app).count("Earlier messages are not sent: the model's window is full") == 1
        assert "/compact summarises them." in notices(app)
    assert "x" * 400 not in [each.text for each in w.model.requests[-1].messages]


async def test_an_answer_and_a_summary_at_once_and_the_summary_first(running):
    answer = asyncio.Event()
    answers = ["One."], ["Two."], ["Half ", answer, "done."], ["They spoke."]
    async with running(*answers) as (w, app, pilot):
        await talked(w, pilot, "first", "second")
        await send(pilot, "third", shows="Half")
        await send(pilot, "/compact", says="Summarised 4 messages.")
        answer.set()
        await wait_for_answer(w)
        await until(lambda: "Half done." in conversation(app))
        session = w.workspace.current.id
    kept = w.other_program().journal(session).load()
    assert kept.summary.text == "They spoke."
    assert [each.text for each in kept.loaded_messages][-1] == "Half done."


async def test_it_is_stopped_and_nothing_is_changed(running):
    never = asyncio.Event()
    answers = ["One."], ["Two."], ["So far", never], ["So far", never], ["So far."]
    async with running(*answers) as (w, app, pilot):
        await talked(w, pilot, "first", "second")
        before = None
        for way in ("/stop", "escape"):
            await send(pilot, "/compact")
            await until(lambda: "summarising" in activity(app))
            if way == "escape":
                await pilot.press("escape")
            else:
                await send(pilot, way)
            await until(lambda said=before: newest_notice(app) is not said, way)
            before = newest_notice(app)
            assert "Stopped summarising" in before.notice.text
            await until(lambda: "summarising" not in activity(app))
            assert w.workspace.current.session.summary is None
            assert SUMMARY not in conversation(app)
        await send(pilot, "/compact", says="Summarised 2 messages.")


@pytest.mark.fast
async def test_what_does_not_succeed_is_told_of_and_nothing_is_changed(running):
    failing = [ModelRefused("The server said 429.")], [" "], [ZeroDivisionError("a defect")]
    async with running(["One."], ["Two."], *failing, ["So far."]) as (w, app, pilot):
        await talked(w, pilot, "first")
        await send(pilot, "/compact", says="Nothing to compact.")
        await ended(w)
        await until(lambda: "summarising" not in activity(app))
        await talked(w, pilot, "second")
        for said in (
            "Not summarised: The server said 429.",
            "Not summarised: The model gave no summary.",
            "Unexpected error: ZeroDivisionError",
        ):
            await send(pilot, "/compact", says=said)
            assert w.workspace.current.session.summary is None
        await send(pilot, "/compact", says="Summarised 2 messages.")


async def test_after_a_failure_it_is_not_tried_at_each_turn(small_world):
    long = "x" * 1200
    refused = [ModelRefused("429")]
    w = small_world([long], [long], [long], [long], refused, ["a"], ["b"], ["c"], ["So far."])
    async with w.running() as (app, pilot):
        await talked(w, pilot, "1", "2", "3", "4")
        await until(lambda: "Not summarised: 429" in notices(app))
        await talked(w, pilot, "5", "6")
        assert not w.workspace.current.activity.summarising
        await talked(w, pilot, "7")
        await until(lambda: SUMMARY in conversation(app))
        asked = [each for each in w.model.requests if each.system_prompt.startswith("Summarise")]
        assert len(asked) == 2


async def test_it_goes_on_while_another_session_is_looked_at(world):
    gate = asyncio.Event()
    w = world(["One."], ["Two."], ["They spoke.", gate])
    other = await w.session("another one", "yes")
    async with w.running() as (app, pilot):
        await talked(w, pilot, "first", "second")
        session = w.workspace.current.id
        await send(pilot, "/compact")
        await until(lambda: "summarising" in activity(app))
        await go_to(app, pilot, other, "another one")
        await until(lambda: "summarising" not in activity(app))
        assert w.other_program().holder(session)
        gate.set()
        await until(lambda: not w.other_program().holder(session), "its closing")
        assert SUMMARY not in conversation(app)
        assert w.other_program().journal(session).load().summary.text == "They spoke."
        await go_to(app, pilot, session, f"▸ {SUMMARY}: They spoke.")
        await until(lambda: "Summarised 2 messages." not in status(app))


@pytest.mark.fast
async def test_the_program_is_left_while_it_is_made(running):
    async with running(["One."], ["Two."], ["They spoke.", asyncio.Event()]) as (w, app, pilot):
        await talked(w, pilot, "first", "second")
        session = w.workspace.current.id
        await send(pilot, "/compact")
        await until(lambda: "summarising" in activity(app))
        await pilot.press("ctrl+q")
        await until(lambda: not app.is_running)
    assert w.other_program().journal(session).load().summary is None
    assert not w.other_program().holder(session)


async def test_a_summary_that_cannot_be_saved_is_saved_later(running):
    async with running(["One."], ["Two."], ["They spoke."]) as (w, app, pilot):
        await talked(w, pilot, "first", "second")
        session = w.workspace.current.id
        with full_disk(w):
            await send(pilot, "/compact")
            await until(lambda: "NOT SAVED: disk full" in status(app))
        await pilot.press("ctrl+s")
        await until(lambda: "NOT SAVED" not in status(app))
        assert w.other_program().journal(session).load().summary.text == "They spoke."


async def test_a_session_that_is_only_looked_at_is_opened_for_it(world):
    w = world(["They spoke."])
    session = await w.session("first", "One.", "second", "Two.")
    async with w.running() as (app, pilot):
        await until(lambda: session in rows(app))
        await go_to(app, pilot, session, "Two.")
        # Not typed: a letter would open it.
        await app.action_invoke("compact")
        await until(lambda: "Summarised 2 messages." in notices(app))
    assert w.other_program().journal(session).load().summary.text == "They spoke."
