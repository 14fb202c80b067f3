"""Codecs without a server: what goes back within a turn, and any JSON at all."""

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.conftest import says
from tests.providers.recorded import CODECS, codec
from tests.providers.speech import chunk
from tests.samples import rows
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


# --- parts that must come back


@each_row("dialect, stream, expected", rows(__file__, "given_back"))
def test_what_its_server_wants_back_of_an_answer_goes_back_with_its_calls(
    dialect: str, stream: list[Any], expected: Any
):
    made = codec(dialect)
    answer = made.answer()
    events = received(answer, stream)
    text = "".join(event.text for event in events if isinstance(event, TextReceived))
    calls = tuple(event for event in events if isinstance(event, ToolCall))
    message = says("assistant", text, tool_calls=calls, model="local:m")
    results = [says("tool", "Done.", tool_call_id=call.id) for call in calls]
    messages = (says("user", "Go."), message, *results)
    body = made.body(ModelRequest("", messages, memory=TurnMemory([answer.kept])))
    assert (body.get("messages") or body["contents"])[1] == expected


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
    try:
        came = received(codec(dialect).answer(), events)
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


@each_row(
    "delta, count, events",
    [
        ({"content": "a"}, 20, [TextReceived("a" * 20)]),
        ({"reasoning": "a"}, 20, [ThinkingReceived("a" * 20)]),
        ({"content": "a"}, 5, [TextReceived("a")] * 5),
    ],
)
def test_many_pieces_that_come_at_once_are_joined_and_a_few_stay(
    delta: Any, count: int, events: list[ModelEvent]
):
    data = b"data: %s\n\n" % json.dumps(chunk(delta)).encode()
    assert Reception(codec("openai").answer()).feed(data * count) == events
