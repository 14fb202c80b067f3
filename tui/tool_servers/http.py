"""Servers at an address: streamable HTTP, bounded."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from tui.tool_servers.stdio import LONGEST_MESSAGE

_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 30.0
_DELETE_SECONDS = 1.0
_LONGEST_ERROR = 64 * 1024
_EVENTS = "text/event-stream"
_SESSION = "mcp-session-id"


class SessionEnd:
    """The end of a session at an address, as a reply tells it."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._reason = ""

    def end(self, reason: str) -> None:
        """Note that no further request can succeed."""
        self._reason = reason
        self.ended.set()

    async def ending(self) -> str:
        """The reason, or nothing."""
        return self._reason


@asynccontextmanager
async def open_address(
    url: str, headers: Mapping[str, str], session: SessionEnd
) -> AsyncGenerator[tuple[Any, Any]]:
    """Open the streams of a session; a request that fails is answered by an error."""
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS)
    # Reads certificates; its proxy is that of the environment.
    sender = await asyncio.to_thread(httpx2.AsyncClient)
    asked = {**headers, "Accept-Encoding": "identity"}
    async with (
        sender,
        httpx2.AsyncClient(
            headers=asked, timeout=timeout, transport=_Checked(sender, session)
        ) as client,
        streamable_http_client(
            url, http_client=client, max_sse_event_size=LONGEST_MESSAGE
        ) as streams,
    ):
        yield streams


class _Checked(httpx2.AsyncBaseTransport):
    """Bounds replies, and turns failures into errors of the protocol.

    The library ends the whole session for some of them, and names the status of none.
    """

    def __init__(self, sender: httpx2.AsyncClient, session: SessionEnd) -> None:
        self._sender = sender
        self._session = session

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":
            # The end of a session must not wait for a server that hangs.
            request.extensions["timeout"] = httpx2.Timeout(_DELETE_SECONDS).as_dict()
        try:
            response = await self._sender.send(request, stream=True, follow_redirects=False)
        except httpx2.TransportError as error:
            return _refusal(f"{request.url.host} cannot be reached ({_words(error)})")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _refusal(f"{request.url.host} sent compressed data unasked")
        if response.is_success and response.headers.get("content-type", "").startswith(_EVENTS):
            return httpx2.Response(
                response.status_code, headers=response.headers, stream=_Relayed(response)
            )
        return await self._whole(request, response)

    async def _whole(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """Read a reply that is no stream of events."""
        # Also a status above 599, which nobody has defined.
        refused = response.status_code >= HTTPStatus.BAD_REQUEST
        limit = _LONGEST_ERROR if refused else LONGEST_MESSAGE
        try:
            data = await _read(response, limit)
        except httpx2.TransportError as error:
            return _refusal(f"{request.url.host} broke off its reply ({_words(error)})")
        finally:
            await response.aclose()
        if refused and not _is_error(data):
            return self._refused(request, response.status_code)
        if data is None:
            return _refusal(f"{request.url.host} sent a message of more than 8 MB")
        headers = {
            name: value
            for name, value in response.headers.items()
            if name.lower() not in {"content-length", "transfer-encoding"}
        }
        return httpx2.Response(response.status_code, headers=headers, content=data)

    def _refused(self, request: httpx2.Request, status: int) -> httpx2.Response:
        if status == HTTPStatus.NOT_FOUND and _SESSION in request.headers:
            self._session.end(f"{request.url.host} has ended the session (HTTP status 404)")
        words = f"{status} {_phrase(status)}".strip()
        return _refusal(f"{request.url.host} answered with HTTP status {words}", status)


class _Relayed(httpx2.AsyncByteStream):
    """The body of a reply, as it arrives."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._response.aiter_raw():
            yield data

    async def aclose(self) -> None:
        await self._response.aclose()


async def _read(response: httpx2.Response, limit: int) -> bytes | None:
    """Read the body; ``None`` if it is longer than allowed."""
    data = bytearray()
    async for part in response.aiter_raw():
        data += part
        if len(data) > limit:
            return None
    return bytes(data)


def _is_error(data: bytes | None) -> bool:
    """True for an error of the protocol, which says more than the status."""
    try:
        return isinstance(json.loads(data or b"")["error"]["message"], str)
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _refusal(words: str, status: int = HTTPStatus.BAD_GATEWAY) -> httpx2.Response:
    error = {"code": -32000, "message": words}
    return httpx2.Response(status, json={"jsonrpc": "2.0", "id": None, "error": error})


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _words(error: httpx2.TransportError) -> str:
    return str(error) or type(error).__name__
