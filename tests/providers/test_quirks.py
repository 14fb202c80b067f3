"""Odd servers: what each sends, byte for byte, and what becomes of it."""

import asyncio
import gzip
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, Exchange, Gate, answers, chunk, usage_chunk
from tests.providers.conftest import ModelAt, asks, only_anthropic, only_openai
from tests.providers.speech import (
    block_delta,
    block_start,
    block_stop,
    message_delta,
    message_start,
)
from tui.errors import ModelError
from tui.providers.chat_model import ChatModel
from tui.providers.exchange import Reply
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    ModelEvent,
    TextReceived,
    ThinkingReceived,
    ToolCallReceived,
    ToolDefinition,
    UsageReported,
)


def data(event: Any) -> bytes:
    return b"data: %s\n\n" % (event if isinstance(event, bytes) else json.dumps(event).encode())


def named(event: Any) -> bytes:
    return b"event: %s\n%s" % (event["type"].encode(), data(event))


def says(text: Any, **more: Any) -> bytes:
    return data(chunk({"content": text, **more}))


def calls(*fragments: dict[str, Any]) -> bytes:
    return b"".join(data(chunk({"tool_calls": [fragment]})) for fragment in fragments)


def call(index: int | None, call_id: str | None, name: str | None, arguments: Any) -> Any:
    function = {"name": name, "arguments": arguments}
    where = {} if index is None else {"index": index}
    return {**where, "id": call_id, "type": "function", "function": function}


def usage(counts: Any) -> bytes:
    return data(usage_chunk(counts))


def cached(count: Any) -> dict[str, Any]:
    return {"prompt_tokens_details": {"cached_tokens": count}}


def ends(reason: str) -> bytes:
    return data(chunk({}, reason)) + DONE


DONE = b"data: [DONE]\n\n"
STOP = ends("stop")
INVALID = "URL sent an invalid answer. Try again, or choose another model."
HI = says("Hi")
WHOLE = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
CHOICE = {"index": 0, "finish_reason": None}
TODOS, SEARCH = '{"todos": []}', '{"query": "x"}'
COUNTED = {"prompt_tokens": 11, "completion_tokens": 7}
FIRE = "Hi! URL broke off its answer. It says: On fire."
BROKEN = "Hi! URL broke off its answer. It says: Engine failed."
HEARTBEATS = (b"null", b'""', b"keepalive", b'"keep-alive"', b"[PING]", b"[]", b"0", b"ping")
CUT = "Hi! URL closed the connection in the middle of its answer."
NO_STREAM = (
    "! URL did not send a stream of an answer. Check the address (it ends in /v1)."
    " It says: On fire."
)


def filtered(reason: str) -> str:
    return f"Hi! A content filter of URL stopped the answer ({reason})."


def broken_off(words: str, reason: str) -> str:
    return f"Hi! URL {words} in the middle of its answer ({reason}). Try again later."


REQUEST = replace(asks(), tools=(ToolDefinition("f", "Does f.", {"type": "object"}),))


def told(event: ModelEvent) -> str:
    """An event in a few characters: ``text``, ``(thinking)``, ``name{…}``, ``11+7``, ``.``"""
    match event:
        case TextReceived(text):
            return text
        case ThinkingReceived(text):
            return f"({text})"
        case ToolCallReceived(called):
            return f" {called.name}{json.dumps(called.arguments)}"
        case UsageReported():
            cached, written = event.cached_tokens, event.cache_write_tokens
            cache = f" ({cached}+{written} cached)" if cached or written else ""
            return f" {event.input_tokens}+{event.output_tokens}{cache}"
        case AnswerEnded(reason):
            return "." if reason == "stop" else f" {reason}."
        case AttemptFailed():
            return "again "


async def becomes(model: ChatModel) -> str:
    """All that becomes of an answer, with the last counts, and with the error behind ``!``."""
    said, counts = "", ""
    try:
        async for event in model.stream(REQUEST):
            if isinstance(event, UsageReported):
                counts = told(event)
            else:
                said += counts * isinstance(event, AnswerEnded) + told(event)
    except ModelError as error:
        return f"{said}! {error}"
    return said


