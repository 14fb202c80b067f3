"""What goes wrong with a real server, what the user is told, and what is tried again."""

import asyncio
import socket
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
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
    chunk,
    drops_the_connection,
    ends_without_a_word_after,
    is_cut_after,
    is_silent,
    refuses,
    says_and_sends,
    sends,
    sends_events,
)
from tests.providers.conftest import (
    EVERY_DIALECT,
    KEY,
    ModelAt,
    asks,
    collected,
    only_anthropic,
    only_openai,
    text_of,
)
from tests.providers.speech import block_delta, block_start, message_delta, message_start
from tui.domain.providers import DialectName
from tui.errors import (
    AnswerCut,
    KeyRefused,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
)
from tui.providers.chat_model import ChatModel
from tui.providers.failures import ADDRESSES
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    ModelEvent,
    TextReceived,
    UsageReported,
)

NOW = {"Retry_After": "0"}


@pytest.fixture(params=EVERY_DIALECT)
def dialect(request: pytest.FixtureRequest) -> DialectName:
    return request.param


async def failed(model: ChatModel) -> tuple[list[ModelEvent], ModelError]:
    """What came before the error but token counts, and the error."""
    events: list[ModelEvent] = []
    try:
        async for event in model.stream(asks()):
            events += [] if isinstance(event, UsageReported) else [event]
    except ModelError as error:
        return events, error
    pytest.fail(f"it did not fail: {events}")


