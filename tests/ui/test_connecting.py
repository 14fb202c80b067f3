"""From a bare machine to a model that answers, and every refusal on the way."""

import socket
import threading
from contextlib import asynccontextmanager

import pytest
from textual.widgets import Input

from tests.providers.chat_server import (
    ChatServer,
    Gate,
    answers,
    is_silent,
    refuses,
    sends,
)
from tests.providers.relay import ForwardProxy
from tests.ui.connecting import (
    KEY,
    BareMachine,
    choose,
    enter,
    enter_model,
    opened,
    paste,
    shown,
    step,
)
from tests.ui.screen import (
    close,
    go_to,
    have_answered,
    notices,
    send,
    status,
    terminal_rows,
    type_at_once,
    words,
)
from tests.waiting import SECONDS, until
from tui.config.loading import load_connections
from tui.engine.provider_connections import ProviderConnections

pytestmark = pytest.mark.full

MODELS = ["gpt-6-luna", "gpt-6", "gpt-6-nova"]
OWN = "Server of your own"
ADDRESS = "http://127.0.0.1:9"


@pytest.fixture
def bare(tmp_path):
    """Makes a machine on which nothing is connected; OpenAI is the given server."""

    def bare(server=None, **environ):
        given = {"OPENAI_BASE_URL": server.base_url} if server else {}
        return BareMachine(tmp_path / "data", **given, **environ)

    return bare


@pytest.fixture
def asked(bare):
    """Runs a bare machine up to the first step after a provider was chosen."""

    @asynccontextmanager
    async def asked(then, provider="OpenAI", server=None, size=(120, 40), **environ):
        machine = bare(server, **environ)
        async with machine.running(size=size) as (app, pilot):
            await opened(app, pilot)
            await choose(app, pilot, provider)
            await step(app, then)
            yield machine, app, pilot

    return asked


async def connect_openai(app, pilot, letters=""):
    await opened(app, pilot)
    await choose(app, pilot, "OpenAI")
    await step(app, "key")
    await enter(app, pilot, KEY)
    await enter_model(app, pilot, letters)


async def hears(app, pilot, machine, answer):
    await have_answered(machine, pilot, "Hi", answer)


def connections(machine):
    return load_connections(machine.config / "connections.toml")


@pytest.mark.fast
async def test_from_a_bare_machine_to_an_answer_in_five_keys_and_a_pasted_key(bare):
    with ChatServer(*[answers("Hello there.")] * 2, models=MODELS, key=KEY) as server:
        machine = bare(server)
        async with machine.running() as (app, pilot):
            await opened(app, pilot)
            await pilot.press("down", "enter")
            await step(app, "key")
            await enter(app, pilot, f"{KEY}\n")
            await enter_model(app, pilot)
            await until(lambda: "openai:gpt-6-luna" in status(app), "the model")
            await hears(app, pilot, machine, "Hello there.")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        machine.restart()
        async with machine.running() as (app, pilot):
            await until(lambda: "openai:gpt-6-luna" in status(app), "the model")
            await hears(app, pilot, machine, "Hello there.")


@pytest.mark.fast
async def test_sessions_that_only_the_guide_answered_go_on_with_it(bare):
    with ChatServer(answers("One."), answers("Two."), models=MODELS, key=KEY) as server:
        machine = bare(server)
        async with machine.running() as (app, pilot):
            await hears(app, pilot, machine, "guide")
            first = machine.workspace.current.id
            await pilot.press("ctrl+n")
            await until(lambda: machine.workspace.current.id != first, "the new session")
            await hears(app, pilot, machine, "guide")
            await connect_openai(app, pilot)
            await hears(app, pilot, machine, "One.")
            await go_to(app, pilot, first)
            await until(lambda: "built-in guide" in words(app), "the first session")
            await hears(app, pilot, machine, "Two.")
        for request in server.requests:
            assert [message["content"] for message in request.body["messages"]] == ["Hi"]


async def test_a_session_that_another_window_holds_is_told_and_the_connection_kept(bare):
    with ChatServer(models=MODELS, key=KEY) as server:
        machine = bare(server)
        held = await machine.session("Hello")
        lease = machine.other_program().lease(held)
        async with machine.running(held) as (app, pilot):
            await connect_openai(app, pilot)
            await until(lambda: "is read-only here" in notices(app), "the reason")
        lease.release()
    assert connections(machine).model == "openai:gpt-6-luna"


# --- keys


