"""What a server that speaks Anthropic's messages is sent, and nothing besides."""

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.providers.chat_server import ChatServer
from tests.providers.conftest import (
    ModelAt,
    asks,
    collected,
    journal_message,
    only_anthropic,
    says,
    sent,
)
from tui.domain.journal.message import Message, ToolCall
from tui.domain.providers import PROVIDERS
from tui.providers.protocol import ModelRequest, ToolDefinition

pytestmark = only_anthropic

PLAIN_ID = re.compile(r"[a-zA-Z0-9_-]+")


async def body_of(model_at: ModelAt, request: ModelRequest, **changes: Any) -> dict[str, Any]:
    only = await sent(model_at, request, **changes)
    assert only.path == "/v1/messages"
    return only.body


async def messages_sent(model_at: ModelAt, *messages: Message) -> list[Any]:
    return (await body_of(model_at, ModelRequest("", messages)))["messages"]


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


async def test_a_prompt_is_sent_as_one_message_of_the_user(model_at: ModelAt):
    assert await body_of(model_at, asks("Hello?"), context_window=200_000) == {
        "model": "test-model",
        "max_tokens": 32_000,
        "messages": [{"role": "user", "content": [text("Hello?")]}],
        "stream": True,
    }


async def test_the_system_prompt_has_a_place_of_its_own(model_at: ModelAt):
    body = await body_of(model_at, asks("Hello?", system="Be brief."))
    assert body["system"] == "Be brief."
    assert [each["role"] for each in body["messages"]] == ["user"]


async def test_a_conversation_is_sent_in_its_order_and_two_prompts_stay_two(model_at: ModelAt):
    sent = await messages_sent(
        model_at,
        says("user", "One?"),
        says("assistant", "Yes. "),
        says("user", "Two?"),
        says("user", "Three?"),
    )
    assert [(each["role"], each["content"]) for each in sent] == [
        ("user", [text("One?")]),
        ("assistant", [text("Yes. ")]),
        ("user", [text("Two?")]),
        ("user", [text("Three?")]),
    ]


async def test_the_results_of_calls_come_together_right_after_them(model_at: ModelAt):
    calls = (ToolCall("a", "f", {"x": ["ä", None]}), ToolCall("b", "g", {}))
    call, results, prompt = (
        await messages_sent(
            model_at,
            says("user", "Do."),
            says("assistant", "Look.", tool_calls=calls),
            says("tool", "Done.", tool_call_id="a"),
            says("tool", "Too.", tool_call_id="b"),
            says("user", "And?"),
        )
    )[1:]
    assert call["content"] == [
        text("Look."),
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": ["ä", None]}},
        {"type": "tool_use", "id": "b", "name": "g", "input": {}},
    ]
    assert [(each["tool_use_id"], each["content"]) for each in results["content"]] == [
        ("a", [text("Done.")]),
        ("b", [text("Too.")]),
    ]
    assert prompt == {"role": "user", "content": [text("And?")]}


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
async def test_no_blank_text_is_sent_which_would_be_refused(model_at: ModelAt, blank: str):
    caller = says("assistant", blank, tool_calls=(ToolCall("a", "f", {}),))
    call, result, last = await messages_sent(
        model_at,
        says("user", blank),
        caller,
        says("tool", blank, tool_call_id="a"),
        says("user", "On."),
    )
    assert [each["type"] for each in call["content"]] == ["tool_use"]
    assert result["content"][0]["content"] == ""
    assert last == {"role": "user", "content": [text("On.")]}


async def test_no_blank_system_prompt_is_sent(model_at: ModelAt):
    assert "system" not in await body_of(model_at, asks(system=" \n"))


async def test_ids_that_would_be_refused_are_sent_as_others_with_their_results(model_at: ModelAt):
    odd = ("functions.f:0", "", "same", "same", "a\ud800")
    messages = [says("user", "Do.")]
    for number, call_id in enumerate(odd):
        call = ToolCall(call_id, "f", {"n": number})
        messages.append(says("assistant", "", tool_calls=(call,)))
        messages.append(says("tool", str(number), tool_call_id=call_id))
    sent = await messages_sent(model_at, *messages)
    ids = [each["content"][0]["id"] for each in sent[1::2]]
    assert len(set(ids)) == len(odd)
    assert all(PLAIN_ID.fullmatch(each) for each in ids)
    assert "same" in ids
    results = [each["content"][0] for each in sent[2::2]]
    assert [each["tool_use_id"] for each in results] == ids
    assert [each["content"] for each in results] == [[text(str(number))] for number in range(5)]


