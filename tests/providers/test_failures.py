"""What goes wrong with a real server, what the user is told, and what is tried again."""

import socket
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.providers.chat_server import (
    ChatServer,
    Exchange,
    Gate,
    Reply,
    answers,
    answers_at,
    breaks_off_with_an_error,
    drops_the_connection,
    ends_without_a_word_after,
    is_cut_after,
    is_silent,
    refuses,
    sends,
)
from tests.providers.conftest import (
    EVERY_DIALECT,
    KEY,
    ModelAt,
    asks,
    collected,
    events_from,
    only_openai,
    text_of,
)
from tests.samples import rows
from tests.tables import each_row
from tui.domain.journal.message import TokenUsage
from tui.domain.providers import DialectName
from tui.errors import AnswerCut, ModelError, ModelTimedOut, ModelUnavailable
from tui.providers.chat_model import Backoff, ChatModel
from tui.providers.failures import ADDRESSES
from tui.providers.protocol import AttemptFailed, ModelEvent, TextReceived

NOW = {"Retry_After": "0"}
ONE = [TextReceived("One")]
WEB_PAGE = (
    "HOST sent a web page instead of an answer: the address is wrong (FORM), or a login page of"
    " the network or a proxy is in the way."
)


@pytest.fixture(params=EVERY_DIALECT)
def dialect(request: pytest.FixtureRequest) -> DialectName:
    return request.param


async def failed(model: ChatModel) -> tuple[list[ModelEvent], ModelError]:
    """What came before the error but token counts, and the error."""
    events: list[ModelEvent] = []
    try:
        async for event in model.stream(asks()):
            events += [] if isinstance(event, TokenUsage) else [event]
    except ModelError as error:
        return events, error
    pytest.fail(f"it did not fail: {events}")


class Failed(NamedTuple):
    """An answer that failed; ``said`` has URL and HOST in place of the server's."""

    events: list[ModelEvent]
    error: ModelError
    said: str
    requests: int


@pytest.fixture
def failing(model_at: ModelAt):
    """``await failing(*replies, **changes)``: ask a server that replies so."""

    async def failing(*replies: Reply, **changes: Any) -> Failed:
        with ChatServer(*replies) as server:
            model = model_at(server, **changes)
            events, error = await failed(model)
            said = str(error).replace(model._choice.provider.base_url, "URL")
            said = said.replace(f"127.0.0.1:{server.port}", "HOST")
            return Failed(events, error, said, len(server.requests))

    return failing


@contextmanager
def too_busy() -> Iterator[str]:
    """The address of a server whose queue is full: the system drops whoever comes to it."""
    with ExitStack() as sockets:
        server = sockets.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


class TestWhatAServerSaysNoTo:
    @each_row("status, reply, changes, kind, begins, ends", rows(__file__, "refusals"))
    async def test_is_told_with_what_to_do_and_the_servers_own_words(
        self, failing, status, reply, changes, kind, begins, ends
    ):
        told = await failing(refuses(status, **reply, **NOW), **{"retries": 0, **changes})
        assert (told.events, type(told.error).__name__, told.requests) == ([], kind, 1)
        assert told.said.startswith(begins)
        assert told.said.endswith(ends)

    async def test_is_not_read_for_ever(self, failing):
        def endless(exchange: Exchange) -> None:
            exchange.head(400, "text/plain")
            exchange.raw(b"No! " * 100_000)
            exchange.wait(Gate())

        assert "No! No!" in (await failing(endless)).said

    async def test_by_sending_elsewhere_is_not_followed(self, failing, dialect: DialectName):
        with ChatServer() as elsewhere:
            place = elsewhere.address(dialect)

            def moves(exchange: Exchange) -> None:
                path = exchange.request.path.removeprefix(urlsplit(place).path)
                refuses(307, Location=f"{place}{path}")(exchange)

            told = await failing(moves)
            assert elsewhere.requests == []
        assert isinstance(told.error, ModelUnavailable)
        assert f"redirects to {place}. If that is right, make it the base_url" in told.said

    @only_openai
    async def test_by_sending_to_no_address_is_told(self, failing):
        told = await failing(refuses(307, Location="http://[::zz]/v1"))
        assert "redirects to http://[::zz]/v1" in told.said


