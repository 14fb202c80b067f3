"""Headers, address and body of each request, with the additions of the user's configuration."""

import asyncio
import contextlib
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from itertools import product
from pathlib import Path

import httpx2
import pytest
from msgspec.structs import replace

import tui
from tests.providers.chat_server import (
    ChatServer,
    Exchange,
    Gate,
    Reply,
    answers,
    answers_at,
    compressed,
    drops_the_connection,
    ends_without_a_word_after,
    refuses,
    sends,
)
from tests.providers.conftest import (
    KEY,
    ModelAt,
    asks,
    collected,
    events_from,
    only_openai,
    sent,
    text_of,
)
from tests.providers.recorded import codec
from tests.tables import each_row
from tui.cli.debug_log import DebugLog
from tui.domain.models import ModelParameters
from tui.domain.providers import DialectName, Provider
from tui.errors import AnswerCut, ModelError, ModelRefused
from tui.logs import log_of
from tui.providers.catalog import Connection
from tui.providers.listed_models import list_models
from tui.providers.network import Route
from tui.providers.protocol import RequestAdapted, TextReceived
from tui.providers.secret import Secret


async def test_headers_are_sent_before_those_of_the_program_and_are_in_no_error(model_at: ModelAt):
    reply = refuses(400, "Team very blue is unknown.")
    mine = {"X-Team": "very blue", "user-agent": "mine/1"}
    with ChatServer(reply) as server, pytest.raises(ModelError) as caught:
        await collected(model_at(server, headers=mine).stream(asks()))
    headers = server.requests[0].headers
    assert (headers["x-team"], headers["user-agent"]) == ("very blue", "mine/1")
    assert "very blue" not in str(caught.value)


async def test_the_key_is_sent_in_the_header_that_is_configured(model_at: ModelAt):
    request = await sent(model_at, asks(), key_header="api-key")
    assert request.headers["api-key"] == KEY
    assert {"authorization", "x-api-key"} & set(request.headers) == set()
    # That has its usual form in every dialect.
    request = await sent(model_at, asks(), key_header="Authorization")
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_parameters_follow_the_address_and_more_fields_go_before_those_of_the_program(
    model_at: ModelAt,
):
    extra = {"top_k": 5, "provider": {"order": ["a"]}, "stream_options": None}
    query = {"api-version": "2026-10-01", "a b": "ä"}
    request = await sent(model_at, asks(), query=query, extra_body=extra)
    assert request.path.endswith("?api-version=2026-10-01&a+b=%C3%A4")
    assert extra.items() <= request.body.items()
    assert request.body["messages"]


@only_openai
async def test_counts_and_the_limit_of_an_answer_are_asked_for_as_it_is_configured(
    model_at: ModelAt,
):
    assert "stream_options" in (await sent(model_at, asks())).body
    limited = replace(asks(), parameters=ModelParameters(max_tokens=9))
    changes = {"stream_options": False, "max_tokens_name": "max_completion_tokens"}
    body = (await sent(model_at, limited, **changes)).body
    assert body["max_completion_tokens"] == 9
    assert not {"stream_options", "max_tokens"} & body.keys()