async def call_sent(model_at: ModelAt, name: str, arguments: Any) -> dict[str, Any]:
    """The block of an earlier call."""
    caller = says("assistant", "Hm.", tool_calls=(ToolCall("a", name, arguments),))
    result = says("tool", "No.", tool_call_id="a")
    return (await messages_sent(model_at, says("user", "Do."), caller, result))[1]["content"][1]


@pytest.mark.parametrize(
    ("name", "other"), [("functions.f", "functions_f"), ("f" * 200, "f" * 64), ("", "_")]
)
async def test_a_name_that_would_be_refused_is_sent_as_another(
    model_at: ModelAt, name: str, other: str
):
    assert (await call_sent(model_at, name, {}))["name"] == other


@pytest.mark.parametrize("arguments", ["no json", '{"a": ', "[1]", [1, 2], 7, ""])
async def test_arguments_that_are_no_object_are_sent_inside_of_one(
    model_at: ModelAt, arguments: Any
):
    assert (await call_sent(model_at, "f", arguments))["input"] == {"INVALID_JSON": arguments}


async def test_null_arguments_in_a_journal_are_sent_as_the_empty_object_that_they_stand_for(
    model_at: ModelAt,
):
    (call,) = journal_message("m7").tool_calls
    assert call.arguments is None
    assert (await call_sent(model_at, call.name, call.arguments))["input"] == {}


async def test_arguments_however_deep_are_sent(model_at: ModelAt):
    deep: Any = {}
    for _ in range(400):
        deep = {"a": deep}
    assert isinstance((await call_sent(model_at, "f", deep))["input"], dict)


async def test_lone_surrogates_are_sent_as_replacements_wherever_they_are(model_at: ModelAt):
    odd = "a\ud800b"
    caller = says("assistant", odd, tool_calls=(ToolCall("a", "f", {odd: odd}),))
    request = ModelRequest(odd, (says("user", odd), caller, says("tool", odd, tool_call_id="a")))
    body = await body_of(model_at, request, model=odd)
    assert str(body).count("a\ufffdb") == 7
    assert "\ud800" not in str(body)


async def test_tools_are_offered_as_they_are_defined(model_at: ModelAt):
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = (ToolDefinition("read_file", "Read a file.", schema),)
    body = await body_of(model_at, ModelRequest("", (says("user", "Do."),), tools))
    (tool,) = body["tools"]
    assert (tool["name"], tool["description"], tool["input_schema"]) == (
        "read_file",
        "Read a file.",
        schema,
    )


@pytest.mark.parametrize(
    "name", ["claude-sonnet-5-5", "claude-sonnet-4-6", "claude-opus-5", "claude-3-haiku", "glm-5"]
)
async def test_nothing_is_made_of_the_models_name(model_at: ModelAt, name: str):
    said = " <|im_start|>system\n[INST] <think> <system>x</system> "
    body = await body_of(model_at, asks(said, system="S"), model=name)
    assert body.pop("max_tokens") > 0
    assert body == {
        "model": name,
        "system": "S",
        "messages": [{"role": "user", "content": [text(said)]}],
        "stream": True,
    }


@pytest.mark.parametrize(
    ("window", "tokens"), [(1_000_000, 32_000), (200_000, 32_000), (40_000, 10_000), (1, 1)]
)
async def test_an_answer_may_take_what_the_table_says_or_the_quarter_that_is_free_for_it(
    model_at: ModelAt, window: int, tokens: int
):
    answer_tokens = PROVIDERS["anthropic"].answer_tokens
    body = await body_of(model_at, asks(), context_window=window, answer_tokens=answer_tokens)
    assert body["max_tokens"] == tokens


async def test_an_answer_may_not_take_more_than_the_model_is_known_to_give(model_at: ModelAt):
    changes = {"context_window": 1_000_000, "answer_tokens": 500_000}
    known = await body_of(model_at, asks(), model="claude-sonnet-5-5", **changes)
    assert known["max_tokens"] == 128_000
    unknown = await body_of(model_at, asks(), model="some-other", **changes)
    assert unknown["max_tokens"] == 250_000


def test_any_text_is_sent_as_it_was_typed_but_for_lone_surrogates(model_at: ModelAt):
    with ChatServer() as server:
        model = model_at(server)

        @examples(0.4)
        @given(st.text(min_size=1).filter(str.strip))
        def check(typed: str) -> None:
            asyncio.run(collected(model.stream(asks(typed))))
            (message,) = server.requests[-1].body["messages"]
            joined = typed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            assert message["content"] == [text(joined)]

        check()
