"""A small server on loopback that speaks the stream of OpenAI's chat completions, as told.

In a test::

    with ChatServer(answers("Hello"), refuses(401)) as server:
        ...  # server.base_url, server.requests, server.wait_for_disconnect()

Each request takes the next of the replies; the last one serves all that follow. A reply is a
function of an ``Exchange``: it writes what it wants, and waits at gates that the test opens.

As a process of its own, for tests of the command line::

    python -m tests.providers.chat_server --scenario slow

prints its base URL, and then serves until its standard input is closed. Each line that it reads
there opens all gates; ``--log FILE`` appends each request as a line of JSON.
"""

import argparse
import contextlib
import json
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

PATIENCE = 30.0
"""Seconds after which a test that waits has failed, and a gate that nobody opens gives way."""


@dataclass(frozen=True)
class Request:
    """What arrived: ``body`` is the parsed JSON, header names are in lower case.

    ``client`` is the port of the connection that it came by.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    client: int = 0


class Gate:
    """What a reply waits at until the test opens it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()

    def open(self) -> None:
        self._opened.set()

    def wait_until_reached(self) -> None:
        assert self.reached.wait(PATIENCE), "no reply came to this gate"

    def is_open(self) -> bool:
        return self._opened.is_set()


class ClientGone(Exception):
    """The other side has closed the connection."""