@pytest.mark.fast
async def test_a_key_is_in_no_file_but_its_own_and_never_on_screen(asked, tmp_path, private_home):
    seen = []
    with ChatServer(answers("Hello."), models=MODELS, key=KEY) as server:
        async with asked("key", server=server) as (machine, app, pilot):
            await paste(app, pilot, f"{KEY}x")
            seen.append(app.export_screenshot())
            await pilot.press("enter")
            await until(lambda: "refused the key (status 401)" in shown(app), "the refusal")
            seen.append(app.export_screenshot())
            # It stays, to be mended.
            await pilot.press("backspace", "enter")
            await step(app, "model")
            seen.append(app.export_screenshot())
            await enter_model(app, pilot)
            await hears(app, pilot, machine, "Hello.")
            seen.append(app.export_screenshot())
            assert app.clipboard == ""
    assert not any(KEY[:12] in picture for picture in seen)
    places = [place for top in (tmp_path, private_home) for place in top.rglob("*")]
    files = [place for place in places if place.is_file()]
    holding = [place for place in files if KEY[:12].encode() in place.read_bytes()]
    assert [place.name for place in holding] == ["openai.key"]
    assert holding[0].stat().st_mode & 0o777 == 0o600


async def test_a_masked_key_cannot_be_copied_and_what_cannot_be_a_key_is_not_sent(asked):
    with ChatServer(models=MODELS) as server:
        async with asked("key", server=server) as (_, app, pilot):
            await paste(app, pilot, KEY)
            for keys in (("ctrl+a", "ctrl+c"), ("shift+home", "ctrl+c"), ("shift+home", "ctrl+x")):
                await pilot.press(*keys)
            assert app.clipboard == ""
            assert app.screen.key.value == KEY
            for text in ("", "two words", "é"):
                app.screen.key.value = ""
                await enter(app, pilot, text)
                await until(lambda: "This is not a key" in shown(app), f"the refusal of {text!r}")
        assert server.questions == []


def on_disk(machine):
    """All that is on disk of this machine, but for the files of keys."""
    files = [each for each in machine.root.parent.rglob("*") if each.is_file()]
    return "\n".join(each.read_text("utf-8", "replace") for each in files if each.suffix != ".key")


@pytest.mark.fast
async def test_a_key_pasted_among_the_models_leads_to_its_own_field(asked):
    with ChatServer(models=MODELS, key=KEY) as server:
        async with asked("model", server=server, OPENAI_API_KEY=KEY) as (machine, app, pilot):
            await paste(app, pilot, f"{KEY}\n")
            await step(app, "key")
            await until(lambda: app.screen.key.value == KEY, "the key")
            assert "Enter tests the pasted key." in shown(app)
            assert KEY not in "\n".join(terminal_rows(app))
            await pilot.press("enter")
            await step(app, "model")
            assert app.screen.filter.value == ""
            await enter_model(app, pilot)
        assert KEY not in on_disk(machine)


@pytest.mark.fast
async def test_a_key_or_a_sentence_typed_among_the_models_is_refused_and_not_repeated(asked):
    with ChatServer(models=MODELS, key=KEY) as server:
        async with asked("model", server=server, OPENAI_API_KEY=KEY) as (machine, app, pilot):
            for typed, told in ((KEY, "looks like a key"), ("two words", "cannot be the name")):
                app.screen.filter.value = typed
                await pilot.pause()
                assert typed not in shown(app)
                await pilot.press("enter")
                await until(lambda told=told: told in shown(app), told)
                assert typed not in shown(app)
            assert not server.requests
            app.screen.filter.value = ""
            await enter_model(app, pilot)
        assert KEY not in on_disk(machine)
    # The environment has it.
    assert connections(machine).model == "openai:gpt-6-luna"
    assert not (machine.config / "keys").exists()


async def test_a_wrong_key_of_the_environment_is_replaced_by_a_pasted_one(asked):
    wrong = "sk-wrong-0123456789"
    with ChatServer(answers("Hello."), models=MODELS, key=KEY) as server:
        async with asked("key", server=server, OPENAI_API_KEY=wrong) as (machine, app, pilot):
            assert "refused the key" in shown(app)
            await enter(app, pilot, KEY)
            await enter_model(app, pilot)
            await hears(app, pilot, machine, "Hello.")


