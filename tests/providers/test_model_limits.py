"""The window of a model, and whether it sees pictures: who is asked, and whose word counts."""

import asyncio
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import Clock
from tests.providers.chat_server import ChatServer, sends
from tests.providers.conftest import a_choice, asks, collected
from tests.providers.ollama_facts import OllamaFacts
from tests.samples import rows
from tests.tables import each_row
from tests.waiting import until
from tui.domain.providers import PROVIDERS, AssumedWindow, ListedModel
from tui.providers import source as model_source
from tui.providers.catalog import ModelChoice
from tui.providers.listed_models import sight_of, trained_window, window_of
from tui.providers.source import LazyModel
from tui.storage.state_files import KeptLists


def choice(name: str, model: str, base_url: str = "", **changes: Any) -> ModelChoice:
    server = PROVIDERS[name]
    server = replace(server, base_url=base_url or server.base_url)
    return replace(ModelChoice(server, None, model, server.context_window), **changes)


def own(server: ChatServer, model: str = "qwen3", **changes: Any) -> ModelChoice:
    return a_choice("local", model, server.base_url, **changes)


def at_ollama(server: ChatServer, model: str = "qwen3") -> ModelChoice:
    return choice("ollama", model, base_url=server.base_url)


def limits(chosen: ModelChoice, lists: Any = None) -> LazyModel:
    found = LazyModel(chosen, lists=lists)
    found.look_up(chosen)
    return found


def found(chosen: ModelChoice, lists: Any = None) -> int:
    return limits(chosen, lists).context_window


class Kept:
    """Lists of an earlier run."""

    def __init__(self, **windows: int) -> None:
        self.windows = windows
        self.lists: list[Sequence[ListedModel]] = []

    def model(self, _: object, model: str) -> ListedModel:
        return ListedModel(model, self.windows.get(model))

    def keep(self, _: object, listed: Sequence[ListedModel]) -> None:
        self.lists.append(listed)


