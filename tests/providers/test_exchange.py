"""Headers, address and body of each request, with the additions of the user's configuration."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from msgspec.structs import replace

import tui
from tests.providers.chat_server import ChatServer, answers, refuses
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
from tui.domain.models import ModelParameters
from tui.errors import ModelError
from tui.providers.network import Route
from tui.providers.protocol import RequestAdapted
from tui.providers.secret import Secret

TEAM = {"X-Team": "very blue"}


async def test_headers_are_sent(model_at: ModelAt):
    request = await sent(model_at, asks(), headers=TEAM)
    assert request.headers["x-team"] == "very blue"


async def test_headers_go_before_those_of_the_program(model_at: ModelAt):
    mine = {"user-agent": "mine/1"}
    request = await sent(model_at, asks(), headers=mine)
    assert request.headers["user-agent"] == "mine/1"


async def test_the_values_of_headers_are_in_no_error(model_at: ModelAt):
    reply = refuses(400, "Team very blue is unknown.")
    with ChatServer(reply) as server, pytest.raises(ModelError) as caught:
        await collected(model_at(server, headers=TEAM).stream(asks()))
    assert "very blue" not in str(caught.value)


async def test_the_key_is_sent_in_the_header_that_is_configured(model_at: ModelAt):
    request = await sent(model_at, asks(), key_header="api-key")
    assert request.headers["api-key"] == KEY
    assert {"authorization", "x-api-key"} & set(request.headers) == set()


async def test_authorization_has_its_usual_form_in_every_dialect(model_at: ModelAt):
    request = await sent(model_at, asks(), key_header="Authorization")
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_parameters_follow_the_address(model_at: ModelAt):
    request = await sent(model_at, asks(), query={"api-version": "2026-10-01", "a b": "ä"})
    assert request.path.endswith("?api-version=2026-10-01&a+b=%C3%A4")


async def test_more_fields_go_into_the_body_before_those_of_the_program(model_at: ModelAt):
    extra = {"top_k": 5, "provider": {"order": ["a"]}, "stream_options": None}
    request = await sent(model_at, asks(), extra_body=extra)
    assert extra.items() <= request.body.items()
    assert request.body["messages"]


@only_openai
async def test_token_counts_are_not_asked_for_where_a_server_refuses_that(model_at: ModelAt):
    assert "stream_options" in (await sent(model_at, asks())).body
    assert "stream_options" not in (await sent(model_at, asks(), stream_options=False)).body


@only_openai
async def test_the_limit_of_an_answer_has_the_name_that_is_configured(model_at: ModelAt):
    limited = replace(asks(), parameters=ModelParameters(max_tokens=9))
    request = await sent(model_at, limited, max_tokens_name="max_completion_tokens")
    assert request.body["max_completion_tokens"] == 9
    assert "max_tokens" not in request.body


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
