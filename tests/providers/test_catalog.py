"""The choice of a model, the local Ollama that may be it, and what is said about it."""

import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer
from tests.samples import rows
from tests.tables import each_row
from tui.config.settings_schema import Connections, ProviderSettings
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.catalog import Catalog, address_from_host, chat_models, first_model
from tui.storage.connections import write_key

KEY = "sk-test-0123456789"
OPENAI = {"OPENAI_API_KEY": KEY}
ANTHROPIC = {"ANTHROPIC_API_KEY": KEY}
SERVER = (
    '[providers.local]\nbase_url = "http://127.0.0.1:8080/v1"\nmodels = ["qwen3", "qwen3:4b"]\n'
)
GUIDE = "offline:guide"


def nothing(_) -> None:
    return None


def llama(_) -> str:
    return "llama3.2"


@pytest.fixture
def catalog(settings_with):
    """``catalog(text, environ, find_ollama, model)``: by a file, the environment and a flag."""

    def catalog(text="", environ=None, find_ollama=nothing, model=None) -> Catalog:
        return Catalog(settings_with(text, {}, model), environ or {}, find_ollama)

    return catalog


class TestTheFirstThatIsFound:
    @each_row("environ, text, ollama, name", rows(__file__, "first_models"))
    def test_is_taken(self, catalog, environ, text, ollama, name):
        choice, _ = catalog(text, environ, lambda _: ollama).choose()
        assert choice.name == name

    @each_row(
        "environ, text, address",
        [
            ({"OLLAMA_HOST": "127.0.0.1:8000"}, "", "http://127.0.0.1:8000/v1"),
            ({}, "", "http://127.0.0.1:11434/v1"),
            ({}, '[providers.ollama]\nbase_url = "http://own:9/v1"', "http://own:9/v1"),
        ],
    )
    def test_is_asked_of_the_ollama_that_is_meant(self, catalog, environ, text, address):
        asked: list[str] = []
        catalog(text, environ, asked.append).choose()
        assert asked == [address]

    def test_is_not_asked_for_where_something_else_was_found(self, catalog):
        def find(_) -> str:
            pytest.fail("Ollama was asked")

        for text, environ, model in (
            ("", OPENAI, None),
            ("", ANTHROPIC, None),
            (SERVER, {}, None),
            ("", {}, GUIDE),
        ):
            catalog(text, environ, find, model).choose()

    @each_row("environ, text, notices", rows(__file__, "passed_over"))
    def test_is_told_with_what_was_passed_over(self, catalog, environ, text, notices):
        _, told = catalog(text, environ).choose()
        assert len(told) == len(notices)
        assert all(map(str.startswith, told, notices))

    @each_row("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    def test_may_have_either_key_of_google(self, catalog, variable):
        choice, _ = catalog("", {variable: KEY}).choose()
        assert choice.key is not None
        assert choice.key.source == variable


class TestTheOneThatWasAskedFor:
    @each_row("asked, name", rows(__file__, "asked_for"))
    def test_is_taken_whatever_else_there_is(self, catalog, asked, name):
        choice, notices = catalog(SERVER, OPENAI | ANTHROPIC, llama, asked).choose()
        assert (choice.name, notices) == (name, ())

    @each_row(
        "variable, flag, proposed, name",
        [
            ({"SIBYL_MODEL": "openai:variable"}, "openai:flag", None, "openai:flag"),
            ({"SIBYL_MODEL": "openai:variable"}, None, None, "openai:variable"),
            ({}, None, None, "openai:file"),
            ({}, "local:other", "local:qwen3:4b", "local:other"),
            ({"SIBYL_MODEL": "local:other"}, None, "local:qwen3:4b", "local:other"),
        ],
    )
    def test_by_a_flag_comes_before_the_variable_and_that_before_the_session_and_the_file(
        self, settings_with, variable, flag, proposed, name
    ):
        settings = settings_with(f'model = "openai:file"\n{SERVER}', variable, flag)
        choice, notices = Catalog(settings, OPENAI | variable, nothing).choose(proposed)
        assert (choice.name, notices) == (name, ())

    @each_row("asked, said", rows(__file__, "not_to_be_had"))
    def test_but_cannot_be_had_is_told_with_what_to_do(self, catalog, tmp_path, asked, said):
        text = (
            '[providers.keyed]\nbase_url = "http://h/v1"\napi_key_env = "KEYED_API_KEY"\n'
            '[providers.bare]\nbase_url = "http://h/v1"\n'
        )
        with pytest.raises(ModelUnavailable) as caught:
            catalog(text, model=asked).choose()
        told = str(caught.value).replace(str(tmp_path / "config.toml"), "FILE")
        assert said in (told[: len(said)], told[-len(said) :])


class TestWhatASessionProposes:
    TEXT = f'model = "local:qwen3"\n{SERVER}'

    @each_row("proposed, environ, name, notices", rows(__file__, "proposed"))
    def test_is_taken_only_if_the_settings_know_it_and_told_if_another_model_answers(
        self, catalog, proposed, environ, name, notices
    ):
        made = catalog(self.TEXT, environ)
        choice, told = made.choose(proposed)
        assert (choice.name, list(told)) == (name, notices)
        assert made.is_known(proposed) == (proposed == name)


class TestTheChoice:
    @each_row("environ, text, model, fields", rows(__file__, "servers"))
    def test_has_what_the_environment_says_else_the_settings_else_the_table(
        self, catalog, environ, text, model, fields
    ):
        choice, _ = catalog(text, environ, model=model).choose()
        server = msgspec.json.decode(msgspec.json.encode(choice.provider))
        window, images = choice.configured_window, choice.configured_images
        found = {**server, "configured_window": window, "configured_images": images}
        assert {name: found[name] for name in fields} == fields
        assert choice.context_window == (window or choice.provider.context_window)

    def test_shows_neither_key_nor_headers_nor_the_address_of_a_proxy(self, catalog):
        text = (
            'model = "gate:m"\nproxy = "http://me:pass@above:1"\n[providers.gate]\n'
            'base_url = "http://gate"\nheaders = { X-Team = "blue" }\napi_key_env = "GATE_KEY"\n'
        )
        configured = catalog(text, {"GATE_KEY": KEY})
        choice, _ = configured.choose()
        server = choice.provider
        assert (server.proxy, server.headers) == ("http://me:pass@above:1", {"X-Team": "blue"})
        for secret in ("blue", "me:pass", KEY):
            assert secret not in f"{configured!r} {choice!r} {choice} {server!r}"

    @each_row(
        "variable, model",
        [
            ("OPENAI_BASE_URL", "openai"),
            ("ANTHROPIC_BASE_URL", "anthropic"),
            ("OLLAMA_HOST", "ollama:a"),
        ],
    )
    def test_with_a_variable_that_is_no_address_is_an_error(self, catalog, variable, model):
        with pytest.raises(ConfigError, match=f"^environment: {variable}: expected the address"):
            catalog("", OPENAI | {variable: "http://[zz"}, model=model).choose()

    @each_row(
        "settings, environ, source",
        [
            ("", OPENAI, "OPENAI_API_KEY"),
            ('api_key_file = "my.key"', {}, "my.key"),
            ('api_key_file = "none"', OPENAI, "OPENAI_API_KEY"),
            ('api_key_env = "OTHER_KEY"', OPENAI | {"OTHER_KEY": KEY}, "OTHER_KEY"),
        ],
    )
    def test_has_the_key_of_the_variable_before_that_of_a_file(
        self, catalog, tmp_path, settings, environ, source
    ):
        (tmp_path / "my.key").write_text(KEY)
        (tmp_path / "my.key").chmod(0o600)
        choice, _ = catalog(f"[providers.openai]\n{settings}", environ).choose()
        assert choice.key is not None
        assert choice.key.reveal() == KEY
        assert choice.key.source.removeprefix(f"{tmp_path}/") == source

    @each_row("model", ["ollama:a", "local:m"])
    def test_has_no_key_of_anyone_elses(self, catalog, model):
        assert catalog(SERVER, OPENAI, model=model).choose()[0].key is None

    def test_with_a_key_file_that_others_may_read_is_an_error(self, catalog, tmp_path):
        (tmp_path / "openai.key").write_text(KEY)
        (tmp_path / "openai.key").chmod(0o644)
        with pytest.raises(ConfigError, match="chmod 600") as caught:
            catalog('[providers.openai]\napi_key_file = "openai.key"').choose()
        assert KEY not in str(caught.value)


class TestAConnection:
    """What was connected on the screen comes below the user's own settings."""

    @pytest.fixture
    def connected(self, settings_with, tmp_path):
        def connected(text="", environ=None, model="openai:gpt-6", flag=None) -> Catalog:
            key = write_key(tmp_path / "connections.toml", "openai", "sk-pasted-0123456789")
            openai = ProviderSettings(api_key_file=str(key))
            kept = Connections(model=model, recent=("openai:gpt-6",), providers={"openai": openai})
            settings = replace(settings_with(text, {}, flag), connections=kept)
            return Catalog(settings, environ or {}, nothing)

        return connected

    @each_row(
        "text, environ, flag, name",
        [
            ("", {}, None, "openai:gpt-6"),
            ("", ANTHROPIC, None, "openai:gpt-6"),
            (f'model = "local:qwen3"\n{SERVER}', {}, None, "local:qwen3"),
            ("", {}, "openai:other", "openai:other"),
        ],
    )
    def test_answers_after_flag_and_configuration_and_before_the_first_variable(
        self, connected, text, environ, flag, name
    ):
        choice, _ = connected(text, environ, flag=flag).choose()
        assert choice.name == name

    @each_row(
        "text, environ, key",
        [
            ("", OPENAI, "sk-pasted-0123456789"),
            ('[providers.openai]\napi_key_env = "OTHER_KEY"', {"OTHER_KEY": KEY}, KEY),
        ],
    )
    def test_has_the_pasted_key_before_the_usual_variable_but_not_before_a_configured_one(
        self, connected, text, environ, key
    ):
        choice, _ = connected(text, environ).choose()
        assert choice.key.reveal() == key

    def test_whose_key_is_gone_asks_for_a_new_one(self, connected, tmp_path):
        catalog = connected()
        (tmp_path / "keys" / "openai.key").unlink()
        with pytest.raises(ModelUnavailable, match=r"The key of openai cannot be used.* F5 takes"):
            catalog.choose()

    @each_row(
        "name, is_known",
        [("openai:gpt-6", True), ("openai:gpt-6-luna", True), ("openai:gpt-dear", False)],
    )
    def test_lets_a_session_have_the_models_that_were_chosen(self, connected, name, is_known):
        assert connected(model=None).is_known(name) == is_known


@each_row("host, address", rows(__file__, "ollama_hosts"))
def test_a_host_means_an_address(host: str, address: str):
    assert address_from_host(host) == address


def test_a_host_that_cannot_be_looked_up_has_no_models_and_python_prints_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    printed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)
    assert chat_models("http://a..b/v1", deadline=30) == ()
    assert printed == []