class TestAVendorsModel:
    def test_has_the_configured_window_else_that_of_its_kept_list_else_of_the_price_list(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        claude = choice("anthropic", "claude-sonnet-5-5")
        kept = Kept(**{"claude-sonnet-5-5": 2_000_000})
        assert found(claude) == 1_000_000
        # The kept list needs no price list.
        monkeypatch.setitem(sys.modules, "tui.providers.prices", None)
        assert found(claude, kept) == 2_000_000
        assert found(replace(claude, context_window=5, configured_window=5), kept) == 5

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
            assumed = found(own(server))
            assert (assumed, isinstance(assumed, AssumedWindow)) == (32_768, True)
            assert not isinstance(found(own(server), Kept(qwen3=32_768)), AssumedWindow)
        with ChatServer() as server:
            assert found(at_ollama(server)) == 4096


TWO = [{"id": "other"}, {"id": "another"}]


class TestAServerOfOnesOwn:
    @each_row("path, reply, known", rows(__file__, "limits"))
    def test_says_it_in_its_own_words(self, path: str, reply: Any, known: Any):
        with ChatServer(facts={"/v1/models": {"data": TWO}, path: reply}) as server:
            asked = limits(own(server))
        assert [asked.context_window, asked.sees_images] == known

    async def test_of_lm_studio_is_asked_again_once_it_has_loaded_the_model(self):
        loaded = {"id": "qwen3", "max_context_length": 131_072}
        facts = {"/v1/models": {"data": TWO}, "/api/v0/models": lambda: {"data": [loaded]}}
        with ChatServer(facts=facts) as server:
            model = LazyModel(own(server))
            assert await model.window() == 131_072
            loaded["loaded_context_length"] = 4096
            assert await model.window() == 4096

    @each_row(
        "owner, asked",
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
        monkeypatch.setattr(model_source, "_SECONDS", 0.05)
        gate = threading.Event()

        def late() -> Any:
            assert gate.wait(30)
            return {"data": [{"id": "qwen3", "max_model_len": 8192}]}

        with ChatServer(facts={"/v1/models": late}) as server:
            chosen = own(server, context_window=77)
            model = LazyModel(chosen)
            await asyncio.to_thread(model.look_up, chosen)
            assert model.context_window == 77
            gate.set()
            await until(lambda: model.context_window == 8192, "the late answer")

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


class TestAnOllama:
    def test_says_with_which_window_it_has_loaded_the_model(self):
        ollama = OllamaFacts(8192, "num_ctx 9000")
        ollama.load()
        with ChatServer(facts=ollama.facts) as server:
            assert found(at_ollama(server)) == 8192
            assert [each.path for each in server.questions] == ["/api/ps", "/api/show"]
            # Another one of the same name is not loaded.
            assert found(at_ollama(server, "qwen3:4b")) == 9000

    @pytest.mark.parametrize(
        "running", [[4, {"name": {}}, {"name": "other:1b", "context_length": 5}], None]
    )
    def test_that_has_not_loaded_it_says_what_the_model_has(self, running: Any):
        facts = OllamaFacts(None, "num_ctx 9000").facts | {"/api/ps": {"models": running}}
        with ChatServer(facts=facts) as server:
            assert found(at_ollama(server)) == 9000
            assert server.questions[-1].body == {"model": "qwen3"}

    def test_may_be_a_server_of_ones_own_by_any_name(self):
        listed = {"/v1/models": {"data": [{"id": "qwen3"}, {"id": "other"}]}}
        with ChatServer(facts=OllamaFacts(None).facts | listed) as server:
            assert found(own(server)) == 40_960

    async def test_is_asked_again_once_it_has_loaded_the_model(self):
        ollama = OllamaFacts(4096)
        with ChatServer(facts=ollama.facts) as server:
            model = LazyModel(at_ollama(server))
            assert await model.window() == 40_960
            await collected(model.stream(asks()))
            ollama.load()
            assert await model.window() == 4096
            assert model.context_window == 4096


class TestPictures:
    @pytest.mark.parametrize("loaded", [None, 4096])
    @pytest.mark.parametrize("sees", [True, False])
    async def test_are_what_ollama_shows_of_the_model(self, loaded: int | None, *, sees: bool):
        ollama = OllamaFacts(loaded, "", "completion", *(["vision"] if sees else []))
        ollama.load()
        with ChatServer(facts=ollama.facts) as server:
            model = LazyModel(at_ollama(server))
            await model.window()
            assert model.sees_images is sees

    def test_are_what_is_configured_and_tried_where_nobody_says_anything_but_by_the_guide(self):
        with ChatServer(models=["qwen3", "other"]) as server:
            assert limits(own(server)).sees_images is None
        assert limits(choice("anthropic", "claude-sonnet-5-5")).sees_images is None
        assert limits(a_choice("offline", "guide")).sees_images is False
        with ChatServer(facts=OllamaFacts(None, "", "completion").facts) as server:
            chosen = replace(at_ollama(server), configured_images=True)
            assert limits(chosen).sees_images is True

    @pytest.mark.parametrize("window", [None, 5])
    def test_are_what_the_kept_list_of_a_vendor_says(self, kept: KeptLists, window: int | None):
        kept.keep(PROVIDERS["mistral"], [ListedModel("m", 9, sees_images=False)])
        chosen = choice("mistral", "m", configured_window=window, context_window=5)
        assert limits(chosen, kept).sees_images is False


@each_row(
    "parameters, trained, window",
    [
        ('temperature 0.7\nnum_ctx                        8192\nstop "x"', 40960, 8192),
        ("num_ctx 131072", 40960, 40960),
        ("num_ctx 8192", None, 8192),
        ("", 40960, 40960),
        ("", None, None),
        (3, None, None),
    ],
)
def test_a_model_that_ollama_has_not_loaded_has_its_own(
    parameters: Any, trained: int | None, window: int | None
):
    facts = {"general.architecture": "qwen3", "qwen3.context_length": trained}
    assert trained_window({"parameters": parameters, "model_info": facts}) == window
    assert trained_window({"model_info": [facts]}) is None


@each_row("server, item, window", rows(__file__, "windows"))
def test_each_server_has_a_word_of_its_own_for_the_window(
    server: str, item: dict[str, Any], window: int | None
):
    assert window_of(item) == window


@each_row("server, item, sees", rows(__file__, "sights"))
def test_a_list_may_say_whether_a_model_sees_pictures(
    server: str, item: dict[str, Any], *, sees: bool | None
):
    assert sight_of(item) is sees


@pytest.fixture
def kept(tmp_path: Path) -> KeptLists:
    return KeptLists(tmp_path / "state" / "models.json", Clock())


def test_a_kept_list_is_there_for_the_next_run_at_the_same_address(kept: KeptLists, tmp_path: Path):
    row, file = (
        replace(PROVIDERS["anthropic"], base_url="http://gate"),
        tmp_path / "state" / "models.json",
    )
    kept.keep(row, [ListedModel("a", 7), ListedModel("b")])
    places = ("a", "http://gate"), ("b", "http://gate"), ("a", "http://other")
    choices = [a_choice("anthropic", *place) for place in places]
    windows = [kept.model(each.provider, each.model).window for each in choices]
    assert windows == [7, None, None]
    # One that has not changed is not written again.
    before = file.stat().st_ino
    kept.keep(row, [ListedModel("a", 7), ListedModel("b")])
    assert file.stat().st_ino == before
    kept.keep(row, [ListedModel("a", 8)])
    assert file.stat().st_ino != before
