"""Where the screen gets its models from, and how a local Ollama comes among them."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.providers.chat_server import PATIENCE, ChatServer
from tests.providers.conftest import asks, collected, text_of
from tui.config import Flags, Settings, load_settings
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.guide import PastHit
from tui.providers.source import LazyModel, ModelSource, UnavailableModel

KEY = "sk-test-0123456789"
OPENAI = {"OPENAI_API_KEY": KEY}
ANTHROPIC = {"ANTHROPIC_API_KEY": KEY}
SERVER = '[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["qwen3", "qwen3:4b"]\n'

SettingsWith = Callable[..., Settings]


@pytest.fixture
def settings_with(tmp_path: Path) -> SettingsWith:
    def settings_with(text: str = "", model: str | None = None) -> Settings:
        file = tmp_path / "config.toml"
        file.write_text(text)
        return load_settings(file, {}, Flags(model=model))

    return settings_with


def never(address: str) -> tuple[str, ...]:
    pytest.fail(f"{address} was asked")


class FakeOllama:
    """Answers with its models when it is let to."""

    def __init__(self, *models: str) -> None:
        self.models = models
        self.asked: list[tuple[str, threading.Thread]] = []
        self.may_answer = threading.Event()

    def find(self, address: str) -> tuple[str, ...]:
        self.asked.append((address, threading.current_thread()))
        assert self.may_answer.wait(PATIENCE)
        return self.models


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    fake = FakeOllama("llama3.2", "qwen3:4b")
    yield fake
    fake.may_answer.set()
    for _, thread in fake.asked:
        thread.join(PATIENCE)


class TestTheFirst:
    @pytest.mark.parametrize(
        ("environ", "text", "model", "name"),
        [
            ({}, "", None, "offline:guide"),
            (ANTHROPIC | OPENAI, SERVER, None, "anthropic:claude-sonnet-5-5"),
            (OPENAI, SERVER, None, "openai:gpt-6-luna"),
            ({}, SERVER, None, "local:qwen3"),
            ({}, SERVER, "local:qwen3:4b", "local:qwen3:4b"),
        ],
    )
    def test_is_what_is_there(self, settings_with: SettingsWith, environ, text, model, name):
        source = ModelSource(settings_with(text, model), environ, find_ollama=never)
        assert source.first().name == name

    def test_is_made_once(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(), OPENAI, find_ollama=never)
        assert source.first() is source.first()
        assert source.first() is source.named("openai:gpt-6-luna")
        assert source.first() is source.named("openai")
        assert source.first() is not source.named("openai:other")

    async def test_that_cannot_be_had_says_why_when_it_is_asked(self, settings_with: SettingsWith):
        model = ModelSource(settings_with(model="openai:gpt-x"), {}).first()
        assert isinstance(model, UnavailableModel)
        assert model.name == "openai:gpt-x"
        with pytest.raises(
            ModelUnavailable,
            match=r"openai requires a key\. Press F5",
        ):
            await collected(model.stream(asks()))

    def test_with_a_variable_that_is_wrong_is_an_error(self, settings_with: SettingsWith):
        environ = OPENAI | {"OPENAI_BASE_URL": "nowhere"}
        with pytest.raises(ConfigError):
            ModelSource(settings_with(), environ).first()

    async def test_if_it_is_the_guide_says_how_to_connect_one_and_searches(
        self, settings_with: SettingsWith
    ):
        source = ModelSource(settings_with(), {}, lambda _: [PastHit("session-1", "a hit")])
        answer = text_of(await collected(source.first().stream(asks())))
        assert "press F5 or type /connect" in answer
        assert "session-1: `a hit`" in answer


class TestTheOneOfASession:
    def test_is_taken_if_the_settings_know_it(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(SERVER), OPENAI)
        assert source.first().name == "openai:gpt-6-luna"
        model, notices = source.proposed("local:qwen3:4b")
        assert (model.name, notices) == ("local:qwen3:4b", ())

    def test_else_the_first_with_a_word_about_it(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(SERVER), OPENAI)
        model, notices = source.proposed("local:dear")
        assert model is source.first()
        said = "local:dear is not in your settings. openai:gpt-6-luna answers instead."
        assert notices == (said,)

    def test_of_a_new_session_comes_without_notices(self, settings_with: SettingsWith):
        environ = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
        source = ModelSource(settings_with(), environ, find_ollama=never)
        assert source.proposed(None)[1] == ()

    def test_may_be_none(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(), OPENAI)
        assert source.proposed(None) == (source.first(), ())

    def test_if_what_was_asked_for_cannot_be_had_says_so_when_it_is_asked(
        self, settings_with: SettingsWith
    ):
        source = ModelSource(settings_with(SERVER, "nobody:x"), {})
        model, notices = source.proposed("local:qwen3")
        assert isinstance(model, UnavailableModel)
        assert (model.name, notices) == ("nobody:x", ())


class TestTheOneThatWasNamed:
    def test_is_any_of_a_provider_whose_key_is_there(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(SERVER), ANTHROPIC)
        assert isinstance(source.named("anthropic:claude-x"), LazyModel)
        assert source.named("local:unlisted").name == "local:unlisted"
        assert source.named("offline").name == "offline:guide"

    @pytest.mark.parametrize("name", ["openai:gpt-x", "nobody:a", "gpt-4o", "", "ollama"])
    def test_is_an_error_if_it_cannot_be_had(self, settings_with: SettingsWith, name: str):
        with pytest.raises(ModelUnavailable):
            ModelSource(settings_with(), {}, find_ollama=never).named(name)


class TestTheNames:
    def test_are_all_that_the_settings_and_the_keys_know(self, settings_with: SettingsWith):
        text = (
            f'model = "openai:special"\n{SERVER}'
            '[providers.keyed]\nbase_url = "http://h/v1"\nmodels = ["a"]\napi_key_env = "NO_KEY"\n'
            '[providers.closed]\nbase_url = "http://h/v1"\nmodels = ["a"]\napi_key_file = "no"\n'
        )
        source = ModelSource(settings_with(text), OPENAI, find_ollama=never)
        assert source.names() == (
            "openai:special",
            "local:qwen3",
            "local:qwen3:4b",
            "openai:gpt-6-luna",
            "offline:guide",
        )

    def test_leave_out_what_a_wrong_variable_is_about(self, settings_with: SettingsWith):
        environ = ANTHROPIC | {"OLLAMA_HOST": "http://[zz"}
        source = ModelSource(settings_with(), environ)
        assert source.names() == ("anthropic:claude-sonnet-5-5", "offline:guide")

    def test_have_those_of_an_ollama_once_they_are_found(
        self, settings_with: SettingsWith, ollama: FakeOllama
    ):
        source = ModelSource(settings_with(), {}, find_ollama=ollama.find)
        source.look_for_ollama()
        assert source.names() == ("offline:guide",)
        ollama.may_answer.set()
        assert source.ollama_found(PATIENCE)
        assert source.names() == ("ollama:llama3.2", "ollama:qwen3:4b", "offline:guide")


class TestOtherSettings:
    def test_count_from_then_on(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(), {}, find_ollama=never)
        assert source.first().name == "offline:guide"
        source.use(settings_with(SERVER))
        assert source.first().name == "local:qwen3"

    def test_make_their_models_anew(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(), OPENAI, find_ollama=never)
        before = source.first()
        source.use(settings_with())
        assert source.first() is not before

    def test_are_joined_by_the_models_that_servers_list(self, settings_with: SettingsWith):
        source = ModelSource(settings_with(), OPENAI, find_ollama=never)
        source.know({"openai": ["gpt-6", "gpt-6-luna"]})
        assert source.names() == ("openai:gpt-6-luna", "offline:guide", "openai:gpt-6")


class TestALocalOllama:
    @pytest.mark.parametrize(
        ("environ", "text", "model"),
        [
            (OPENAI, "", None),
            (ANTHROPIC, "", None),
            ({}, SERVER, None),
            ({}, "", "offline:guide"),
            ({}, "", "ollama:named"),
            ({}, "", "nobody:x"),
            ({}, 'model = "ollama:mine"', None),
        ],
    )
    def test_is_not_asked_where_the_choice_does_not_hang_on_it(
        self, settings_with: SettingsWith, environ, text, model
    ):
        source = ModelSource(settings_with(text, model), environ, find_ollama=never)
        source.look_for_ollama(lambda: pytest.fail("found"))
        assert not source.ollama_found(0.01)

    def test_is_asked_in_a_daemon_thread_and_not_waited_for(
        self, settings_with: SettingsWith, ollama: FakeOllama
    ):
        source = ModelSource(settings_with(), {}, find_ollama=ollama.find)
        source.look_for_ollama()
        assert source.first().name == "offline:guide"
        assert not source.ollama_found()
        ollama.may_answer.set()
        assert source.ollama_found(PATIENCE)
        (asked,) = ollama.asked
        assert asked[0] == "http://127.0.0.1:11434/v1"
        assert asked[1].daemon

    def test_is_the_first_model_once_it_has_answered(
        self, settings_with: SettingsWith, ollama: FakeOllama
    ):
        source = ModelSource(settings_with(), {}, find_ollama=ollama.find)
        names: list[str] = []
        called = threading.Event()

        def on_found() -> None:
            names.append(source.first().name)
            called.set()

        source.look_for_ollama(on_found)
        ollama.may_answer.set()
        assert called.wait(PATIENCE)
        assert names == ["ollama:llama3.2"]
        assert source.named("ollama") is source.first()

    def test_answers_a_session_with_the_model_it_was_held_with(
        self, settings_with: SettingsWith, ollama: FakeOllama
    ):
        ollama.models = ("llama3.2", "qwen3:4b")
        ollama.may_answer.set()
        source = ModelSource(settings_with(), {}, find_ollama=ollama.find)
        source.look_for_ollama()
        assert source.ollama_found(PATIENCE)
        model, notices = source.proposed("ollama:qwen3:4b")
        assert (model.name, notices) == ("ollama:qwen3:4b", ())
        model, (told,) = source.proposed("ollama:gone")
        assert model.name == "ollama:llama3.2"
        assert told.startswith("ollama:gone is not in your settings")

    def test_without_a_model_is_not_told_of(self, settings_with: SettingsWith, ollama: FakeOllama):
        ollama.models = ()
        source = ModelSource(settings_with(), {}, find_ollama=ollama.find)
        source.look_for_ollama(lambda: pytest.fail("found"))
        ollama.may_answer.set()
        assert not source.ollama_found(PATIENCE)
        assert source.first().name == "offline:guide"

    def test_is_asked_once(self, settings_with: SettingsWith, ollama: FakeOllama):
        ollama.may_answer.set()
        source = ModelSource(settings_with(), {}, find_ollama=ollama.find)
        source.look_for_ollama()
        source.look_for_ollama()
        assert source.ollama_found(PATIENCE)
        assert len(ollama.asked) == 1

    def test_that_was_asked_for_without_a_model_has_one_when_it_has_answered(
        self, settings_with: SettingsWith, ollama: FakeOllama
    ):
        source = ModelSource(settings_with(model="ollama"), OPENAI, find_ollama=ollama.find)
        source.look_for_ollama()
        assert isinstance(source.first(), UnavailableModel)
        ollama.may_answer.set()
        assert source.ollama_found(PATIENCE)
        assert source.first().name == "ollama:llama3.2"

    def test_is_really_asked(self, settings_with: SettingsWith):
        with ChatServer(ollama_models=["qwen3"]) as server:
            environ = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
            source = ModelSource(settings_with(), environ)
            # On a busy machine 300 ms may be too short for one try.
            for _ in range(20):
                source.look_for_ollama()
                if source.ollama_found(PATIENCE):
                    break
                source = ModelSource(settings_with(), environ)
            assert source.first().name == "ollama:qwen3"

    def test_that_says_nothing_holds_up_nothing(self, settings_with: SettingsWith):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            environ = {"OLLAMA_HOST": f"127.0.0.1:{silent.getsockname()[1]}"}
            source = ModelSource(settings_with(), environ)
            source.look_for_ollama()
            # Were it waited for, it would be for ever.
            assert source.first().name == "offline:guide"
            assert not source.ollama_found(PATIENCE)


def test_a_source_and_its_first_model_import_no_library(tmp_path: Path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tui.config import Flags, load_settings\n"
        "from tui.providers.source import ModelSource\n"
        "environ = {'OLLAMA_HOST': '127.0.0.1:1'}\n"
        f"settings = load_settings(Path({str(tmp_path / 'none.toml')!r}), environ, Flags())\n"
        "source = ModelSource(settings, environ)\n"
        "source.look_for_ollama()\n"
        "source.first(), source.names(), source.ollama_found(30)\n"
        "ModelSource(settings, {'ANTHROPIC_API_KEY': 'k'}).first()\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    heavy = {"email", "http.client", "httpx2", "pydantic"}
    assert not heavy & set(done.stdout.split())
