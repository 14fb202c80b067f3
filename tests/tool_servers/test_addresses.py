"""Servers at an address: streamable HTTP, and the faults that it may have."""

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.tables import each_row
from tests.tool_servers.conftest import OneServer
from tests.tool_servers.http_server import HttpToolServer, reply, reply_events, reply_json, text
from tests.waiting import SECONDS, until
from tui.config.settings_schema import ToolServerSettings
from tui.domain.tool_servers import ToolResult
from tui.tool_servers import server as one_server
from tui.tool_servers.server import McpServers


class Reached(OneServer):
    """The server ``web``."""

    async def call(self, **arguments: Any) -> ToolResult:
        return await self.servers.call(self._echo, arguments)

    async def begin(self) -> None:
        """Start, and keep its tool."""
        (self._echo,) = (await self.start()).tools


@asynccontextmanager
async def reach(url: str, **settings: Any) -> AsyncGenerator[Reached]:
    servers = McpServers({"web": ToolServerSettings(url=url, **settings)})
    try:
        yield Reached(servers)
    finally:
        await servers.close()


@asynccontextmanager
async def begun(
    fault: Any = None, **settings: Any
) -> AsyncGenerator[tuple[Reached, HttpToolServer]]:
    """A server with a fault, and what has started it and knows its tool."""
    with HttpToolServer(fault) as server:
        async with reach(server.url, **settings) as web:
            await web.begin()
            yield web, server


def at(method: str, answer: Callable[[BaseHTTPRequestHandler, dict], None]):
    """Answer the requests of a method."""

    def fault(handler: BaseHTTPRequestHandler, message: dict) -> bool:
        if message.get("method", handler.command) != method:
            return False
        answer(handler, message)
        return True

    return fault


def result(message: dict, words: str) -> dict:
    return {"jsonrpc": "2.0", "id": message["id"], "result": text(words)}


def hang_up(handler: BaseHTTPRequestHandler, _: dict) -> bool:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True
    return True


async def test_a_server_is_asked_with_its_headers_and_told_the_end():
    with HttpToolServer() as server:
        async with reach(server.url, headers={"Authorization": "Bearer sk-secret"}) as web:
            await web.begin()
            answer = await web.call(a=1, b="sk-secret")
        # A key that is sent back is hidden.
        assert answer == ToolResult('{"a": 1, "b": "[hidden]"}')
        assert {headers["authorization"] for _, headers, _ in server.requests} == {
            "Bearer sk-secret"
        }
        assert server.methods[-1] == "DELETE"
        (called,) = [h for _, h, m in server.requests if m.get("method") == "tools/call"]
        assert (called["mcp-session-id"], called["mcp-protocol-version"]) == (
            "session-1",
            "2025-11-25",
        )


async def test_an_answer_may_come_as_an_event_of_some_size():
    fault = at("tools/call", lambda h, m: reply_events(h, result(m, "x" * 3_000_000)))
    async with begun(fault) as (web, _):
        assert "of 2 MiB" in (await web.call()).text


OLD = "speaks only the older HTTP+SSE transport"


@each_row(
    "status, path, words",
    [
        (401, "/mcp", " HTTP status 401 Unauthorized"),
        (500, "/mcp", " HTTP status 500 Internal"),
        (799, "/mcp", " HTTP status 799"),
        (405, "/sse", OLD),
    ],
)
async def test_a_start_that_is_refused_names_the_status(status: int, path: str, words: str):
    fault = at("initialize", lambda h, _: reply(h, status, b"<html>No.</html>"))
    with HttpToolServer(fault) as server:
        async with reach(server.url.replace("/mcp", path)) as web:
            started = await web.start()
    assert started.state == "failed"
    assert started.reason.startswith("127.0.0.1 answered with HTTP status")
    assert words in started.reason


async def test_a_redirect_to_another_host_is_not_followed():
    with HttpToolServer() as other:
        fault = at("initialize", lambda h, _: reply(h, 307, location=other.url))
        with HttpToolServer(fault) as server:
            async with reach(server.url, headers={"X-Key": "sk-secret"}) as web:
                started = await web.start()
                assert started.state == "failed"
                assert "Redirect to" in started.reason
        assert other.requests == []


async def test_nobody_at_the_address_is_said():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        async with reach(f"http://127.0.0.1:{free.getsockname()[1]}/mcp") as web:
            started = await web.start()
            assert started.state == "failed"
            assert started.reason.startswith("127.0.0.1 cannot be reached (")


async def test_a_server_that_is_gone_fails_the_call_and_may_come_back():
    async with begun() as (web, server):
        server.fault = hang_up
        failed = await web.call()
        server.fault = None
        assert failed.failed
        assert "127.0.0.1 cannot be reached" in failed.text
        assert not (await web.call()).failed


