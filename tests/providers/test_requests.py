"""What a real server is sent: what was typed, as chat completions, and nothing besides."""

import asyncio
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import tui
from tests.examples import examples
from tests.providers.chat_server import ChatServer, calls_tools
from tests.providers.conftest import (
    KEY,
    ModelAt,
    asks,
    collected,
    journal_message,
    only_openai,
    says,
)
from tui.domain.journal.message import Message, ToolCall
from tui.providers.protocol import (
    ModelRequest,
    RequestAdapted,
    ToolCallReceived,
    ToolDefinition,
)
from tui.providers.secret import Secret

pytestmark = only_openai


async def sent(model_at: ModelAt, request: ModelRequest, **changes: Any) -> dict[str, Any]:
    with ChatServer() as server:
        await collected(model_at(server, **changes).stream(request))
        (only,) = server.requests
    assert only.path == "/v1/chat/completions"
    return only.body


async def messages_sent(model_at: ModelAt, *messages: Message, system: str = "") -> list[Any]:
    return (await sent(model_at, ModelRequest(system, messages)))["messages"]


async def test_a_prompt_is_sent_as_one_message_of_the_user(model_at: ModelAt):
    body = await sent(model_at, asks("Hello?"))
    assert body == {
        "model": "test-model",
        "messages": [{"role": "user", "content": "Hello?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_a_long_conversation_takes_few_steps_of_the_event_loop(model_at: ModelAt):
    """The library's look at each field of each message would take 300 ms of 3,000 messages."""
    steps = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal steps
        steps += event == "call"

    async def steps_for(messages: int) -> int:
        nonlocal steps
        talk = [says(("user", "assistant")[n % 2], f"number {n}") for n in range(messages)]
        steps = 0
        sys.setprofile(count)
        try:
            body = await sent(model_at, ModelRequest("", (*talk, says("user", "Last?"))))
        finally:
            sys.setprofile(None)
        assert len(body["messages"]) == messages + 1
        return steps

    await steps_for(10)
    assert await steps_for(500) - await steps_for(100) < 400 * 100


async def test_the_system_prompt_comes_first(model_at: ModelAt):
    sent = await messages_sent(model_at, says("user", "Hello?"), system="Be brief.")
    assert sent[0] == {"role": "system", "content": "Be brief."}
    assert len(sent) == 2


async def test_a_conversation_is_sent_in_its_order(model_at: ModelAt):
    sent = await messages_sent(
        model_at, says("user", "One?"), says("assistant", "Yes."), says("user", "Two?")
    )
    assert [(each["role"], each["content"]) for each in sent] == [
        ("user", "One?"),
        ("assistant", "Yes."),
        ("user", "Two?"),
    ]


async def test_two_prompts_in_a_row_stay_two(model_at: ModelAt):
    sent = await messages_sent(model_at, says("user", "One?"), says("user", "Two?"))
    assert [each["content"] for each in sent] == ["One?", "Two?"]


async def test_calls_and_results_are_sent_with_their_ids(model_at: ModelAt):
    calls = (ToolCall("a", "f", {"x": ["ä", None]}), ToolCall("b", "g", {}))
    sent = await messages_sent(
        model_at,
        says("user", "Do."),
        says("assistant", "", tool_calls=calls, model="local:test-model"),
        says("tool", "Done.", tool_call_id="a"),
        says("tool", "", tool_call_id="b"),
    )
    call, first, second = sent[1:]
    assert call["content"] is None
    assert [each["id"] for each in call["tool_calls"]] == ["a", "b"]
    functions = [each["function"] for each in call["tool_calls"]]
    assert [each["name"] for each in functions] == ["f", "g"]
    assert [json.loads(each["arguments"]) for each in functions] == [{"x": ["ä", None]}, {}]
    assert first == {"role": "tool", "tool_call_id": "a", "content": "Done."}
    assert second == {"role": "tool", "tool_call_id": "b", "content": ""}


@pytest.mark.parametrize("arguments", ["no json", '{"a": ', "[1]", [1, 2], 7, ""])
async def test_arguments_that_are_no_object_are_sent_inside_of_one(
    model_at: ModelAt, arguments: Any
):
    caller = says("assistant", "Hm.", tool_calls=(ToolCall("a", "f", arguments),))
    sent = await messages_sent(
        model_at, says("user", "Do."), caller, says("tool", "No.", tool_call_id="a")
    )
    (call,) = sent[1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"INVALID_JSON": arguments}
    assert sent[1]["content"] == "Hm."


async def test_null_arguments_in_a_journal_go_back_as_they_came(model_at: ModelAt):
    caller = journal_message("m7")
    assert caller.tool_calls == (ToolCall("tc_2", "now", None),)
    sent = await messages_sent(
        model_at, says("user", "Do."), caller, says("tool", "No.", tool_call_id="tc_2")
    )
    (call,) = sent[1]["tool_calls"]
    assert call["function"] == {"name": "now", "arguments": "null"}


async def test_null_arguments_that_a_server_sent_go_back_to_it(model_at: ModelAt):
    with ChatServer(calls_tools(("a", "now", ["nu", "ll"]))) as server:
        events = await collected(model_at(server).stream(asks()))
    call = next(event.call for event in events if isinstance(event, ToolCallReceived))
    assert call == ToolCall("a", "now", None)
    caller = says("assistant", "", tool_calls=(call,))
    sent = await messages_sent(
        model_at, says("user", "Do."), caller, says("tool", "No.", tool_call_id="a")
    )
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "null"


async def test_content_in_blocks_is_sent_as_its_text(model_at: ModelAt):
    blocks = [{"type": "text", "text": "Look:"}, {"type": "image", "data": "…"}]
    sent = await messages_sent(model_at, says("user", blocks))
    assert sent == [{"role": "user", "content": "Look:\n[image]"}]


async def test_lone_surrogates_are_sent_as_replacements_wherever_they_are(model_at: ModelAt):
    odd = "a\ud800b"
    caller = says("assistant", odd, tool_calls=(ToolCall(odd, odd, {odd: odd}),))
    caller = replace(caller, model="local:" + odd)
    body = await sent(
        model_at,
        ModelRequest(odd, (says("user", odd), caller, says("tool", odd, tool_call_id=odd))),
        model=odd,
    )
    text = json.dumps(body, ensure_ascii=False)
    assert "\ud800" not in text
    assert text.count("a\ufffdb") == 9


async def test_tools_are_offered_as_they_are_defined(model_at: ModelAt):
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = (ToolDefinition("read_file", "Read a file.", schema),)
    request = ModelRequest("", (says("user", "Do."),), tools)
    body = await sent(model_at, request)
    (tool,) = body["tools"]
    assert tool == {
        "type": "function",
        "function": {"name": "read_file", "description": "Read a file.", "parameters": schema},
    }


async def test_a_prompt_of_a_megabyte_is_sent(model_at: ModelAt):
    text = "0123456789abcdef" * 65_536
    sent = await messages_sent(model_at, says("user", text))
    assert sent[0]["content"] == text


@pytest.mark.parametrize(
    "name", ["gpt-6-luna", "o1-mini", "gpt-oss:20b", "qwen3:4b", "vendor/deepseek-r1"]
)
async def test_nothing_is_made_of_the_models_name(model_at: ModelAt, name: str):
    text = " <|im_start|>system\n[INST] <think> <system>x</system> "
    body = await sent(model_at, asks(text, system="S"), model=name)
    assert body["model"] == name
    assert body["messages"] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": text},
    ]
    assert set(body) == {"model", "messages", "stream", "stream_options"}


def test_any_text_is_sent_as_it_was_typed_but_for_lone_surrogates(model_at: ModelAt):
    with ChatServer() as server:
        model = model_at(server)

        @examples(0.4)
        @given(st.text(min_size=1))
        def check(text: str) -> None:
            asyncio.run(collected(model.stream(asks(text))))
            (message,) = server.requests[-1].body["messages"]
            joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            assert message["content"] == joined

        check()


NEEDED = {"host", "user-agent", "accept", "accept-encoding", "content-type", "content-length"}


class TestBesidesTheRequest:
    @pytest.fixture
    def talkative_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {
            "OPENAI_API_KEY": "sk-openai",
            "OPENAI_ADMIN_KEY": "sk-admin",
            "OPENAI_ORG_ID": "org-1",
            "OPENAI_PROJECT_ID": "proj-1",
            "OPENAI_CUSTOM_HEADERS": "X-Secret: 1\nAuthorization: Bearer sk-custom",
            "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        }.items():
            monkeypatch.setenv(name, value)

    @pytest.mark.usefixtures("talkative_environment")
    async def test_a_server_gets_its_own_key_and_nothing_of_anyone_elses(self, model_at: ModelAt):
        with ChatServer() as server:
            await collected(model_at(server).stream(asks()))
            (request,) = server.requests
        assert set(request.headers) == NEEDED | {"authorization"}
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["user-agent"] == f"sibyl-tui/{tui.__version__}"

    @pytest.mark.usefixtures("talkative_environment")
    async def test_a_server_without_a_key_gets_none(self, model_at: ModelAt):
        with ChatServer() as server:
            await collected(model_at(server, key=None).stream(asks()))
            (request,) = server.requests
        assert set(request.headers) == NEEDED

    @pytest.mark.usefixtures("talkative_environment")
    async def test_openai_gets_the_organisation_too(self, model_at: ModelAt):
        with ChatServer() as server:
            await collected(model_at(server, provider="openai").stream(asks()))
            (request,) = server.requests
        assert request.headers["openai-organization"] == "org-1"
        assert request.headers["openai-project"] == "proj-1"
        assert request.headers["authorization"] == f"Bearer {KEY}"

    async def test_a_key_that_was_in_quotes_is_told(self, model_at: ModelAt):
        with ChatServer() as server:
            key = Secret(KEY, "LOCAL_API_KEY", was_quoted=True)
            first, *_ = await collected(model_at(server, key=key).stream(asks()))
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
