"""Streams as vendors and servers document them: a row each, in whatever pieces they arrive."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.providers.google_speech import candidate
from tests.providers.speech import chunk, message_delta, message_start
from tests.providers.test_codecs import block, codec, deltas
from tests.providers.test_quirks import told
from tui.providers.codec import BrokenStream
from tui.providers.protocol import TextReceived, ThinkingReceived, UsageReported
from tui.providers.reception import Reception

ODD = "Grüße 😀."


def counted(sent: int, came: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": sent, "completion_tokens": came, **more}


def fragment(index: Any, arguments: Any, name: str | None = None, call_id: Any = None) -> Any:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"index": index, "id": call_id, "type": "function", "function": function}


def called(*fragments: Any) -> list[Any]:
    return [chunk({"tool_calls": [each]}) for each in fragments]


def response(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "sequence_number": 1, **fields}


def item(place: int, kind: str, state: str = "added", **fields: Any) -> dict[str, Any]:
    whole = {"type": kind, "id": f"{kind}{place}", "status": "in_progress", **fields}
    return response(f"output_item.{state}", output_index=place, item=whole)


def output(place: int, kind: str, *pieces: str, **more: Any) -> list[Any]:
    name = f"{kind}.delta"
    return [response(name, output_index=place, delta=piece, **more) for piece in pieces]


def completed(*items: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 36, "output_tokens": 87, "output_tokens_details": {"reasoning": 64}}
    whole = {"status": status, "output": items, "usage": usage, "error": None, **more}
    return response(status, response={"object": "response", **whole})


def started(**usage: Any) -> dict[str, Any]:
    return message_start(usage)


def stopped(reason: str, **usage: Any) -> list[Any]:
    return [message_delta(reason, usage), {"type": "message_stop"}]


OF_CACHE = {"input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 4}}
REFUSAL = {"type": "refusal", "refusal": "I'm sorry."}
CALL = {"type": "function_call", "call_id": "call_a", "name": "f", "arguments": '{"x":1}'}
PICTURE = {"type": "image_generation_call", "id": "ig_1", "result": "iVBORw0"}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "f"}
SPOKEN: Any = [{"type": "output_text", "text": ODD, "annotations": []}]

STREAMS: dict[str, dict[str, tuple[list[Any], str]]] = {
    "openai": {
        "OpenAI: logprobs, annotations, obfuscation, a tier, and counts without choices": (
            [
                chunk({"role": "assistant", "content": "", "refusal": None}, obfuscation="x"),
                chunk({"content": "Grüße ", "annotations": []}, usage=None, service_tier="default"),
                chunk({"content": "😀."}),
                chunk({}, "stop"),
                {"choices": [], "usage": counted(19, 10, completion_tokens_details={})},
            ],
            f"{ODD} 19+10.",
        ),
        "OpenAI: parallel calls": (
            [
                *called(fragment(0, "", "f", "call_a"), fragment(0, '{"x"'), fragment(0, ":1}")),
                *called(fragment(1, "", "f", "call_b"), fragment(1, '{"x":2}')),
                chunk({}, "tool_calls"),
            ],
            ' f{"x": 1} f{"x": 2} tool_calls.',
        ),
        "OpenAI: a refusal": (
            [chunk({"refusal": "I'm "}), chunk({"refusal": "sorry."}), chunk({}, "stop")],
            "! declined I'm sorry.",
        ),
        "OpenAI: the words of speech": (
            [
                chunk({"audio": {"id": "audio_1", "transcript": "Grüße "}}),
                chunk({"audio": {"data": "AAA"}}),
                chunk({"audio": {"transcript": "😀."}}),
                chunk({"audio": {"expires_at": 1}}, "stop"),
            ],
            f"{ODD}.",
        ),
        "Azure: filters of the prompt first, and of the answer": (
            [
                {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
                chunk({"content": ODD}),
                {"choices": [{"index": 0, "content_filter_offsets": {}, "finish_reason": None}]},
                chunk({}, "content_filter"),
            ],
            f"{ODD}! ended content_filter",
        ),
        "DeepSeek: reasoning, and what its cache had": (
            [
                chunk({"role": "assistant", "content": None, "reasoning_content": "Hm"}),
                chunk({"content": None, "reasoning_content": "m."}),
                chunk({"content": ODD, "reasoning_content": None}),
                chunk({"content": ""}, "stop", usage=counted(9, 4, prompt_cache_hit_tokens=8)),
            ],
            f"(Hmm.){ODD} 9+4 (8+0 cached).",
        ),
        "xAI: reasoning that is no part of the answer's count": (
            [
                chunk({"content": ODD}, "stop"),
                {
                    "choices": [],
                    "usage": counted(
                        32, 9, total_tokens=135, completion_tokens_details={"reasoning_tokens": 94}
                    ),
                },
            ],
            f"{ODD} 32+103.",
        ),
        "OpenRouter: reasoning twice, and an error of the server behind it": (
            [
                b": OPENROUTER PROCESSING",
                chunk({"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text"}]}),
                chunk({"content": ODD}),
                {
                    **chunk({"content": ""}, "error"),
                    "error": {
                        "code": 502,
                        "message": "Provider error",
                        "metadata": {"raw": "Fire"},
                    },
                },
            ],
            f"(Hm.){ODD}! failed Provider error: Fire",
        ),
        "Groq: reasoning, counts and errors in its own field": (
            [
                chunk({"role": "assistant", "content": ""}, x_groq={"id": "req_1"}),
                chunk({"reasoning": "Hm."}),
                chunk({"content": ODD}),
                chunk({}, "stop", x_groq={"id": "req_1", "usage": counted(8, 3)}),
            ],
            f"(Hm.){ODD} 8+3.",
        ),
        "Groq: why it stopped": (
            [chunk({"content": ODD}), chunk({}, x_groq={"error": "over capacity"})],
            f"{ODD}! failed over capacity",
        ),
        "Perplexity: the whole message beside each piece": (
            [
                {"choices": [{"delta": {"content": "Grüße "}, "message": {"content": "Grüße "}}]},
                {
                    "choices": [
                        {
                            "delta": {"content": "😀."},
                            "message": {"content": ODD},
                            "finish_reason": "stop",
                        }
                    ],
                    "citations": ["https://example.org"],
                    "usage": counted(2, 3),
                },
            ],
            f"{ODD} 2+3.",
        ),
        "Together: old fields and new ones": (
            [
                {
                    "choices": [
                        {"text": ODD, "delta": {"token_id": 7, "content": ODD, "tool_calls": None}}
                    ]
                },
                {"choices": [{"text": "", "delta": {"content": ""}, "finish_reason": "eos"}]},
            ],
            f"{ODD}.",
        ),
        "Text Generation Inference: a call without a list": (
            [
                chunk({"role": "assistant", "tool_calls": fragment(0, '{"x":', "f")}),
                chunk({"tool_calls": fragment(0, "1}")}),
                chunk({}, "tool_calls"),
            ],
            ' f{"x": 1} tool_calls.',
        ),
        "Ollama: whole calls, all with index 0": (
            [
                *called(
                    fragment(0, '{"x":1}', "f", "call_a"),
                    fragment(0, "{}", "f", "call_b"),
                    fragment(0, None, "f", "call_c"),
                ),
                chunk({}, "tool_calls"),
            ],
            ' f{"x": 1} f{} f{} tool_calls.',
        ),
        "LocalAI: calls of one name and index in pieces": (
            [
                *called(fragment(0, "", "f", "a"), fragment(0, '{"x":1}')),
                *called(fragment(0, "", "f", "b"), fragment(0, '{"x":2}')),
                chunk({}, "tool_calls"),
            ],
            ' f{"x": 1} f{"x": 2} tool_calls.',
        ),
        "KoboldCpp: counts with a point, and far too high ones": (
            [
                chunk({"content": ODD}),
                chunk({}, "stop", usage=counted(10**30, 2, input_tokens=1.0)),
            ],
            f"{ODD} 1+2.",
        ),
        "Perplexity: the whole message after the pieces": (
            [
                {"object": "chat.completion.chunk", "choices": [{"delta": {"content": ODD}}]},
                {
                    "object": "chat.completion.done",
                    "choices": [{"message": {"content": ODD}, "finish_reason": "stop"}],
                },
            ],
            f"{ODD}.",
        ),
        "indexes that are texts": (
            [
                *called(fragment("0", "", "f", "a"), fragment("1", "", "f", "b")),
                *called(fragment("0", '{"x":1}'), fragment("1", '{"x":2}')),
                chunk({}, "tool_calls"),
            ],
            ' f{"x": 1} f{"x": 2} tool_calls.',
        ),
        "an error that is no JSON": (
            [chunk({"content": ODD}), b"data: {'error': 'CUDA out of memory'}"],
            f"{ODD}! failed {{'error': 'CUDA out of memory'}}",
        ),
        "an error in a list, and lines that begin with blanks": (
            [
                b"  data: " + json.dumps(chunk({"content": ODD})).encode(),
                [{"error": {"message": "On fire."}}],
            ],
            f"{ODD}! failed On fire.",
        ),
        "an error that only its type names": (
            [chunk({"content": ODD}), {}, {"type": "error", "message": "On fire."}],
            f"{ODD}! failed On fire.",
        ),
    },
    "mistral": {
        "Mistral: thinking and references among the parts": (
            [
                chunk({"role": "assistant", "content": ""}),
                chunk(
                    {
                        "content": [
                            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                        ]
                    }
                ),
                chunk({"content": [{"type": "text", "text": "Grüße "}]}),
                chunk({"content": [{"type": "reference", "reference_ids": [1]}]}),
                chunk({"content": "😀."}, "stop", usage=counted(5, 6, total_tokens=11)),
            ],
            f"(Hm.){ODD} 5+6.",
        ),
    },
    "responses": {
        "OpenAI: a summary of reasoning, a search, a commentary and an answer": (
            [
                response("queued", response={"status": "queued"}),
                response("in_progress", response={"status": "in_progress"}),
                item(0, "reasoning", summary=[]),
                *output(0, "reasoning_summary_text", "Hm", ".", summary_index=0),
                item(0, "reasoning", "done", summary=[{"text": "Hm."}], encrypted_content="gAAA"),
                item(1, "web_search_call"),
                response("web_search_call.searching", output_index=1),
                item(1, "web_search_call", "done", action={"type": "search", "query": "x"}),
                item(2, "message", content=[], phase="final_answer"),
                response("content_part.added", output_index=2, part={"type": "output_text"}),
                *output(2, "output_text", "Grüße ", "😀."),
                response("output_text.annotation.added", output_index=2, annotation={}),
                response("output_text.done", output_index=2, text=ODD),
                item(2, "message", "done", content=SPOKEN),
                completed({"type": "message", "content": SPOKEN}),
            ],
            f"(Hm.){ODD} 36+87.",
        ),
        "OpenAI: a refusal, which comes three times": (
            [
                item(0, "message", content=[]),
                *output(0, "refusal", "I'm ", "sorry."),
                response("refusal.done", output_index=0, refusal="I'm sorry."),
                item(0, "message", "done", content=[REFUSAL]),
                completed({"type": "message", "content": [REFUSAL]}),
            ],
            "! declined I'm sorry.",
        ),
        "OpenAI: a picture, which comes twice": (
            [response("output_item.done", output_index=0, item=PICTURE), completed(PICTURE)],
            "[image] 36+87.",
        ),
        "OpenAI: an answer at its limit": (
            [
                *output(0, "output_text", ODD),
                completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            ],
            f"{ODD} 36+87 length.",
        ),
        "an incomplete answer without a reason": (
            [*output(0, "output_text", ODD), completed(status="incomplete")],
            f"{ODD}! ended incomplete",
        ),
        "a failure without a status": (
            [
                *output(0, "output_text", ODD),
                response(
                    "failed", response={"error": {"code": "server_error", "message": "Fire."}}
                ),
            ],
            f"{ODD}! failed Fire.",
        ),
        "gateways: text and calls at one place": (
            [
                item(0, "message"),
                *output(0, "output_text", ODD),
                item(0, "function_call", call_id="call_a", name="f", arguments=""),
                *output(0, "function_call_arguments", '{"x":', "1}"),
                item(0, "function_call", "done", **{**CALL, "type": "function_call"}),
                item(0, "function_call", call_id="call_b", name="f", arguments=""),
                *output(0, "function_call_arguments", '{"x":2}'),
                completed(),
            ],
            f'{ODD} 36+87 f{{"x": 1}} f{{"x": 2}} tool_calls.',
        ),
        "gateways: a call only at the end": (
            [
                *output(0, "output_text", ODD),
                completed({"type": "message", "content": SPOKEN}, CALL),
            ],
            f'{ODD} 36+87 f{{"x": 1}} tool_calls.',
        ),
        "servers that send no pieces": (
            [
                response("output_text.done", output_index=0, text=ODD),
                item(1, "function_call", call_id="call_a", name="f"),
                response("function_call_arguments.done", output_index=1, arguments='{"x":1}'),
                completed(),
            ],
            f'{ODD} 36+87 f{{"x": 1}} tool_calls.',
        ),
        "xAI: a call that begins whole": (
            [
                item(0, "function_call", **CALL),
                *output(0, "function_call_arguments", '{"x":1}'),
                item(0, "function_call", "done", **CALL),
                completed(CALL),
            ],
            ' 36+87 f{"x": 1} tool_calls.',
        ),
        "OpenAI: what its cache had and got": (
            [
                *output(0, "output_text", ODD),
                completed(usage={"input_tokens": 36, "output_tokens": 7, **OF_CACHE}),
            ],
            f"{ODD} 36+7 (20+4 cached).",
        ),
        "OpenAI: a summary in several parts": (
            [
                *output(0, "reasoning_summary_text", "**First**", summary_index=0),
                *output(0, "reasoning_summary_text", "**Then**", summary_index=1),
                *output(1, "output_text", ODD),
                completed(),
            ],
            f"(**First**\n\n**Then**){ODD} 36+87.",
        ),
        "open models: thinking in pieces": (
            [*output(0, "reasoning_text", "Hm", "."), *output(1, "output_text", ODD), completed()],
            f"(Hm.){ODD} 36+87.",
        ),
        "open models: thinking that is no summary": (
            [
                item(0, "reasoning", "done", content=[{"type": "reasoning_text", "text": "Hm."}]),
                *output(1, "output_text", ODD),
                completed(),
            ],
            f"(Hm.){ODD} 36+87.",
        ),
    },
    "anthropic": {
        "Anthropic: thinking, a search of its own, citations and a call without arguments": (
            [
                started(input_tokens=20, cache_read_input_tokens=70, cache_creation_input_tokens=5),
                *block(0, "thinking", thinking="", signature=""),
                {"type": "ping"},
                *deltas(0, "thinking_delta", "thinking", "Hm", "."),
                *deltas(0, "signature_delta", "signature", "EqQB"),
                {"type": "content_block_stop", "index": 0},
                *block(1, "redacted_thinking", data="EmwK"),
                *block(2, "server_tool_use", id="srvtoolu_1", name="web_search", input={}),
                *deltas(2, "input_json_delta", "partial_json", "", '{"query": "x"}'),
                *block(3, "web_search_tool_result", tool_use_id="srvtoolu_1", content=[]),
                *block(4, "text", text="", citations=[]),
                *deltas(4, "citations_delta", "citation", "char_location"),
                *deltas(4, "text_delta", "text", "Grüße ", "😀."),
                *block(5, "tool_use", id="toolu_1", name="f", input={}),
                *deltas(5, "input_json_delta", "partial_json", ""),
                *stopped("tool_use", input_tokens=30, output_tokens=12),
            ],
            f"(Hm.){ODD} 105+12 (70+5 cached) f{{}} tool_calls.",
        ),
        "Anthropic: a turn that pauses": (
            [
                started(input_tokens=5, output_tokens=1),
                *block(0, "text", text=ODD),
                *stopped("pause_turn", output_tokens=4),
            ],
            f"{ODD}! ended pause_turn",
        ),
        "Anthropic: too much load": (
            [
                started(),
                *block(0, "text", text=ODD),
                {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            ],
            f"{ODD}! failed Overloaded",
        ),
        "Anthropic: a compaction before the answer": (
            [
                started(input_tokens=5),
                *block(0, "compaction", content=None),
                *deltas(0, "compaction_delta", "content", "We spoke of x."),
                *block(1, "text", text=""),
                *deltas(1, "text_delta", "text", ODD),
                *stopped("model_context_window_exceeded", output_tokens=4),
            ],
            f"{ODD} 5+4 length.",
        ),
        "gateways: blocks without numbers, and counts that are none": (
            [
                started(input_tokens=5),
                {
                    "type": "content_block_start",
                    "content_block": {"type": "text", "text": "Grüße "},
                },
                {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "😀."}},
                {"type": "content_block_start", "content_block": {**TOOL_USE, "input": {}}},
                {
                    "type": "content_block_delta",
                    "delta": {"type": "input_json_delta", "partial_json": '{"x":1}'},
                },
                *stopped("tool_use", input_tokens={"text": 9}, output_tokens=4),
            ],
            f'{ODD} 5+4 f{{"x": 1}} tool_calls.',
        ),
    },
    "google": {
        "Gemini: thoughts, calls without ids, and a signature alone": (
            [
                candidate({"text": "Hm.", "thought": True}),
                candidate({"text": ODD}),
                candidate(
                    {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "Ci"}
                ),
                candidate({"functionCall": {"name": "f"}}),
                {},
                candidate(
                    {"thoughtSignature": "Cx"},
                    reason="STOP",
                    usageMetadata={
                        "promptTokenCount": 8,
                        "candidatesTokenCount": 5,
                        "thoughtsTokenCount": 3,
                        "toolUsePromptTokenCount": 2,
                        "cachedContentTokenCount": 6,
                    },
                ),
            ],
            f'(Hm.){ODD} 10+8 (6+0 cached) f{{"x": 1}} f{{}} tool_calls.',
        ),
        "Gemini: code that it ran, and a picture": (
            [
                candidate({"executableCode": {"language": "PYTHON", "code": "print(1)"}}),
                candidate({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}),
                candidate({"inlineData": {"mimeType": "image/png", "data": "iVBORw0"}}),
                candidate(
                    {"inlineData": {"mimeType": "some/day", "data": "eA=="}}, {"someDay": {}}, {}
                ),
                candidate({"text": ODD}, reason="STOP"),
            ],
            f"\n```\nprint(1)\n```\n\n```\n1\n```\n[image: image/png]{ODD}.",
        ),
        "gateways to Gemini: arguments as text": (
            [candidate({"functionCall": {"name": "f", "args": '{"x":1}'}}, reason="STOP")],
            ' f{"x": 1} tool_calls.',
        ),
        "Gemini: an invalid call": (
            [
                candidate({"text": ODD}, usageMetadata={"promptTokenCount": {"text": 4}}),
                {
                    "candidates": [
                        {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "No f."}
                    ]
                },
            ],
            f"{ODD}! ended MALFORMED_FUNCTION_CALL No f.",
        ),
        "Gemini: a prompt that is blocked": (
            [
                {
                    "promptFeedback": {"blockReason": "SAFETY"},
                    "usageMetadata": {"promptTokenCount": 4},
                }
            ],
            "! ended SAFETY",
        ),
    },
    "bedrock": {
        "Bedrock: thinking, a text and a call": (
            [
                {"messageStart": {"role": "assistant"}},
                *(
                    {"contentBlockDelta": {"contentBlockIndex": place, "delta": delta}}
                    for place, delta in (
                        (0, {"reasoningContent": {"text": "Hm."}}),
                        (0, {"reasoningContent": {"signature": "c2ln"}}),
                        (1, {"text": ODD}),
                    )
                ),
                {"contentBlockStop": {"contentBlockIndex": 1}},
                {
                    "contentBlockStart": {
                        "contentBlockIndex": 2,
                        "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "f"}},
                    }
                },
                {
                    "contentBlockDelta": {
                        "contentBlockIndex": 2,
                        "delta": {"toolUse": {"input": '{"x":1}'}},
                    }
                },
                {"messageStop": {"stopReason": "tool_use"}},
                {"metadata": {"usage": {"inputTokens": 4, "outputTokens": 3}}},
            ],
            f'(Hm.){ODD} 4+3 f{{"x": 1}} tool_calls.',
        ),
    },
}


def sent(events: Sequence[Any], end: bytes = b"\n") -> bytes:
    lines = (
        each
        if isinstance(each, bytes)
        else b"data: %s" % json.dumps(each, ensure_ascii=False).encode()
        for each in events
    )
    return b"".join(line + end * 2 for line in lines)


def received(dialect: str, *pieces: bytes) -> tuple[str, str, str]:
    """The thinking, the text, and the last counts, the calls and the end or the error."""
    reception = Reception(codec(dialect).answer())
    came = [event for piece in pieces for event in reception.feed(piece)]
    broken = ""
    try:
        came += reception.end()
    except BrokenStream as error:
        broken = f"! {error.breakage} {error.words} {error.more}".rstrip()
    thought, said, counts, end = "", "", "", ""
    for event in came:
        match event:
            case ThinkingReceived(text):
                thought += text
            case TextReceived(text):
                said += text
            case UsageReported():
                counts = told(event)
            case _:
                end += told(event)
    return f"({thought})" if thought else "", said, broken or counts + end


def heard(dialect: str, *pieces: bytes) -> str:
    return "".join(received(dialect, *pieces))


def recorded() -> pytest.MarkDecorator:
    rows = [
        pytest.param(dialect, *row, id=name)
        for dialect, streams in STREAMS.items()
        for name, row in streams.items()
    ]
    return pytest.mark.parametrize(("dialect", "events", "expected"), rows)


@recorded()
def test_a_recorded_stream_is_heard_in_whatever_pieces_it_comes(
    dialect: str, events: list[Any], expected: str
):
    whole, windows = sent(events), sent(events, b"\r\n")
    assert heard(dialect, whole) == expected
    assert heard(dialect, *(bytes([byte]) for byte in whole)) == expected
    assert heard(dialect, b"\xef\xbb\xbf" + windows) == expected
    assert heard(dialect, *(bytes([byte]) for byte in windows)) == expected
    assert heard(dialect, sent(events, b"\r").rstrip()) == expected


@recorded()
def test_a_stream_that_is_cut_keeps_its_words_and_is_no_whole_answer(
    dialect: str, events: list[Any], expected: str
):
    _, whole, _ = received(dialect, sent(events))
    for place in range(1, len(events)):
        _, text, end = received(dialect, sent(events[:place]))
        assert whole.startswith(text)
        assert end.startswith("!") or text == whole


ERRORS = {
    "responses": {"type": "error", "code": "server_error", "message": "On fire.", "param": None},
    "anthropic": {"type": "error", "error": {"type": "api_error", "message": "On fire."}},
}


@recorded()
def test_an_error_in_the_middle_is_quoted_behind_the_words_that_came(
    dialect: str, events: list[Any], expected: str
):
    error = ERRORS.get(dialect, {"error": {"code": 500, "message": "On fire."}})
    for place in range(1, len(events)):
        before = events[:place]
        _, text, end = received(dialect, sent([*before, error, *events[place:]]))
        assert text == received(dialect, sent(before))[1]
        assert end == "! failed On fire." or expected.endswith(end)