def of_the_server(body: bytes) -> Callable[[Exchange], None]:
    def reply(exchange: Exchange) -> None:
        if body.startswith(b"HTTP/"):
            exchange.raw(body)
        else:
            exchange.head()
            exchange.raw(body)

    return reply


Rows = Sequence[tuple[str, bytes, str]]


def table(*rows: tuple[str, bytes, str]) -> pytest.MarkDecorator:
    cases = [pytest.param(body, result, id=name) for name, body, result in rows]
    return pytest.mark.parametrize(("body", "result"), cases)


NDJSON = b"".join(
    json.dumps(each).encode() + b"\n"
    for each in [chunk({"content": "Hi"}), chunk({"content": "Hi"}), chunk({}, "stop")]
)

FRAMING: Rows = [
    ("CRLF", (HI + STOP).replace(b"\n", b"\r\n"), "Hi."),
    ("CR", (HI + STOP).replace(b"\n", b"\r"), "Hi."),
    ("one newline between events", (HI + HI + STOP).replace(b"\n\n", b"\n"), "HiHi."),
    ("no space after data:", (HI + STOP).replace(b"data: ", b"data:"), "Hi."),
    ("a byte order mark", b"\xef\xbb\xbf" + HI + STOP, "Hi."),
    ("comments", b": OPENROUTER PROCESSING\n\n" + HI + b": ping\n\n" + STOP, "Hi."),
    ("ids, names and retries", b"retry: 1\nid: 1\nevent: message\n" + HI + b"id:\n" + STOP, "Hi."),
    ("fields of other kinds", b"x-trace: 1\n" + HI + STOP, "Hi."),
    ("an event without data", b"event: ping\n\n" + HI + STOP, "Hi."),
    ("bare data:", b"data:\n\n" + HI + b"data: \n\n" + STOP, "Hi."),
    ("JSON over several lines", b'data: {"choices":\ndata: [{"text": "Hi"}]}\n\n' + STOP, "Hi."),
    *(
        (f"a heartbeat {beat}", HI + b"data: %s\n\n" % beat + HI + STOP, "HiHi.")
        for beat in HEARTBEATS
    ),
    ("a heartbeat and one newline", HI + b"data: [PING]\n" + HI + STOP, "HiHi."),
    (
        "half an event among others",
        HI + b'data: {"choices": [{"del\n\n' + HI + STOP,
        f"HiHi! {INVALID}",
    ),
    (
        "JSON without data:",
        HI + json.dumps(chunk({"content": "Hi"})).encode() + b"\n" + STOP,
        "HiHi.",
    ),
    ("lines of JSON instead of a stream", NDJSON, "HiHi."),
    (
        "a list of JSON instead of a stream",
        b"[" + NDJSON.strip().replace(b"\n", b",\n") + b"]",
        "HiHi.",
    ),
    ("[done]", HI + data(chunk({}, "stop")) + b"data: [done]\n\n", "Hi."),
    ("no line end after [DONE]", HI + b"data: [DONE]", "Hi."),
    ("[DONE] and no reason", HI + DONE, "Hi."),
    ("a reason and no [DONE]", HI + data(chunk({}, "stop")), "Hi."),
    ("no line end after the reason", HI + data(chunk({}, "stop")).rstrip(), "Hi."),
    ("neither", HI, CUT),
    ("half an event", HI + b'data: {"choices": [{"del', CUT),
    (
        "bytes that are no UTF-8",
        HI + b'data: {"choices": [{"text": "\xff"}]}\n\n' + STOP,
        "Hi\ufffd.",
    ),
]

TRANSPORT: Rows = [
    ("HTTP/1.0", b"HTTP/1.0 200 OK\r\n\r\n" + HI + STOP, "Hi."),
    ("no content type", b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + HI + STOP, "Hi."),
    (
        "no end of the chunks",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n"
        % (len(HI + data(chunk({}, "stop"))), HI + data(chunk({}, "stop"))),
        "Hi.",
    ),
    (
        "no end of the chunks nor of the answer",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(HI), HI),
        CUT,
    ),
    (
        "gzip that nobody asked for",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(HI + STOP),
        "Hi.",
    ),
    (
        "a length that is too long",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + HI + STOP,
        "Hi.",
    ),
]

