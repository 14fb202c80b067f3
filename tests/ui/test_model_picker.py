"""The model picker: the models of every connected server, and one of them chosen."""

from datetime import timedelta

import pytest
from textual import events

from tests.providers.chat_server import ChatServer, Gate, answers, is_silent, sends
from tests.ui.connecting import KEY, BareMachine
from tests.ui.screen import (
    conversation,
    notice,
    notices,
    send,
    status,
    type_at_once,
    wait_for_answer,
)
from tests.waiting import until
from tui.config import load_connections
from tui.screens.models import ModelScreen

pytestmark = pytest.mark.full

MODELS = ["gpt-6-luna", "gpt-6", "gpt-6-nova"]


@pytest.fixture
def machine(tmp_path):
    """Makes a machine with a key for OpenAI, which is the given server, and other settings."""

    def machine(server, config="", **environ):
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config" / "config.toml").write_text(config)
        given = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        return BareMachine(tmp_path / "data", **given, **environ)

    return machine


async def picker(app, pilot, key="f7"):
    """Open the picker, and wait until all servers have answered."""
    await pilot.press(key)
    await until(lambda: isinstance(app.screen, ModelScreen) and app.screen.choices.size, "F7")
    await until(lambda: "asking for its models" not in shown(app), "the lists")
    return app.screen


def shown(app):
    """What the picker says and offers."""
    screen = app.screen
    if not isinstance(screen, ModelScreen):
        return ""
    return "\n".join([str(screen.words.content), *screen.choices.visible_text()])


def names(app):
    return [choice.id for choice in app.screen.choices.lines if choice.id]


@pytest.mark.fast
async def test_it_shows_the_servers_own_list_and_the_chosen_model_answers(machine):
    with ChatServer(answers("Hello."), models=MODELS, key=KEY) as server:
        world = machine(server)
        async with world.running() as (app, pilot):
            await picker(app, pilot)
            assert names(app) == [*[f"openai:{name}" for name in MODELS], "offline:guide"]
            assert app.screen.choices.highlighted.mark == "●"
            await pilot.press(*"nova", "enter")
            await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
            await send(pilot, "Hi")
            await until(lambda: "Hello." in conversation(app), "the answer")
            await wait_for_answer(world)
        assert server.requests[0].body["model"] == "gpt-6-nova"


async def test_enter_behind_letters_chooses_what_they_filter(machine):
    with ChatServer(answers("Hello."), models=MODELS, key=KEY) as server:
        world = machine(server)
        async with world.running() as (app, pilot):
            await picker(app, pilot)
            type_at_once(app, "nova<enter>Hi", in_one_read=True)
            await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
            await until(lambda: app.chat.prompt.text == "Hi", "the text")


async def test_the_model_on_screen_is_marked_and_highlighted(machine):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running() as (app, pilot):
            await send(pilot, "/model openai:gpt-6-luna")
            await picker(app, pilot)
            assert app.screen.choices.highlighted.id == "openai:gpt-6-luna"


async def test_models_chosen_last_come_first_also_after_the_next_start(machine):
    with ChatServer(models=MODELS) as server:
        world = machine(server)
        async with world.running() as (app, pilot):
            await picker(app, pilot)
            await pilot.press(*"nova", "enter")
            await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
        world.restart()
        async with world.running() as (app, pilot):
            await picker(app, pilot)
            assert names(app)[0] == "openai:gpt-6-nova"
    kept = load_connections(world.config / "connections.toml")
    assert kept.recent == ("openai:gpt-6-nova",)
    assert kept.model is None


async def test_a_resumed_session_has_the_model_that_was_chosen(machine):
    with ChatServer(answers("Hello."), models=MODELS) as server:
        world = machine(server)
        async with world.running() as (app, pilot):
            await picker(app, pilot)
            await pilot.press(*"nova", "enter")
            await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
            await send(pilot, "Hi")
            await until(lambda: "Hello." in conversation(app), "the answer")
            await wait_for_answer(world)
            session_id = world.workspace.current.id
        world.restart()
        async with world.running(session_id) as (app, pilot):
            await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
            assert "is not in your settings" not in conversation(app)


@pytest.mark.fast
async def test_a_typed_name_that_no_list_has_is_asked_about_and_then_used(machine):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running() as (app, pilot):
            await picker(app, pilot)
            await pilot.press(*"openai", "colon", *"own", "enter")
            await until(lambda: "Enter again uses it" in shown(app), "the question")
            await pilot.press("enter")
            await until(lambda: "openai:own" in status(app), "the model")


async def test_a_name_given_with_the_command_that_no_list_has_is_asked_about(machine):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running() as (app, pilot):
            await send(pilot, "/model openai:own")
            await until(lambda: 'Use "openai:own"' in shown(app), "the picker")
            await pilot.press("enter", "enter")
            await until(lambda: "openai:own" in status(app), "the model")


async def test_a_provider_that_is_not_there_is_said_in_place(machine):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running() as (app, pilot):
            await send(pilot, "/model nobody:x")
            await until(lambda: 'Use "nobody:x"' in shown(app), "the picker")
            await pilot.press("enter", "enter")
            await until(lambda: 'There is no provider "nobody"' in shown(app), "the reason")


