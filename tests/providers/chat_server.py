"""A small server on loopback that speaks the streams of OpenAI and of Anthropic, as told.

In a test::

    with ChatServer(answers("Hello"), refuses(401)) as server:
        ...  # server.base_url, server.requests, server.wait_for_disconnect()

Each request takes the next of the replies; the last one serves all that follow. A reply is a
function of an ``Exchange``: it writes what it wants, and waits at gates that the test opens. It is
spoken in the dialect that the request's path belongs to.
"""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from tests.providers.loopback import Call, Exchange, Gate, LoopbackServer, Reply
from tests.providers.speech import (
    AnthropicExchange,
    BedrockExchange,
    GoogleExchange,
    MistralExchange,
    OpenAIExchange,
    ResponsesExchange,
)


class ChatServer(LoopbackServer):
    """The server, in whichever dialect it is asked."""

    def __init__(self, *replies: Reply, **options: Any):
        super().__init__(*(replies or [answers("Hello.")]), speaks=_spoken_at, **options)


_SPOKEN = {
    "/messages": AnthropicExchange,
    "/responses": ResponsesExchange,
    ":streamGenerateContent": GoogleExchange,
    "/mistral/": MistralExchange,
    "/converse-stream": BedrockExchange,
}
"""By a part of the path."""


def _spoken_at(path: str) -> type[Exchange]:
    return next((spoken for part, spoken in _SPOKEN.items() if part in path), OpenAIExchange)


_P = ParamSpec("_P")


def reply(speak: Callable[Concatenate[Exchange, _P], None]) -> Callable[_P, Reply]:
    """Make a function that speaks in an exchange one that gives such a reply."""

    @wraps(speak)
    def told(*args: _P.args, **options: _P.kwargs) -> Reply:
        return lambda exchange: speak(exchange, *args, **options)

    return told


@reply
def answers(
    exchange: Exchange, *pieces: str, finish: str | None = "stop", done: bool = True
) -> None:
    """An answer in these pieces, with its usage."""
    exchange.begin(usage=True)
    for piece in pieces:
        exchange.text(piece)
    exchange.end(finish, done=done)


@reply
def answers_at(exchange: Exchange, gate: Gate, *pieces: str) -> None:
    """The first piece at once, the others when the gate is open."""
    exchange.begin()
    exchange.text(pieces[0])
    exchange.wait(gate)
    for piece in pieces[1:]:
        exchange.text(piece)
    exchange.end()


@reply
def answers_step_by_step(exchange: Exchange, gates: Sequence[Gate], *pieces: str) -> None:
    """Before each piece a gate of its own."""
    exchange.begin()
    for gate, piece in zip(gates, pieces, strict=True):
        exchange.wait(gate)
        exchange.text(piece)
    exchange.end()


@reply
def answers_after_thinking(exchange: Exchange, *thoughts: str, text: str) -> None:
    """What the model thinks, in a place of its own, and then its answer."""
    exchange.begin()
    for thought in thoughts:
        exchange.thinking(thought)
    exchange.text(text)
    exchange.end()


@reply
def is_cut_after(exchange: Exchange, *pieces: str) -> None:
    """These pieces, then a reset of the connection."""
    exchange.begin()
    for piece in pieces:
        exchange.text(piece)
    exchange.cut()


def ends_without_a_word_after(*pieces: str) -> Reply:
    """These pieces, then an orderly end of the connection: no reason of it, and no last word."""
    return answers(*pieces, finish=None, done=False)


@reply
def breaks_off_with_an_error(
    exchange: Exchange, *pieces: str, error: str = "The engine is on fire."
) -> None:
    """These pieces, then an error among the events."""
    exchange.begin()
    for piece in pieces:
        exchange.text(piece)
    exchange.failure(error)


@reply
def refuses(
    exchange: Exchange, status: int, message: str = "No.", body: Any = None, **headers: str
) -> None:
    """A status with an error object; ``body`` instead of it, as text or as JSON."""
    whole = exchange.error(status, message) if body is None else body
    text = whole if isinstance(whole, str) else json.dumps(whole)
    kind = "text/html" if text.startswith("<") else "application/json"
    exchange.head(status, kind, **headers)
    exchange.raw(text.encode())


@reply
def with_strict_roles(exchange: Exchange, reply: Reply) -> None:
    """A reply behind a template such as Mistral's: it refuses roles that do not alternate.

    Only the first message may be the system's; calls of tools and their results do not count.
    """
    messages = exchange.request.body["messages"]
    roles = [each["role"] for each in messages if not each.get("tool_calls")]
    roles = [role for role in roles[roles[0] == "system" :] if role != "tool"]
    alternating = [("user", "assistant")[place % 2] for place in range(len(roles))]
    fine = roles == alternating
    (reply if fine else refuses(400, "Conversation roles must alternate."))(exchange)


