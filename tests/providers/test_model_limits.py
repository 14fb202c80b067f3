"""The window of a model, and whether it sees pictures: who is asked, and whose word counts."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import Clock
from tests.providers.chat_server import ChatServer, sends
from tests.providers.conftest import asks, collected
from tests.providers.ollama_facts import OllamaFacts
from tests.waiting import until
from tui.domain.providers import PROVIDERS, ListedModel
from tui.engine.kept_lists import KeptLists
from tui.providers import model_limits
from tui.providers.catalog import ModelChoice, choice_of
from tui.providers.model_limits import NO_LISTS, ModelLimits
from tui.providers.source import LazyModel


def choice(name: str, model: str, **changes: Any) -> ModelChoice:
    return replace(choice_of(PROVIDERS[name], model, None), **changes)


def own(server: ChatServer, model: str = "qwen3", **changes: Any) -> ModelChoice:
    return replace(ModelChoice("local", model, server.base_url), **changes)


def limits(chosen: ModelChoice, lists: Any = NO_LISTS) -> ModelLimits:
    found = ModelLimits(chosen, lists)
    found.look_up(chosen)
    return found


def found(chosen: ModelChoice, lists: Any = NO_LISTS) -> int:
    return limits(chosen, lists).tokens


class Kept:
    """Lists of an earlier run."""

    def __init__(self, **windows: int) -> None:
        self.windows = windows
        self.lists: list[Sequence[ListedModel]] = []

    def window(self, choice: ModelChoice) -> int | None:
        return self.windows.get(choice.model)

    def sees_images(self, choice: ModelChoice) -> bool | None:
        return None

    def keep(self, _: object, listed: Sequence[ListedModel]) -> None:
        self.lists.append(listed)


class TestAVendorsModel:
    @pytest.mark.parametrize(
        ("provider", "model", "window"),
        [
            ("openai", "gpt-6-luna", 1_050_000),
            ("anthropic", "claude-sonnet-5-5", 1_000_000),
        ],
    )
    def test_has_the_window_of_the_price_list_and_nobody_is_asked(
        self, provider: str, model: str, window: int
    ):
        assert found(choice(provider, model)) == window

    def test_has_that_of_its_kept_list_before(self):
        kept = Kept(**{"claude-sonnet-5-5": 2_000_000})
        assert found(choice("anthropic", "claude-sonnet-5-5"), kept) == 2_000_000

    def test_is_the_same_behind_a_gateway_that_says_nothing_of_it(self):
        with ChatServer(models=["anthropic/claude-sonnet-5-5", "gpt-6-luna"]) as server:
            assert found(own(server, "anthropic/claude-sonnet-5-5")) == 1_000_000
            gate = choice("openai", "gpt-6-luna", base_url=server.base_url)
            assert found(gate) == 1_050_000

    def test_that_no_list_has_is_asked_for_at_the_vendor_and_its_list_is_kept(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        listed = b'{"data": [{"id": "odd", "max_input_tokens": 70000}, {"id": "other"}]}'
        with ChatServer(lists=[sends(listed, "application/json")]) as server:
            row = replace(PROVIDERS["anthropic"], base_url=server.root)
            monkeypatch.setitem(PROVIDERS, "anthropic", row)
            kept = Kept()
            assert found(choice("anthropic", "odd"), kept) == 70_000
            assert kept.lists == [(ListedModel("odd", 70_000), ListedModel("other"))]

    def test_of_which_nobody_knows_more_has_that_of_the_table(self):
        with ChatServer(models=["other", "another"]) as server:
            assert found(own(server)) == 32_768

    def test_has_the_configured_one_before_all(self):
        chosen = choice("openai", "gpt-6-luna", context_window=5, configured_window=5)
        assert found(chosen, Kept(**{"gpt-6-luna": 9})) == 5


class TestAServerOfOnesOwn:
    @pytest.mark.parametrize(
        ("server", "facts", "window"),
        [
            ("vLLM", {"/v1/models": {"data": [{"id": "qwen3", "max_model_len": 8192}]}}, 8192),
            (
                "llama.cpp",
                {"/v1/models": {"data": [{"id": "/m/q.gguf", "meta": {"n_ctx": 16384}}]}},
                16_384,
            ),
            (
                "llama.cpp, older",
                {
                    "/v1/models": {"data": [{"id": "qwen3", "owned_by": "llamacpp"}]},
                    "/props": {"default_generation_settings": {"n_ctx": 4096}},
                },
                4_096,
            ),
            (
                "LM Studio",
                {
                    "/v1/models": {"data": [{"id": "qwen3"}, {"id": "other"}]},
                    "/api/v0/models": {
                        "data": [{"id": "qwen3", "loaded_context_length": 6000}, {"id": "other"}]
                    },
                },
                6_000,
            ),
            (
                "LiteLLM",
                {
                    "/v1/models": {"data": [{"id": "qwen3"}, {"id": "other"}]},
                    "/model/info": {
                        "data": [
                            {"model_name": "other", "model_info": {"max_input_tokens": 9}},
                            {"model_name": "qwen3", "model_info": {"max_input_tokens": 90_000}},
                            {"model_name": "qwen3", "model_info": {"max_input_tokens": 80_000}},
                            {"model_name": "qwen3", "model_info": {}},
                        ]
                    },
                },
                80_000,
            ),
            (
                "OpenRouter",
                {
                    "/v1/models": {
                        "data": [
                            {"id": "qwen3", "context_length": 262144},
                            {"id": "other", "context_length": 9},
                        ]
                    }
                },
                262_144,
            ),
        ],
    )
    def test_says_it_in_its_own_words(self, server: str, facts: dict[str, Any], window: int):
        with ChatServer(facts=facts) as loopback:
            assert found(own(loopback)) == window

    @pytest.mark.parametrize(
        ("owner", "asked"),
        [
            ("llamacpp", ["/props"]),
            ("organization_owner", ["/api/v0/models"]),
            ("openai", ["/model/info"]),
            ("somebody", ["/api/ps"]),
        ],
    )
    def test_is_known_by_the_owner_of_its_models_and_asked_little(self, owner: str, asked: Any):
        models = [{"id": name, "owned_by": owner} for name in ("other", "another")]
        with ChatServer(facts={"/v1/models": {"data": models}}) as server:
            assert found(own(server)) == 32_768
            assert [each.path for each in server.questions] == ["/v1/models", *asked]

    def test_counts_before_its_kept_list_and_the_price_list(self):
        facts = {"/v1/models": {"data": [{"id": "gpt-oss-120b", "max_model_len": 8192}]}}
        with ChatServer(facts=facts) as server:
            assert found(own(server, "gpt-oss-120b"), Kept(**{"gpt-oss-120b": 9})) == 8192

    async def test_that_answers_late_delays_nothing_for_long_and_is_heard(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(model_limits, "_SECONDS", 0.05)
        gate = threading.Event()

        def late() -> Any:
            assert gate.wait(30)
            return {"data": [{"id": "qwen3", "max_model_len": 8192}]}

        with ChatServer(facts={"/v1/models": late}) as server:
            chosen = own(server, context_window=77)
            window = ModelLimits(chosen, NO_LISTS)
            await asyncio.to_thread(window.look_up, chosen)
            assert window.tokens == 77
            gate.set()
            await until(lambda: window.tokens == 8192, "the late answer")

    def test_that_cannot_be_asked_is_nothing_that_python_prints(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        class Odd(Kept):
            def keep(self, _: object, listed: Sequence[ListedModel]) -> None:
                raise ValueError(listed)

        printed: list[object] = []
        monkeypatch.setattr(threading, "excepthook", printed.append)
        with ChatServer(models=["other"]) as server:
            assert found(own(server, context_window=77), Odd()) == 77
        assert printed == []


def at_ollama(server: ChatServer) -> ModelChoice:
    return choice("ollama", "qwen3", base_url=server.base_url)


class TestAnOllama:
    def test_says_with_which_window_it_has_loaded_the_model(self):
        ollama = OllamaFacts(8192, "num_ctx 9000")
        ollama.load()
        with ChatServer(facts=ollama.facts) as server:
            assert found(at_ollama(server)) == 8192
            assert [each.path for each in server.questions] == ["/api/ps", "/api/show"]

    def test_that_has_not_loaded_it_says_what_the_model_has(self):
        with ChatServer(facts=OllamaFacts(None, "num_ctx 9000").facts) as server:
            assert found(at_ollama(server)) == 9000
            assert server.questions[-1].body == {"model": "qwen3"}
        with ChatServer(facts=OllamaFacts(None).facts) as server:
            assert found(at_ollama(server)) == 40_960

    def test_may_be_a_server_of_ones_own_by_any_name(self):
        listed = {"/v1/models": {"data": [{"id": "qwen3"}, {"id": "other"}]}}
        with ChatServer(facts=OllamaFacts(None).facts | listed) as server:
            assert found(own(server)) == 40_960

    def test_that_says_nothing_has_its_usual_window(self):
        with ChatServer() as server:
            assert found(at_ollama(server)) == 4096

    async def test_is_asked_again_once_it_has_loaded_the_model(self):
        ollama = OllamaFacts(4096)
        with ChatServer(facts=ollama.facts) as server:
            model = LazyModel(at_ollama(server))
            assert await model.window() == 40_960
            await collected(model.stream(asks()))
            ollama.load()
            assert await model.window() == 4096
            assert model.context_window == 4096


TWO = [{"id": "other"}, {"id": "another"}]


class TestPictures:
    @pytest.mark.parametrize("sees", [True, False])
    @pytest.mark.parametrize("server", ["OpenRouter", "LM Studio", "LiteLLM", "llama.cpp"])
    def test_are_seen_or_not_in_the_words_of_the_server(self, server: str, *, sees: bool):
        modalities = ["text", "image"] if sees else ["text"]
        architecture = {"input_modalities": modalities}
        vlm = {"id": "qwen3", "type": "vlm" if sees else "llm", "max_context_length": 5}
        info = {"max_input_tokens": 5, "supports_vision": sees}
        named = {"model_name": "qwen3", "model_info": info}
        properties = {"n_ctx": 5, "modalities": {"vision": sees, "audio": False}}
        facts: dict[str, dict[str, Any]] = {
            "OpenRouter": {"/v1/models": {"data": [{"id": "qwen3", "architecture": architecture}]}},
            "LM Studio": {"/v1/models": {"data": TWO}, "/api/v0/models": {"data": [vlm]}},
            "LiteLLM": {"/v1/models": {"data": TWO}, "/model/info": {"data": [named]}},
            "llama.cpp": {"/v1/models": {"data": TWO}, "/props": properties},
        }
        with ChatServer(facts=facts[server]) as loopback:
            assert limits(own(loopback)).sees_images is sees

    @pytest.mark.parametrize("loaded", [None, 4096])
    @pytest.mark.parametrize(
        ("capabilities", "sees"), [(["completion", "vision"], True), (["completion"], False)]
    )
    def test_are_what_ollama_shows_of_the_model(
        self, loaded: int | None, capabilities: list[str], *, sees: bool
    ):
        ollama = OllamaFacts(loaded, "", *capabilities)
        ollama.load()
        with ChatServer(facts=ollama.facts) as server:
            assert limits(at_ollama(server)).sees_images is sees

    def test_are_tried_where_nobody_says_anything(self):
        with ChatServer(models=["qwen3", "other"]) as server:
            assert limits(own(server)).sees_images is None
        assert limits(choice("anthropic", "claude-sonnet-5-5")).sees_images is None

    def test_are_not_seen_by_the_guide(self):
        assert limits(ModelChoice("offline", "guide")).sees_images is False

    def test_are_what_is_configured_before_all(self):
        with ChatServer(facts=OllamaFacts(None, "", "completion").facts) as server:
            chosen = replace(at_ollama(server), configured_images=True)
            assert limits(chosen).sees_images is True

    @pytest.mark.parametrize("window", [None, 5])
    def test_are_what_the_kept_list_of_a_vendor_says(self, kept: KeptLists, window: int | None):
        kept.keep(PROVIDERS["mistral"], [ListedModel("m", 9, sees_images=False)])
        chosen = choice("mistral", "m", configured_window=window, context_window=5)
        assert limits(chosen, kept).sees_images is False

    async def test_are_known_to_whoever_asks_the_model(self):
        with ChatServer(facts=OllamaFacts(None, "", "completion").facts) as server:
            model = LazyModel(at_ollama(server))
            await model.window()
            assert model.sees_images is False


@pytest.fixture
def kept(tmp_path: Path) -> KeptLists:
    return KeptLists(tmp_path / "state" / "models.json", Clock())


def test_a_kept_list_is_there_for_the_next_run_at_the_same_address(kept: KeptLists):
    row = replace(PROVIDERS["anthropic"], base_url="http://gate")
    kept.keep(row, [ListedModel("a", 7), ListedModel("b")])
    assert kept.window(ModelChoice("anthropic", "a", "http://gate")) == 7
    assert kept.window(ModelChoice("anthropic", "b", "http://gate")) is None
    assert kept.window(ModelChoice("anthropic", "a", "http://other")) is None


def test_a_list_that_has_not_changed_is_not_written_again(kept: KeptLists, tmp_path: Path):
    row = replace(PROVIDERS["anthropic"], base_url="http://gate")
    file = tmp_path / "state" / "models.json"
    kept.keep(row, [ListedModel("a", 7)])
    before = file.stat().st_ino
    kept.keep(row, [ListedModel("a", 7)])
    assert file.stat().st_ino == before
    kept.keep(row, [ListedModel("a", 8)])
    assert file.stat().st_ino != before