CHUNKS: Rows = [
    ("one JSON object instead of a stream", json.dumps(WHOLE, indent=2).encode(), "Hi."),
    ("one after blank lines", b"\n\n" + json.dumps(WHOLE).encode(), "Hi."),
    ("one after a byte order mark", b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(), "Hi."),
    ("a whole text with the end of thinking", says("Hm\n</think>\n\nHi") + STOP, "(Hm\n)Hi."),
    (
        "message for delta",
        data({"choices": [{**CHOICE, "message": {"content": "Hi"}}]}) + STOP,
        "Hi.",
    ),
    ("text for delta", data({"choices": [{**CHOICE, "text": "Hi"}]}) + STOP, "Hi."),
    ("no delta", data({"choices": [{**CHOICE, "delta": None}]}) + HI + STOP, "Hi."),
    ("no choices", data({"id": "1"}) + data({"choices": None}) + HI + STOP, "Hi."),
    ("text in parts", says([{"type": "text", "text": "Hi"}]) + STOP, "Hi."),
    (
        "thinking in parts",
        says([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]) + HI + STOP,
        "(Hm)Hi.",
    ),
    ("reasoning_content", says(None, reasoning_content="Hm") + HI + STOP, "(Hm)Hi."),
    ("reasoning", says("", reasoning="Hm") + HI + STOP, "(Hm)Hi."),
    ("a picture in the text", says([{"type": "image_url", "image_url": {}}]) + STOP, "[image]."),
    ("a picture beside the text", says("Hi", images=[{"type": "image_url"}]) + STOP, "Hi[image]."),
    ("thinking that never ends", says("<think>Hi") + STOP, "(Hi)Hi."),
    ("thinking that is cut off", says("<think>Hi") + ends("length"), "(Hi)<think>Hi length."),
    ("[THINK]", says("[THINK]Hm[/THINK]Hi") + STOP, "(Hm)Hi."),
    ("<thought>", says("<thought>Hm</thought>Hi") + STOP, "(Hm)Hi."),
    ("an end of thinking in the first line", says("Hm.</think>Hi") + STOP, "(Hm.)Hi."),
    (
        "channels",
        says("<|channel|>analysis<|message|>Hm<|end|>")
        + says("<|start|>assistant<|channel|>final<|message|>Hi")
        + STOP,
        "(Hm)Hi.",
    ),
    ("both", says(None, reasoning="Hm", reasoning_content="Hm") + HI + STOP, "(Hm)Hi."),
    ("reasoning that is none", says(None, reasoning=5) + HI + STOP, "Hi."),
    ("NaN", HI.replace(b'"created": 1700000000', b'"created": NaN') + STOP, "Hi."),
    (
        "fields that nobody reads",
        data({**chunk({"content": "Hi"}), "created": "x", "id": 5}) + STOP,
        "Hi.",
    ),
    ("half a character", says("Hi\ud83d") + says("\ude00") + STOP, "Hi\U0001f600."),
    ("half a character alone", says("Hi\udc00!") + STOP, "Hi\ufffd!."),
    ("a reason that is empty", data(chunk({"content": "Hi"}, "")) + STOP, "Hi."),
    ("two choices", data({"choices": [{"text": "Hi"}, {"text": "Ho"}]}) + STOP, "Hi."),
]

USAGE: Rows = [
    ("usage with the reason", HI + data(chunk({}, "stop", usage=COUNTED)) + DONE, "Hi 11+7."),
    ("usage without choices", HI + data({"usage": COUNTED}) + STOP, "Hi 11+7."),
    ("usage after the reason", HI + data(chunk({}, "stop")) + usage(COUNTED) + DONE, "Hi 11+7."),
    ("usage that is null", HI + usage(None) + STOP, "Hi."),
    ("cached tokens", HI + usage({**COUNTED, **cached(9)}) + STOP, "Hi 11+7 (9+0 cached)."),
    ("too many of them", HI + usage({**COUNTED, **cached(500)}) + STOP, "Hi 11+7 (11+0 cached)."),
    ("null of them", HI + usage({**COUNTED, **cached(None)}) + STOP, "Hi 11+7."),
    ("null details", HI + usage({**COUNTED, "prompt_tokens_details": None}) + STOP, "Hi 11+7."),
    ("usage in words", HI + usage("many") + STOP, "Hi."),
    (
        "usage as text",
        HI + usage({"prompt_tokens": "11", "completion_tokens": "7"}) + STOP,
        "Hi 11+7.",
    ),
    ("usage that grows", usage({"prompt_tokens": 11}) + HI + usage(COUNTED) + STOP, "Hi 11+7."),
    ("usage with half of it", HI + usage({"prompt_tokens": 11}) + STOP, "Hi 11+0."),
]