def address_of(model: ChatModel) -> str:
    return model._choice.base_url


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


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class TestWhatAServerSaysNoTo:
    @pytest.mark.parametrize(
        ("status", "kind", "said"),
        [
            (400, ModelRefused, "URL did not accept the request (status 400)."),
            (401, KeyRefused, "URL refused the key from LOCAL_API_KEY. Put a valid one there"),
            (403, ModelRefused, "URL refused the request (status 403)."),
            (404, ModelUnavailable, "URL does not know test-model (status 404). Check"),
            (413, ModelRefused, "URL did not accept the request (status 413)."),
            (429, ModelRefused, "URL limits requests (status 429). Try again"),
            (500, ModelUnavailable, "URL failed with status 500. Try again later."),
            (529, ModelUnavailable, "URL failed with status 529. Try again later."),
            (503, ModelUnavailable, "URL failed with status 503. Try again later."),
        ],
    )
    async def test_is_told_with_what_to_do_and_the_servers_own_words(
        self, model_at: ModelAt, status: int, kind: type[ModelError], said: str
    ):
        with ChatServer(refuses(status, "Because  of\nthis.")) as server:
            model = model_at(server, retries=0)
            events, error = await failed(model)
            assert events == []
            assert type(error) is kind
            assert str(error).startswith(said.replace("URL", address_of(model)))
            assert str(error).endswith(" It says: Because of this.")

    async def test_is_quoted_from_an_event_too(self, model_at: ModelAt):
        body = 'data: {"error": {"message": "The start failed."}}\n\ndata: [DONE]\n\n'
        with ChatServer(refuses(500, body=body)) as server:
            _, error = await failed(model_at(server, retries=0))
        assert str(error).endswith(" It says: The start failed.")

    async def test_for_want_of_a_key_names_the_setting(self, model_at: ModelAt):
        with ChatServer(refuses(401)) as server:
            _, error = await failed(model_at(server, key=None))
        assert (
            "requires a key. Press F5, or name the variable that has it as api_key_env in"
            in str(error)
        )
        assert "[providers.local]" in str(error)

    @pytest.mark.parametrize(
        ("dialect", "wrong"),
        [
            ("openai", {"message": "Too long.", "code": "context_length_exceeded"}),
            ("anthropic", {"message": "prompt is too long", "type": "invalid_request_error"}),
        ],
        indirect=["dialect"],
    )
    async def test_because_the_conversation_is_too_long_names_the_setting(
        self, model_at: ModelAt, wrong: dict[str, str]
    ):
        body = {"error": wrong}
        with ChatServer(refuses(400, body=body)) as server:
            _, error = await failed(model_at(server, context_window=123))
        assert isinstance(error, ModelRefused)
        assert 'a context_window below 123 in [models."local:test-model"].' in str(error)

    @pytest.mark.parametrize(
        ("dialect", "status", "wrong"),
        [
            ("openai", 429, {"message": "Pay.", "code": "insufficient_quota"}),
            ("anthropic", 402, {"message": "Pay.", "type": "billing_error"}),
        ],
        indirect=["dialect"],
    )
    async def test_because_the_account_is_empty_is_not_tried_again(
        self, model_at: ModelAt, status: int, wrong: dict[str, str]
    ):
        with ChatServer(refuses(status, body={"error": wrong}, **NOW)) as server:
            _, error = await failed(model_at(server))
            assert len(server.requests) == 1
        assert f"has no credit left (status {status}). It says: Pay." in str(error)

    @pytest.mark.parametrize(
        ("body", "quoted"),
        [
            ({"error": "Plain."}, "It says: Plain."),
            ({"detail": "Of FastAPI."}, "It says: Of FastAPI."),
            ({"message": {"detail": "Deep."}}, "It says: Deep."),
            ([1, 2], "It says: [1, 2]"),
            ("No JSON at all.", "It says: No JSON at all."),
            ("<html>Bad gateway</html>", "It sent a web page."),
            ("x" * 5000, f"It says: {'x' * 300}…"),
        ],
    )
    async def test_is_quoted_in_whatever_form_it_comes(
        self, model_at: ModelAt, body: Any, quoted: str
    ):
        with ChatServer(refuses(400, body=body)) as server:
            _, error = await failed(model_at(server))
        assert str(error).endswith(f" {quoted}")

    async def test_is_not_read_for_ever(self, model_at: ModelAt):
        gate = Gate()

        def endless(exchange: Exchange) -> None:
            exchange.head(400, "text/plain")
            exchange.raw(b"No! " * 100_000)
            exchange.wait(gate)

        with ChatServer(endless) as server:
            _, error = await failed(model_at(server))
        assert "No! No!" in str(error)

    async def test_by_sending_elsewhere_is_not_followed(self, model_at: ModelAt, dialect: str):
        with ChatServer() as elsewhere:
            place = elsewhere.address(dialect)

            def moves(exchange: Exchange) -> None:
                path = exchange.request.path.removeprefix(urlsplit(place).path)
                refuses(307, Location=f"{place}{path}")(exchange)

            with ChatServer(moves) as server:
                _, error = await failed(model_at(server))
            assert elsewhere.requests == []
        assert isinstance(error, ModelUnavailable)
        assert f"redirects to {place}. If that is right, make it the base_url" in str(error)

    @only_openai
    async def test_by_sending_to_no_address_is_told(self, model_at: ModelAt):
        with ChatServer(refuses(307, Location="http://[::zz]/v1")) as server:
            _, error = await failed(model_at(server))
        assert "redirects to http://[::zz]/v1" in str(error)