async def test_a_key_goes_to_no_provider_that_was_chosen_before_and_looked_up_late(
    bare, monkeypatch
):
    look_up, disk, is_late = ProviderConnections.connection, threading.Event(), threading.Event()

    def look_up_slowly(manager, name):
        found = look_up(manager, name)
        if name == "anthropic":
            disk.wait(SECONDS)
            is_late.set()
        return found

    monkeypatch.setattr(ProviderConnections, "connection", look_up_slowly)
    with ChatServer(models=MODELS, key=KEY) as server, ChatServer() as other:
        async with bare(server, ANTHROPIC_BASE_URL=other.root).running() as (app, pilot):
            await opened(app, pilot)
            await choose(app, pilot, "Anthropic")
            await choose(app, pilot, "OpenAI")
            await step(app, "key")
            disk.set()
            await until(is_late.is_set, "the slow disk")
            await pilot.pause()
            await enter(app, pilot, KEY, "model")
            await until(lambda: "gpt-6-luna" in shown(app), "the models")
        assert other.requests == []


# --- the steps of each kind of provider


async def test_the_providers_are_filtered_while_one_types(bare):
    async with bare().running() as (app, pilot):
        for typed, provider, then, says in (
            ("face", "Hugging Face", "key", "made at https://huggingface.co/settings/tokens"),
            ("mine", OWN, "address", "Connect your own server: type its address"),
        ):
            await opened(app, pilot)
            await pilot.press(*typed)
            assert [choice.text for choice in app.screen.choices.lines] == [provider]
            await pilot.press("enter")
            await step(app, then)
            assert says in shown(app)
            # Enter would choose another provider, if the highlight did not stay on this one.
            await pilot.press("escape")
            await step(app, "provider")
            await pilot.pause()
            assert app.screen.choices.highlighted.text == provider
            await close(app, pilot)


async def test_of_what_is_given_to_the_list_an_address_is_that_of_a_server_and_a_key_is_not_shown(
    bare,
):
    async with bare().running() as (app, pilot):
        for pasted in (True, False):
            await opened(app, pilot)
            if pasted:
                await paste(app, pilot, f"{ADDRESS}\n")
            else:
                await pilot.press(*ADDRESS)
            await pilot.press("enter")
            await step(app, "address")
            assert app.screen.address.value == ADDRESS
            await pilot.press("escape", "escape")
            await until(lambda: app.screen is app.chat, "the chat")
        await opened(app, pilot)
        await paste(app, pilot, KEY)
        assert "Choose the provider first" in shown(app)
        assert not any(KEY in line.value for line in app.screen.query(Input))


async def test_what_was_typed_stays_when_a_server_is_found_and_it_needs_no_address(bare):
    with ChatServer(ollama_models=["qwen3:4b"]) as server:
        async with bare(OLLAMA_HOST=f"127.0.0.1:{server.port}").running() as (app, pilot):
            await opened(app, pilot)
            await pilot.press("l")
            await until(lambda: "running" in shown(app), "the Ollama")
            assert app.screen.filter.value == "l"
            await choose(app, pilot, "Ollama")
            await enter_model(app, pilot)
            await until(lambda: "ollama:qwen3:4b" in status(app), "the model")


async def test_an_ollama_that_does_not_answer_asks_for_its_address(asked):
    with ChatServer(ollama_models=["qwen3:4b"]) as server:
        async with asked("address", "Ollama", OLLAMA_HOST="") as (_, app, pilot):
            assert "127.0.0.1:11434" in app.screen.address.value
            app.screen.address.value = ""
            await enter(app, pilot, f"127.0.0.1:{server.port}", "model")


async def test_a_local_server_asks_for_its_address_if_it_is_elsewhere(asked):
    with ChatServer(models=["qwen3"]) as server:
        async with asked("address", "vLLM") as (machine, app, pilot):
            assert app.screen.address.value == "http://127.0.0.1:8000/v1"
            await enter(app, pilot, server.root)
            await enter_model(app, pilot)
            await until(lambda: "vllm:qwen3" in status(app), "the model")
    assert connections(machine).providers["vllm"].base_url == server.base_url


async def test_a_provider_whose_extra_is_missing_names_the_command_and_then_takes_a_model(
    bare, monkeypatch
):
    monkeypatch.setattr("tui.providers.catalog.find_spec", lambda _: None)
    async with bare().running() as (app, pilot):
        await opened(app, pilot)
        await choose(app, pilot, "Amazon Bedrock")
        said = 'install "sibyl-tui[bedrock]"'
        await until(lambda: said in shown(app), "the command")
        assert app.screen.step == "provider"
        monkeypatch.setattr("tui.providers.catalog.find_spec", lambda name: name)
        await choose(app, pilot, "Amazon Bedrock")
        await step(app, "model")
        assert "This server lists no models" in shown(app)
        await enter(app, pilot, "global.model-1")
        await until(lambda: "bedrock:global.model-1" in status(app), "the model")


