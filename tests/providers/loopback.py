"""The machinery of the tests' own server: connections, gates, a record of what was asked.

What it says is told by replies, and in which dialect by the ``Exchange`` that its path asks for.
"""

import json
import select
import socket
import sys
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import ThreadingTCPServer
from typing import Any, ClassVar, Self

PATIENCE = 120.0
"""Seconds after which a test that waits has failed, and a gate that nobody opens gives way."""

Call = tuple[str, str, Sequence[str]]
"""A call of a tool: id, name, and its arguments in pieces."""


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


class _Coding:
    """A content coding and the framing of a compressed body."""

    _WINDOW_BITS: ClassVar = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}

    def __init__(self, name: str, *, chunked: bool):
        self._compressor = zlib.compressobj(wbits=self._WINDOW_BITS[name])
        self._chunked = chunked
        self.headers = {"Content-Encoding": name}
        if chunked:
            self.headers["Transfer-Encoding"] = "chunked"

    def piece(self, data: bytes) -> bytes:
        """Compress a piece so that it can be read before the next one comes."""
        return self._framed(self._compressor.compress(data), zlib.Z_SYNC_FLUSH)

    def rest(self) -> bytes:
        last = b"0\r\n\r\n" if self._chunked else b""
        return self._framed(b"", zlib.Z_FINISH) + last

    def _framed(self, compressed: bytes, mode: int) -> bytes:
        compressed += self._compressor.flush(mode)
        return b"%x\r\n%s\r\n" % (len(compressed), compressed) if self._chunked else compressed


class ClientGone(Exception):
    """The other side has closed the connection."""


class Exchange(ABC):
    """One request and the connection on which it is answered, in the dialect it was asked in."""

    def __init__(self, request: Request, connection: socket.socket, stopped: threading.Event):
        self.request = request
        self._connection = connection
        self._stopped = stopped
        self._torn = False
        self._coding: _Coding | None = None
        self._usage = False
        self.abort = False

    def begin(self, *, usage: bool = False) -> None:
        """The head, and what comes before an answer; with ``usage`` it is told what was counted."""
        self._usage = usage
        self.head()

    @abstractmethod
    def text(self, piece: str) -> None:
        """A piece of the answer."""

    @abstractmethod
    def thinking(self, piece: str) -> None:
        """A piece of what the model thinks, in a place of its own."""

    @abstractmethod
    def calls(self, calls: Sequence[Call]) -> None:
        """Calls of tools, their pieces in turn."""

    @abstractmethod
    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        """The reason of the end, in the words of OpenAI, and the last word; each may be missing."""

    @abstractmethod
    def failure(self, message: str) -> None:
        """An error within the stream."""

    def event(self, data: Any, default_type: str = "") -> None:
        """An event, as JSON; a text as it is; with its type, where events have names."""
        name = data.get("type", "") if isinstance(data, dict) else default_type
        named = b"event: %s\n" % self.encoded(str(name)) if default_type else b""
        self.raw(b"%sdata: %s\n\n" % (named, self.encoded(data)))

    @abstractmethod
    def error(self, status: int, message: str) -> Any:
        """What a refusal with a status has as its body."""

    def compress(self, coding: str, *, chunked: bool) -> None:
        """Send the body as ``gzip`` or ``deflate``: in chunks, or up to the connection's end."""
        self._coding = _Coding(coding, chunked=chunked)

    def finish(self) -> None:
        """End a compressed body."""
        if self._coding:
            self._send(self._coding.rest())

    def head(self, status: int = 200, content_type: str = "text/event-stream", **headers: str):
        """The status line and headers; the body ends when the connection does."""
        lines = [f"HTTP/1.1 {status} Told So", f"Content-Type: {content_type}"]
        if self._coding:
            headers |= self._coding.headers
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._send("\r\n".join([*lines, "Connection: close", "", ""]).encode())

    def tear(self) -> None:
        """From now on each byte goes by itself, so that no character arrives whole."""
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._torn = True

    def raw(self, data: bytes) -> None:
        self._send(self._coding.piece(data) if self._coding else data)

    def _send(self, data: bytes) -> None:
        try:
            for piece in map(bytes, zip(data, strict=True)) if self._torn else [data]:
                self._connection.sendall(piece)
        except OSError as error:
            raise ClientGone from error

    def encoded(self, data: Any) -> bytes:
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=not self._torn)
        return text.encode("utf-8", "surrogatepass")

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