class TestARequestIsSentAgain:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
    async def test_after_a_status_that_passes(self, model_at: ModelAt, status: int):
        with ChatServer(refuses(status, **NOW), answers("Fine.")) as server:
            events = [event async for event in model_at(server).stream(asks())]
            assert len(server.requests) == 2
            assert server.requests[0].body == server.requests[1].body
        assert text_of(events) == "Fine."

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
    async def test_but_not_after_one_that_does_not(self, model_at: ModelAt, status: int):
        with ChatServer(refuses(status, **NOW), answers("Fine.")) as server:
            await failed(model_at(server))
            assert len(server.requests) == 1

    @pytest.mark.parametrize("retries", [0, 1, 2, 3])
    async def test_as_often_as_the_settings_say_and_by_nobody_else(
        self, model_at: ModelAt, retries: int
    ):
        with ChatServer(refuses(503, **NOW)) as server:
            _, error = await failed(model_at(server, retries=retries))
            assert len(server.requests) == retries + 1
        if retries:
            assert f"status 503 after {retries + 1} attempts" in str(error)

    async def test_after_a_connection_that_was_dropped_without_a_word(self, model_at: ModelAt):
        with ChatServer(drops_the_connection(), answers("Fine.")) as server:
            events = [event async for event in model_at(server).stream(asks())]
            assert len(server.requests) == 2
        assert text_of(events) == "Fine."

    @pytest.mark.parametrize(
        "reply",
        [
            is_cut_after("One"),
            ends_without_a_word_after("One"),
            sends(b""),
            sends(b"<html>"),
            breaks_off_with_an_error(),
            breaks_off_with_an_error("One"),
            lambda exchange: (exchange.head(), exchange.failure("m")),
        ],
    )
    async def test_but_not_once_an_answer_has_begun(self, model_at: ModelAt, reply: Reply):
        with ChatServer(reply, answers("Again.")) as server:
            await failed(model_at(server))
            assert len(server.requests) == 1

    async def test_but_not_if_the_server_wants_a_long_wait(self, model_at: ModelAt):
        with ChatServer(refuses(429, Retry_After="3600"), answers("Fine.")) as server:
            await failed(model_at(server))
            assert len(server.requests) == 1

    @pytest.mark.parametrize(
        ("reply", "pauses"),
        [
            (refuses(503), [0.5, 1, 2, 4, 8, 8]),
            (refuses(429, Retry_After="7"), [7] * 6),
            (drops_the_connection(), [0.5, 1, 2, 4, 8, 8]),
        ],
    )
    async def test_after_a_wait_that_doubles_unless_the_server_says_how_long(
        self,
        model_at: ModelAt,
        monkeypatch: pytest.MonkeyPatch,
        reply: Reply,
        pauses: list[float],
    ):
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        monkeypatch.setattr("tui.providers.chat_model.asyncio.sleep", sleep)
        with ChatServer(reply) as server:
            await failed(model_at(server, retries=6))
        assert slept == pauses

    async def test_after_a_part_of_that_wait_by_chance(self, model_at: ModelAt):
        with ChatServer(refuses(503), answers("Fine.")) as server:
            events = [event async for event in model_at(server, lambda: 0.01).stream(asks())]
        assert events[0] == AttemptFailed(1, "status 503", 0.005)

    @only_openai
    @pytest.mark.parametrize("asked", ["nan", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"])
    async def test_at_once_if_the_servers_pause_makes_no_sense(self, model_at: ModelAt, asked: str):
        with ChatServer(refuses(503, Retry_After=asked), answers("Fine.")) as server:
            events = [event async for event in model_at(server, lambda: 0.0).stream(asks())]
        assert events[0] == AttemptFailed(1, "status 503", 0.0)

    async def test_but_not_if_the_next_attempt_would_fail_alike(self, model_at: ModelAt):
        with ChatServer() as server:
            address = server.base_url.replace("http:", "https:")
            events, _ = await failed(model_at(address))
        assert events == []

    async def test_unless_the_pause_before_it_is_stopped(self, model_at: ModelAt):
        with ChatServer(refuses(503, Retry_After="60"), answers("Late.")) as server:
            events = model_at(server).stream(asks())
            assert isinstance(await anext(events), AttemptFailed)
            pause = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)
            pause.cancel()
            with pytest.raises(asyncio.CancelledError):
                await pause
            assert len(server.requests) == 1

    async def test_each_failed_attempt_is_an_event(self, model_at: ModelAt):
        failures = refuses(500, **NOW), refuses(429, **NOW)
        with ChatServer(*failures, answers("Fine now.")) as server:
            everything = await collected(model_at(server).stream(asks()))
        events = [each for each in everything if not isinstance(each, UsageReported)]
        assert events[:3] == [
            AttemptFailed(1, "status 500", 0),
            AttemptFailed(2, "status 429", 0),
            TextReceived("Fine now."),
        ]

    async def test_an_attempt_that_found_no_server_says_so(self, model_at: ModelAt):
        events, _ = await failed(model_at(f"http://127.0.0.1:{closed_port()}/v1", retries=1))
        assert events == [AttemptFailed(1, "no connection", 0.5)]


class TestAServerThatIsNotThere:
    async def test_is_told_with_its_address_and_the_reason(self, model_at: ModelAt):
        address = f"http://127.0.0.1:{closed_port()}/v1"
        events, error = await failed(model_at(address, retries=0))
        assert events == []
        assert isinstance(error, ModelUnavailable)
        place = address.removeprefix("http://").removesuffix("/v1")
        assert str(error) == f"{place} refused the connection. Is the server running?"

    async def test_under_a_name_with_several_addresses_is_told_with_the_reason(
        self, model_at: ModelAt
    ):
        _, error = await failed(model_at(f"http://localhost:{closed_port()}/v1", retries=0))
        assert "refused the connection" in str(error)

    async def test_because_nobody_knows_its_name_is_told(
        self, model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
    ):
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

    async def test_because_it_does_not_speak_https_is_told(self, model_at: ModelAt):
        with ChatServer() as server:
            address = server.base_url.replace("http:", "https:")
            _, error = await failed(model_at(address, retries=0))
        assert isinstance(error, ModelUnavailable)
        assert "does not speak TLS" in str(error)

    def test_because_its_address_is_none_is_told(self, model_at: ModelAt):
        with pytest.raises(ModelUnavailable, match="is not the address of a server"):
            model_at("http://[::zz]/v1")


class TestSilence:
    async def test_before_an_answer_is_given_up_after_the_time_and_not_tried_again(
        self, model_at: ModelAt, dialect: DialectName
    ):
        with ChatServer(is_silent(Gate())) as server:
            _, error = await failed(model_at(server, timeout=0.2))
            assert len(server.requests) == 1
            assert isinstance(error, ModelTimedOut)
            address = server.address(dialect)
            assert str(error) == (
                f"{address} sent nothing for 0.2 seconds. If it needs longer, raise timeout"
                " in [providers.local]."
            )

    async def test_within_an_answer_is_given_up_and_what_came_is_kept(self, model_at: ModelAt):
        with ChatServer(answers_at(Gate(), "And then", "never.")) as server:
            events, error = await failed(model_at(server, timeout=0.2))
        assert events == [TextReceived("And then")]
        assert isinstance(error, ModelTimedOut)


class TestAnAnswerThatStops:
    @pytest.mark.parametrize(
        "reply", [is_cut_after("One", "Two"), ends_without_a_word_after("One", "Two")]
    )
    async def test_because_of_the_connection_gives_what_came_and_then_the_error(
        self, model_at: ModelAt, dialect: DialectName, reply: Reply
    ):
        with ChatServer(reply) as server:
            events, error = await failed(model_at(server))
            said = f"{server.address(dialect)} closed the connection in the middle of its answer."
        assert events == [TextReceived("One"), TextReceived("Two")]
        assert (type(error), str(error)) == (AnswerCut, said)

    async def test_because_of_an_error_that_the_dialect_has_for_it_quotes_that(
        self, model_at: ModelAt
    ):
        with ChatServer(breaks_off_with_an_error("One", error="On fire.")) as server:
            events, error = await failed(model_at(server))
        assert events == [TextReceived("One")]
        assert isinstance(error, AnswerCut)
        assert str(error).endswith("broke off its answer. It says: On fire.")

    @only_openai
    @pytest.mark.parametrize(
        ("event", "said"),
        [
            ({"error": {"message": "On fire."}}, "broke off its answer. It says: On fire."),
            ({"error": "On fire."}, "broke off its answer. It says: On fire."),
            ({"error": {"message": "m", "code": 503}}, "broke off its answer. It says: m"),
        ],
    )
    async def test_because_of_an_error_within_it_quotes_that(
        self, model_at: ModelAt, event: Any, said: str
    ):
        with ChatServer(sends_events(chunk({"content": "One"}), event)) as server:
            events, error = await failed(model_at(server))
        assert events == [TextReceived("One")]
        assert isinstance(error, AnswerCut)
        assert said in str(error)

    @only_anthropic
    @pytest.mark.parametrize(
        ("body", "said"),
        [
            (
                b'{"type": "error", "error": {"type": "overloaded_error", "message": "Full."}}',
                "Full.",
            ),
            (b'{"error": "Full."}', "Full."),
            (b"no json", "no json"),
            (b'"Full."', "Full."),
        ],
    )
    async def test_because_of_an_error_event_of_any_form_quotes_it(
        self, model_at: ModelAt, body: bytes, said: str
    ):
        with ChatServer(sends(b"event: error\ndata: " + body + b"\n\n")) as server:
            _, error = await failed(model_at(server))
            assert len(server.requests) == 1
        assert isinstance(error, AnswerCut)
        assert str(error).endswith(f"broke off its answer. It says: {said}")

    @only_openai
    async def test_because_the_model_declines_says_so(self, model_at: ModelAt):
        reply = sends_events(chunk({"refusal": "I will "}), chunk({"refusal": "not."}, "stop"))
        with ChatServer(reply) as server:
            _, error = await failed(model_at(server))
        assert isinstance(error, ModelRefused)
        assert str(error) == "local:test-model declined to answer. It says: I will not."

    @only_anthropic
    @pytest.mark.parametrize(
        ("details", "said"),
        [
            ({}, ""),
            ({"stop_details": None}, ""),
            ({"stop_details": {"type": "refusal", "explanation": None}}, ""),
            (
                {"stop_details": {"type": "refusal", "explanation": "Not that."}},
                " It says: Not that.",
            ),
        ],
    )
    async def test_because_the_model_refuses_says_so(
        self, model_at: ModelAt, details: dict[str, Any], said: str
    ):
        one = block_delta(0, {"type": "text_delta", "text": "One"})
        end = message_delta("refusal", **details)
        reply = sends_events(message_start(), one, end, {"type": "message_stop"})
        with ChatServer(reply) as server:
            events, error = await failed(model_at(server))
        assert events == [TextReceived("One")]
        assert (type(error), str(error)) == (
            ModelRefused,
            f"local:test-model declined to answer.{said}",
        )

    @only_openai
    async def test_because_of_a_filter_says_so(self, model_at: ModelAt):
        with ChatServer(answers("One", finish="content_filter")) as server:
            events, error = await failed(model_at(server))
        assert events == [TextReceived("One")]
        assert isinstance(error, AnswerCut)
        assert "A content filter of" in str(error)


GARBAGE = [
    "{no json",
    "\udc80",
    "[" * 5000,
    f'{{"a": {"9" * 5000}}}',
]

OPENAI_GARBAGE = [
    {"choices": 5},
    {"choices": [5]},
    {"choices": [{"delta": "x"}]},
    {"choices": [{"delta": {"tool_calls": 5}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": 5}]}}]},
    {"choices": [{"delta": {"refusal": 5}}]},
]

ANTHROPIC_GARBAGE = [
    {"type": "content_block_delta"},
    {"type": "content_block_delta", "index": 0, "delta": 5},
    block_delta(0, {"type": "text_delta", "text": 5}),
    block_delta(0, {"type": "text_delta", "text": ["x"]}),
    block_delta([], {"type": "text_delta", "text": "x"}),
    {"type": "message_start"},
    {"type": "message_start", "message": 5},
    {"type": 5},
    block_start(7, {"type": "text", "text": 5}),
    {"type": "message_delta", "delta": 5},
    {"type": "message_delta", "delta": None},
]

garbage_among_events = pytest.mark.parametrize(
    ("dialect", "event"),
    [
        *(("openai", event) for event in GARBAGE + OPENAI_GARBAGE),
        *(("anthropic", event) for event in GARBAGE + ANTHROPIC_GARBAGE),
    ],
    indirect=["dialect"],
    ids=lambda value: str(value)[:40],
)


class TestGarbage:
    @garbage_among_events
    async def test_among_events_is_an_error_of_ours_after_what_was_good(
        self, model_at: ModelAt, event: Any
    ):
        with ChatServer(says_and_sends("Good.", event)) as server:
            events, error = await failed(model_at(server))
        assert events[:1] == [TextReceived("Good.")]
        assert isinstance(error, AnswerCut)
        assert str(error).endswith("sent an invalid answer. Try again, or choose another model.")

    @only_anthropic
    @pytest.mark.parametrize(
        "usage", ["many", 5, {"output_tokens": "a"}, {"input_tokens": -1, "output_tokens": [1]}]
    )
    async def test_in_place_of_usage_does_no_harm(self, model_at: ModelAt, usage: Any):
        one = block_delta(0, {"type": "text_delta", "text": "One"})
        end = message_delta("end_turn", usage)
        reply = sends_events(message_start(usage), one, end, {"type": "message_stop"})
        with ChatServer(reply) as server:
            events = [event async for event in model_at(server).stream(asks())]
        assert events == [TextReceived("One"), AnswerEnded("stop")]

    @garbage_among_events
    async def test_as_the_first_event_is_an_error_of_ours(self, model_at: ModelAt, event: Any):
        with ChatServer(sends_events(event)) as server:
            _, error = await failed(model_at(server))
        assert isinstance(error, AnswerCut)

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            (b'{"choices": []}', ' It says: {"choices": []}'),
            (b'{"error": {"message": "Nope."}}', " It says: Nope."),
            (b"", ""),
            (b"\xff\xfe\x00", " It says: \ufffd\ufffd\x00"),
        ],
    )
    async def test_in_place_of_a_stream_is_told_with_its_beginning(
        self, model_at: ModelAt, dialect: DialectName, body: bytes, said: str
    ):
        said = f"({ADDRESSES[dialect]}).{said}"
        with ChatServer(sends(body, "application/json")) as server:
            events, error = await failed(model_at(server))
            address = server.address(dialect)
            assert str(error).startswith(f"{address} did not send a stream of an answer")
        assert events == []
        assert isinstance(error, AnswerCut)
        assert str(error).endswith(said)

    async def test_that_is_a_web_page_in_place_of_a_stream_is_told(
        self, model_at: ModelAt, dialect: DialectName
    ):
        with ChatServer(sends(b"<!doctype html><h1>Log in</h1>", "text/html")) as server:
            _, error = await failed(model_at(server))
        assert isinstance(error, AnswerCut)
        assert str(error) == (
            f"127.0.0.1:{server.port} sent a web page instead of an answer: the address is wrong"
            f" ({ADDRESSES[dialect]}), or a login page of the network or a proxy is in the way."
        )

    async def test_without_a_line_break_is_not_collected_for_ever(
        self, model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("tui.providers.event_stream.LONGEST_LINE", 100_000)
        gate = Gate()

        def reply(exchange: Exchange) -> None:
            exchange.head()
            exchange.raw(b"data: " + b"x" * 200_000)
            exchange.wait(gate)

        with ChatServer(reply) as server:
            _, error = await failed(model_at(server))
        assert isinstance(error, AnswerCut)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class TestTheKey:
    @pytest.mark.parametrize(
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
    async def test_is_in_no_error_nor_anything_that_hangs_on_it(
        self, model_at: ModelAt, reply: Reply
    ):
        with ChatServer(reply) as server:
            _, error = await failed(model_at(server, retries=0))
        shown = [repr(part) + str(part) + str(part.args) for part in _chain(error)]
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        everything = "".join([*shown, *told.format()])
        assert KEY[:8] not in everything

    @only_openai
    async def test_is_not_in_what_a_model_declines_with(self, model_at: ModelAt):
        with ChatServer(sends_events(chunk({"refusal": f"Not with {KEY}."}, "stop"))) as server:
            _, error = await failed(model_at(server))
        assert str(error).endswith("It says: Not with [key].")

    async def test_is_in_nothing_that_shows_the_model(self, model_at: ModelAt):
        model = model_at("http://127.0.0.1:1/v1")
        assert KEY not in repr(model) + repr(vars(model)) + str(model._choice)