async def test_azure_asks_for_its_address_and_its_key(asked):
    with ChatServer(models=["mine"]) as server:
        async with asked("address", "Azure OpenAI") as (machine, app, pilot):
            assert "https://RESOURCE.openai.azure.com/openai/v1" in shown(app)
            await enter(app, pilot, server.base_url, "key")
            await enter(app, pilot, KEY)
            await enter_model(app, pilot)
            await until(lambda: "azure:mine" in status(app), "the model")
        assert server.questions[0].headers["api-key"] == KEY
    assert connections(machine).providers["azure"].base_url == server.base_url


@pytest.mark.fast
async def test_a_server_of_ones_own_needs_an_address_only(asked):
    with ChatServer(answers("Locally."), models=["qwen3"]) as server:
        async with asked("address", OWN) as (machine, app, pilot):
            await enter(app, pilot, server.root.removeprefix("http://"))
            await enter_model(app, pilot)
            await until(lambda: "local:qwen3" in status(app), "the model")
            await hears(app, pilot, machine, "Locally.")
    assert connections(machine).providers["local"].base_url == server.base_url


async def test_a_server_of_ones_own_that_wants_a_key_asks_for_it(asked):
    with ChatServer(models=["qwen3"], key=KEY) as server:
        async with asked("address", OWN) as (_, app, pilot):
            await enter(app, pilot, server.base_url, "key")
            assert "requires a key" in shown(app)
            await enter(app, pilot, KEY, "model")


@pytest.mark.parametrize("status", [400, 500])
async def test_a_gateway_that_fails_without_a_key_and_with_a_wrong_one_asks_for_it(asked, status):
    failing = refuses(status, "No connected db.")
    listing = sends(b'{"data": [{"id": "qwen3"}]}', "application/json")
    with ChatServer(lists=[failing, failing, listing]) as server:
        async with asked("address", OWN) as (_, app, pilot):
            await enter(app, pilot, server.base_url, "key")
            assert "It may require a key." in shown(app)
            await enter(app, pilot, "sk-wrong")
            await until(lambda: "require a key" not in shown(app), "the second request")
            await until(lambda: "No connected db." in shown(app), "the failure")
            assert app.screen.step == "key"
            await enter(app, pilot, KEY, "model")


async def test_a_server_without_a_list_is_checked_with_the_model_that_is_named(asked):
    with ChatServer(refuses(400, "No such model."), sends(b"{}", "application/json")) as server:
        async with asked("address", OWN) as (_, app, pilot):
            await enter(app, pilot, server.base_url, "model")
            assert "Type the name of one" in shown(app)
            await pilot.press(*"mine", "enter")
            await until(lambda: "No such model." in shown(app), "the refusal")
            assert app.screen.filter.value == "mine"
            await pilot.press("enter")
            await until(lambda: "local:mine" in status(app), "the model")


# --- what goes wrong, and the ways back


async def test_what_is_no_address_and_a_server_that_is_not_there_are_said_in_place(asked):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        place = f"127.0.0.1:{gone.getsockname()[1]}"
    refused = ("", "http://", "ftp://host", "two words", "http://u:p@host/v1")
    async with asked("address", OWN) as (_, app, pilot):
        for text, told in (
            *((each, "This is not an address") for each in refused),
            (place, f"{place} refused the connection"),
        ):
            app.screen.address.value = ""
            await enter(app, pilot, text)
            await until(lambda told=told: told in shown(app), f"the refusal of {text!r}")
            assert app.screen.address.value == text


async def test_a_server_that_fails_is_said_in_place(asked):
    failing = (
        (sends(b"<html>login", "text/html"), "sent a web page"),
        (refuses(500), "failed with status 500"),
        (sends(b"hello", "text/plain"), "sent no JSON"),
    )
    with ChatServer(lists=[reply for reply, _ in failing]) as server:
        async with asked("key", server=server) as (_, app, pilot):
            await paste(app, pilot, KEY)
            for _, said in failing:
                await pilot.press("enter")
                await until(lambda said=said: said in shown(app), said)
                assert app.screen.step == "key"