def forgets(session: str, status: int, body: str):
    """Knows a session no more, when it is asked to call a tool."""

    def fault(handler: BaseHTTPRequestHandler, message: dict) -> bool:
        is_call = message.get("method") == "tools/call"
        if not is_call or handler.headers["mcp-session-id"] not in session:
            return False
        reply(handler, status, body.encode(), content_type="application/json")
        return True

    return fault


def error_of(words: str, code: int = -32600) -> str:
    return json.dumps(
        {"jsonrpc": "2.0", "id": "server-error", "error": {"code": code, "message": words}}
    )


@each_row(
    "status, body",
    [
        (404, ""),
        (404, "<html>Not Found</html>"),
        (404, error_of("Session not found")),
        (404, error_of("Session has been terminated")),
        (410, '{"error": "gone"}'),
        (400, error_of("Bad Request: No valid session ID provided", -32000)),
        (400, error_of("Bad Request: Server not initialized", -32000)),
        (400, "Invalid session ID"),
        (401, "Unauthorized: Session not found!"),
        (500, error_of("session expired", -32603)),
        (200, error_of("Session not found", -32001)),
    ],
)
async def test_a_call_that_a_forgotten_session_refuses_is_made_in_a_new_one(status: int, body: str):
    async with begun(forgets("session-1", status, body)) as (web, server):
        calls = await asyncio.gather(*(web.call(a=number) for number in range(5)))
        assert [each.text for each in calls] == [f'{{"a": {number}}}' for number in range(5)]
        assert server.sessions == 2


async def test_a_running_call_ends_before_its_forgotten_session_does():
    with HttpToolServer() as server:
        slow, other = threading.Event(), threading.Event()

        def fault(handler: BaseHTTPRequestHandler, message: dict) -> bool:
            if message.get("params", {}).get("arguments") == {"slow": True}:
                slow.set()
                other.wait(SECONDS)
                return False
            if forgets("session-1", 404, "")(handler, message):
                other.set()
                return True
            return False

        async with reach(server.url) as web:
            await web.begin()
            server.fault = fault
            running = asyncio.create_task(web.call(slow=True))
            await asyncio.to_thread(slow.wait, SECONDS)

            called = await web.call(a=1)

            assert [called.text, (await running).text] == ['{"a": 1}', '{"slow": true}']


async def test_a_server_that_forgets_each_session_is_asked_twice_and_that_is_told():
    async with begun(forgets("session-1 session-2", 404, "")) as (web, server):
        words = "127.0.0.1 has ended the session (HTTP status 404), and the new one likewise."
        assert await web.call() == ToolResult(words, failed=True)
        assert server.methods.count("tools/call") == 2
        assert not (await web.call()).failed


async def test_an_unknown_method_is_no_forgotten_session():
    body = error_of("Method not found", -32601)
    async with begun(forgets("session-1", 404, body)) as (web, server):
        assert (await web.call()).text == "Method not found"
        assert server.sessions == 1


def put(handler: BaseHTTPRequestHandler, body: str, content_type: str = "application/json") -> None:
    reply(handler, 200, body.encode(), content_type=content_type)


def events(handler: BaseHTTPRequestHandler, body: str) -> None:
    put(handler, body, "text/event-stream")


DONE = {"result": text("done")}
SPREAD = "".join(f"data: {line}\n" for line in json.dumps(DONE | {"id": 5}, indent=1).split("\n"))