@reply
def sends(exchange: Exchange, data: bytes, content_type: str = "text/event-stream") -> None:
    """These very bytes as its body."""
    exchange.head(content_type=content_type)
    exchange.raw(data)


@reply
def sends_events(exchange: Exchange, *events: Any) -> None:
    """These events, texts as they are and all else as JSON, then an orderly end."""
    exchange.head()
    for event in events:
        exchange.event(event)


@reply
def says_and_sends(exchange: Exchange, text: str, *events: Any) -> None:
    """A piece of an answer, these events, and the answer's end."""
    exchange.begin()
    exchange.text(text)
    for event in events:
        exchange.event(event)
    exchange.end()


@reply
def is_silent(exchange: Exchange, gate: Gate) -> None:
    """Takes the request, and says nothing until the gate is open."""
    exchange.wait(gate)
    answers("At last.")(exchange)


def drops_the_connection() -> Reply:
    """Takes the request, and resets the connection without a word."""
    return lambda exchange: exchange.cut()


@reply
def compressed(exchange: Exchange, reply: Reply, coding: str, *, chunked: bool) -> None:
    """A reply whose body is compressed, whatever the client asked for."""
    exchange.compress(coding, chunked=chunked)
    reply(exchange)
    exchange.finish()


@reply
def calls_tools(exchange: Exchange, *calls: Call, text: str = "") -> None:
    """Calls as ``(id, name, pieces of arguments)``."""
    exchange.begin()
    if text:
        exchange.text(text)
    exchange.calls(calls)
    exchange.end("tool_calls")


@reply
def torn_inside_characters(exchange: Exchange, text: str) -> None:
    """Sends each byte of the stream by itself, so that no character arrives whole."""
    exchange.begin()
    exchange.tear()
    exchange.text(text)
    exchange.end()


_HTML = "<!doctype html><title>Login</title><h1>Please log in</h1>"
_WHOLE = {
    "object": "chat.completion",
    "choices": [{"message": {"role": "assistant", "content": "All at once."}}],
}
_ESCAPES = "\x1b[31mred\x1b[0m \x1b]52;c;aGVsbG8=\x1b\\ \x1b]0;title\x07 \x9b2J \u202e."


_TODO = (
    '"status": "in_progress", "active_form": "会話を読んでいる"},'
    ' {"content": "red \\u001b[31m \u202e", "status": "pending", "active_form": ""}]}'
)


def scenarios(gate: Gate) -> dict[str, list[Reply]]:
    """Replies by what becomes of the answer; some wait at the gate."""
    return {
        "normal": [answers("Hello", ", ", "world", ".")],
        "slow": [answers_at(gate, "Slowly", ", ", "but surely.")],
        "cut": [is_cut_after("The answer is ", "forty-")],
        "ends": [ends_without_a_word_after("The answer is ", "forty-")],
        "401": [refuses(401, "Incorrect API key provided.")],
        "429-then-fine": [refuses(429, "Slow down.", Retry_After="0"), answers("Fine now.")],
        "429": [refuses(429, "Slow down.", Retry_After="0")],
        "500": [refuses(500, "Out of order.", Retry_After="0")],
        "500-then-fine": [refuses(500, "Out of order.", Retry_After="0"), answers("Fine now.")],
        "529": [refuses(529, "Overloaded.", Retry_After="0")],
        "404": [refuses(404, "The model does not exist.")],
        "html": [sends(_HTML.encode(), "text/html")],
        "garbage": [says_and_sends("So far ", "{no json")],
        "no-stream": [sends(json.dumps(_WHOLE).encode(), "application/json")],
        "empty": [sends(b"")],
        "silence": [is_silent(gate)],
        "silence-within": [answers_at(gate, "And then ", "at last.")],
        "flood": [answers(*(f"{number} " for number in range(10_000)))],
        "tool-call": [
            calls_tools(("call_1", "read_file", ['{"pa', 'th": "a', '.py"}'])),
            answers("No tools, then."),
        ],
        "two-tool-calls": [
            calls_tools(
                ("call_1", "read_file", ['{"path"', ': "a.py"}']),
                ("call_2", "list_files", ['{"dir": ', '"."}']),
                text="Two things.",
            ),
            answers("No tools, then."),
        ],
        "write-todos": [
            calls_tools(
                ("call_1", "write_todos", ['{"todos": [{"content": "会話を', f'読む", {_TODO}']),
                text="A plan.",
            ),
            calls_tools(("call_2", "search_sessions", ['{"query": "plan"}'])),
            answers("Planned."),
        ],
        "error-within": [breaks_off_with_an_error("So far so ")],
        "thinking": [answers_after_thinking("Hm. ", "Well.", text="Yes.")],
        "refusal": [answers("I ", finish="content_filter")],
        "length": [answers("And so ", "on", finish="length")],
        "no-text": [answers()],
        "multi-byte": [torn_inside_characters("会話は 🙂 失われない。")],
        "escapes": [answers(_ESCAPES)],
    }
