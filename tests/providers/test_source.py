"""Where the screen gets its models from, how a local Ollama comes among them, and their making."""

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.providers.chat_server import ChatServer, answers
from tests.providers.conftest import a_choice, asks, collected, text_of
from tests.providers.loopback import PATIENCE
from tests.tables import each_row
from tests.waiting import until
from tui.errors import ConfigError, ModelError, ModelUnavailable
from tui.providers import source as model_source
from tui.providers.catalog import ModelChoice, chat_models
from tui.providers.guide import OfflineGuide, PastHit
from tui.providers.protocol import AnswerEnded, Model, TextReceived
from tui.providers.source import LazyModel, ModelSource, UnavailableModel, build
from tui.threads import begin

KEY = "sk-test-0123456789"
OPENAI = {"OPENAI_API_KEY": KEY}
ANTHROPIC = {"ANTHROPIC_API_KEY": KEY}
SERVER = '[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["qwen3", "qwen3:4b"]\n'
CHOICE = a_choice("local", "m", "http://127.0.0.1:1/v1", context_window=77)


def never(address: str) -> tuple[str, ...]:
    pytest.fail(f"{address} was asked")


@pytest.fixture
def source_with(settings_with):
    """``source_with(text, environ, find_ollama, model)``: by a file, the environment and a flag."""

    def source_with(text="", environ=None, find_ollama=never, model=None) -> ModelSource:
        settings = settings_with(text, model=model)
        return ModelSource(settings, environ or {}, find_ollama=find_ollama)

    return source_with


