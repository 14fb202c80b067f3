"""Codecs without a server: recorded streams of the vendors' documentation, and any JSON at all."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.conftest import says
from tests.providers.recorded import CODECS, codec
from tests.providers.speech import (
    block_delta,
    block_start,
    candidate,
    chunk,
    message_delta,
    message_start,
)
from tests.tables import each_row
from tui.domain.journal.message import ToolCall
from tui.providers.codec import BrokenStream, Halves, IncomingAnswer
from tui.providers.protocol import (
    ModelEvent,
    ModelRequest,
    TextReceived,
    ThinkingReceived,
    TurnMemory,
)
from tui.providers.reception import Reception


def received(answer: IncomingAnswer, events: Iterable[Any]) -> list[ModelEvent]:
    reception = Reception(answer)
    data = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in events)
    return [*reception.feed(data), *reception.end()]


def texts(events: Sequence[ModelEvent], kind: Any = TextReceived) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


def calls(events: Sequence[ModelEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


# --- recorded streams


def call_delta(index: int, **function: Any) -> dict[str, Any]:
    call_id = {"id": function.pop("id"), "type": "function"} if "id" in function else {}
    return chunk({"tool_calls": [{"index": index, **call_id, "function": function}]})


def block(index: int, kind: str, **fields: Any) -> list[dict[str, Any]]:
    return [block_start(index, {"type": kind, **fields})]


def deltas(index: int, kind: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    return [block_delta(index, {"type": kind, name: piece}) for piece in pieces]


ANTHROPIC_STREAM = [
    message_start({"input_tokens": 472, "output_tokens": 2}),
    *block(0, "thinking", thinking="", signature=""),
    *deltas(0, "thinking_delta", "thinking", "Let me ", "see."),
    *deltas(0, "signature_delta", "signature", "EqQBCgIYAhIM"),
    *block(1, "redacted_thinking", data="EmwKAhgB"),
    *block(2, "text", text="Okay, let's check."),
    *block(3, "tool_use", id="toolu_01T1x1fJ34qAmk2tNTrN7Up6", name="get_weather", input={}),
    *deltas(3, "input_json_delta", "partial_json", "", '{"location":', ' "San Francisco, CA"}'),
    message_delta("tool_use", {"output_tokens": 89}),
    {"type": "message_stop"},
]
CALLED = {"functionCall": {"name": "get_weather", "args": {"location": "Paris"}}}
GEMINI_STREAM = [
    candidate({"text": "Hm.", "thought": True}),
    candidate({**CALLED, "thoughtSignature": "CiQBVKhc7n"}, reason="STOP"),
]


# --- parts that must come back


def answered_again(dialect: str, stream: list[Any], model: str = "m") -> Any:
    """The body of the request after an answer of calls: its message of the assistant, or items."""
    made = codec(dialect, model)
    answer = made.answer()
    events = received(answer, stream)
    memory = TurnMemory()
    memory.answers.append(answer.kept)
    message = says(
        "assistant", texts(events), tool_calls=tuple(calls(events)), model=f"local:{model}"
    )
    results = [says("tool", "Done.", tool_call_id=call.id) for call in message.tool_calls]
    request = ModelRequest("", (says("user", "Go."), message, *results), memory=memory)
    body = made.body(request)
    return body.get("messages") or body.get("contents") or body["input"]


def test_blocks_of_claude_go_back_in_their_order():
    blocks = answered_again("anthropic", ANTHROPIC_STREAM)[1]["content"]
    assert [each["type"] for each in blocks] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
    ]
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "EqQBCgIYAhIM"}
    assert blocks[:2] == [thought, {"type": "redacted_thinking", "data": "EmwKAhgB"}]


def test_a_signature_of_gemini_goes_back_with_its_call():
    (part,) = answered_again("google", GEMINI_STREAM)[1]["parts"]
    assert part["thoughtSignature"] == "CiQBVKhc7n"


CALLS = [call_delta(0, id="t0", name="f", arguments="{}"), chunk({}, "tool_calls")]
DETAILS = [
    {"type": "reasoning.text", "text": "Hm", "signature": None, "index": 0, "format": "x"},
    {"type": "reasoning.text", "text": "m.", "signature": "c2ln", "index": 0, "format": "x"},
    {"type": "reasoning.encrypted", "data": "AAA", "id": "t0", "index": 1, "format": "x"},
]
THOUGHTS = [
    {"type": "thinking", "thinking": "Hm", "signature": None},
    {"type": "thinking", "thinking": "m.", "signature": None},
    {"type": "thinking", "thinking": "", "signature": "c2ln"},
]


@pytest.mark.parametrize(
    ("field", "pieces", "whole"),
    [
        (
            "reasoning_details",
            DETAILS,
            [{**DETAILS[1], "text": "Hmm."}, DETAILS[2]],
        ),
        (
            "thinking_blocks",
            THOUGHTS,
            [{"type": "thinking", "thinking": "Hmm.", "signature": "c2ln"}],
        ),
    ],
)
def test_opaque_lists_of_gateways_go_back_as_they_would_come_whole(
    field: str, pieces: list[Any], whole: list[Any]
):
    stream = [*(chunk({field: [piece]}) for piece in pieces), *CALLS]
    assert answered_again("openai", stream)[1][field] == whole


def test_fields_of_a_call_go_back_with_it():
    signed = {"google": {"thought_signature": "c2ln"}}
    stream = [
        chunk(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "t0",
                        "function": {"name": "f", "arguments": "{}"},
                        "extra_content": signed,
                    }
                ]
            },
            "tool_calls",
        )
    ]
    (call,) = answered_again("openai", stream)[1]["tool_calls"]
    assert (call["extra_content"], call["id"]) == (signed, "t0")


# --- requests


@each_row("dialect", CODECS)
def test_each_call_has_its_own_result_and_a_name_that_vendors_take(dialect: str):
    names = ("functions.f", "", "f" * 99)
    caller = says("assistant", "", tool_calls=tuple(ToolCall("a|1", each, {}) for each in names))
    results = [says("tool", word, tool_call_id="a|1") for word in ("one", "two", "three")]
    request = ModelRequest("", (says("user", "Go."), caller, *results))
    text = json.dumps(codec(dialect).body(request))
    ids = re.findall(r'"(?:id|call_id|tool_call_id|tool_use_id|toolUseId)": "([^"]+)"', text)
    assert ids[:3] == ids[3:]
    assert len(set(ids)) == len(names)
    assert all(f'"{name}"' in text for name in ("functions_f", "_", "f" * 64))
    assert "functions.f" not in text
    assert "f" * 65 not in text


# --- any JSON at all

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
_NAMES = """
type choices delta content tool_calls function name arguments index id error usage message
content_block text thinking partial_json item item_id output_index response output status
candidates parts functionCall args promptFeedback usageMetadata finish_reason finishReason
contentBlockDelta contentBlockStart contentBlockIndex start toolUse metadata messageStop
promptTokenCount prompt_tokens completion_tokens_details input_tokens inputTokens
"""
_KINDS = """
message message_start content_block_start content_block_delta message_delta message_stop
error text tool_use text_delta input_json_delta thinking response.output_item.added
response.output_item.done response.output_text.delta response.completed response.failed
message reasoning function_call
"""
OBJECTS = st.recursive(
    JSON,
    lambda inner: (
        st.dictionaries(
            st.sampled_from(_NAMES.split()),
            inner | st.sampled_from(_KINDS.split()) | st.integers(0, 2),
            max_size=5,
        )
        | st.lists(inner, max_size=2)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("dialect", CODECS)
@given(st.lists(OBJECTS, max_size=4))
def test_whatever_comes_is_events_or_a_broken_stream(dialect: str, events: list[Any]):
    answer = codec(dialect).answer()
    reception = Reception(answer)
    try:
        came = reception.feed(
            b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in events)
        )
        came += reception.end()
    except BrokenStream:
        return
    assert all(isinstance(each.text, str) for each in came if isinstance(each, TextReceived))
    assert all(each.text.encode() for each in came if isinstance(each, TextReceived))


@given(st.text(st.characters() | st.characters(categories=["Cs"])), st.integers(0, 20))
def test_the_halves_of_a_character_come_together(text: str, place: int):
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "")
    units = [bytes(pair) for pair in zip(*[iter(whole.encode("utf-16-le"))] * 2, strict=True)]
    parts = [b"".join(units[:place]), b"".join(units[place:])]
    halves = Halves()
    joined = "".join(halves.joined(part.decode("utf-16-le", "surrogatepass")) for part in parts)
    assert joined == whole


@each_row(
    "usage, kept",
    [
        ({"a": 1, "b": -1, "c": True, "d": None, "e": 1.5}, {"a": 1}),
        ({"a": "12", "b": "many", "c": "1" * 99}, {"a": 12}),
        ({"a": {"b": 3, "c": {}}, "d": []}, {"a.b": 3}),
        ("many", {}),
        (None, {}),
    ],
)
def test_only_counts_are_kept_of_a_usage(usage: Any, kept: dict[str, Any]):
    assert {name: count for name, count in IncomingAnswer.counts(usage).items() if count} == kept


# --- many pieces at once


def fed(count: int, **delta: str) -> list[ModelEvent]:
    data = b"data: %s\n\n" % json.dumps(chunk(delta)).encode()
    return Reception(codec("openai").answer()).feed(data * count)


def test_pieces_of_a_text_that_come_all_at_once_are_joined():
    assert fed(20, content="a") == [TextReceived("a" * 20)]
    assert fed(20, reasoning="a") == [ThinkingReceived("a" * 20)]


def test_a_few_pieces_stay_as_they_came():
    assert fed(5, content="a") == [TextReceived("a")] * 5