@dataclass
class _State:
    replies: Sequence[Reply]
    speaks: Callable[[str], type[Exchange]]
    ollama_models: Sequence[str] = ()
    models: Sequence[str] = ()
    lists: Sequence[Reply] = ()
    key: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    questions: list[Request] = field(default_factory=list)
    """Those about the models, and for no answer."""
    disconnects: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    stopped: threading.Event = field(default_factory=threading.Event)

    def note_request(self, request: Request) -> int:
        """How many of its kind there were with this one."""
        is_question = request.method == "GET" or request.path in self.facts
        alike = self.questions if is_question else self.requests
        with self.changed:
            alike.append(request)
            self.changed.notify_all()
            return len(alike)

    def note_disconnect(self) -> None:
        with self.changed:
            self.disconnects += 1
            self.changed.notify_all()


class InThreads:
    """A server in threads, from ``with`` to its end, before which ``stopped`` is set."""

    def __init__(self, server: ThreadingTCPServer, stopped: threading.Event):
        self._server = server
        self.stopped = stopped
        self._thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        # Threads that wait look whether the server has stopped, so they can be joined.
        server.daemon_threads = False
        server.block_on_close = True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._server.server_address[1]


def reset(connection: socket.socket) -> None:
    """End a connection as if the cable were cut."""
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.close()


class LoopbackServer(InThreads):
    """The server; ``speaks`` says what is spoken at a path.

    ``models`` and ``ollama_models`` are what it lists, ``lists`` its replies instead of a list, and
    ``key`` the only one that it takes. ``facts`` are what it says of its models at other paths:
    JSON, or a function that gives it. ``base_url`` is its address for OpenAI's dialect and ends
    in ``/v1``, ``root`` that for Anthropic's.
    """

    def __init__(self, *replies: Reply, speaks: Callable[[str], type[Exchange]], **options: Any):
        self._state = _State(replies, speaks, **options)
        super().__init__(_Server(self._state), self._state.stopped)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    def address(self, dialect: str) -> str:
        addresses = {
            "anthropic": self.root,
            "bedrock": self.root,
            "google": self.root,
            "mistral": f"{self.root}/mistral/v1",
        }
        return addresses.get(dialect, self.base_url)

    @property
    def requests(self) -> list[Request]:
        """The requests for an answer that came so far, also those that were refused."""
        with self._state.changed:
            return [*self._state.requests]

    @property
    def questions(self) -> list[Request]:
        """The requests for a list of models, and for facts of one, that came so far."""
        with self._state.changed:
            return [*self._state.questions]

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


def _keys(headers: dict[str, str]) -> list[str]:
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    others = (headers.get("x-api-key", ""), headers.get("x-goog-api-key", ""))
    return [key for key in (bearer, *others) if key]


def google_model(name: str, *methods: str) -> dict[str, Any]:
    """A row of Google's list."""
    return {
        "name": f"models/{name}",
        "inputTokenLimit": 1_048_576,
        "supportedGenerationMethods": methods or ["generateContent", "countTokens"],
    }


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
        replies = state.replies if body is not None else state.lists or [self._list_of_models]
        if self.path in state.facts:
            replies = [self._tell_facts]
        if state.key not in (None, *_keys(headers)):
            replies = [self._refuse_key]
        reply = replies[min(count, len(replies)) - 1]
        exchange = state.speaks(self.path)(request, self.connection, state.stopped)
        try:
            reply(exchange)
        except ClientGone:
            state.note_disconnect()
        if exchange.abort:
            self.wfile.flush()
            reset(self.connection)

    def _list_of_models(self, exchange: Exchange) -> None:
        state, path = self.server.state, self.path.partition("?")[0]
        listed = {
            "/api/tags": {"models": [{"name": name} for name in state.ollama_models]},
            "/v1/models": {"data": [{"id": name} for name in state.models]},
            "/mistral/v1/models": {"data": [{"id": name} for name in state.models]},
            "/v1beta/models": {"models": [google_model(name) for name in state.models]},
        }.get(path)
        known = listed is not None and any(listed.values())
        exchange.head(200 if known else 404, "application/json")
        exchange.raw(json.dumps(listed or {}).encode())

    def _tell_facts(self, exchange: Exchange) -> None:
        facts = self.server.state.facts[self.path]
        exchange.head(200, "application/json")
        exchange.raw(json.dumps(facts() if callable(facts) else facts).encode())

    def _refuse_key(self, exchange: Exchange) -> None:
        """Refuse as some servers do: with the key in the error."""
        said = f"Incorrect API key provided: {' '.join(_keys(exchange.request.headers))}."
        exchange.head(401, "application/json")
        exchange.raw(json.dumps(exchange.error(401, said)).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error is the test's."""
