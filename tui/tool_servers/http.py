"""Servers at an address: streamable HTTP, bounded."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND

from tui.domain.text import without_surrogates
from tui.tool_servers.context import ServerContext, ServerFailed
from tui.tool_servers.messages import (
    FAILED,
    IS_REPLY,
    LONGEST_MESSAGE,
    Form,
    LineBuffer,
    LineTooLong,
    RequestId,
    failure,
    messages_in,
)
from tui.tool_servers.sign_in import SignIn, read_body

Send = Callable[[httpx2.Request], Awaitable[httpx2.Response]]
"""Sends a request, and gives its reply before that is read. Raises ``ServerFailed``."""

SESSION_FORGOTTEN = -32099
"""The code of our own for a request that a server has not carried out, as it knows no session."""

_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 30.0
_DELETE_SECONDS = 1.0
_LONGEST_ERROR = 64 * 1024
_EVENTS = "text/event-stream"
_SESSION = "mcp-session-id"
# In the words of the official libraries and of others; the last is of a server that was restarted.
_FORGOTTEN = re.compile(
    r"(?:no|not|n't|un|in)[ -]?(?:a )?(?:valid|found|known|exist|recogni[sz]ed)\b.*\bsession"
    r"|session.*(?:not |un|no longer |in)(?:found|known|valid|exist|recogni[sz]ed|initiali[sz]ed)"
    r"|session.*(?:expired|terminated|ended|closed|missing|required|does(?: not|n't) exist)"
    r"|(?:not|before) initiali[sz](?:ed|ation)",
    re.IGNORECASE | re.DOTALL,
)
_SPEAKS_OLD = (
    "an address that ends in /sse often speaks only the older HTTP+SSE transport, which this"
    " program does not: look for the server's address of streamable HTTP, which often ends in /mcp"
)


@dataclass(eq=False, repr=False)
class AddressState:
    """The end of a session at an address."""

    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _reason: str = ""

    def end(self, reason: str) -> None:
        """Note that no further request can succeed."""
        self._reason = reason
        self.ended.set()

    async def ending(self) -> str:
        """The reason, or nothing."""
        return self._reason


@asynccontextmanager
async def open_address(context: ServerContext) -> AsyncGenerator[tuple[Any, Any, AddressState]]:
    """Open the streams of a session; a request that fails is answered by an error."""
    headers = context.settings.headers or {}
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS)
    # Reads certificates; its proxy is that of the environment.
    sender = await asyncio.to_thread(httpx2.AsyncClient)
    asked = {**headers, "Accept-Encoding": "identity"}
    send: Send = partial(sender.send, stream=True, follow_redirects=False)
    # A user who says who he is by a header is signed in.
    if context.sign_ins and "authorization" not in map(str.lower, headers):
        send = SignIn(sender, context, context.sign_ins).send
    async with (
        sender,
        httpx2.AsyncClient(headers=asked, timeout=timeout, transport=_Checked(send)) as client,
        streamable_http_client(
            context.settings.url or "", http_client=client, max_sse_event_size=LONGEST_MESSAGE
        ) as (read, write),
    ):
        yield read, write, AddressState()


class _Checked(httpx2.AsyncBaseTransport):
    """Bounds replies, puts messages into their standard form, and turns failures into errors.

    The library ends the whole session for some of them, and names the status of none.
    """

    def __init__(self, send: Send) -> None:
        self._send = send

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":
            # The end of a session must not wait for a server that hangs.
            request.extensions["timeout"] = httpx2.Timeout(_DELETE_SECONDS).as_dict()
        host = request.url.host
        try:
            response = await self._send(request)
        except ServerFailed as error:
            return _refusal(str(error), HTTPStatus.UNAUTHORIZED)
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            return _refusal(f"{host} cannot be reached ({reason})")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _refusal(f"{host} sent compressed data unasked")
        number = _number(request)
        if response.is_success and response.headers.get("content-type", "").startswith(_EVENTS):
            return _events(response, _Relayed(response, number))
        return await self._whole(request, response, number)

    async def _whole(
        self, request: httpx2.Request, response: httpx2.Response, number: RequestId | None
    ) -> httpx2.Response:
        """Read a reply that is no stream of events."""
        host = request.url.host
        # Also a status above 599, which nobody has defined.
        refused = response.status_code >= HTTPStatus.BAD_REQUEST
        limit = _LONGEST_ERROR if refused else LONGEST_MESSAGE
        try:
            data = await read_body(response, limit)
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            return _refusal(f"{host} broke off its reply ({reason})")
        if refused:
            return _refused(request, response, data or b"")
        if data is None:
            return _refusal(f"{host} sent a message of more than 8 MB")
        if (
            number is None
            or response.status_code == HTTPStatus.ACCEPTED
            or response.has_redirect_location
        ):
            return httpx2.Response(response.status_code, headers=_without_length(response))
        with suppress(ValueError):
            if forms := messages_in(data):
                return _events(response, httpx2.ByteStream(_as_events(forms, number)))
        status = _status(response.status_code)
        return _refusal(f"{host} sent a reply that cannot be read (HTTP status {status})")


class _Relayed(httpx2.AsyncByteStream):
    """The events of a reply as they arrive, with their messages in the standard form."""

    def __init__(self, response: httpx2.Response, number: RequestId | None) -> None:
        self._response = response
        self._number = number
        self._data: list[bytes] = []
        self._others: list[bytes] = []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = LineBuffer(LONGEST_MESSAGE)
        try:
            async for data in self._response.aiter_raw():
                for line in lines.feed(data):
                    if event := self._take(line.strip(b"\r\xef\xbb\xbf")):
                        yield event
            # The last event may lack its end.
            yield self._take(lines.rest) + self._take(b"")
        except LineTooLong:
            too_long = f"{self._response.url.host} sent a message of more than 8 MB"
            yield _as_events([failure(self._number, too_long)], self._number)

    def _take(self, line: bytes) -> bytes:
        """Take a line, and give the events that it completes."""
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            if sum(map(len, self._data)) > LONGEST_MESSAGE:
                raise LineTooLong
        elif name in {b"id", b"retry"}:
            self._others.append(line + b"\n")
        if line:
            return b""
        data, others = b"\n".join(self._data), b"".join(self._others)
        self._data, self._others = [], []
        return others + (self._messages(data) or (b"data:\n\n" if others else b""))

    def _messages(self, data: bytes) -> bytes:
        try:
            forms = messages_in(data)
        except ValueError:
            if self._number is None or not IS_REPLY.search(data.decode("utf-8", "replace")):
                return b""
            words = f"{self._response.url.host} sent a reply that cannot be read"
            forms = [failure(self._number, words)]
        return _as_events(forms, self._number)

    async def aclose(self) -> None:
        await self._response.aclose()


def _refused(request: httpx2.Request, response: httpx2.Response, data: bytes) -> httpx2.Response:
    host, status = request.url.host, response.status_code
    forms: list[Form] = []
    with suppress(ValueError):
        forms = messages_in(data)
    error = next((form["error"] for form in forms if "error" in form), Form())
    # The server may know the session no more, and has not carried the request out.
    is_about_request = error.get("code") in {METHOD_NOT_FOUND, INVALID_PARAMS}
    is_gone = status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE} and not is_about_request
    said = error.get("message") or data.decode("utf-8", "replace")
    if _SESSION in request.headers and (is_gone or _FORGOTTEN.search(said)):
        words = f"{host} has ended the session (HTTP status {status})"
        return _refusal(words, status, SESSION_FORGOTTEN)
    if error:
        return _refusal(error["message"], status, error["code"])
    words = f"{host} answered with HTTP status {_status(status)}"
    is_old = request.url.path.rstrip("/").endswith("/sse") and _SESSION not in request.headers
    return _refusal(f"{words}: {_SPEAKS_OLD}" if is_old else words, status)


def _events(response: httpx2.Response, stream: httpx2.AsyncByteStream) -> httpx2.Response:
    headers = {**_without_length(response), "content-type": _EVENTS}
    return httpx2.Response(response.status_code, headers=headers, stream=stream)


def _as_events(forms: Sequence[Form], number: RequestId | None) -> bytes:
    """Messages as events; a reply may have lost the number of its request."""
    lost = {} if number is None else {"id": number}
    texts = (
        json.dumps(form if "method" in form else form | lost, ensure_ascii=False) for form in forms
    )
    return b"".join(b"data: %b\n\n" % without_surrogates(each).encode() for each in texts)


def _without_length(response: httpx2.Response) -> dict[str, str]:
    unwanted = {"content-length", "transfer-encoding"}
    return {name: value for name, value in response.headers.items() if name.lower() not in unwanted}


def _number(request: httpx2.Request) -> RequestId | None:
    """The number of the request that a reply answers."""
    if request.method != "POST":
        return None
    message = json.loads(request.content)
    return message.get("id") if "method" in message else None


def _refusal(
    words: str, status: int = HTTPStatus.BAD_GATEWAY, code: int = FAILED
) -> httpx2.Response:
    return httpx2.Response(status, json=failure(None, words, code))


def _status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