class Exchange:
    """One request and the connection on which it is answered."""

    def __init__(self, request: Request, connection: socket.socket, stopped: threading.Event):
        self.request = request
        self._connection = connection
        self._stopped = stopped
        self.abort = False

    def head(self, status: int = 200, content_type: str = "text/event-stream", **headers: str):
        """The status line and headers; the body ends when the connection does."""
        lines = [f"HTTP/1.1 {status} Told So", f"Content-Type: {content_type}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.raw("\r\n".join([*lines, "Connection: close", "", ""]).encode())

    def raw(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise ClientGone from error

    def event(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.raw(f"data: {text}\n\n".encode("utf-8", "surrogatepass"))

    def delta(self, finish: str | None = None, **delta: Any) -> None:
        self.event(chunk(delta, finish))

    def end(self, finish: str | None = "stop", *, done: bool = True) -> None:
        if finish:
            self.delta(finish)
        if done:
            self.event("[DONE]")

    def cut(self) -> None:
        """End as if the cable were: with a reset, and nothing more."""
        self.abort = True

    def wait(self, gate: Gate) -> None:
        """Wait for the gate, or find out that the client went away."""
        gate.reached.set()
        while not gate.is_open():
            if self._stopped.is_set():
                raise ClientGone
            readable, _, _ = select.select([self._connection], [], [], 0.01)
            if readable and not self._has_more():
                raise ClientGone

    def _has_more(self) -> bool:
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK))
        except OSError:
            return False


Reply = Callable[[Exchange], None]


def chunk(delta: dict[str, Any], finish: str | None = None, **extra: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "test-model",
        "choices": [choice],
        **extra,
    }


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def usage_chunk(usage: Any = USAGE) -> dict[str, Any]:
    return {**chunk({}), "choices": [], "usage": usage}


# --- Replies ------------------------------------------------------------------------------------


def answers(*pieces: str, finish: str | None = "stop", done: bool = True) -> Reply:
    """An answer in these pieces, with its usage at the end."""

    def reply(exchange: Exchange) -> None:
        exchange.head()
        exchange.delta(role="assistant", content="")
        for piece in pieces:
            exchange.delta(content=piece)
        if finish:
            exchange.delta(finish)
        exchange.event(usage_chunk())
        exchange.end(finish=None, done=done)

    return reply


def answers_at(gate: Gate, *pieces: str) -> Reply:
    """The first piece at once, the others when the gate is open."""

    def reply(exchange: Exchange) -> None:
        exchange.head()
        exchange.delta(role="assistant", content=pieces[0])
        exchange.wait(gate)
        for piece in pieces[1:]:
            exchange.delta(content=piece)
        exchange.end()

    return reply


def answers_step_by_step(gates: Sequence[Gate], *pieces: str) -> Reply:
    """Before each piece a gate of its own."""

    def reply(exchange: Exchange) -> None:
        exchange.head()
        for gate, piece in zip(gates, pieces, strict=True):
            exchange.wait(gate)
            exchange.delta(content=piece)
        exchange.end()

    return reply


def is_cut_after(*pieces: str) -> Reply:
    """These pieces, then a reset of the connection."""

    def reply(exchange: Exchange) -> None:
        exchange.head()
        for piece in pieces:
            exchange.delta(content=piece)
        exchange.cut()

    return reply


def ends_without_a_word_after(*pieces: str) -> Reply:
    """These pieces, then an orderly end of the connection: no finish_reason, no [DONE]."""
    return answers(*pieces, finish=None, done=False)


def refuses(status: int, message: str = "No.", body: Any = None, **headers: str) -> Reply:
    """A status with an error object; ``body`` instead of it, as text or as JSON."""
    whole = {"error": {"message": message, "type": "test"}} if body is None else body
    text = whole if isinstance(whole, str) else json.dumps(whole)
    kind = "text/html" if text.startswith("<") else "application/json"

    def reply(exchange: Exchange) -> None:
        exchange.head(status, kind, **headers)
        exchange.raw(text.encode())

    return reply


def sends(data: bytes, content_type: str = "text/event-stream") -> Reply:
    """These very bytes as its body."""

    def reply(exchange: Exchange) -> None:
        exchange.head(content_type=content_type)
        exchange.raw(data)

    return reply


def sends_events(*events: Any) -> Reply:
    """These events, texts as they are and all else as JSON, then an orderly end."""

    def reply(exchange: Exchange) -> None:
        exchange.head()
        for event in events:
            exchange.event(event)

    return reply


def is_silent(gate: Gate) -> Reply:
    """Takes the request, and says nothing until the gate is open."""

    def reply(exchange: Exchange) -> None:
        exchange.wait(gate)
        answers("At last.")(exchange)

    return reply


def drops_the_connection() -> Reply:
    """Takes the request, and resets the connection without a word."""
    return lambda exchange: exchange.cut()


def calls_tools(*calls: tuple[str, str, Sequence[str]], text: str = "") -> Reply:
    """Calls as ``(id, name, pieces of arguments)``, their pieces in turn, like a deck shuffled."""

    def reply(exchange: Exchange) -> None:
        exchange.head()
        if text:
            exchange.delta(content=text)
        for delta in _shuffled(calls):
            exchange.delta(tool_calls=[delta])
        exchange.end("tool_calls")

    return reply


def _shuffled(calls: Sequence[tuple[str, str, Sequence[str]]]) -> Iterator[dict[str, Any]]:
    for index, (call_id, name, _) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        yield {"index": index, "id": call_id, "type": "function", "function": function}
    for turn in range(max(len(pieces) for _, _, pieces in calls)):
        for index, (_, _, pieces) in enumerate(calls):
            if turn < len(pieces):
                yield {"index": index, "function": {"arguments": pieces[turn]}}


def torn_inside_characters(text: str) -> Reply:
    """Sends each byte of the stream by itself, so that no character arrives whole."""

    def reply(exchange: Exchange) -> None:
        exchange._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        exchange.head()
        event = json.dumps(chunk({"content": text}), ensure_ascii=False)
        for byte in f"data: {event}\n\n".encode():
            exchange.raw(bytes([byte]))
        exchange.end()

    return reply


def _breaks_off_with_an_error(exchange: Exchange) -> None:
    exchange.head()
    exchange.delta(content="So far so ")
    exchange.event({"error": {"message": "The engine is on fire.", "code": 500}})


_HTML = "<!doctype html><title>Login</title><h1>Please log in</h1>"
_WHOLE = {
    "object": "chat.completion",
    "choices": [{"message": {"role": "assistant", "content": "All at once."}}],
}
_ESCAPES = "\x1b[31mred\x1b[0m \x1b]52;c;aGVsbG8=\x1b\\ \x1b]0;title\x07 \x9b2J \u202e."


def scenarios(gate: Gate) -> dict[str, list[Reply]]:
    """What ``--scenario`` knows; the gated ones wait for a line on standard input."""
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
        "404": [refuses(404, "The model does not exist.")],
        "html": [sends(_HTML.encode(), "text/html")],
        "garbage": [sends_events(chunk({"content": "So far "}), "{no json")],
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
        "error-within": [_breaks_off_with_an_error],
        "length": [answers("And so ", "on", finish="length")],
        "no-text": [answers()],
        "multi-byte": [torn_inside_characters("会話は 🙂 失われない。")],
        "escapes": [answers(_ESCAPES)],
    }


