"""Answers from Amazon Bedrock, and what goes wrong there."""

import asyncio
import subprocess
import sys
import textwrap
from base64 import b64encode

import pytest
from msgspec.structs import replace

from tests.attached import PNG, picture, showing
from tests.providers.chat_server import (
    ChatServer,
    Gate,
    Reply,
    answers,
    answers_at,
    breaks_off_with_an_error,
    ends_without_a_word_after,
    is_silent,
    refuses,
)
from tests.providers.conftest import KEY, ModelAt, a_choice, asks, collected, events_from, text_of
from tests.providers.relay import ForwardProxy
from tests.tables import each_row
from tui.domain.providers import DialectName
from tui.errors import AnswerCut, ModelError, ModelRefused, ModelTimedOut, ModelUnavailable
from tui.providers.bedrock import BedrockClient
from tui.providers.chat_model import ChatModel
from tui.providers.protocol import AnswerEnded, AttemptFailed, TextReceived
from tui.providers.secret import Secret

# As for every dialect of an extra; what a user meets first is tried each time.
pytestmark = pytest.mark.full


@pytest.fixture
def dialect(monkeypatch: pytest.MonkeyPatch) -> DialectName:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    return "bedrock"


@pytest.fixture
def model_at(dialect: DialectName) -> ModelAt:
    def model_at(server: ChatServer, model: str = "test-model", timeout: float = 30) -> ChatModel:
        choice = a_choice("local", model, server.root, None, dialect, timeout=timeout, retries=2)
        return ChatModel(choice)

    return model_at


@pytest.mark.fast
async def test_an_answer_comes_in_its_pieces_with_the_credentials_of_aws(model_at: ModelAt):
    photo = picture()
    request = replace(asks(showing("See", photo), system="Be brief."), images={photo.sha256: PNG})
    with ChatServer(answers("Hello", ", ", "you.")) as server:
        events = await collected(model_at(server).stream(request))
    assert text_of(events) == "Hello, you."
    assert events[-1] == AnswerEnded("stop")
    (sent,) = server.requests
    assert sent.path == "/model/test-model/converse-stream"
    assert sent.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIATEST/")
    assert sent.body["system"] == [{"text": "Be brief."}]
    image = {"image": {"format": "png", "source": {"bytes": b64encode(PNG).decode()}}}
    assert sent.body["messages"] == [{"role": "user", "content": [{"text": "See"}, image]}]


async def test_each_piece_is_given_before_the_next_is_sent(model_at: ModelAt):
    gate = Gate()
    with ChatServer(answers_at(gate, "One", "Two")) as server:
        events = model_at(server).stream(asks())
        assert await anext(events) == TextReceived("One")
        gate.open()
        assert await anext(events) == TextReceived("Two")
        await events.aclose()


def test_a_key_takes_the_place_of_credentials(dialect: DialectName):
    key = Secret(KEY, "AWS_BEARER_TOKEN_BEDROCK")
    model = ChatModel(a_choice("bedrock", "m", key=key, dialect=dialect))
    assert BedrockClient(model._choice).client.meta.config.signature_version == "bearer"


async def test_headers_and_fields_of_the_configuration_go_with_each_request(model_at: ModelAt):
    with ChatServer(answers("Yes.")) as server:
        more = {"headers": {"X-Team": "blue"}, "extra_body": {"top_k": 5}}
        choice = a_choice("local", "test-model", server.root, dialect="bedrock", **more)
        await collected(ChatModel(choice).stream(asks()))
    (sent,) = server.requests
    assert sent.headers["x-team"] == "blue"
    assert sent.body["additionalModelRequestFields"] == {"top_k": 5}


@pytest.mark.parametrize("proxied", [True, False])
async def test_the_proxy_of_the_configuration_counts_before_the_environment(
    dialect: DialectName, monkeypatch: pytest.MonkeyPatch, *, proxied: bool
):
    with ChatServer(answers("Yes.")) as server, ForwardProxy(server.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1" if proxied else proxy.root)
        address = "http://model.example" if proxied else server.root
        way = proxy.root if proxied else ""
        choice = a_choice("local", "m", address, dialect=dialect, proxy=way)
        assert text_of(await collected(ChatModel(choice).stream(asks()))) == "Yes."
        assert bool(proxy.log) == proxied


@pytest.mark.fast
async def test_without_credentials_it_says_where_they_belong(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    said = "Unable to locate credentials.*AWS's tools"
    with pytest.raises(ModelUnavailable, match=said):
        await events_from(model_at, answers())


@each_row(
    "reply, kind, words",
    [
        (answers("I ", finish="content_filter"), AnswerCut, "content filter"),
        (breaks_off_with_an_error("So far "), AnswerCut, "on fire"),
        (ends_without_a_word_after("So far "), AnswerCut, "in the middle of its answer"),
        (answers_at(Gate(), "And then ", "never."), ModelTimedOut, "sent nothing for 1 seconds"),
    ],
)
async def test_an_answer_that_does_not_end_by_itself_says_why(
    model_at: ModelAt, reply: Reply, kind: type[ModelError], words: str
):
    with pytest.raises(kind, match=words):
        await events_from(model_at, reply, timeout=1)


@pytest.mark.fast
async def test_a_refusal_is_quoted_and_asked_once(model_at: ModelAt):
    reply = refuses(400, "Malformed input.")
    with ChatServer(reply) as server, pytest.raises(ModelRefused, match="Malformed input"):
        await collected(model_at(server).stream(asks()))
    assert len(server.requests) == 1


async def test_a_busy_server_is_asked_again_and_each_attempt_told(model_at: ModelAt):
    events = await events_from(model_at, refuses(503, "Busy."), answers("Hello."))
    assert isinstance(events[0], AttemptFailed)
    assert text_of(events) == "Hello."


async def test_a_server_that_is_not_there_is_told(dialect: DialectName):
    model = ChatModel(a_choice("bedrock", "m", "http://127.0.0.1:1", dialect=dialect))
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:1 cannot be reached.*endpoint"):
        await collected(model.stream(asks()))


@pytest.mark.fast
async def test_a_stop_ends_the_connection(model_at: ModelAt):
    with ChatServer(answers_at(Gate(), "And then ", "never.")) as server:
        events = model_at(server).stream(asks())
        await anext(events)
        await events.aclose()
        await asyncio.to_thread(server.wait_for_disconnect)


def test_without_a_region_it_says_what_names_one(monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ModelUnavailable, match="AWS_REGION"):
        ChatModel(a_choice("bedrock", "m", dialect="bedrock"))


def test_the_end_of_a_program_does_not_wait_for_an_answer(dialect: DialectName):
    program = """
        import asyncio, sys
        from tests.providers.conftest import a_choice, asks
        from tui.providers.chat_model import ChatModel

        async def main():
            choice = a_choice("bedrock", "m", sys.argv[1], dialect="bedrock", timeout=100)
            task = asyncio.ensure_future(anext(ChatModel(choice).stream(asks())))
            await asyncio.to_thread(sys.stdin.readline)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(main())
    """
    with ChatServer(is_silent(Gate())) as server:
        started = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), server.root], stdin=subprocess.PIPE
        )
        server.wait_for_request()
        started.communicate(b"\n", timeout=60)
        assert started.returncode == 0
