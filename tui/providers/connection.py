"""One connection for one request: what is sent besides the request, and how its answer ended."""

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import httpx2

from tui.providers.catalog import ModelChoice

CONNECT_TIMEOUT = 10.0
"""How many seconds there are to reach a server."""

# A client library would also tell each server the user's system and Python, and send it what
# variables such as OPENAI_CUSTOM_HEADERS hold, another key among it.
_SENT = frozenset({"accept", "content-length", "content-type", "host"})

_NEVER = re.compile(rb"(?!)")
_LONGEST_DONE = 32
_HEAD = 4_096
_LONGEST_LINE = 16 * 1024 * 1024
_LONGEST_ERROR = 64 * 1024


@dataclass(frozen=True, slots=True)
class Wire:
    """What one kind of server is sent besides its requests, and how its answers come.

    ``headers`` are let through, in lower case, and the key goes into ``key_header``, as
    ``key_form`` says. ``end`` is found where the stream says that it is over, in at most 32
    bytes; nothing is read after it. ``cleaned`` is what the client library is given of whole
    lines.
    """

    end: re.Pattern[bytes]
    headers: frozenset[str] = frozenset()
    key_header: str = "Authorization"
    key_form: str = "Bearer {}"
    cleaned: Callable[[bytes], bytes] = bytes


@dataclass(slots=True)
class Reply:
    """What is known of a server's answer besides its events; ``end`` is the ``Wire``'s."""

    end: re.Pattern[bytes] = _NEVER
    status: int | None = None
    location: str = field(default="", repr=False)
    head: bytes = field(default=b"", repr=False)
    done: bool = False
    _tail: bytes = field(default=b"\n", repr=False)
    _line: int = 0
    _length: int = 0

    def note(self, piece: bytes) -> None:
        """Take notice of bytes on their way to whoever reads them."""
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
        """Whether it is a line, or an error, that nobody can want to read to its end."""
        error = (self.status or 0) >= 400
        return self._line > _LONGEST_LINE or (error and self._length > _LONGEST_ERROR)


@asynccontextmanager
async def connection(
    choice: ModelChoice, wire: Wire, certificates: ssl.SSLContext, reply: Reply
) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client for one request to the chosen server, and nowhere else; ``reply`` is filled in.

    Nothing outlives it. It sends the key, whatever the library above it takes for one.
    Redirections are not followed, nor are proxies of the environment asked: a client that is
    given its transport looks for none.
    """
    timeout = httpx2.Timeout(choice.timeout, connect=min(CONNECT_TIMEOUT, choice.timeout))
    transport = _ObservedTransport(choice, wire, certificates, reply)
    async with httpx2.AsyncClient(transport=transport, timeout=timeout) as http:
        yield http


class _ObservedTransport(httpx2.AsyncBaseTransport):
    """Sends only what has to be sent, and takes notice of what comes back."""

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
        # A compressed answer may come late: a gateway waits until it has enough to compress.
        request.headers["Accept-Encoding"] = "identity"
        if self._key:
            request.headers[self._wire.key_header] = self._wire.key_form.format(self._key.reveal())
        response = await self._inner.handle_async_request(request)
        self._reply.status = response.status_code
        self._reply.location = response.headers.get("location", "")
        headers = response.headers.copy()
        # Whatever was asked for: the body is decompressed below.
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
    """A body, decompressed and in whole lines, up to the end of what it has to say.

    It can be read once. A client library that drains it after the end mark gets nothing more:
    the transport below would read a closed connection for ever.
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
                # A server may keep the connection long after its last word.
                if self._reply.done or self._reply.endless:
                    break

    async def _decompressed(self) -> AsyncGenerator[bytes]:
        try:
            async with aclosing(self._response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    yield piece
        except httpx2.DecodingError as error:
            # Of the client libraries, some pass it on and some call it a broken connection.
            raise ValueError(f"not compressed as its header says: {error}") from error

    async def aclose(self) -> None:
        await self._response.aclose()