@pytest.mark.fast
async def test_a_server_that_does_not_answer_is_one_line_and_hides_nothing(machine):
    config = '[providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = ["mine"]\n'
    with ChatServer(models=MODELS) as server:
        async with machine(server, config).running() as (app, pilot):
            await picker(app, pilot)
            await until(lambda: "gone: 127.0.0.1:9 refused the connection" in shown(app), "it")
            assert {"gone:mine", "openai:gpt-6-nova"} <= set(names(app))


async def test_a_server_that_hangs_holds_up_neither_the_others_nor_the_screen(machine):
    gate = Gate()
    with ChatServer(lists=[is_silent(gate)]) as slow, ChatServer(models=MODELS) as server:
        config = f'[providers.slow]\nbase_url = "{slow.base_url}"\nmodels = ["mine"]\n'
        async with machine(server, config).running() as (app, pilot):
            await pilot.press("f7")
            await until(lambda: "openai:gpt-6-nova" in shown(app), "the other's list")
            assert "slow: asking for its models" in shown(app)
            await pilot.press("escape")
            await until(lambda: app.screen is app.chat, "the chat")
            gate.open()


async def test_a_list_is_asked_for_once_a_day_and_anew_by_ctrl_r(machine):
    with ChatServer(models=MODELS) as server:
        world = machine(server)
        async with world.running() as (app, pilot):
            await until(lambda: world.workspace.current.model.known_window, "the model's window")
            before = len(server.questions)
            for _ in range(2):
                await picker(app, pilot)
                await pilot.press("escape")
                await until(lambda: app.screen is app.chat, "the chat")
            assert len(server.questions) == before + 1
            world.clock.now += timedelta(hours=25)
            await picker(app, pilot)
            assert len(server.questions) == before + 2
            await pilot.press("ctrl+r")
            await until(lambda: len(server.questions) == before + 3, "the third")


async def test_names_of_a_server_are_harmless(machine):
    data = b'{"data": [{"id": "a[b]\\u202e"}, {"id": "[red]x"}]}'
    with ChatServer(lists=[sends(data, "application/json")]) as server:
        async with machine(server).running() as (app, pilot):
            await picker(app, pilot)
            assert "openai:[red]x" in names(app)
            assert "\u202e" not in shown(app)


async def test_f5_leads_to_the_connections(machine):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running() as (app, pilot):
            await picker(app, pilot)
            await pilot.press("f5")
            await until(lambda: getattr(app.screen, "step", "") == "provider", "the connections")


async def test_tab_completes_the_models_of_the_servers(machine):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running() as (app, pilot):
            await picker(app, pilot)
            await pilot.press("escape")
            await until(lambda: app.screen is app.chat, "the chat")
            prompt = app.chat.prompt
            await until(lambda: "openai:gpt-6-nova" in prompt._models, "the names")
            await pilot.press(
                *"/model openai", "colon", *"gpt", "minus", *"6", "minus", *"no", "tab"
            )
            await until(lambda: "openai:gpt-6-nova" in app.chat.prompt.text, "the name")


async def test_a_server_that_answers_after_the_picker_was_closed_is_heard(machine):
    gate = Gate()
    late = b'{"data": [{"id": "gpt-6-nova"}]}'

    def replies(exchange):
        exchange.wait(gate)
        sends(late, "application/json")(exchange)

    with ChatServer(lists=[replies]) as server:
        async with machine(server).running() as (app, pilot):
            await pilot.press("f7")
            await until(lambda: "openai: asking for its models" in shown(app), "the question")
            await pilot.press("escape")
            await until(lambda: app.screen is app.chat, "the chat")
            gate.open()
            await until(lambda: "openai:gpt-6-nova" in app.chat.prompt._models, "the names")


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_it_is_usable_on_small_screens(machine, size):
    with ChatServer(models=MODELS) as server:
        async with machine(server).running(size=size) as (app, pilot):
            screen = await picker(app, pilot)
            assert screen.choices.size.height >= 4
            assert screen.choices.region.bottom < size[1]
            assert "openai:gpt-6-luna" in shown(app)


@pytest.mark.fast
async def test_a_key_is_no_model_wherever_it_is_given_as_one(machine):
    other = "gsk_Zq3x9TnV7LmPw2RkYb8Hd5sJ"
    with ChatServer(models=MODELS, key=KEY) as server:
        world = machine(server)
        async with world.running() as (app, pilot):
            for typed in (other, f"openai:{other}"):
                await send(pilot, f"/model {typed}")
                await until(lambda: "looks like a key" in notice(app), "the refusal")
                app.chat.key_line.notices._advance()
            await picker(app, pilot)
            app.post_message(events.Paste(other))
            await until(lambda: "looks like a key" in shown(app), "the refusal of a paste")
            assert app.screen.filter.value == ""
            app.screen.filter.value = f"openai:{other}"
            await until(lambda: names(app) == [], "no model")
            await pilot.press("enter", "enter")
            assert "looks like a key" in shown(app)
            await pilot.press("escape")
            await send(pilot, "/name Kept")
            await until(lambda: world.workspace.current.published, "the journal")
            assert other not in notices(app)
            files = [each for each in world.root.parent.rglob("*") if each.is_file()]
            assert not [each for each in files if other in each.read_text("utf-8", "replace")]