@each_row(
    "models, found",
    [
        (["qwen3:4b", "nomic-embed-text", "llama3.2:3b"], ("qwen3:4b", "llama3.2:3b")),
        (["nomic-embed-text", "qwen3"], ("qwen3",)),
        (["nomic-embed-text"], ()),
        ([], ()),
    ],
)
def test_its_chat_models_are_known_in_its_own_order(models: list[str], found: tuple[str, ...]):
    with ChatServer(ollama_models=models) as server:
        assert chat_models(server.base_url, deadline=30) == found
        assert first_model(server.base_url, deadline=30) == next(iter(found), None)


def test_none_is_found_where_nobody_listens():
    assert first_model("http://127.0.0.1:1/v1") is None


@each_row("drop", [b"", b"x"])
def test_one_that_says_nothing_or_next_to_nothing_is_not_waited_for(drop: bytes):
    ended = threading.Event()

    def drip(server: socket.socket) -> None:
        # The first connection only finds out whether anybody listens.
        server.accept()[0].close()
        connection, _ = server.accept()
        with connection:
            while not ended.wait(0.02):
                with suppress(OSError):
                    connection.sendall(drop)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        dripping = threading.Thread(target=drip, args=(server,))
        dripping.start()
        found = first_model(f"http://127.0.0.1:{server.getsockname()[1]}/v1", deadline=0.1)
        ended.set()
        dripping.join()
    # Were it waited for, it would be for ever.
    assert found is None


@each_row("listed", rows(__file__, "no_chat_models"))
def test_a_list_without_a_chat_model_has_none(listed: Any):
    with ChatServer(facts={"/api/tags": lambda: listed}) as server:
        assert chat_models(server.base_url, deadline=30) == ()
        assert server.questions


def test_where_nobody_listens_no_library_is_needed_to_find_that_out():
    code = (
        "import sys\n"
        "from tui.providers.catalog import first_model\n"
        "before = {*sys.modules}\n"
        "assert first_model('http://127.0.0.1:1/v1', 30) is None\n"
        "print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"encodings.idna", "stringprep", "unicodedata"}