def run(code: str) -> str:
    """What a program of its own prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


class TestTheFirst:
    def test_is_made_once(self, source_with):
        source = source_with("", OPENAI)
        assert source.first() is source.first()
        assert source.first() is source.named("openai:gpt-6-luna")
        assert source.first() is source.named("openai")
        assert source.first() is not source.named("openai:other")

    async def test_that_cannot_be_had_says_why_when_it_is_asked(self, source_with):
        model = source_with(model="openai:gpt-x").first()
        assert isinstance(model, UnavailableModel)
        assert model.name == "openai:gpt-x"
        with pytest.raises(ModelUnavailable, match=r"^openai requires a key\. Press F5"):
            await collected(model.stream(asks()))

    def test_with_a_variable_that_is_wrong_is_an_error(self, source_with):
        with pytest.raises(ConfigError):
            source_with("", OPENAI | {"OPENAI_BASE_URL": "nowhere"}).first()

    async def test_if_it_is_the_guide_says_how_to_connect_one_and_searches(self, settings_with):
        source = ModelSource(settings_with(), {}, lambda _: [PastHit("session-1", "a hit")])
        answer = text_of(await collected(source.first().stream(asks())))
        assert "press F5 or type /connect" in answer
        assert "session-1: `a hit`" in answer


class TestTheOneOfASession:
    def test_is_taken_if_the_settings_know_it_else_the_first(self, source_with):
        source = source_with(SERVER, OPENAI)
        first = source.named("openai:gpt-6-luna")
        told = "local:dear is not in your settings. openai:gpt-6-luna answers instead."
        assert source.proposed("local:qwen3:4b") == (source.named("local:qwen3:4b"), ())
        assert source.proposed("local:dear") == (first, (told,))
        assert source.proposed(None) == (first, ())

    def test_of_a_new_session_comes_without_notices(self, source_with):
        source = source_with("", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
        assert source.proposed(None)[1] == ()

    def test_if_what_was_asked_for_cannot_be_had_says_so_when_it_is_asked(self, source_with):
        model, notices = source_with(SERVER, model="nobody:x").proposed("local:qwen3")
        assert isinstance(model, UnavailableModel)
        assert (model.name, notices) == ("nobody:x", ())


class TestTheOneThatWasNamed:
    def test_is_any_of_a_provider_whose_key_is_there(self, source_with):
        source = source_with(SERVER, ANTHROPIC)
        for name in ("anthropic:claude-x", "local:unlisted"):
            assert source.named(name).name == name
        assert source.named("offline").name == "offline:guide"

    @each_row("name", ["openai:gpt-x", "nobody:a", "gpt-4o", "", "ollama"])
    def test_is_an_error_if_it_cannot_be_had(self, source_with, name):
        with pytest.raises(ModelUnavailable):
            source_with().named(name)


class TestTheNames:
    def test_are_all_that_the_settings_and_the_keys_know(self, source_with):
        text = (
            f'model = "openai:special"\n{SERVER}'
            '[providers.keyed]\nbase_url = "http://h/v1"\nmodels = ["a"]\napi_key_env = "NO_KEY"\n'
            '[providers.closed]\nbase_url = "http://h/v1"\nmodels = ["a"]\napi_key_file = "no"\n'
        )
        assert source_with(text, OPENAI).names() == (
            "openai:special",
            "local:qwen3",
            "local:qwen3:4b",
            "openai:gpt-6-luna",
            "offline:guide",
        )

    def test_leave_out_what_a_wrong_variable_is_about(self, source_with):
        source = source_with("", ANTHROPIC | {"OLLAMA_HOST": "http://[zz"})
        assert source.names() == ("anthropic:claude-sonnet-5-5", "offline:guide")

    def test_are_joined_by_the_models_that_servers_list(self, source_with):
        source = source_with("", OPENAI)
        source.know({"openai": ["gpt-6", "gpt-6-luna"]})
        assert source.names() == ("openai:gpt-6-luna", "offline:guide", "openai:gpt-6")


def test_other_settings_count_from_then_on_and_make_their_models_anew(settings_with, source_with):
    source = source_with("", OPENAI)
    before = source.first()
    source.use(settings_with())
    assert source.first() is not before
    source.use(settings_with(f'model = "local:qwen3"\n{SERVER}'))
    assert source.first().name == "local:qwen3"


def has_ollama(source: ModelSource) -> bool:
    return any(name.startswith("ollama:") for name in source.names())


class FakeOllama:
    """Answers with its models when it is let to."""

    def __init__(self) -> None:
        self.models = ("llama3.2", "qwen3:4b")
        self.asked: list[tuple[str, threading.Thread]] = []
        self.may_answer, self.was_asked = threading.Event(), threading.Event()

    def find(self, address: str) -> tuple[str, ...]:
        self.asked.append((address, threading.current_thread()))
        self.was_asked.set()
        assert self.may_answer.wait(PATIENCE)
        return self.models

    def answers(self, source: ModelSource) -> bool:
        """Let it answer, wait for that, and say whether it has a model."""
        self.may_answer.set()
        assert self.was_asked.wait(PATIENCE)
        self.asked[-1][1].join(PATIENCE)
        return has_ollama(source)


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    fake = FakeOllama()
    yield fake
    fake.may_answer.set()
    for _, thread in fake.asked:
        thread.join(PATIENCE)


class TestALocalOllama:
    @each_row(
        "environ, text, model",
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
        self, source_with, ollama, environ, text, model
    ):
        source_with(text, environ, ollama.find, model).look_for_ollama()
        assert not ollama.was_asked.wait(0.01)

    def test_is_asked_once_in_a_daemon_thread_and_has_the_first_model_once_it_has_answered(
        self, source_with, ollama
    ):
        source = source_with("", {}, ollama.find)
        source.look_for_ollama()
        source.look_for_ollama()
        assert source.first().name == "offline:guide"
        assert source.names() == ("offline:guide",)
        assert ollama.answers(source)
        ((address, thread),) = ollama.asked
        assert address == "http://127.0.0.1:11434/v1"
        assert thread.daemon
        assert source.first().name == "ollama:llama3.2"
        assert source.named("ollama") is source.first()
        assert source.names() == ("ollama:llama3.2", "ollama:qwen3:4b", "offline:guide")
        # A session goes on with the model it was held with.
        model, notices = source.proposed("ollama:qwen3:4b")
        assert (model.name, notices) == ("ollama:qwen3:4b", ())
        model, (told,) = source.proposed("ollama:gone")
        assert model.name == "ollama:llama3.2"
        assert told.startswith("ollama:gone is not in your settings")

    def test_without_a_model_is_not_told_of(self, source_with, ollama):
        ollama.models = ()
        source = source_with("", {}, ollama.find)
        source.look_for_ollama()
        assert not ollama.answers(source)
        assert source.first().name == "offline:guide"

    def test_that_was_asked_for_without_a_model_has_one_when_it_has_answered(
        self, source_with, ollama
    ):
        source = source_with("", OPENAI, ollama.find, "ollama")
        source.look_for_ollama()
        assert isinstance(source.first(), UnavailableModel)
        assert ollama.answers(source)
        assert source.first().name == "ollama:llama3.2"

    async def test_is_really_asked(self, settings_with):
        with ChatServer(ollama_models=["qwen3"]) as server:
            environ = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
            # On a busy machine 300 ms may be too short for one try.
            find = partial(chat_models, deadline=PATIENCE)
            source = ModelSource(settings_with(), environ, find_ollama=find)
            source.look_for_ollama()
            await until(lambda: has_ollama(source))
            assert source.first().name == "ollama:qwen3"

    def test_that_says_nothing_holds_up_nothing(self, settings_with):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            environ = {"OLLAMA_HOST": f"127.0.0.1:{silent.getsockname()[1]}"}
            source = ModelSource(settings_with(), environ)
            source.look_for_ollama()
            # Were it waited for, it would be for ever.
            assert source.first().name == "offline:guide"
            silent.accept()[0].close()
            assert not has_ollama(source)


def test_a_source_and_its_first_model_import_no_library(tmp_path: Path):
    loaded = run(
        "import sys, threading\n"
        "from pathlib import Path\n"
        "from tui.config.loading import Flags, load_settings\n"
        "from tui.providers.source import ModelSource\n"
        "environ = {'OLLAMA_HOST': '127.0.0.1:1'}\n"
        f"settings = load_settings(Path({str(tmp_path / 'none.toml')!r}), environ, Flags())\n"
        "source = ModelSource(settings, environ)\n"
        "source.look_for_ollama()\n"
        "[each.join(30) for each in threading.enumerate()[1:]]\n"
        "source.first(), source.names()\n"
        "ModelSource(settings, {'ANTHROPIC_API_KEY': 'k'}).first()\n"
        "print(*sys.modules)\n"
    )
    assert not {"email", "http.client", "httpx2", "pydantic"} & set(loaded.split())


class TestBuilding:
    def test_the_guide_needs_no_server(self):
        assert isinstance(build(a_choice("offline", "guide")), OfflineGuide)

    @each_row("dialect", ["openai", "responses", "anthropic", "google"])
    def test_a_model_imports_no_more_than_it_needs(self, dialect):
        loaded = run(
            "import sys\n"
            "from tui.domain.providers import Provider\n"
            "from tui.providers.source import ModelChoice, build\n"
            f"server = Provider('local', base_url='http://127.0.0.1:1', dialect={dialect!r})\n"
            "build(ModelChoice(server, model='m'))\n"
            "print(*sys.modules)"
        ).split()
        assert "httpx2" in loaded
        assert not {*loaded} & {"boto3", "genai_prices", "pydantic"}


class Workshop:
    """Builds a model when it is let to, and notes in which threads."""

    def __init__(self, *outcomes: Model | Exception) -> None:
        self.outcomes = list(outcomes)
        self.threads: list[threading.Thread] = []
        self.begun = threading.Event()
        self.open = threading.Event()
        self.model = LazyModel(CHOICE, build=self.build)

    def build(self, choice: ModelChoice, search: object = None) -> Model:
        self.threads.append(threading.current_thread())
        self.begun.set()
        assert self.open.wait(PATIENCE)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def answer(self) -> str:
        return text_of(await collected(self.model.stream(asks())))


@pytest.fixture
def workshop():
    """``workshop(*outcomes)``: one whose models or errors come once it is open."""
    made: list[Workshop] = []

    def new(*outcomes: Model | Exception, is_open: bool = False) -> Workshop:
        made.append(Workshop(*outcomes))
        if is_open:
            made[-1].open.set()
        return made[-1]

    yield new
    for each in made:
        each.open.set()
        for thread in each.threads:
            thread.join(PATIENCE)


class TestALazyModel:
    """Nothing waits for its making but who asks it."""

    def test_has_its_name_and_window_before_it_is_made(self, workshop):
        shop = workshop()
        assert (shop.model.name, shop.model.context_window) == ("local:m", 77)
        assert shop.threads == []

    async def test_that_is_asked_often_is_made_once_in_a_daemon_thread(self, workshop):
        shop = workshop(ScriptedModel(["One."], ["Two."]), is_open=True)
        for said in ("One.", "Two."):
            await shop.model.window()
            assert await shop.answer() == said
        (thread,) = shop.threads
        assert thread.daemon
        assert thread is not threading.main_thread()

    async def test_is_made_for_all_who_ask_while_the_event_loop_goes_on(self, workshop):
        shop = workshop(ScriptedModel(*([["Hello."]] * 5)))
        waiting = [asyncio.create_task(collected(shop.model.stream(asks()))) for _ in range(5)]
        # This would wait for ever if the loop were held up: nobody else opens the shop.
        await until(shop.begun.is_set)
        assert not any(answer.done() for answer in waiting)
        shop.open.set()
        events = [TextReceived("Hello."), AnswerEnded("stop")]
        assert await asyncio.gather(*waiting) == [events] * 5

    async def test_is_taken_from_nobody_by_who_stops_waiting(self, workshop):
        shop = workshop(ScriptedModel(["Hello."]))
        stopped = asyncio.create_task(shop.answer())
        await until(shop.begun.is_set)
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        shop.open.set()
        assert await shop.answer() == "Hello."
        assert len(shop.threads) == 1

    def test_may_come_when_the_loop_that_waited_for_it_is_closed(self, workshop):
        shop = workshop(ScriptedModel(["Hello."]))

        async def wait_a_moment() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(shop.answer(), 0.01)

        loop = asyncio.new_event_loop()
        loop.run_until_complete(wait_a_moment())
        loop.close()
        shop.open.set()
        for thread in shop.threads:
            thread.join(PATIENCE)
        # An error in the thread would be a warning, and that an error.
        assert asyncio.run(shop.answer()) == "Hello."

    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (ModelUnavailable("No such place."), "No such place."),
            (
                ImportError("no module named x"),
                "A library for local:m cannot be loaded (ImportError: no module named x).",
            ),
            (TypeError("odd"), "A library for local:m cannot be loaded (TypeError: odd)."),
        ],
    )
    async def test_gives_an_error_to_who_asks_and_is_made_anew_for_the_next(
        self, workshop, error, said
    ):
        shop = workshop(error, error, ScriptedModel(["Hello."]), is_open=True)
        with pytest.raises(ModelError):
            await shop.model.window()
        with pytest.raises(ModelUnavailable) as caught:
            await shop.answer()
        assert str(caught.value) == said
        assert await shop.answer() == "Hello."

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    async def test_is_not_waited_for_once_its_thread_broke(self, workshop):
        shop = workshop(ZeroDivisionError("a defect"), is_open=True)
        with pytest.raises(ModelUnavailable, match="local:m could not be loaded"):
            await shop.answer()

    async def test_does_not_wait_for_the_key_of_another(self, workshop, monkeypatch):
        begun, gate = threading.Event(), threading.Event()

        def held_up(choice: ModelChoice) -> ModelChoice:
            if choice.model == "slow":
                begun.set()
                gate.wait(PATIENCE)
            return choice

        monkeypatch.setattr(ModelChoice, "keyed", held_up)
        shop = workshop(ScriptedModel(["Hello."]), ScriptedModel(), is_open=True)
        other = LazyModel(a_choice("local", "slow"), build=shop.build)
        slow = asyncio.create_task(other.window())
        await until(begun.is_set)
        try:
            assert await shop.answer() == "Hello."
        finally:
            gate.set()
        await slow

    async def test_closes_the_answer_of_the_model_with_its_own(self, workshop):
        scripted = ScriptedModel(["One", "Two"])
        events = workshop(scripted, is_open=True).model.stream(asks())
        assert await anext(events) == TextReceived("One")
        await events.aclose()
        assert scripted.closed == 1

    async def test_answers_for_a_real_one(self, dialect):
        with ChatServer(answers("Hello", ".")) as server:
            choice = a_choice("local", "m", server.address(dialect), dialect=dialect)
            assert text_of(await collected(LazyModel(choice).stream(asks()))) == "Hello."

    def test_is_made_once_for_two_threads_that_ask_it_at_once(self, workshop, monkeypatch):
        def held_up(name: str, run: Callable[[], None]) -> object:
            entered.release()
            assert go_on.wait(PATIENCE)
            return begin(name, run)

        entered, go_on = threading.Semaphore(0), threading.Event()
        monkeypatch.setattr(model_source, "begin", held_up)
        shop = workshop(ScriptedModel(), ScriptedModel(), is_open=True)
        threads = [
            threading.Thread(target=asyncio.run, args=(shop.model.window(),)) for _ in range(2)
        ]
        for each in threads:
            each.start()
        assert entered.acquire(timeout=PATIENCE)
        go_on.set()
        for each in threads:
            each.join(PATIENCE)
        assert len(shop.threads) == 1


def test_a_program_ends_at_once_while_a_model_is_being_made():
    printed = run(
        "import asyncio, sys, threading\n"
        "from tui.domain.providers import Provider\n"
        "from tui.providers.source import LazyModel, ModelChoice\n"
        "making = threading.Event()\n"
        "class NeverDone:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'httpx2':\n"
        "            making.set()\n"
        "            threading.Event().wait()\n"
        "sys.meta_path.insert(0, NeverDone())\n"
        "async def main():\n"
        "    choice = ModelChoice(Provider('local', base_url='http://127.0.0.1:1'))\n"
        "    asked = asyncio.create_task(LazyModel(choice).window())\n"
        "    await asyncio.to_thread(making.wait)\n"
        "asyncio.run(main())\n"
        "print('ended')\n"
    )
    assert printed == "ended\n"