FRAGMENTS: dict[str, tuple[str, list[Any]]] = {
    "two calls under one index": (
        f"write_todos{TODOS} search_sessions{SEARCH}",
        [call(0, "a", "write_todos", TODOS), call(0, "b", "search_sessions", SEARCH)],
    ),
    "two calls of one name under one index": (
        f"f{TODOS} f{SEARCH}",
        [call(0, "a", "f", TODOS), call(0, "b", "f", SEARCH)],
    ),
    "two calls under one index, without ids": (
        f"f{TODOS} g{SEARCH}",
        [call(0, None, "f", TODOS), call(0, None, "g", SEARCH)],
    ),
    "calls without an index": (
        f"f{TODOS} g{SEARCH}",
        [call(None, "a", "f", TODOS), call(None, "b", "g", SEARCH)],
    ),
    "the name in each fragment": (
        'f{"a": 1}',
        [call(0, "a", "f", '{"a"'), call(0, "a", "f", ": 1}"), call(0, "a", "f", "")],
    ),
    "another id in each fragment": (
        'f{"a": 1}',
        [call(0, "a", "f", '{"a"'), call(0, "b", None, ": 1}")],
    ),
    "a name in fragments": (
        "search{}",
        [call(0, "a", "se", ""), call(0, None, "arch", ""), call(0, None, None, "{}")],
    ),
    "marks in a name": (f"f{TODOS}", [call(0, "a", "f<|channel|>commentary", TODOS)]),
    "a prefix of a name": (f"f{TODOS}", [call(0, "a", "functions.f", TODOS)]),
    "an object as arguments": ('f{"a": 1}', [call(0, "a", "f", {"a": 1})]),
    "no arguments": ("f{}", [call(0, "a", "f", None)]),
}
CALLS: Rows = [
    *(
        (name, calls(*fragments) + STOP, f" {called} tool_calls.")
        for name, (called, fragments) in FRAGMENTS.items()
    ),
    (
        "function_call",
        data(chunk({"function_call": {"name": "f", "arguments": '{"a"'}}))
        + data(chunk({"function_call": {"arguments": ": 1}"}}))
        + ends("function_call"),
        ' f{"a": 1} tool_calls.',
    ),
    (
        "a whole message with calls",
        json.dumps(
            {"choices": [{"message": {"tool_calls": [call(None, "a", "f", "{}")]}}]}
        ).encode(),
        " f{} tool_calls.",
    ),
]

ERRORS: Rows = [
    ("an event named error", HI + b"event: error\ndata: On fire.\n\n", FIRE),
    (
        "an object in an event named error",
        HI + b'event: error\ndata: {"code": 5, "msg": "On fire."}\n\n',
        FIRE,
    ),
    (
        "a line that begins with error:",
        HI + b'error: {"code": 500, "message": "On fire."}\n\n',
        FIRE,
    ),
    ("an error in a line of JSON", HI + b'{"error": "On fire."}\n', FIRE),
    (
        "the words of a server behind a gateway",
        HI + data({"error": {"message": "Provider error", "metadata": {"raw": "On fire."}}}),
        "Hi! URL broke off its answer. It says: Provider error: On fire.",
    ),
    ("an error as text", HI + data({"error": "On fire."}), FIRE),
    (
        "an error beside a choice",
        data({**chunk({"content": ""}, "error"), "error": {"message": "On fire."}}),
        "! URL broke off its answer. It says: On fire.",
    ),
    ("an error of FastAPI", HI + data({"detail": "On fire."}), FIRE),
    (
        "an error within a choice",
        data({"choices": [{"error": {"message": "On fire."}, "finish_reason": "error"}]}),
        "! URL broke off its answer. It says: On fire.",
    ),
    ("an error of vLLM", HI + data({"object": "error", "message": "On fire.", "code": 500}), FIRE),
    ("an error instead of a stream", b'{"error": {"message": "On fire."}}', NO_STREAM),
    ("a text that is an error", HI + b"data: Engine failed.\n\n" + STOP, BROKEN),
    ("the same as JSON", HI + b'data: "Engine failed."\n\n' + STOP, BROKEN),
    (
        "a text and nothing else",
        b"data: Out of luck\n\n",
        "! URL broke off its answer. It says: Out of luck",
    ),
]

