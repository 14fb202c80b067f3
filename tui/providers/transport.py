"""The HTTP transport of one request: sends what the user wants sent, and cleans the reply."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import httpx2

import tui
from tui.providers.catalog import ModelChoice
from tui.providers.clean_stream import CleanStream
from tui.providers.cleaning import BrokenStream, Cleaner, Merge, never_merged
from tui.providers.disconnections import Disconnection, explained
from tui.providers.network import Route

# Client libraries also send the user's system and Python version, and the content of variables
# such as OPENAI_CUSTOM_HEADERS, which may contain another key.
_SENT = frozenset({"accept", "content-type", "host"})

# Looked up here, and not when it is sent: that reads files.
_USER_AGENT = f"sibyl-tui/{tui.__version__}"

_HEAD = 4_096
_LONGEST_ERROR = 64 * 1024
_AT_ONCE = 8 * 1024
# All in bytes.
_AFTER_THE_REASON = 2.0
"""In seconds: servers may keep the connection open, and send no end mark."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The HTTP part of a dialect."""

    cleaner: Callable[[], Cleaner]
    """Makes the cleaner for the events of one answer."""
    merge: Merge = never_merged
    """Joins events where many come at once."""
    headers: frozenset[str] = frozenset()
    """Headers of the client library that are sent, in lower case; all others are dropped."""
    key_header: str = "Authorization"
    key_form: str = "Bearer {}"


@dataclass(slots=True)
class Reply:
    """Observations of a server's reply: status, first bytes, and whether its end was seen."""

    route: Route
    disconnection: Disconnection | None = None
    """The reason why there is no reply."""
    status: int | None = None
    location: str = field(default="", repr=False)
    head: bytes = field(default=b"", repr=False)
    is_done: bool = False
    broken: BrokenStream | None = field(default=None, repr=False)
    """The reason why the stream is no whole answer."""
    path: str = field(default="", repr=False)
    length: int = 0
    first_at: float | None = None
    """The moment of the first byte, of ``time.perf_counter``."""

    def note(self, piece: bytes) -> None:
        """Keep the beginning of the body."""
        self.length += len(piece)
        self.first_at = self.first_at or time.perf_counter()
        if len(self.head) < _HEAD:
            self.head += piece[: _HEAD - len(self.head)]


class ModelTransport(httpx2.AsyncBaseTransport):
    """Sends one request through another transport, and fills in the ``Reply``."""

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, choice: ModelChoice, wire: Wire, reply: Reply
    ) -> None:
        self._inner = inner
        self._wire = wire
        self._choice = choice
        self._reply = reply

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        response = await self._replied(self._prepared(request, body))
        self._reply.status = response.status_code
        self._reply.path = request.url.path
        self._reply.location = response.headers.get("location", "")
        headers = response.headers.copy()
        # The body is passed on decompressed, and with other bytes.
        for name in ("content-encoding", "content-length"):
            headers.pop(name, None)
        if response.is_success:
            # Whatever it was: a stream of events is passed on.
            headers["Content-Type"] = "text/event-stream"
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_Body(response, self._wire, self._reply),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _replied(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._inner.handle_async_request(request)
        except (httpx2.ReadTimeout, httpx2.WriteTimeout, httpx2.PoolTimeout):
            # The server was reached, and is silent.
            raise
        except (httpx2.TransportError, OSError) as error:
            # Client libraries make errors of their own of it, and not all keep the cause.
            limit = request.extensions["timeout"]["connect"]
            self._reply.disconnection = explained(error, self._reply.route, limit)
            raise httpx2.ConnectError("no reply") from error

    def _prepared(self, request: httpx2.Request, body: bytes) -> httpx2.Request:
        """Filter the library's request, and add what the user has configured."""
        query = self._choice.query
        return httpx2.Request(
            request.method,
            request.url.copy_merge_params(query) if query else request.url,
            headers=self._headers(request.headers),
            content=self._with_extra_fields(body),
            extensions=request.extensions,
        )

    def _headers(self, given: httpx2.Headers) -> httpx2.Headers:
        choice, wire = self._choice, self._wire
        sent = _SENT | wire.headers
        headers = httpx2.Headers({name: given[name] for name in given if name.lower() in sent})
        headers["User-Agent"] = _USER_AGENT
        # A compressed answer may be delayed: a gateway buffers until it has enough to compress.
        headers["Accept-Encoding"] = "identity"
        headers.update({name: value.reveal() for name, value in choice.headers.items()})
        if choice.key:
            form = choice.key_form if choice.key_header else wire.key_form
            headers[choice.key_header or wire.key_header] = form.format(choice.key.reveal())
        return headers

    def _with_extra_fields(self, body: bytes) -> bytes:
        choice = self._choice
        if not body or (choice.stream_options and not choice.extra_body):
            return body
        fields = json.loads(body) | choice.extra_body
        if not choice.stream_options:
            fields.pop("stream_options", None)
        return json.dumps(fields).encode()


class _Body(httpx2.AsyncByteStream):
    """The body of a reply, decompressed: the clean events of an answer, or an error's beginning.

    It can be read once. A client library that drains it after the end gets nothing: the transport
    below would read a closed connection forever.
    """

    def __init__(self, response: httpx2.Response, wire: Wire, reply: Reply) -> None:
        self._response = response
        self._reply = reply
        self._stream = CleanStream(wire.cleaner(), wire.merge)
        self._last_moment: float | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._response.is_stream_consumed:
            return
        is_answer = 200 <= self._response.status_code < 300
        pieces = self._events() if is_answer else self._error()
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        except BrokenStream as broken:
            # The stream ends here, and the adapter tells why: each client library would make
            # another error of an exception.
            self._reply.broken = broken

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _events(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._parts()) as parts:
            async for part in parts:
                if events := self._stream.take(part):
                    yield events
                if self._stream.is_done:
                    break
        rest = self._stream.rest()
        self._reply.is_done = True
        yield rest

    async def _error(self) -> AsyncGenerator[bytes]:
        length = 0
        async with aclosing(self._response.aiter_bytes()) as pieces:
            async for piece in pieces:
                self._reply.note(piece)
                yield piece[: _LONGEST_ERROR - length]
                length += len(piece)
                if length >= _LONGEST_ERROR:
                    break

    async def _parts(self) -> AsyncGenerator[bytes]:
        """The pieces, cut into parts that are cleaned in 2 ms: a key has its turn between two."""
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                for start in range(0, len(piece), _AT_ONCE):
                    if start:
                        await asyncio.sleep(0)
                    yield piece[start : start + _AT_ONCE]

    async def _pieces(self) -> AsyncGenerator[bytes]:
        """The pieces of the body until its end, or until the answer is whole."""
        async with aclosing(self._response.aiter_bytes()) as pieces:
            try:
                while (piece := await self._next(pieces)) is not None:
                    self._reply.note(piece)
                    yield piece
            except httpx2.DecodingError:
                raise BrokenStream("no_stream") from None
            except httpx2.TransportError:
                if not self._stream.is_finished:
                    raise

    async def _next(self, pieces: AsyncGenerator[bytes]) -> bytes | None:
        if self._stream.is_finished and self._last_moment is None:
            self._last_moment = asyncio.get_running_loop().time() + _AFTER_THE_REASON
        try:
            async with asyncio.timeout_at(self._last_moment):
                return await anext(pieces, None)
        except TimeoutError:
            return None
