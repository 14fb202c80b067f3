"""What a real server is sent: what was typed, as chat completions, and nothing besides."""

import asyncio
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.examples import examples
from tests.providers.chat_server import ChatServer, calls_tools
from tests.providers.conftest import (
    ModelAt,
    asks,
    collected,
    events_from,
    journal_message,
    only_openai,
    says,
    sent,
)
from tui.domain.journal.message import Message, ToolCall
from tui.providers.protocol import (
    ModelRequest,
    ToolDefinition,
)

pytestmark = only_openai


async def body_of(model_at: ModelAt, request: ModelRequest, **changes: Any) -> dict[str, Any]:
    only = await sent(model_at, request, **changes)
    assert only.path == "/v1/chat/completions"
    return only.body


async def messages_sent(model_at: ModelAt, *messages: Message, system: str = "") -> list[Any]:
    return (await body_of(model_at, ModelRequest(system, messages)))["messages"]


async def test_a_prompt_is_sent_as_one_message_of_the_user(model_at: ModelAt):
    body = await body_of(model_at, asks("Hello?"))
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
            body = await body_of(model_at, ModelRequest("", (*talk, says("user", "Last?"))))
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


async def message_of_call_sent(model_at: ModelAt, arguments: Any) -> dict[str, Any]:
    """The message of an earlier call."""
    caller = says("assistant", "Hm.", tool_calls=(ToolCall("a", "f", arguments),))
    result = says("tool", "No.", tool_call_id="a")
    return (await messages_sent(model_at, says("user", "Do."), caller, result))[1]


@pytest.mark.parametrize("arguments", ["no json", '{"a": ', "[1]", [1, 2], 7, ""])
async def test_arguments_that_are_no_object_are_sent_inside_of_one(
    model_at: ModelAt, arguments: Any
):
    message = await message_of_call_sent(model_at, arguments)
    (call,) = message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"INVALID_JSON": arguments}
    assert message["content"] == "Hm."


async def test_null_arguments_that_a_server_sent_or_a_journal_has_go_back_as_they_came(
    model_at: ModelAt,
):
    events = await events_from(model_at, calls_tools(("a", "now", ["nu", "ll"])))
    call = next(event for event in events if isinstance(event, ToolCall))
    assert call == ToolCall("a", "now", None)
    assert journal_message("m7").tool_calls == (ToolCall("tc_2", "now", None),)
    message = await message_of_call_sent(model_at, None)
    assert message["tool_calls"][0]["function"]["arguments"] == "null"


async def test_content_in_blocks_is_sent_as_its_text(model_at: ModelAt):
    blocks = [{"type": "text", "text": "Look:"}, {"type": "image", "data": "…"}]
    sent = await messages_sent(model_at, says("user", blocks))
    assert sent == [{"role": "user", "content": "Look:\n[image]"}]


async def test_lone_surrogates_are_sent_as_replacements_wherever_they_are(model_at: ModelAt):
    odd = "a\ud800b"
    caller = says("assistant", odd, tool_calls=(ToolCall(odd, odd, {odd: odd}),))
    caller = replace(caller, model="local:" + odd)
    body = await body_of(
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
    body = await body_of(model_at, request)
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
    body = await body_of(model_at, asks(text, system="S"), model=name)
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