# --- The server ---------------------------------------------------------------------------------


@dataclass
class _State:
    replies: Sequence[Reply]
    ollama_models: Sequence[str]
    requests: list[Request] = field(default_factory=list)
    disconnects: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    stopped: threading.Event = field(default_factory=threading.Event)
    log: str | None = None

    def note_request(self, request: Request) -> int:
        """How many of its method there were with this one."""
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()
            count = sum(each.method == request.method for each in self.requests)
        if self.log:
            with open(self.log, "a", encoding="utf-8") as log:
                log.write(json.dumps(vars(request)) + "\n")
        return count

    def note_disconnect(self) -> None:
        with self.changed:
            self.disconnects += 1
            self.changed.notify_all()


class ChatServer:
    """The server, from ``with`` to its end; ``base_url`` ends in ``/v1``."""

    def __init__(self, *replies: Reply, ollama_models: Sequence[str] = (), log: str | None = None):
        self._state = _State(replies or [answers("Hello.")], ollama_models, log=log)
        self._server = _Server(self._state)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._state.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    @property
    def requests(self) -> list[Request]:
        """The requests for an answer that came so far, also those that were refused."""
        with self._state.changed:
            return [request for request in self._state.requests if request.method == "POST"]

    @property
    def disconnects(self) -> int:
        """How many clients went away while they were being answered."""
        with self._state.changed:
            return self._state.disconnects

    def wait_for_request(self, count: int = 1) -> None:
        self._wait(lambda: len(self._state.requests) >= count, "request")

    def wait_for_disconnect(self, count: int = 1) -> None:
        self._wait(lambda: self._state.disconnects >= count, "disconnect")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        with self._state.changed:
            assert self._state.changed.wait_for(condition, PATIENCE), f"no {what} came"


class _Server(ThreadingHTTPServer):
    # Threads that wait at a gate look whether the server has stopped, so they can be joined.
    daemon_threads = False
    block_on_close = True

    def __init__(self, state: _State) -> None:
        self.state = state
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        # An orderly end, unless the handler asked for a reset by closing the socket itself.
        if request.fileno() != -1:
            super().shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._answer(json.loads(self.rfile.read(length)))

    def _answer(self, body: Any) -> None:
        self.close_connection = True
        state = self.server.state
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body, self.client_address[1])
        count = state.note_request(request)
        replies = state.replies if body is not None else [self._list_of_models]
        reply = replies[min(count, len(replies)) - 1]
        exchange = Exchange(request, self.connection, state.stopped)
        try:
            reply(exchange)
        except ClientGone:
            state.note_disconnect()
        if exchange.abort:
            self._reset()

    def _list_of_models(self, exchange: Exchange) -> None:
        names = self.server.state.ollama_models
        known = self.path == "/api/tags" and names
        exchange.head(200 if known else 404, "application/json")
        exchange.raw(json.dumps({"models": [{"name": name} for name in names]}).encode())

    def _reset(self) -> None:
        self.wfile.flush()
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error is the test's."""


def _lines(stream: Iterable[str]) -> Iterator[str]:
    with contextlib.suppress(KeyboardInterrupt):
        yield from stream


def main() -> None:
    parser = argparse.ArgumentParser(description="A server that answers as told.")
    parser.add_argument("--scenario", choices=sorted(scenarios(Gate())), default="normal")
    parser.add_argument("--log", help="append each request to this file, a line of JSON each")
    arguments = parser.parse_args()
    gate = Gate()
    with ChatServer(*scenarios(gate)[arguments.scenario], log=arguments.log) as server:
        print(server.base_url, flush=True)
        for _ in _lines(sys.stdin):
            gate.open()


if __name__ == "__main__":
    main()
