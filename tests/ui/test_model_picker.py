"""The model picker: the models of every connected server, and one of them chosen."""

from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from textual import events

from tests.providers.chat_server import ChatServer, Gate, answers, is_silent, sends
from tests.ui.connecting import KEY, BareMachine
from tests.ui.screen import (
    close,
    conversation,
    have_answered,
    notice,
    notices,
    send,
    status,
    type_at_once,
)
from tests.visible_text import visible_text
from tests.waiting import until
from tui.config.loading import load_connections
from tui.screens.models import ModelScreen

pytestmark = pytest.mark.full

MODELS = ["gpt-6-luna", "gpt-6", "gpt-6-nova"]


@pytest.fixture
def running(tmp_path):
    """Runs a machine with a key for OpenAI, which is a server with these replies."""

    @asynccontextmanager
    async def running(*replies, config="", size=(120, 40), **served):
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config" / "config.toml").write_text(config)
        with ChatServer(*replies, **{"models": MODELS, **served}) as server:
            given = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
            world = BareMachine(tmp_path / "data", **given)
            world.server = server
            async with world.running(size=size) as (app, pilot):
                yield app, pilot, world

    return running


@pytest.fixture
def picking(running):
    """The same with the picker open, which all servers have answered."""

    @asynccontextmanager
    async def picking(*replies, **options):
        async with running(*replies, **options) as (app, pilot, world):
            await picker(app, pilot)
            yield app, pilot, world

    return picking


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
    return "\n".join([str(screen.words.content), *visible_text(screen.choices)])


def names(app):
    return [choice.id for choice in app.screen.choices.lines if choice.id]


@pytest.mark.fast
async def test_it_shows_the_servers_own_list_and_the_chosen_model_answers_also_after_a_start(
    picking,
):
    async with picking(answers("Hello."), key=KEY) as (app, pilot, world):
        assert names(app) == [*[f"openai:{name}" for name in MODELS], "offline:guide"]
        assert app.screen.choices.highlighted.mark == "●"
        await pilot.press(*"nova", "enter")
        await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
        await have_answered(world, pilot, "Hi", "Hello.")
        session_id = world.workspace.current.id
        world.restart()
    assert world.server.requests[0].body["model"] == "gpt-6-nova"
    async with world.running(session_id) as (app, pilot):
        await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
        assert "is not in your settings" not in conversation(app)
        await picker(app, pilot)
        assert names(app)[0] == "openai:gpt-6-nova"
    kept = load_connections(world.config / "connections.toml")
    assert kept.recent == ("openai:gpt-6-nova",)
    assert kept.model is None


async def test_enter_behind_letters_chooses_what_they_filter(picking):
    async with picking() as (app, _, _):
        type_at_once(app, "nova<enter>Hi", in_one_read=True)
        await until(lambda: "openai:gpt-6-nova" in status(app), "the model")
        await until(lambda: app.chat.prompt.text == "Hi", "the text")


async def test_esc_ends_the_command_that_was_to_print_a_key(running, tmp_path, monkeypatch):
    monkeypatch.setattr("tui.providers.secret.SECONDS", 600.0)
    begun = tmp_path / "pid"
    config = f"""[providers.local]
    base_url = "http://127.0.0.1:9/v1"
    key_command = ["sh", "-c", "echo $$ > {begun}; exec sleep 600"]
    """
    async with running(config=config) as (app, pilot, _):
        await pilot.press("f7")
        await until(lambda: begun.exists() and begun.read_text().endswith("\n"), "the command")
        await close(app, pilot)
        await until(lambda: not Path(f"/proc/{begun.read_text().strip()}/fd").exists(), "its end")


@pytest.mark.fast
async def test_a_typed_name_that_no_list_has_is_asked_about_and_then_used(picking):
    async with picking() as (app, pilot, _):
        await pilot.press(*"openai", "colon", *"own", "enter")
        await until(lambda: "Enter again uses it" in shown(app), "the question")
        await pilot.press("enter")
        await until(lambda: "openai:own" in status(app), "the model")
        await picker(app, pilot)
        assert app.screen.choices.highlighted.id == "openai:own"
        await pilot.press("f5")
        await until(lambda: getattr(app.screen, "step", "") == "provider", "the connections")


