"""Within a turn, thinking goes back to its vendor with the results of the calls."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, Exchange, answers, calls_tools, refuses
from tests.providers.conftest import (
    EVERY_DIALECT,
    ModelAt,
    asks,
    collected,
    only_anthropic,
    only_openai,
    says,
    text_of,
)
from tests.tables import each_row
from tui.domain.journal.message import ToolCall
from tui.domain.models import ModelParameters
from tui.providers.chat_model import ChatModel
from tui.providers.protocol import ModelRequest, TurnMemory

ON = {"type": "enabled", "budget_tokens": 4_096}
BETWEEN = {"type": "between_tools"}
CALLS = (("call_a", "f", ['{"a": ', "1}"]), ("call_b", "f", ['{"a": 2}']))


def thinks_and_calls(exchange: Exchange) -> None:
    exchange.begin()
    exchange.thinking("Hm. ")
    exchange.thinking("Well.")
    exchange.text("Looking.")
    exchange.calls(CALLS)
    exchange.end("tool_calls")


async def next_round(model: ChatModel, request: ModelRequest) -> ModelRequest:
    """Ask, and make the request with the results of the calls."""
    events = await collected(model.stream(request))
    calls = tuple(event for event in events if isinstance(event, ToolCall))
    number = len(request.messages)
    answer = replace(says("assistant", text_of(events), tool_calls=calls), id=f"m{number}")
    results = [says("tool", f"result of {call.id}", tool_call_id=call.id) for call in calls]
    return replace(request, messages=(*request.messages, answer, *results))


GOES_BACK = {
    "openai": '"reasoning_content": "Hm. Well."',
    "mistral": '"thinking": [{"type": "text", "text": "Hm. Well."}]}, {"type": "text", "text": "Lo',
    "anthropic": '{"type": "thinking", "thinking": "Hm. Well.", "signature": "c2ln"}, {"type": "te',
    "responses": '"text": "Hm. Well."}], "id": "re_0", "encrypted_content": "gAAA"},'
    ' {"role": "assistant", "content": "Looking.", "phase": "final_answer"}',
    "google": '"args": {"a": 1}}, "thoughtSignature": "c2ln"',
}
"""What goes back with the results of calls, by dialect."""


@pytest.mark.parametrize("dialect", EVERY_DIALECT, indirect=True)
async def test_thinking_goes_back_within_a_turn_and_not_in_the_next(
    model_at: ModelAt, dialect: str
):
    with ChatServer(thinks_and_calls, answers()) as server:
        model = model_at(server)
        request = await next_round(model, asks())
        await collected(model.stream(request))
        later = (*request.messages, says("assistant", "Done."), says("user", "And now?"))
        await collected(model.stream(ModelRequest("", later, memory=TurnMemory())))
        await collected(model.stream(ModelRequest("", later, memory=request.memory)))
    within, *afterwards = (json.dumps(each.body) for each in server.requests[1:])
    assert GOES_BACK[dialect] in within
    assert within.count('Looking."') == 1
    assert not any("Hm." in each or "c2ln" in each or "gAAA" in each for each in afterwards)


@only_anthropic
async def test_calls_get_the_ids_of_the_request(model_at: ModelAt):
    with ChatServer(calls_tools(*CALLS)) as server:
        _, *old = (await next_round(model_at(server), asks())).messages
    earlier = (says("user", "Before."), *old, says("user", "Go."))
    with ChatServer(thinks_and_calls, answers()) as server:
        model = model_at(server)
        await collected(model.stream(await next_round(model, ModelRequest("", earlier))))
    sent = server.requests[-1].body["messages"]
    calls = [part["id"] for part in sent[-2]["content"] if part["type"] == "tool_use"]
    results = [part["tool_use_id"] for part in sent[-1]["content"]]
    earlier = [part["id"] for part in sent[1]["content"]]
    assert calls == results
    assert len({*calls, *earlier}) == 4


@only_openai
async def test_each_answer_of_a_turn_has_its_own_thinking(model_at: ModelAt):
    plain = calls_tools(("call_c", "f", ["{}"]))
    with ChatServer(thinks_and_calls, plain, thinks_and_calls, answers()) as server:
        model = model_at(server)
        request = asks()
        for _ in range(3):
            request = await next_round(model, request)
        await collected(model.stream(request))
    sent = [each for each in server.requests[-1].body["messages"] if each["role"] == "assistant"]
    assert [each.get("reasoning_content", "") for each in sent] == ["Hm. Well.", "", "Hm. Well."]


@only_openai
@each_row(
    "spoken, model, effort, field, values",
    [
        ("openai", "m", None, "reasoning_effort", [None, None, None]),
        ("openai", "m", "high", "reasoning_effort", ["none", "high", "high"]),
        # Models of this kind think only if they are told to.
        ("anthropic", "m", "high", "thinking", [None, ON, ON]),
        ("anthropic", "claude-haiku-4-5", None, "thinking", [None, None, None]),
        ("anthropic", "claude-sonnet-5-5", None, "thinking", [BETWEEN, None, None]),
    ],
)
async def test_a_turn_whose_thinking_was_not_kept_goes_on_without(
    model_at: ModelAt, spoken: str, model: str, effort: Any, field: str, values: list[Any]
):
    with ChatServer(calls_tools(*CALLS), answers()) as server:
        asked = model_at(server.address(spoken), dialect=spoken, model=model)
        first = replace(asks(), parameters=ModelParameters(effort=effort))
        request = await next_round(asked, first)
        restarted = replace(request, memory=TurnMemory())
        later = (*request.messages, says("assistant", "Done."), says("user", "And now?"))
        for each in (restarted, request, replace(restarted, messages=later)):
            await collected(asked.stream(each))
    assert [each.body.get(field) for each in server.requests[1:]] == values


@only_anthropic
async def test_thinking_that_no_longer_fits_the_conversation_is_dropped(model_at: ModelAt):
    said = "messages.1.content.0: The block is bound to a different conversation prefix."
    with ChatServer(thinks_and_calls, refuses(400, said), answers("Yes.")) as server:
        model = model_at(server, model="claude-sonnet-5-5")
        request = await next_round(model, asks())
        assert text_of(await collected(model.stream(request))) == "Yes."
    kinds = [
        [block["type"] for block in each.body["messages"][1]["content"]]
        for each in server.requests[1:]
    ]
    assert kinds == [["thinking", "text", "tool_use", "tool_use"], ["text", "tool_use", "tool_use"]]


@only_openai
async def test_a_server_that_refuses_the_thinking_it_gave_is_sent_none_again(model_at: ModelAt):
    said = "'messages.1': property 'reasoning_content' is unsupported"
    replies = (thinks_and_calls, refuses(400, said), thinks_and_calls, answers("Yes."))
    with ChatServer(*replies) as server:
        model = model_at(server)
        request = await next_round(model, await next_round(model, asks()))
        assert text_of(await collected(model.stream(request))) == "Yes."
    bodies = [each.body["messages"] for each in server.requests]
    thoughtful = [any("reasoning_content" in each for each in body) for body in bodies]
    assert thoughtful == [False, True, False, False]
