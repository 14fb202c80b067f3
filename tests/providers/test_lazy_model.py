"""Models that are made in a thread: nothing waits for that but who asks them."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.providers.chat_server import PATIENCE, ChatServer, answers
from tests.providers.conftest import asks, collected, text_of
from tests.waiting import until
from tui.domain.providers import DialectName
from tui.errors import ModelError, ModelUnavailable
from tui.providers.catalog import ModelChoice
from tui.providers.protocol import AnswerEnded, Model, TextReceived
from tui.providers.source import LazyModel, UnavailableModel

CHOICE = ModelChoice("local", "m", "http://127.0.0.1:1/v1", context_window=77)


class Workshop:
    """Builds a model when it is let to, and notes in which threads."""

    def __init__(self, *outcomes: Model | Exception) -> None:
        self.outcomes = list(outcomes)
        self.threads: list[threading.Thread] = []
        self.begun = threading.Event()
        self.open = threading.Event()

    def build(self, choice: ModelChoice, search: object = None) -> Model:
        self.threads.append(threading.current_thread())
        self.begun.set()
        assert self.open.wait(30)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


NewWorkshop = Callable[..., Workshop]


@pytest.fixture
def workshop() -> Iterator[NewWorkshop]:
    made: list[Workshop] = []

    def new(*outcomes: Model | Exception) -> Workshop:
        made.append(Workshop(*outcomes))
        return made[-1]

    yield new
    for each in made:
        each.open.set()
        for thread in each.threads:
            thread.join(30)


def lazy(shop: Workshop) -> LazyModel:
    return LazyModel(CHOICE, build=shop.build)


async def test_its_name_and_window_are_known_before_it_is_loaded(workshop: NewWorkshop):
    shop = workshop()
    model = lazy(shop)
    assert (model.name, model.context_window) == ("local:m", 77)
    assert shop.threads == []


async def test_asking_it_often_makes_it_once_in_a_daemon_thread(workshop: NewWorkshop):
    shop = workshop(ScriptedModel(["One."], ["Two."]))
    shop.open.set()
    model = lazy(shop)
    for said in ("One.", "Two."):
        await model.window()
        assert text_of(await collected(model.stream(asks()))) == said
    (thread,) = shop.threads
    assert thread.daemon
    assert thread is not threading.main_thread()


async def test_asking_it_loads_it_and_the_event_loop_goes_on_meanwhile(workshop: NewWorkshop):
    shop = workshop(ScriptedModel(["Hello."]))
    answer = asyncio.create_task(collected(lazy(shop).stream(asks())))
    # This would wait for ever if the loop were held up: nobody else opens the shop.
    await until(shop.begun.is_set)
    assert not answer.done()
    shop.open.set()
    assert await answer == [TextReceived("Hello."), AnswerEnded("stop")]


async def test_all_who_asked_meanwhile_are_answered(workshop: NewWorkshop):
    shop = workshop(ScriptedModel(*([["Hello."]] * 5)))
    model = lazy(shop)
    waiting = [asyncio.create_task(collected(model.stream(asks()))) for _ in range(5)]
    await until(shop.begun.is_set)
    shop.open.set()
    assert [text_of(events) for events in await asyncio.gather(*waiting)] == ["Hello."] * 5


async def test_whoever_stops_waiting_takes_it_from_nobody(workshop: NewWorkshop):
    shop = workshop(ScriptedModel(["Hello."]))
    model = lazy(shop)
    stopped = asyncio.create_task(collected(model.stream(asks())))
    await until(shop.begun.is_set)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    shop.open.set()
    assert text_of(await collected(model.stream(asks()))) == "Hello."
    assert len(shop.threads) == 1


def test_it_may_come_when_the_loop_that_waited_for_it_is_closed(workshop: NewWorkshop):
    shop = workshop(ScriptedModel(["Hello."]))
    model = lazy(shop)

    async def wait_a_moment() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(collected(model.stream(asks())), 0.01)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(wait_a_moment())
    loop.close()
    shop.open.set()
    for thread in shop.threads:
        thread.join(30)
    # An error in the thread would be a warning, and that an error.
    assert text_of(asyncio.run(collected(model.stream(asks())))) == "Hello."


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
async def test_an_error_while_it_is_loaded_is_that_of_who_asks(
    workshop: NewWorkshop, error: Exception, said: str
):
    # Twice: what failed before it was asked is tried again for who asks.
    shop = workshop(error, error)
    shop.open.set()
    model = lazy(shop)
    with pytest.raises(ModelUnavailable):
        await model.window()
    with pytest.raises(ModelUnavailable) as caught:
        await collected(model.stream(asks()))
    assert str(caught.value) == said


async def test_what_failed_once_is_loaded_anew_for_the_next_who_asks(workshop: NewWorkshop):
    shop = workshop(ImportError("not yet"), ScriptedModel(["Hello."]))
    shop.open.set()
    model = lazy(shop)
    with pytest.raises(ModelError):
        await collected(model.stream(asks()))
    assert text_of(await collected(model.stream(asks()))) == "Hello."


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_nobody_waits_for_ever_for_a_thread_that_broke(workshop: NewWorkshop):
    shop = workshop(ZeroDivisionError("a defect"))
    shop.open.set()
    with pytest.raises(ModelUnavailable, match="local:m could not be loaded"):
        await collected(lazy(shop).stream(asks()))


async def test_a_model_does_not_wait_for_the_key_of_another(monkeypatch: pytest.MonkeyPatch):
    begun, gate = threading.Event(), threading.Event()

    def build(choice: ModelChoice, search: object = None) -> Model:
        return ScriptedModel(["Hello."])

    def held_up(choice: ModelChoice) -> ModelChoice:
        if choice.model == "slow":
            begun.set()
            gate.wait(30)
        return choice

    monkeypatch.setattr("tui.providers.source.with_key", held_up)
    slow = asyncio.create_task(LazyModel(ModelChoice("local", "slow"), build=build).window())
    await until(begun.is_set)
    try:
        events = await collected(LazyModel(CHOICE, build=build).stream(asks()))
        assert text_of(events) == "Hello."
    finally:
        gate.set()
    await slow


async def test_closing_an_answer_closes_that_of_the_model(workshop: NewWorkshop):
    scripted = ScriptedModel(["One", "Two"])
    shop = workshop(scripted)
    shop.open.set()
    events = lazy(shop).stream(asks())
    assert await anext(events) == TextReceived("One")
    await events.aclose()
    assert scripted.closed == 1


@pytest.mark.parametrize("dialect", ["openai", "anthropic"], indirect=True)
async def test_a_real_model_answers_by_way_of_it(dialect: DialectName):
    with ChatServer(answers("Hello", ".")) as server:
        choice = ModelChoice("local", "m", server.address(dialect), dialect=dialect)
        assert text_of(await collected(LazyModel(choice).stream(asks()))) == "Hello."


def test_a_program_ends_at_once_while_it_is_being_made():
    code = (
        "import asyncio, sys, threading\n"
        "from tui.providers.catalog import ModelChoice\n"
        "from tui.providers.source import LazyModel\n"
        "making = threading.Event()\n"
        "class NeverDone:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'httpx2':\n"
        "            making.set()\n"
        "            threading.Event().wait()\n"
        "sys.meta_path.insert(0, NeverDone())\n"
        "async def main():\n"
        "    choice = ModelChoice('local', 'm', 'http://127.0.0.1:1')\n"
        "    asked = asyncio.create_task(LazyModel(choice).window())\n"
        "    await asyncio.to_thread(making.wait)\n"
        "asyncio.run(main())\n"
        "print('ended')\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


async def test_one_that_cannot_be_had_says_why_when_it_is_asked():
    model = UnavailableModel("openai:m", ModelUnavailable("There is no key."))
    with pytest.raises(ModelUnavailable, match=r"^There is no key\.$"):
        await collected(model.stream(asks()))


def test_two_threads_that_ask_it_at_once_make_it_once(workshop: NewWorkshop):
    class Held(LazyModel):
        @property
        def name(self) -> str:
            entered.release()
            assert go_on.wait(30)
            return super().name

    entered, go_on = threading.Semaphore(0), threading.Event()
    shop = workshop(ScriptedModel(), ScriptedModel())
    model = Held(CHOICE, build=shop.build)
    threads = [threading.Thread(target=asyncio.run, args=(model.window(),)) for _ in range(2)]
    for each in threads:
        each.start()
    assert entered.acquire(timeout=30)
    go_on.set()
    shop.open.set()
    for each in threads:
        each.join(30)
    assert len(shop.threads) == 1
