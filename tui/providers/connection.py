"""The HTTP connection of one request: header filter, key, limits and the end of the stream."""

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import httpx2

from tui.providers.catalog import ModelChoice

CONNECT_TIMEOUT = 10.0
"""In seconds."""

# Client libraries also send the user's system and Python version, and the content of variables
# such as OPENAI_CUSTOM_HEADERS, which may contain another key.
_SENT = frozenset({"accept", "content-length", "content-type", "host"})

_NEVER = re.compile(rb"(?!)")
_LONGEST_DONE = 32
_HEAD = 4_096
_LONGEST_LINE = 16 * 1024 * 1024
_LONGEST_ERROR = 64 * 1024
# All in bytes.


@dataclass(frozen=True, slots=True)
class Wire:
    """The HTTP part of a dialect."""

    end: re.Pattern[bytes]
    """Matches the end mark of the stream, at most 32 bytes; nothing is read after it."""
    headers: frozenset[str] = frozenset()
    """Headers of the client library that are sent, in lower case; all others are dropped."""
    key_header: str = "Authorization"
    key_form: str = "Bearer {}"
    cleaned: Callable[[bytes], bytes] = bytes
    """Filters whole lines of the stream before the client library parses them."""


@dataclass(slots=True)
class Reply:
    """Observations of a server's reply: status, first bytes, and whether its end was seen."""

    end: re.Pattern[bytes] = _NEVER
    status: int | None = None
    location: str = field(default="", repr=False)
    head: bytes = field(default=b"", repr=False)
    done: bool = False
    _tail: bytes = field(default=b"\n", repr=False)
    _line: int = 0
    _length: int = 0

    def note(self, piece: bytes) -> None:
        """Record bytes that are passed on to the client library."""
        if len(self.head) < _HEAD:
            self.head += piece[: _HEAD - len(self.head)]
        seen = self._tail + piece
        self.done = self.done or self.end.search(seen) is not None
        self._tail = seen[-_LONGEST_DONE:]
        self._length += len(piece)
        newline = piece.rfind(b"\n")
        self._line = len(piece) - newline if newline >= 0 else self._line + len(piece)

    @property
    def endless(self) -> bool:
        """True if a line, or the body of an error, exceeds its limit."""
        error = (self.status or 0) >= 400
        return self._line > _LONGEST_LINE or (error and self._length > _LONGEST_ERROR)


@asynccontextmanager
async def connection(
    choice: ModelChoice, wire: Wire, certificates: ssl.SSLContext, reply: Reply
) -> AsyncGenerator[httpx2.AsyncClient]:
    """Open a client for one request; it fills in ``reply`` and is closed at the end.

    It sends the key, whatever key the client library sets. Redirects are not followed, and
    proxies of the environment not used: a client with its own transport ignores them.
    """
    timeout = httpx2.Timeout(choice.timeout, connect=min(CONNECT_TIMEOUT, choice.timeout))
    transport = _ObservedTransport(choice, wire, certificates, reply)
    async with httpx2.AsyncClient(transport=transport, timeout=timeout) as http:
        yield http


class _ObservedTransport(httpx2.AsyncBaseTransport):
    """Filters the headers of the request, sets the key, and records the reply."""

    def __init__(
        self, choice: ModelChoice, wire: Wire, certificates: ssl.SSLContext, reply: Reply
    ) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=certificates)
        self._wire = wire
        self._key = choice.key
        self._reply = reply

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        sent = _SENT | self._wire.headers
        for name in [name for name in request.headers if name.lower() not in sent]:
            del request.headers[name]
        # A compressed answer may be delayed: a gateway buffers until it has enough to compress.
        request.headers["Accept-Encoding"] = "identity"
        if self._key:
            request.headers[self._wire.key_header] = self._wire.key_form.format(self._key.reveal())
        response = await self._inner.handle_async_request(request)
        self._reply.status = response.status_code
        self._reply.location = response.headers.get("location", "")
        headers = response.headers.copy()
        # The body is decompressed below.
        headers.pop("content-encoding", None)
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_ObservedBody(response, self._wire, self._reply),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ObservedBody(httpx2.AsyncByteStream):
    """The body, decompressed and in whole lines, up to the end mark of the stream.

    It can be read once. A client library that drains it after the end mark gets nothing: the
    transport below would read a closed connection forever.
    """

    def __init__(self, response: httpx2.Response, wire: Wire, reply: Reply) -> None:
        self._response = response
        self._cleaned = wire.cleaned
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._response.is_stream_consumed:
            return
        begun: list[bytes] = []
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
                if end:
                    yield self._cleaned(b"".join((*begun, piece[:end])))
                    begun = []
                begun.append(piece[end:])
        yield self._cleaned(b"".join(begun))

    async def _pieces(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._decompressed()) as pieces:
            async for piece in pieces:
                self._reply.note(piece)
                yield piece
                # A server may keep the connection open after the end of its answer.
                if self._reply.done or self._reply.endless:
                    break

    async def _decompressed(self) -> AsyncGenerator[bytes]:
        try:
            async with aclosing(self._response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    yield piece
        except httpx2.DecodingError as error:
            # Some client libraries pass it on, others report a broken connection.
            raise ValueError(f"not compressed as its header says: {error}") from error

    async def aclose(self) -> None:
        await self._response.aclose()
