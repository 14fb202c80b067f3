"""A server of tools at an address, without the library of the protocol, with faults."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl

from tests.tool_servers.conftest import tool

Fault = Callable[[BaseHTTPRequestHandler, dict[str, Any]], bool]
"""Answers a request, if it is one to fail: then it gives true."""


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


class HttpToolServer:
    """Serves one tool, ``echo``; ``fault`` may answer a request first."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.closing = threading.Event()
        self.sessions = 0
        self.paths: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/mcp"

    @property
    def methods(self) -> list[str]:
        return [message.get("method", verb) for verb, _, message in self.requests]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the interface
                """Print nothing."""

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["content-length"]))
                is_form = "form" in self.headers.get("content-type", "")
                outer.take(self, dict(parse_qsl(data.decode())) if is_form else json.loads(data))

            def do_GET(self) -> None:
                if not (outer.fault and outer.fault(self, {})):
                    reply(self, 405)

            def do_DELETE(self) -> None:
                outer.take(self, {})

        return Handler

    def take(self, handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append((handler.command, headers, message))
        self.paths.append(handler.path)
        if self.fault and self.fault(handler, message):
            return
        result = _result(message)
        if result is None:
            reply(handler, 202)
            return
        session = {}
        if message["method"] == "initialize":
            self.sessions += 1
            session["mcp_session_id"] = f"session-{self.sessions}"
        reply_json(handler, {"jsonrpc": "2.0", "id": message["id"], "result": result}, **session)


def _result(message: dict[str, Any]) -> dict[str, Any] | None:
    match message.get("method"):
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "http", "version": "1"},
            }
        case "tools/list":
            return {"tools": [tool("echo")]}
        case "tools/call":
            return text(json.dumps(message["params"].get("arguments")))
        case _:
            return None


def reply(handler: BaseHTTPRequestHandler, status: int, data: bytes = b"", **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def reply_json(handler: BaseHTTPRequestHandler, message: object, **headers: str) -> None:
    reply(handler, 200, json.dumps(message).encode(), content_type="application/json", **headers)


def reply_events(handler: BaseHTTPRequestHandler, *messages: object) -> None:
    data = "".join(f"event: message\ndata: {json.dumps(each)}\n\n" for each in messages)
    reply(handler, 200, data.encode(), content_type="text/event-stream")
