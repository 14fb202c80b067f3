"""Settings of a session, as they are sent and shown."""

import pytest

from tests.ui.screen import conversation, notices, send, wait_for_answer
from tests.waiting import until
from tui.domain.models import ModelParameters
from tui.providers.protocol import RequestAdapted

pytestmark = pytest.mark.full


async def ask(world, pilot, text):
    """Send a prompt; gives the request that the model was sent."""
    count = len(world.model.requests)
    await send(pilot, text)
    await until(lambda: len(world.model.requests) > count, "the request")
    await wait_for_answer(world)
    return world.model.requests[-1]


async def test_what_is_set_is_sent_from_the_next_prompt_on_and_by_a_later_run(world):
    w = world(*[["Yes."]] * 4)
    async with w.running() as (app, pilot):
        await send(pilot, "/set temperature 0.5")
        await until(lambda: "Set temperature to 0.5" in notices(app))
        await send(pilot, "/system Be brief.")
        await until(lambda: "Set the system prompt" in notices(app))
        request = await ask(w, pilot, "One")
        assert request.parameters == ModelParameters(temperature=0.5)
        assert request.system_prompt == "Be brief."
        await send(pilot, "/reset")
        await until(lambda: "Started over" in notices(app))
        assert (await ask(w, pilot, "Two")).system_prompt == "Be brief."
        session_id = w.workspace.current.id
    async with w.running(session_id) as (_, pilot):
        assert (await ask(w, pilot, "Three")).parameters == ModelParameters(temperature=0.5)
        await send(pilot, "/system default")
        assert (await ask(w, pilot, "Four")).system_prompt == ""


async def test_a_setting_that_the_model_does_not_take_is_told_once_in_a_session(world):
    said = "scripted:model does not take temperature 0.5: left out."
    w = world(*[[RequestAdapted(said), "Yes."]] * 3)
    async with w.running() as (app, pilot):
        await ask(w, pilot, "One")
        await ask(w, pilot, "Two")
        assert notices(app).count(said) == 1
        await send(pilot, "/new")
        await until(lambda: "One" not in conversation(app))
        await ask(w, pilot, "Three")
        assert notices(app).count(said) == 2


@pytest.mark.fast
async def test_a_new_session_has_none_of_them(world):
    w = world(*[["Yes."]] * 2)
    async with w.running() as (app, pilot):
        await send(pilot, "/set temperature 0.5")
        await ask(w, pilot, "One")
        await send(pilot, "/new")
        await until(lambda: "One" not in conversation(app))
        assert (await ask(w, pilot, "Two")).parameters == ModelParameters()