async def test_a_name_given_with_the_command_that_no_list_has_is_asked_about(running):
    async with running() as (app, pilot, _):
        for name, said in (
            ("openai:own", "openai:own"),
            ("nobody:x", 'There is no provider "nobody"'),
        ):
            await send(pilot, f"/model {name}")
            await until(lambda name=name: f'Use "{name}"' in shown(app), "the picker")
            await pilot.press("enter", "enter")
            await until(lambda said=said: said in f"{status(app)} {shown(app)}", said)


@pytest.mark.fast
async def test_a_server_that_does_not_answer_is_one_line_and_hides_nothing(picking):
    config = '[providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = ["mine"]\n'
    async with picking(config=config) as (app, _, _):
        await until(lambda: "gone: 127.0.0.1:9 refused the connection" in shown(app), "it")
        assert {"gone:mine", "openai:gpt-6-nova"} <= set(names(app))


async def test_a_server_that_hangs_holds_up_neither_the_others_nor_the_screen(running):
    gate = Gate()
    with ChatServer(lists=[is_silent(gate)]) as slow:
        config = f'[providers.slow]\nbase_url = "{slow.base_url}"\nmodels = ["mine"]\n'
        async with running(config=config) as (app, pilot, _):
            await pilot.press("f7")
            await until(lambda: "openai:gpt-6-nova" in shown(app), "the other's list")
            assert "slow: asking for its models" in shown(app)
            await close(app, pilot)
            gate.open()


async def test_a_list_is_asked_for_once_a_day_and_anew_by_ctrl_r(running):
    async with running() as (app, pilot, world):

        def asked():
            return len(world.server.questions)

        await until(lambda: world.workspace.current.model.known_window, "the model's window")
        before = asked()
        for _ in range(2):
            await picker(app, pilot)
            await close(app, pilot)
        assert asked() == before + 1
        world.clock.now += timedelta(hours=25)
        await picker(app, pilot)
        assert asked() == before + 2
        await pilot.press("ctrl+r")
        await until(lambda: asked() == before + 3, "the third")


async def test_names_of_a_server_are_harmless(picking):
    data = b'{"data": [{"id": "a[b]\\u202e"}, {"id": "[red]x"}]}'
    async with picking(lists=[sends(data, "application/json")]) as (app, _, _):
        assert "openai:[red]x" in names(app)
        assert "\u202e" not in shown(app)


async def test_tab_completes_the_models_of_a_server_that_answers_after_the_picker_was_closed(
    running,
):
    gate = Gate()

    def replies(exchange):
        exchange.wait(gate)
        sends(b'{"data": [{"id": "gpt-6-nova"}]}', "application/json")(exchange)

    async with running(lists=[replies]) as (app, pilot, _):
        await pilot.press("f7")
        await until(lambda: "openai: asking for its models" in shown(app), "the question")
        await close(app, pilot)
        gate.open()
        await until(lambda: "openai:gpt-6-nova" in app.chat.prompt.offers.models, "the names")
        await pilot.press(*"/model openai", "colon", *"gpt", "minus", *"6", "minus", *"no", "tab")
        await until(lambda: "openai:gpt-6-nova" in app.chat.prompt.text, "the name")


async def test_it_is_usable_on_small_screens(picking):
    async with picking(size=(80, 24)) as (app, pilot, _):
        for size in ((80, 24), (40, 10)):
            await pilot.resize_terminal(*size)
            await until(lambda size=size: app.screen.size == size, "the size")
            await until(lambda size=size: app.screen.choices.region.bottom < size[1], "the list")
            assert app.screen.choices.size.height >= 4
            assert "openai:gpt-6-luna" in shown(app)


@pytest.mark.fast
async def test_a_key_is_no_model_wherever_it_is_given_as_one(running):
    other = "gsk_Zq3x9TnV7LmPw2RkYb8Hd5sJ"
    async with running(key=KEY) as (app, pilot, world):
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