@pytest.mark.fast
async def test_a_server_is_connected_through_the_proxy_that_the_environment_names(
    asked, monkeypatch
):
    address = "http://model.example/v1"
    with (
        ChatServer(answers("Hello there."), models=MODELS, key=KEY) as server,
        ForwardProxy(server.port) as proxy,
    ):
        monkeypatch.setenv("http_proxy", proxy.root)
        async with asked("key", OPENAI_BASE_URL=address) as (machine, app, pilot):
            await enter(app, pilot, KEY)
            await enter_model(app, pilot)
            await hears(app, pilot, machine, "Hello there.")
    assert f"GET {address}/models" in proxy.log


async def test_esc_stops_waiting_for_a_server_that_hangs_and_goes_back_step_by_step(asked):
    gate = Gate()
    listing = sends(b'{"data": [{"id": "gpt-6"}]}', "application/json")
    with ChatServer(lists=[is_silent(gate), listing, listing]) as server:
        async with asked("key", server=server) as (_, app, pilot):
            await enter(app, pilot, KEY)
            await until(lambda: "Asking" in shown(app), "the question")
            await pilot.press("escape")
            await until(lambda: "Stopped" in shown(app), "the stop")
            assert app.screen.key.value == KEY
            await pilot.press("enter")
            await step(app, "model")
            await pilot.press("escape")
            await step(app, "key")
            assert app.screen.key.value == KEY
            await pilot.press("enter")
            await step(app, "model")
            type_at_once(app, "<escape><escape>", in_one_read=True)
            await step(app, "provider")
            await close(app, pilot)
            gate.open()


async def test_esc_leaves_a_step_whose_work_has_failed_unexpectedly(asked, monkeypatch):
    def fail(*_):
        raise ValueError("odd")

    monkeypatch.setattr(ProviderConnections, "with_key", fail)
    async with asked("key") as (machine, app, pilot):
        machine.defect = ValueError
        await enter(app, pilot, KEY)
        await until(lambda: app.defects.first, "the defect")
        await pilot.press("escape")
        await step(app, "provider")


@pytest.mark.fast
async def test_a_connection_is_removed_with_its_key_after_asking(bare):
    with ChatServer(models=MODELS, key=KEY) as server:
        machine = bare(server)
        async with machine.running() as (app, pilot):
            await connect_openai(app, pilot, "nova")
            await opened(app, pilot)
            assert "connected" in shown(app)
            await pilot.press("delete")
            await until(lambda: "Remove OpenAI" in shown(app), "the question")
            await pilot.press("escape")
            await until(lambda: "Remove" not in shown(app), "the answer")
            assert (machine.config / "keys" / "openai.key").exists()
            await pilot.press("delete", "delete")
            await until(lambda: "Removed" in shown(app), "the removal")
            assert "connected" not in shown(app)
    assert not (machine.config / "keys" / "openai.key").exists()
    assert connections(machine).providers == {}


async def test_a_place_that_cannot_be_written_is_said_in_place(bare, asked):
    with ChatServer(models=MODELS, key=KEY) as server:
        config = bare(server).config
        config.mkdir()
        (config / "keys").write_text("no directory")
        async with asked("key", server=server) as (_, app, pilot):
            await enter(app, pilot, KEY, "model")
            await pilot.press("enter")
            await until(lambda: "Cannot write" in shown(app), "the failure")
            assert app.screen.step == "model"


async def test_it_is_opened_by_command_and_palette_as_well(bare):
    async with bare().running() as (app, pilot):
        await send(pilot, "/connect")
        await step(app, "provider")
        await close(app, pilot)
        await pilot.press("ctrl+p", *"connect a model")
        await until(lambda: "Connect a model" in app.export_screenshot().replace("&#160;", " "))
        await pilot.press("enter")
        await step(app, "provider")


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_it_is_usable_on_small_screens(asked, size):
    with ChatServer(models=MODELS, key=KEY) as server:
        async with asked("key", server=server, size=size) as (_, app, pilot):
            screen = app.screen
            await until(lambda: screen.key.size.width > 20, "the line")
            await enter(app, pilot, f"{KEY}x")
            await until(lambda: "refused the key" in shown(app), "the refusal")
            assert screen.key.region.bottom < size[1]
            await pilot.press("backspace", "enter")
            await step(app, "model")
            await until(lambda: screen.choices.size.height >= 3, "the models")
            assert screen.choices.region.bottom < size[1]