REASONS: Rows = [
    *((reason, HI + ends(reason), "Hi.") for reason in ("stop", "eos", "function_call")),
    *((reason, HI + ends(reason), "Hi length.") for reason in ("length", "max_tokens")),
    *((reason, HI + ends(reason), filtered(reason)) for reason in ("content_filter", "sensitive")),
    *(
        (reason, HI + ends(reason), broken_off(words, reason))
        for reason, words in {
            "timeout": "ran out of time",
            "cancelled": "cancelled the request",
            "load": "was still loading the model",
            "error": "reports an error",
            "network_error": "lost its connection to the model",
            "insufficient_system_resource": "ran out of resources",
        }.items()
    ),
]

TEXT = {"type": "text", "text": ""}
BEGUN = named(message_start()) + named(block_start(0, TEXT))
HELLO = named(block_delta(0, {"type": "text_delta", "text": "Hi"}))
TOOL = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
MESSAGE = {
    "type": "message",
    "content": [{"type": "text", "text": "Hi"}],
    "stop_reason": "end_turn",
}


def stops(reason: str = "end_turn", counts: Any = None, **more: Any) -> bytes:
    return named(message_delta(reason, counts, **more)) + named({"type": "message_stop"})


MESSAGES: Rows = [
    ("CRLF", (BEGUN + HELLO + stops()).replace(b"\n", b"\r\n"), "Hi."),
    ("one newline between events", (BEGUN + HELLO + stops()).replace(b"\n\n", b"\n"), "Hi."),
    (
        "data without names",
        data(message_start())
        + data(block_delta(0, TEXT | {"type": "x"}))
        + data(block_delta(0, {"type": "text_delta", "text": "Hi"}))
        + stops(),
        "Hi.",
    ),
    (
        "names without types",
        BEGUN + HELLO.replace(b'"type": "content_block_delta", ', b"") + stops(),
        "Hi.",
    ),
    ("no message_start", HELLO + stops(), "Hi."),
    ("no message_stop", BEGUN + HELLO + named(message_delta("end_turn")), "Hi."),
    ("[DONE]", BEGUN + HELLO + named(message_delta("end_turn")) + DONE, "Hi."),
    ("neither a reason nor message_stop", BEGUN + HELLO, CUT),
    ("one message instead of a stream", json.dumps(MESSAGE).encode(), "Hi."),
    (
        "text in the beginning of a block",
        named(message_start()) + named(block_start(0, {**TEXT, "text": "Hi"})) + stops(),
        "Hi.",
    ),
    (
        "pings",
        BEGUN + named({"type": "ping"}) + HELLO + b"event: ping\ndata: {}\n\n" + stops(),
        "Hi.",
    ),
    (
        "blocks of another kind",
        BEGUN
        + named(block_start(1, {"type": "some_result", "content": 5}))
        + named(block_delta(1, {"type": "text_delta", "text": "No"}))
        + named(block_stop(1))
        + HELLO
        + stops(),
        "Hi.",
    ),
    (
        "half a character",
        BEGUN
        + named(block_delta(0, {"type": "text_delta", "text": "Hi\ud83d"}))
        + named(block_delta(0, {"type": "text_delta", "text": "\ude00"}))
        + stops(),
        "Hi\U0001f600.",
    ),
    (
        "a call whose input comes at once",
        named(message_start())
        + named(block_start(0, {**TOOL, "input": {"a": 1}}))
        + stops("tool_use"),
        ' f{"a": 1} tool_calls.',
    ),
    (
        "usage that is null",
        named({"type": "message_start", "message": {"usage": None}})
        + HELLO
        + named({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": None}),
        "Hi.",
    ),
    (
        "usage as text",
        named(message_start({"input_tokens": "11"})) + HELLO + stops(counts={"output_tokens": "7"}),
        "Hi 11+7.",
    ),
    (
        "an overload",
        BEGUN
        + HELLO
        + named({"type": "error", "error": {"type": "overloaded_error", "message": "Full."}}),
        "Hi! URL broke off its answer. It says: Full.",
    ),
    (
        "an error without a name",
        BEGUN + HELLO + data({"error": {"message": "Full."}}),
        "Hi! URL broke off its answer. It says: Full.",
    ),
    ("an event without a type", BEGUN + HELLO + data({"index": 0}), f"Hi! {INVALID}"),
    ("a sequence that stops it", BEGUN + HELLO + stops("stop_sequence"), "Hi."),
    ("a reason of some day", BEGUN + HELLO + stops("some_day"), "Hi."),
    ("its limit", BEGUN + HELLO + stops("max_tokens"), "Hi length."),
    (
        "an event of some day",
        BEGUN + HELLO + named({"type": "future", "index": 0}) + stops(),
        "Hi.",
    ),
    ("a pause", BEGUN + HELLO + stops("pause_turn"), broken_off("paused", "pause_turn")),
    ("a heartbeat", BEGUN + HELLO + data([]) + b"data: [PING]\n\n" + stops(), "Hi."),
]


async def result_of(model_at: ModelAt, body: bytes) -> str:
    with ChatServer(of_the_server(body)) as server:
        model = model_at(server, retries=0)
        return (await becomes(model)).replace(model._choice.provider.base_url, "URL")


@only_openai
@table(*FRAMING, *TRANSPORT, *CHUNKS, *USAGE, *CALLS, *ERRORS, *REASONS)
async def test_chat_completions_are_read_in_whatever_shape_they_come(
    model_at: ModelAt, body: bytes, result: str
):
    assert await result_of(model_at, body) == result


@only_anthropic
@table(*MESSAGES)
async def test_messages_are_read_in_whatever_shape_they_come(
    model_at: ModelAt, body: bytes, result: str
):
    assert await result_of(model_at, body) == result


@pytest.mark.parametrize("keeps_alive", [False, True])
async def test_an_answer_with_a_reason_and_no_end_mark_ends_while_the_server_waits(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch, keeps_alive: Any
):
    monkeypatch.setattr("tui.providers.exchange._AFTER_THE_REASON", 0.05)
    gate = Gate()

    def stays(exchange: Exchange) -> None:
        answers("Hi", done=False)(exchange)
        while keeps_alive:
            exchange.raw(b": ping\n\n")
        exchange.wait(gate)

    with ChatServer(stays) as server:
        assert await becomes(model_at(server)) == "Hi 11+7."


async def test_an_answer_with_a_reason_in_each_piece_is_read_to_its_end(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.providers.exchange._AFTER_THE_REASON", 0.5)
    gates = [Gate(), Gate()]

    def slowly(exchange: Exchange) -> None:
        exchange.begin()
        for gate in (None, *gates):
            if gate:
                exchange.wait(gate)
            exchange.text("Hi")
            exchange.end(done=False)

    with ChatServer(slowly) as server:
        said, following = "", iter(gates)
        async for event in model_at(server).stream(REQUEST):
            said += told(event)
            if gate := next(following, None):
                await asyncio.sleep(0.6)
                gate.open()
    assert said == "HiHiHi."


@pytest.mark.parametrize("status", [400, 503])
async def test_of_an_error_in_gzip_only_the_beginning_is_unpacked(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch, status: int
):
    unpacked: list[int] = []
    record = Reply.record
    monkeypatch.setattr(
        Reply, "record", lambda *args: unpacked.append(len(args[1])) or record(*args)
    )
    bomb = gzip.compress(b"No! " * 25_000_000, 1)

    def refuses(exchange: Exchange) -> None:
        exchange.head(status, Content_Encoding="gzip", Retry_After="0")
        exchange.raw(bomb)

    with ChatServer(refuses) as server:
        assert "It says: No! No!" in await becomes(model_at(server, retries=1))
    assert sum(unpacked) < 5_000_000
