"""Requests to OpenAI's Responses, and answers that only it has."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, Exchange, Reply, answers, calls_tools, refuses
from tests.providers.conftest import (
    ModelAt,
    a_choice,
    asks,
    collected,
    events_from,
    says,
    sent,
    text_of,
)
from tests.providers.responses_speech import response, state
from tests.providers.test_turn_answers import CALLS, next_round, thinks_and_calls
from tui.domain.journal.message import ToolCall
from tui.domain.models import ModelParameters
from tui.domain.providers import DialectName
from tui.errors import AnswerCut, ModelRefused
from tui.providers.openai import Responses
from tui.providers.protocol import (
    AnswerEnded,
    ModelRequest,
    TextReceived,
    ThinkingReceived,
    ToolDefinition,
)

REASONS = "gpt-6-luna"
DOES_NOT_REASON = "gpt-4o"
TOOL = ToolDefinition("f", "Does f.", {"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.fixture
def dialect() -> DialectName:
    return "responses"


async def body_of(model_at: ModelAt, request: ModelRequest, **changes: Any) -> dict[str, Any]:
    only = await sent(model_at, request, **changes)
    assert only.path == "/v1/responses"
    return only.body


async def test_nothing_is_stored_and_reasoning_comes_encrypted_and_summarised(model_at: ModelAt):
    body = await body_of(model_at, asks(system="Be brief."), model=REASONS)
    assert body == {
        "model": REASONS,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello?"},
        ],
    }


async def test_the_account_is_named_to_openai_only(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    with ChatServer(answers()) as server:
        await collected(model_at(server).stream(asks()))
    assert "openai-organization" not in server.requests[0].headers
    at_openai = Responses(a_choice("openai", REASONS, "https://api.openai.com/v1"))
    assert at_openai.headers == {"OpenAI-Organization": "org-1"}


@pytest.mark.parametrize("name", [DOES_NOT_REASON, "unheard-of"])
async def test_a_model_that_is_not_known_to_reason_is_not_asked_to(model_at: ModelAt, name: str):
    body = await body_of(model_at, asks(), model=name)
    assert "reasoning" not in body
    assert "include" not in body


async def test_tools_are_offered_as_they_are(model_at: ModelAt):
    body = await body_of(model_at, ModelRequest("", asks().messages, (TOOL,)))
    assert [(tool["name"], tool["parameters"], tool["strict"]) for tool in body["tools"]] == [
        ("f", TOOL.parameters, False)
    ]


async def test_calls_and_results_of_the_past_are_items(model_at: ModelAt):
    with ChatServer(calls_tools(*CALLS, text="Looking."), answers()) as server:
        model = model_at(server)
        await collected(model.stream(await next_round(model, asks())))
    assert server.requests[1].body["input"] == [
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Looking.", "phase": "final_answer"},
        {"type": "function_call", "call_id": "call_a", "name": "f", "arguments": '{"a": 1}'},
        {"type": "function_call", "call_id": "call_b", "name": "f", "arguments": '{"a": 2}'},
        {"type": "function_call_output", "call_id": "call_a", "output": "result of call_a"},
        {"type": "function_call_output", "call_id": "call_b", "output": "result of call_b"},
    ]


async def test_reasoning_goes_back_encrypted_with_the_results_of_its_calls(model_at: ModelAt):
    with ChatServer(thinks_and_calls, answers()) as server:
        model = model_at(server, model=REASONS)
        request = await next_round(model, asks())
        await collected(model.stream(request))
        later = (*request.messages, says("assistant", "Done."), says("user", "And now?"))
        await collected(model.stream(ModelRequest("", later)))
    within, afterwards = (request.body["input"] for request in server.requests[1:])
    reasoning = next(item for item in within if item.get("type") == "reasoning")
    assert reasoning["encrypted_content"] == "gAAA"
    assert reasoning["summary"] == [{"type": "summary_text", "text": "Hm. Well."}]
    assert all(item.get("type") != "reasoning" for item in afterwards)


class TestSummaries:
    refused = staticmethod(
        refuses(
            400,
            body={
                "error": {
                    "message": "Your organization must be verified to generate summaries.",
                    "type": "invalid_request_error",
                    "param": "reasoning.summary",
                    "code": "unsupported_value",
                }
            },
        )
    )

    async def test_are_left_out_for_an_account_that_may_not_have_them(self, model_at: ModelAt):
        with ChatServer(self.refused, answers("Yes."), answers("Again.")) as server:
            model = model_at(server, model=REASONS)
            assert text_of(await collected(model.stream(asks()))) == "Yes."
            assert text_of(await collected(model.stream(asks()))) == "Again."
        asked = [request.body.get("reasoning") for request in server.requests]
        assert asked == [{"summary": "auto"}, None, None]

    async def test_another_refusal_is_not_asked_again(self, model_at: ModelAt):
        with (
            ChatServer(refuses(400, "No."), answers()) as server,
            pytest.raises(ModelRefused, match="It says: No"),
        ):
            await collected(model_at(server, model=REASONS).stream(asks()))
        assert len(server.requests) == 1


def ends_with(*events: Any) -> Reply:
    def reply(exchange: Exchange) -> None:
        exchange.begin()
        exchange.text("So far ")
        for event in events:
            exchange.event(event)

    return reply


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (state("failed", "failed", error={"code": "x", "message": "Fire."}), "It says: Fire"),
        (state("failed", "failed"), "broke off its answer"),
        (state("cancelled", "cancelled"), "broke off its answer"),
        ({"type": "error", "code": "x", "message": "Fire."}, "It says: Fire"),
        ({"type": "error", "error": {"message": "Fire."}}, "It says: Fire"),
        (
            state("incomplete", "incomplete", incomplete_details={"reason": "content_filter"}),
            "content filter",
        ),
    ],
)
async def test_an_answer_that_failed_says_why(model_at: ModelAt, event: Any, said: str):
    with pytest.raises(AnswerCut, match=said):
        await events_from(model_at, ends_with(event))


async def test_a_whole_response_in_place_of_a_stream_is_an_answer(model_at: ModelAt):
    def reply(exchange: Exchange) -> None:
        text = {"type": "output_text", "text": "All at once.", "annotations": []}
        call = {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": "{}"}
        thought = {"type": "summary_text", "text": "Hm."}
        items = [
            {"type": "reasoning", "id": "r", "summary": [thought]},
            {"type": "message", "id": "m", "role": "assistant", "content": [text]},
            call,
        ]
        exchange.head(content_type="application/json")
        exchange.raw(exchange.encoded(response("completed", output=items)))

    events = await events_from(model_at, reply)
    assert events[:2] == [ThinkingReceived("Hm."), TextReceived("All at once.")]
    assert isinstance(events[2], ToolCall)
    assert events[-1] == AnswerEnded("tool_calls")


@pytest.mark.parametrize(
    ("model", "parameters", "temperature", "effort"),
    [
        (REASONS, ModelParameters(temperature=0.5, effort="high"), None, "high"),
        (REASONS, ModelParameters(temperature=0.5, effort="off"), 0.5, "none"),
        ("gpt-5", ModelParameters(effort="off"), None, "low"),
        ("gpt-4o", ModelParameters(temperature=0.5, effort="off"), 0.5, "none"),
    ],
)
@pytest.mark.filterwarnings("error")
async def test_an_effort_is_sent_and_no_temperature_beside_thinking(
    model_at: ModelAt, model: str, parameters: ModelParameters, temperature: Any, effort: str
):
    request = replace(asks(), parameters=parameters)
    body = await body_of(model_at, request, model=model, provider="openai")
    assert (body.get("temperature"), body["reasoning"]["effort"]) == (temperature, effort)
