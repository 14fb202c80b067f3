"""The cleaners of events, without a server: whatever comes, the library gets its own shape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.speech import block_delta
from tui.providers.chat_events import ChatEvents, merged_chunks
from tui.providers.clean_stream import CleanStream
from tui.providers.cleaning import BrokenStream, Cleaner, Halves, Merge, counts
from tui.providers.google_events import GoogleEvents
from tui.providers.google_events import merged_texts as merged_by_google
from tui.providers.message_events import MessageEvents, merged_events
from tui.providers.mistral_events import MistralEvents
from tui.providers.mistral_events import merged_texts as merged_by_mistral
from tui.providers.response_events import ResponseEvents, merged_pieces

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def objects(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, JSON))


FUNCTIONS = JSON | objects("name", "arguments")
CALLS = JSON | st.lists(
    JSON | st.fixed_dictionaries({"function": FUNCTIONS}, optional={"index": JSON, "id": JSON})
)
DELTAS = JSON | st.fixed_dictionaries(
    {},
    optional={"content": JSON, "reasoning": JSON, "tool_calls": CALLS, "function_call": FUNCTIONS},
)
CHOICES = JSON | st.lists(
    JSON | st.fixed_dictionaries({"delta": DELTAS}, optional={"finish_reason": JSON})
)
CHUNKS = st.fixed_dictionaries({"choices": CHOICES}, optional={"usage": JSON, "error": JSON})
BLOCKS = st.fixed_dictionaries(
    {"type": JSON | st.sampled_from(["text", "tool_use", "text_delta", "input_json_delta"])},
    optional=dict.fromkeys(["text", "partial_json", "id", "name", "input"], JSON),
)
MESSAGES = st.fixed_dictionaries(
    {
        "type": JSON
        | st.sampled_from(
            [
                "message",
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop",
                "error",
            ]
        ),
    },
    optional={"index": st.integers(0, 2) | JSON, "delta": JSON | BLOCKS, "message": JSON}
    | {"content_block": JSON | BLOCKS, "usage": JSON, "content": JSON | st.lists(BLOCKS)},
)


ITEMS = JSON | objects("type", "id", "call_id", "name", "arguments", "phase", "encrypted_content")
RESPONSES = st.fixed_dictionaries(
    {
        "type": JSON
        | st.sampled_from(
            [
                "response.output_item.added",
                "response.output_item.done",
                "response.output_text.delta",
                "response.reasoning_summary_text.delta",
                "response.function_call_arguments.delta",
                "response.refusal.delta",
                "response.completed",
                "response.failed",
            ]
        )
    },
    optional={
        "item": ITEMS,
        "delta": JSON,
        "item_id": JSON,
        "summary_index": JSON,
        "response": JSON | objects("status", "usage", "incomplete_details", "error", "id"),
        "object": st.just("response"),
        "output": JSON | st.lists(ITEMS),
    },
)
PARTS = JSON | st.lists(
    JSON | objects("text", "thought", "thoughtSignature", "functionCall", "someDay")
)
CANDIDATES = JSON | st.lists(
    JSON | st.fixed_dictionaries({"content": st.fixed_dictionaries({"parts": PARTS})})
)
GOOGLES = st.fixed_dictionaries(
    {}, optional={"candidates": CANDIDATES, "usageMetadata": JSON, "promptFeedback": JSON}
)


def cleaned(cleaner: Cleaner, event: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        return [*cleaner.clean(event), *cleaner.rest()]
    except BrokenStream:
        return []


@given(CHUNKS)
def test_a_chunk_has_one_choice_at_most_and_texts_where_texts_belong(event: dict[str, Any]):
    for chunk in cleaned(ChatEvents(), event):
        for choice in chunk["choices"]:
            delta = choice["delta"]
            assert isinstance(delta.get("content", ""), str)
            assert isinstance(delta.get("reasoning", ""), str)
            for call in delta.get("tool_calls", []):
                assert isinstance(call["index"], int)
                assert all(isinstance(text, str) for text in call["function"].values())


@given(MESSAGES)
def test_a_message_begins_with_its_start_and_has_counts(event: dict[str, Any]):
    for number, clean in enumerate(cleaned(MessageEvents(), event)):
        assert (clean["type"] == "message_start") == (number == 0)
        usage = clean.get("usage") or clean.get("message", {}).get("usage") or {}
        assert all(isinstance(count, int | dict) for count in usage.values())


@given(GOOGLES)
def test_a_chunk_of_google_has_one_candidate_at_most_with_texts_and_calls(event: dict[str, Any]):
    for chunk in cleaned(GoogleEvents(), event):
        for candidate in chunk["candidates"]:
            for part in candidate["content"]["parts"]:
                assert isinstance(part.get("text", ""), str)
                assert isinstance(part.get("functionCall", {}), dict)


@given(RESPONSES)
def test_an_event_of_responses_has_a_number_and_a_text_as_its_delta(event: dict[str, Any]):
    for number, clean in enumerate(cleaned(ResponseEvents(), event), 1):
        assert clean["sequence_number"] == number
        assert isinstance(clean.get("delta", ""), str)


@pytest.mark.parametrize(
    "cleaner", [ChatEvents, MessageEvents, ResponseEvents, GoogleEvents, MistralEvents]
)
@given(st.lists(CHUNKS | MESSAGES | RESPONSES | GOOGLES | JSON, max_size=4))
def test_what_is_passed_on_is_json_in_utf_8_whatever_comes(cleaner: Any, events: list[Any]):
    stream = CleanStream(cleaner())
    passed = b"".join(stream.take(b"data: %s\n\n" % json.dumps(each).encode()) for each in events)
    lines = [line for line in passed.decode().split("\n") if line.startswith("data: ")]
    assert all(isinstance(json.loads(line[6:]), dict) for line in lines)


@given(st.text(st.characters() | st.characters(categories=["Cs"])), st.integers(0, 20))
def test_the_halves_of_a_character_come_together(text: str, place: int):
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "")
    units = [bytes(pair) for pair in zip(*[iter(whole.encode("utf-16-le"))] * 2, strict=True)]
    parts = [b"".join(units[:place]), b"".join(units[place:])]
    halves = Halves()
    joined = "".join(halves.joined(part.decode("utf-16-le", "surrogatepass")) for part in parts)
    assert joined.encode("utf-16", "surrogatepass").decode("utf-16") == whole


@pytest.mark.parametrize(
    ("usage", "kept"),
    [
        ({"a": 1, "b": -1, "c": True, "d": None, "e": 1.5}, {"a": 1}),
        ({"a": "12", "b": "many", "c": "1" * 99}, {"a": 12}),
        ({"a": {"b": 3, "c": {}}, "d": []}, {"a": {"b": 3}}),
        ("many", {}),
        (None, {}),
    ],
)
def test_only_counts_are_kept_of_a_usage(usage: Any, kept: dict[str, Any]):
    assert counts(usage) == kept


CHAT_PIECES = [{"choices": [{"delta": {"content": f"{number} "}}]} for number in range(20)]
MESSAGE_PIECES = [block_delta(0, {"type": "text_delta", "text": f"{n} "}) for n in range(20)]
RESPONSE_PIECES = [
    {"type": "response.output_text.delta", "item_id": "a", "delta": f"{n} "} for n in range(20)
]
GOOGLE_PIECES = [{"candidates": [{"content": {"parts": [{"text": f"{n} "}]}}]} for n in range(20)]
in_every_dialect = pytest.mark.parametrize(
    ("cleaner", "merge", "pieces"),
    [
        (ChatEvents, merged_chunks, CHAT_PIECES),
        (MessageEvents, merged_events, MESSAGE_PIECES),
        (ResponseEvents, merged_pieces, RESPONSE_PIECES),
        (GoogleEvents, merged_by_google, GOOGLE_PIECES),
        (MistralEvents, merged_by_mistral, CHAT_PIECES),
    ],
)


def passed_on(stream: CleanStream, events: list[Any]) -> list[str]:
    passed = stream.take(b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in events))
    return [line for line in passed.decode().split("\n") if line.startswith("data: ")]


@in_every_dialect
def test_pieces_of_a_text_that_come_all_at_once_are_joined(
    cleaner: Any, merge: Merge, pieces: list[Any]
):
    lines = passed_on(CleanStream(cleaner(), merge), pieces)
    assert len(lines) <= 2
    assert "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 " in lines[-1]


@in_every_dialect
def test_a_few_pieces_stay_as_they_came(cleaner: Any, merge: Merge, pieces: list[Any]):
    assert len(passed_on(CleanStream(cleaner(), merge), pieces[:5])) >= 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"content": "a"}, {"reasoning": "b"}),
        ({"content": "a"}, {"tool_calls": [{"function": {"name": "f"}}]}),
        ({"content": "a"}, {}),
        ({"refusal": "a"}, {"refusal": "b"}),
    ],
)
def test_pieces_of_different_kinds_stay_apart(one: dict[str, Any], other: dict[str, Any]):
    chunks = [{"choices": [{"delta": delta}]} for delta in [one, other] * 10]
    assert len(passed_on(CleanStream(ChatEvents(), merged_chunks), chunks)) == 20


def test_a_reason_of_the_end_stays_behind_the_text():
    end = {"choices": [{"delta": {"content": "."}, "finish_reason": "length"}]}
    first, last = passed_on(CleanStream(ChatEvents(), merged_chunks), [*CHAT_PIECES, end])
    assert '"length"' not in first
    assert '"length"' in last
