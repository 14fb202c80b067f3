"""Requests to Google, and answers that only it has."""

from typing import Any

import pytest

from tests.providers.chat_server import ChatServer, answers, calls_tools, refuses, sends_events
from tests.providers.conftest import KEY, ModelAt, asks, collected, events_from, says, sent, text_of
from tests.providers.google_speech import candidate
from tests.providers.test_turn_answers import CALLS, next_round, thinks_and_calls
from tui.domain.journal.message import ToolCall
from tui.domain.models import ModelParameters
from tui.domain.providers import DialectName
from tui.errors import AnswerCut, ModelRefused
from tui.providers.protocol import (
    AnswerEnded,
    ModelRequest,
    ToolDefinition,
)

THINKS = "gemini-3.5-flash"
TOOL = ToolDefinition("f", "Does f.", {"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.fixture
def dialect() -> DialectName:
    return "google"


async def test_a_request_has_the_key_in_its_header_and_asks_for_thoughts(model_at: ModelAt):
    request = ModelRequest("Be brief.", asks().messages, (TOOL,))
    only = await sent(model_at, request, model=THINKS)
    assert only.path == f"/v1beta/models/{THINKS}:streamGenerateContent?alt=sse"
    assert only.headers["x-goog-api-key"] == KEY
    assert not [name for name in only.headers if name.startswith(("x-goog-api-client", "x-server"))]
    assert only.headers["user-agent"].startswith("sibyl-tui/")
    body = only.body
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hello?"}]}]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert body["generationConfig"]["thinkingConfig"] == {"includeThoughts": True}
    (tool,) = body["tools"][0]["functionDeclarations"]
    assert tool["parametersJsonSchema"] == TOOL.parameters


@pytest.mark.parametrize(
    ("effort", "config"),
    [
        ("high", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("off", {"thinkingLevel": "MINIMAL"}),
    ],
)
async def test_an_effort_is_a_level_of_thinking(model_at: ModelAt, effort: Any, config: object):
    request = ModelRequest("", asks().messages, parameters=ModelParameters(effort=effort))
    body = (await sent(model_at, request, model=THINKS)).body
    assert body["generationConfig"]["thinkingConfig"] == config


async def test_the_signature_of_a_thought_goes_back_with_its_call(model_at: ModelAt):
    with ChatServer(thinks_and_calls, answers()) as server:
        model = model_at(server, model=THINKS)
        request = await next_round(model, asks())
        await collected(model.stream(request))
        later = (*request.messages, says("assistant", "Done."), says("user", "And now?"))
        await collected(model.stream(ModelRequest("", later)))
    within, afterwards = (request.body["contents"] for request in server.requests[1:])
    calls = [part for part in within[1]["parts"] if "functionCall" in part]
    assert [part["functionCall"]["args"] for part in calls] == [{"a": 1}, {"a": 2}]
    assert calls[0]["thoughtSignature"] == "c2ln"
    assert "c2ln" not in str(afterwards)


async def test_results_have_the_names_of_their_calls(model_at: ModelAt):
    with ChatServer(calls_tools(*CALLS), answers()) as server:
        model = model_at(server)
        await collected(model.stream(await next_round(model, asks())))
    results = [part["functionResponse"] for part in server.requests[1].body["contents"][2]["parts"]]
    assert [(each["name"], each["response"]) for each in results] == [
        ("f", {"output": "result of call_a"}),
        ("f", {"output": "result of call_b"}),
    ]


async def test_a_call_without_an_id_gets_one(model_at: ModelAt):
    call = {"functionCall": {"name": "f"}}
    events = await events_from(model_at, sends_events(candidate(call, call, reason="STOP")))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [call.arguments for call in calls] == [{}, {}]
    assert len({call.id for call in calls}) == 2
    assert events[-1] == AnswerEnded("tool_calls")


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "BLOCKLIST", "SPII"])
async def test_an_answer_that_a_filter_stopped_says_so(model_at: ModelAt, reason: str):
    said = f"content filter.*{reason}"
    with (
        ChatServer(answers("So far ", finish=reason)) as server,
        pytest.raises(AnswerCut, match=said),
    ):
        await collected(model_at(server).stream(asks()))


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "LANGUAGE", "OTHER", "SOME_DAY"])
async def test_an_answer_that_ended_badly_says_so(model_at: ModelAt, reason: str):
    end = candidate(reason=reason)
    end["candidates"][0]["finishMessage"] = "No tool."
    said = "in the middle of its answer.*It says: No tool"
    with pytest.raises(AnswerCut, match=said):
        await events_from(model_at, sends_events(end))


@pytest.mark.parametrize("reason", ["SAFETY", "JAILBREAK", "SOME_DAY"])
async def test_a_prompt_that_was_blocked_says_so(model_at: ModelAt, reason: str):
    feedback = {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 4}}
    with pytest.raises(AnswerCut, match="filter"):
        await events_from(model_at, sends_events(feedback))


async def test_lines_of_every_kind_within_a_text_are_text(model_at: ModelAt):
    text = "one\u2028two\u2029three\x85four\rfive\x0bsix"
    with ChatServer(answers(text)) as server:
        assert text_of(await collected(model_at(server).stream(asks()))) == text


async def test_an_invalid_key_is_told_in_the_words_of_google(model_at: ModelAt):
    said = "API key not valid. Please pass a valid API key."
    with pytest.raises(ModelRefused, match="not valid"):
        await events_from(model_at, refuses(400, said))