class TestARequestIsSentAgain:
    @each_row(
        "reply",
        [
            *(refuses(status, **NOW) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
            drops_the_connection(),
        ],
    )
    async def test_after_what_passes(self, model_at: ModelAt, reply: Reply):
        with ChatServer(reply, answers("Fine.")) as server:
            assert text_of(await collected(model_at(server).stream(asks()))) == "Fine."
            first, second = server.requests
            assert first.body == second.body

    @each_row(
        "reply",
        [
            *(refuses(status, **NOW) for status in (400, 401, 403, 404, 413, 422)),
            # The server wants a long wait.
            refuses(429, Retry_After="3600"),
            # An answer has begun.
            is_cut_after("One"),
            ends_without_a_word_after("One"),
            sends(b""),
            sends(b"<html>"),
            breaks_off_with_an_error(),
            breaks_off_with_an_error("One"),
            lambda exchange: (exchange.head(), exchange.failure("m")),
        ],
    )
    async def test_but_not_after_what_does_not(self, failing, reply: Reply):
        assert (await failing(reply, answers("Fine."))).requests == 1

    @each_row("retries", [0, 1, 2, 3])
    async def test_as_often_as_the_settings_say_and_by_nobody_else(self, failing, retries):
        told = await failing(refuses(503, **NOW), retries=retries)
        assert told.requests == retries + 1
        assert (f", tried {retries + 1} times" in told.said) == (retries > 0)

    @each_row(
        "reply, pauses",
        [
            (refuses(503), [0.5, 1, 2, 4, 8, 8]),
            (refuses(429, Retry_After="7"), [7] * 6),
            (drops_the_connection(), [0.5, 1, 2, 4, 8, 8]),
        ],
    )
    async def test_after_a_wait_that_doubles_unless_the_server_says_how_long(
        self, failing, monkeypatch, reply: Reply, pauses: list[float]
    ):
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        monkeypatch.setattr("tui.providers.chat_model.asyncio.sleep", sleep)
        await failing(reply, retries=6)
        assert slept == pauses

    @each_row(
        "asked, chance, pause",
        [
            ({}, 0.01, 0.005),
            # What makes no sense.
            ({"Retry_After": "nan"}, 0.0, 0.0),
            ({"Retry_After": "soon"}, 0.0, 0.0),
            ({"Retry_After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0, 0.0),
        ],
    )
    async def test_after_a_part_of_that_wait_by_chance(
        self, model_at: ModelAt, asked, chance, pause
    ):
        replies = refuses(503, **asked), answers("Fine.")
        events = await events_from(model_at, *replies, chance=lambda: chance)
        assert events[0] == AttemptFailed(1, "status 503", pause)

    def test_after_different_waits_if_nobody_says_otherwise_until_all_are_too_long(self):
        assert len({Backoff(3).next_pause(None) for _ in range(20)}) > 1
        backoff = Backoff(10)
        assert [backoff.next_pause(50.0) for _ in range(3)] == [50.0, 50.0, None]

    async def test_each_failed_attempt_is_an_event(self, model_at: ModelAt):
        replies = refuses(500, **NOW), refuses(429, **NOW), answers("Fine now.")
        events = await events_from(model_at, *replies)
        assert events[:2] == [AttemptFailed(1, "status 500", 0), AttemptFailed(2, "status 429", 0)]
        assert TextReceived("Fine now.") in events


class TestAServerThatIsNotThere:
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    async def test_is_told_with_its_address_and_the_reason(self, model_at: ModelAt, host: str):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            place = f"{host}:{gone.getsockname()[1]}"
        events, error = await failed(model_at(f"http://{place}/v1", retries=1))
        assert events == [AttemptFailed(1, "no connection", 0.5)]
        assert isinstance(error, ModelUnavailable)
        assert str(error) == f"{place} refused the connection. Is the server running?"

    async def test_because_nobody_knows_its_name_is_told(self, model_at: ModelAt, monkeypatch):
        def getaddrinfo(*_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        _, error = await failed(model_at("http://nowhere.invalid/v1", retries=0))
        assert isinstance(error, ModelUnavailable)
        said = "The name nowhere.invalid was not found. Check the address and the network."
        assert str(error) == said

    async def test_because_it_is_too_busy_to_let_anybody_in_is_told_after_the_time(
        self, model_at: ModelAt
    ):
        with too_busy() as address:
            _, error = await failed(model_at(address, timeout=0.2, retries=0))
        place = address.removeprefix("http://").removesuffix("/v1")
        assert str(error) == f"{place} cannot be reached: no connection within 0.2 seconds."
        assert isinstance(error, ModelUnavailable)

    async def test_because_it_does_not_speak_https_is_told_and_not_tried_again(
        self, model_at: ModelAt
    ):
        with ChatServer() as server:
            address = server.base_url.replace("http:", "https:")
            events, error = await failed(model_at(address))
        assert (events, type(error)) == ([], ModelUnavailable)
        assert "does not speak TLS" in str(error)

    def test_because_its_address_is_none_is_told(self, model_at: ModelAt):
        with pytest.raises(ModelUnavailable, match="is not the address of a server"):
            model_at("http://[::zz]/v1")


class TestAnAnswerThatStops:
    @each_row(
        "reply, events, words",
        [
            (is_cut_after("One"), ONE, "URL closed the connection in the middle of its answer."),
            (
                ends_without_a_word_after("One"),
                ONE,
                "URL closed the connection in the middle of its answer.",
            ),
            (
                breaks_off_with_an_error("One", error="On fire."),
                ONE,
                "URL broke off its answer. It says: On fire.",
            ),
            (
                sends(b'{"error": {"message": "Nope."}}', "application/json"),
                [],
                "URL did not send a stream of an answer. Check the address (FORM). It says: Nope.",
            ),
            (sends(b"<!doctype html><h1>Log in</h1>", "text/html"), [], WEB_PAGE),
        ],
    )
    async def test_or_is_none_gives_what_came_and_then_the_error(
        self, failing, dialect: DialectName, reply: Reply, events: list[ModelEvent], words: str
    ):
        told = await failing(reply)
        assert (told.events, type(told.error)) == (events, AnswerCut)
        assert told.said == words.replace("FORM", ADDRESSES[dialect])

    @each_row(
        "reply, events", [(is_silent, []), (lambda gate: answers_at(gate, "One", "never."), ONE)]
    )
    async def test_for_too_long_is_given_up_and_what_came_is_kept(self, failing, reply, events):
        told = await failing(reply(Gate()), timeout=0.2)
        assert (told.events, type(told.error), told.requests) == (events, ModelTimedOut, 1)
        assert told.said == (
            "URL sent nothing for 0.2 seconds. If it needs longer, raise timeout in"
            " [providers.local]."
        )

    async def test_without_a_line_break_is_not_collected_for_ever(self, failing, monkeypatch):
        monkeypatch.setattr("tui.providers.reception.LONGEST_LINE", 100_000)

        def reply(exchange: Exchange) -> None:
            exchange.head()
            exchange.raw(b"data: " + b"x" * 200_000)
            exchange.wait(Gate())

        assert isinstance((await failing(reply)).error, AnswerCut)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class TestTheKey:
    @each_row(
        "reply",
        [
            refuses(401, f"The key {KEY} is wrong."),
            refuses(400, body=f"{'x' * 290}{KEY}"),
            refuses(500, body={"detail": f"Bearer {KEY}"}),
            refuses(307, Location=f"http://127.0.0.1/?{KEY}"),
            sends(f"Bearer {KEY}".encode()),
            breaks_off_with_an_error("One", error=KEY),
            drops_the_connection(),
        ],
    )
    async def test_is_in_no_error_nor_anything_that_hangs_on_it(self, failing, reply: Reply):
        error = (await failing(reply, retries=0)).error
        shown = [repr(part) + str(part) + str(part.args) for part in _chain(error)]
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        everything = "".join([*shown, *told.format()])
        assert KEY[:8] not in everything

    async def test_is_in_nothing_that_shows_the_model(self, model_at: ModelAt):
        model = model_at("http://127.0.0.1:1/v1")
        assert KEY not in repr(model) + repr(vars(model)) + str(model._choice)