@each_row(
    "answer",
    [
        lambda h, m: put(h, "\ufeff" + json.dumps({"id": m["id"], **DONE}, indent=2)),
        lambda h, m: put(h, json.dumps({"jsonrpc": "2.0", "id": None, **DONE}), "text/plain"),
        lambda h, m: put(h, json.dumps({"jsonrpc": "2.0", "id": "other", **DONE})),
        lambda h, m: put(h, json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": "done"})),
        lambda h, m: put(h, json.dumps([{"jsonrpc": "2.0", "method": "a/b"}, result(m, "done")])),
        lambda h, m: events(h, f"data: {json.dumps(result(m, 'done'))}"),
        lambda h, m: events(h, f"event: reply\r\ndata:{json.dumps(result(m, 'done'))}\r\n\r\n"),
        lambda h, m: events(
            h, f": hello\nid: 1\ndata:\n\ndata: [ping]\n\ndata: {json.dumps(result(m, 'done'))}\n\n"
        ),
        lambda h, _: events(h, SPREAD),
    ],
)
async def test_a_reply_in_an_odd_form_is_understood(answer: Any):
    async with begun(at("tools/call", answer)) as (web, _):
        assert await web.call() == ToolResult("done")


async def test_a_stream_that_was_cut_is_read_on_where_the_server_keeps_it():
    def fault(handler: BaseHTTPRequestHandler, message: dict) -> bool:
        if message.get("method") == "tools/call":
            numbers.append(message["id"])
            events(handler, "id: 1\nretry: 1\ndata:\n\n")
        elif handler.headers["last-event-id"] == "1":
            events(handler, f"data: {json.dumps(result({'id': numbers[-1]}, 'done'))}\n\n")
        else:
            return False
        return True

    numbers: list[int] = []
    async with begun(fault) as (web, _):
        assert await web.call() == ToolResult("done")


async def test_a_session_that_is_forgotten_before_its_tools_are_listed_is_begun_anew():
    fault = at("tools/list", lambda h, _: reply(h, 404))
    with HttpToolServer(fault) as server:
        async with reach(server.url) as web:
            assert (await web.start()).state == "stopped"
            server.fault = None
            assert (await web.start()).state == "ready"


UNREADABLE = "127.0.0.1 sent a reply that cannot be read"


@each_row(
    "answer, words",
    [
        (lambda h, _: put(h, '{"jsonrpc": "2.0", "result": {'), UNREADABLE),
        (lambda h, _: put(h, ""), UNREADABLE),
        (lambda h, _: put(h, "<html>", "text/html"), UNREADABLE),
        (lambda h, _: events(h, "data: {'jsonrpc': '2.0', 'result': None}\n\n"), UNREADABLE),
        (lambda h, _: reply(h, 204), UNREADABLE),
        (lambda h, _: reply(h, 402, error_of("Pay me", 1).encode()), "Pay me"),
        (
            lambda h, _: reply(h, 200, gzip.compress(b"x" * 100_000_000), content_encoding="gzip"),
            "127.0.0.1 sent compressed data unasked",
        ),
    ],
)
async def test_a_reply_of_no_use_is_told_at_once(answer: Any, words: str):
    async with begun(at("tools/call", answer)) as (web, _):
        called = await web.call()
        assert called.failed
        assert called.text.startswith(words)


async def test_secrets_of_the_address_are_sent_and_hidden():
    with HttpToolServer() as server:
        url = server.url.replace("http://", "http://me:pass-word@") + "?apiKey=a%2Fkey"
        async with reach(url) as web:
            await web.begin()
            shown = await web.call(a=["pass-word", "a/key", "a%2Fkey", "apiKey=a%2Fkey"])
        assert {headers["authorization"] for _, headers, _ in server.requests} == {
            "Basic bWU6cGFzcy13b3Jk"
        }
        assert set(server.paths) == {"/mcp?apiKey=a%2Fkey"}
    assert json.loads(shown.text)["a"] == ["[hidden]"] * 4


async def test_a_server_that_hangs_is_given_up():
    with HttpToolServer() as server:
        server.fault = at("tools/call", lambda *_: server.closing.wait())
        async with reach(server.url, timeout=0.2) as web:
            await web.begin()
            assert "did not answer within 0.2 seconds" in (await web.call()).text
            await until(lambda: "notifications/cancelled" in server.methods)
            server.fault = None
            while (await web.call()).failed:
                """It may be too slow, too."""
            assert server.methods.count("initialize") == 1


async def test_a_server_that_hangs_at_the_start_is_late_and_ended_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(one_server, "START_SECONDS", 0.1)
    with HttpToolServer() as server:
        server.fault = lambda *_: server.closing.wait() or True
        async with reach(server.url) as web:
            assert (await web.start()).reason == "It has not answered for 0.1 seconds."
            await until(lambda: server.requests)
            await web.servers.close()
            assert web.status.state == "stopped"


async def test_a_server_that_hangs_at_the_end_is_left():
    with HttpToolServer() as server:
        server.fault = at("DELETE", lambda *_: server.closing.wait())
        async with reach(server.url) as web:
            await web.begin()
            await web.servers.close()
            assert "DELETE" in server.methods


def break_off(kind: str):
    def answer(handler: BaseHTTPRequestHandler, _: dict) -> None:
        handler.send_response(200)
        handler.send_header("content-type", kind)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"data: {")
        handler.close_connection = True

    return answer


@each_row(
    "answer",
    [
        break_off("application/json"),
        break_off("text/event-stream"),
        lambda h, m: reply_json(h, result(m, "x" * 9_000_000)),
        lambda h, m: reply_events(h, result(m, "x" * 9_000_000)),
    ],
)
async def test_a_reply_that_breaks_off_or_is_too_large_fails_the_call_only(answer: Any):
    async with begun(at("tools/call", answer)) as (web, server):
        assert (await web.call()).failed
        server.fault = None
        assert not (await web.call()).failed
        assert server.sessions == 1


async def test_the_library_prints_nothing(capfd: pytest.CaptureFixture[str]):
    fault = at("tools/call", lambda h, _: reply(h, 200, b"{", content_type="application/json"))
    async with begun(fault) as (web, _):
        assert (await web.call()).failed
        await asyncio.sleep(0)
    assert capfd.readouterr() == ("", "")