class AtOnce(httpx2.AsyncBaseTransport, httpx2.AsyncByteStream):
    """A server whose whole answer is read in one piece."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


async def test_others_have_their_turns_while_much_of_an_answer_is_read(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    event = b'data: {"choices": [{"delta": {"content": "word "}}]}\n\n'
    server = AtOnce(event * 5_000 + b"data: [DONE]\n\n")
    monkeypatch.setattr(Route, "transport", lambda _: server)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    model = model_at("http://localhost/v1", dialect="openai")
    assert text_of(await collected(model.stream(asks()))).count("word ") == 5_000
    beside.cancel()
    assert turns > 20


NEEDED = {"host", "user-agent", "accept", "accept-encoding", "content-type", "content-length"}
BEARER = {"authorization": f"Bearer {KEY}"}
OF_A_DIALECT = {
    "openai": ("/v1/chat/completions", set[str](), BEARER),
    "anthropic": ("/v1/messages", {"anthropic-version"}, {"x-api-key": KEY}),
    "responses": ("/v1/responses", set[str](), BEARER),
    "mistral": ("/mistral/v1/chat/completions", set[str](), BEARER),
    "google": (
        "/v1beta/models/test-model:streamGenerateContent?alt=sse",
        set[str](),
        {"x-goog-api-key": KEY},
    ),
}
"""The path, further headers, and the one with the key."""


class TestBesidesTheRequest:
    @pytest.fixture(autouse=True)
    def talkative_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {
            "OPENAI_API_KEY": "sk-openai",
            "OPENAI_ADMIN_KEY": "sk-admin",
            "OPENAI_ORG_ID": "org-1",
            "OPENAI_PROJECT_ID": "proj-1",
            "OPENAI_CUSTOM_HEADERS": "X-Secret: 1\nAuthorization: Bearer sk-custom",
            "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
            "ANTHROPIC_API_KEY": "sk-anthropic",
            "ANTHROPIC_AUTH_TOKEN": "sk-token",
            "ANTHROPIC_CUSTOM_HEADERS": "X-Secret: 1\nAuthorization: Bearer sk-custom",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
            "ANTHROPIC_PROFILE": "nobody",
        }.items():
            monkeypatch.setenv(name, value)

    @pytest.mark.parametrize("dialect", OF_A_DIALECT, indirect=True)
    async def test_a_server_gets_its_own_key_and_nothing_of_anyone_elses(
        self, model_at: ModelAt, dialect: str
    ):
        request, (path, more, key) = await sent(model_at, asks()), OF_A_DIALECT[dialect]
        assert (request.path, set(request.headers)) == (path, NEEDED | more | set(key))
        assert key.items() <= request.headers.items()
        assert request.headers["user-agent"] == f"sibyl-tui/{tui.__version__}"
        assert request.headers["accept-encoding"] == "identity"

    async def test_a_server_without_a_key_gets_none(self, model_at: ModelAt, dialect: str):
        request = await sent(model_at, asks(), key=None)
        assert set(request.headers) == NEEDED | OF_A_DIALECT[dialect][1]

    @only_openai
    async def test_openai_gets_the_organisation_too(self, model_at: ModelAt):
        request = await sent(model_at, asks(), provider="openai")
        assert request.headers["openai-organization"] == "org-1"
        assert request.headers["openai-project"] == "proj-1"
        assert request.headers["authorization"] == f"Bearer {KEY}"
        at_openai = codec("responses", provider="local", base_url="https://api.openai.com/v1")
        assert at_openai.headers["OpenAI-Organization"] == "org-1"

    async def test_a_key_that_was_in_quotes_is_told(self, model_at: ModelAt):
        key = Secret(KEY, "LOCAL_API_KEY", was_quoted=True)
        first, *_ = await events_from(model_at, answers(), key=key)
        assert first == RequestAdapted(
            "The key from LOCAL_API_KEY is in quotes: sent without them."
        )

    async def test_no_proxy_is_asked(self, model_at: ModelAt, monkeypatch: pytest.MonkeyPatch):
        with ChatServer() as server, ChatServer() as proxy:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, proxy.root)
            await collected(model_at(server).stream(asks()))
            assert len(server.requests) == 1
            assert proxy.requests == []


SECRET = "xyzzyplugh"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "debug.log"


async def ask(model, place):
    """Ask with the log; gives its entries about requests, without their time and place."""
    with DebugLog(place).collecting(), contextlib.suppress(ModelError):
        await collected(model.stream(asks()))
    text = place.read_text()
    assert KEY not in text
    assert SECRET not in text
    return re.findall(r"exchange: request to local at 127\.0\.0\.1:\d+(.*)", text)


async def test_an_answer_has_path_status_times_size_and_end(model_at, dialect, place):
    with ChatServer(answers(SECRET, SECRET)) as server:
        begun, ended = await ask(model_at(server), place)
    path = "/chat/completions" if dialect == "openai" else "/v1/messages"
    assert begun == ": attempt 1 begins"
    expected = rf"{path}: attempt 1, status 200, first byte 0\.\d\d s, \d{{3,}} bytes, \d\.\d\d s, "
    assert re.fullmatch(expected + "complete", ended)


async def test_each_attempt_has_its_end_without_the_words_of_the_server(model_at, place):
    refusal = refuses(500, f"{KEY} {SECRET}", **{"Retry-After": "0"})
    with ChatServer(refusal, answers(SECRET)) as server:
        _, failed, _, ended = await ask(model_at(server, retries=1), place)
    assert "attempt 1, status 500, " in failed
    assert failed.endswith(", Refusal")
    assert "attempt 2, status 200, " in ended
    assert ended.endswith("complete")


@pytest.mark.parametrize(
    "reply",
    [
        drops_the_connection(),
        refuses(401, f"{KEY} {SECRET}"),
        refuses(400, body=f"<html>{SECRET}"),
        sends(f"data: {SECRET}\n\n".encode()),
    ],
)
async def test_a_failure_has_the_class_of_its_error_only(model_at, place, reply):
    with ChatServer(reply) as server:
        _, ended = await ask(model_at(server, retries=0), place)
    assert re.search(r", [A-Z][A-Za-z]+( from [A-Z].+)?$", ended)


async def test_the_path_of_an_address_may_be_a_secret_and_its_query_too(model_at, place):
    with ChatServer(answers("Yes.")) as server:
        model = model_at(
            f"{server.address('openai')}/{SECRET}",
            query={"code": SECRET},
            headers={"X-Code": SECRET},
        )
        assert len(await ask(model, place)) == 2


def test_a_request_for_facts_names_its_path_and_no_query(place):
    provider = Provider("local", dialect="anthropic", lists="anthropic")
    with ChatServer(models=["test-model"]) as server, DebugLog(place).collecting():
        list_models(Connection(replace(provider, base_url=server.root)))
    assert re.search(
        r": facts from local/v1/models: \d+ bytes, \d+ ms$", place.read_text(), re.MULTILINE
    )


async def test_an_answer_that_is_stopped_says_so(model_at, place):
    gate = Gate()
    with ChatServer(answers_at(gate, "one", "two")) as server, DebugLog(place).collecting():
        events = model_at(server).stream(asks())
        await anext(events)
        await events.aclose()
        gate.open()
    assert ", stopped\n" in place.read_text()


async def test_a_request_of_a_private_session_is_no_entry(model_at, place):
    private = log_of("private-20260111-153022-847291")
    with ChatServer(answers("Yes.")) as server, DebugLog(place).collecting(), private:
        await collected(model_at(server).stream(asks()))
    assert "request" not in place.read_text()


ROOT = Path(__file__).parents[2]
TIME_LIMIT = 60.0

either_coding = each_row("coding", ["gzip", "deflate"])


def in_every_form(reply: Reply) -> list[Reply]:
    """The reply in gzip and deflate, in chunks and up to the connection's end."""
    forms = product(["gzip", "deflate"], [True, False])
    return [compressed(reply, coding, chunked=chunked) for coding, chunked in forms]


def printed_answers(dialect: DialectName, replies: Sequence[Reply]) -> list[str]:
    """Reading could take for ever and block every signal but SIGKILL: a process of its own asks."""
    with ChatServer(*replies) as server:
        where = [dialect, server.address(dialect), str(len(replies))]
        done = subprocess.run(
            [sys.executable, "-m", "tests.providers.asking", *where],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            timeout=TIME_LIMIT,
            check=True,
        )
    return done.stdout.splitlines()


def test_a_compressed_answer_is_read_to_its_end(dialect: DialectName):
    replies = in_every_form(answers("Hello", "."))
    assert printed_answers(dialect, replies) == ["Hello."] * 4


@pytest.mark.full
def test_a_compressed_answer_that_ends_without_its_last_word_is_cut(dialect: DialectName):
    replies = in_every_form(ends_without_a_word_after("Hello"))
    assert printed_answers(dialect, replies) == ["AnswerCut"] * 4


@either_coding
async def test_a_compressed_piece_is_given_before_the_next_is_sent(model_at: ModelAt, coding: str):
    reply = compressed(answers_at(Gate(), "One", "Two"), coding, chunked=True)
    with ChatServer(reply) as server:
        events = model_at(server).stream(asks())
        assert await anext(events) == TextReceived("One")
        await events.aclose()


@either_coding
async def test_nothing_is_awaited_after_the_end_of_a_compressed_answer(
    model_at: ModelAt, coding: str
):
    def stays(exchange: Exchange) -> None:
        answers("Hello.")(exchange)
        exchange.wait(Gate())

    events = await events_from(model_at, compressed(stays, coding, chunked=True))
    assert TextReceived("Hello.") in events


@either_coding
async def test_a_compressed_error_is_quoted(model_at: ModelAt, coding: str):
    reply = compressed(refuses(400, "Too odd."), coding, chunked=False)
    with pytest.raises(ModelRefused, match="Too odd"):
        await events_from(model_at, reply)


async def test_a_few_compressed_bytes_do_not_become_an_endless_line(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.providers.reception.LONGEST_LINE", 100_000)

    def bomb(exchange: Exchange) -> None:
        exchange.head()
        exchange.raw(b"data: " + b"x" * 10_000_000)
        exchange.wait(Gate())

    with pytest.raises(AnswerCut):
        await events_from(model_at, compressed(bomb, "gzip", chunked=True))


@each_row("coding", ["gzip", "deflate", "br"])
async def test_an_answer_that_is_not_compressed_as_it_says_is_cut(model_at: ModelAt, coding: str):
    def garbled(exchange: Exchange) -> None:
        exchange.head(Content_Encoding=coding)
        exchange.raw(b"\xff\xfe\x00 no such thing \n\n")

    said = "did not send a stream of an answer"
    with pytest.raises(AnswerCut, match=said):
        await events_from(model_at, garbled)
