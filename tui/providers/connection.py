"""One connection for one request: what is sent besides the request, and how its answer ended."""

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import httpx2
from openai import AsyncOpenAI

from tui.providers.catalog import ModelChoice

CONNECT_TIMEOUT = 10.0
"""How many seconds there are to reach a server."""

# The client library would also tell each server the user's system and Python, and send it what
# OPENAI_ORG_ID and OPENAI_CUSTOM_HEADERS hold, another key among it. Without accept-encoding no
# piece waits for others.
_SENT = frozenset({"accept", "content-length", "content-type", "host"})
_SENT_TO_OPENAI = _SENT | {"openai-organization", "openai-project"}

_DONE = re.compile(rb"[\r\n]data: ?\[DONE\]")
_FIELDS = re.compile(rb"(?:^|(?<=[\r\n]))(?:event|id|retry)(?::[^\r\n]*)?(?:\r\n|\r|\n|$)")
_LONGEST_DONE = 32
_HEAD = 4_096
_LONGEST_LINE = 16 * 1024 * 1024
_LONGEST_ERROR = 64 * 1024


@dataclass(slots=True)
class Reply:
    """What is known of a server's answer besides its events."""

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
        self.done = self.done or _DONE.search(seen) is not None
        self._tail = seen[-_LONGEST_DONE:]
        self._length += len(piece)
        newline = piece.rfind(b"\n")
        self._line = len(piece) - newline if newline >= 0 else self._line + len(piece)

    @property
    def endless(self) -> bool:
        """Whether it is a line, or an error, that nobody can want to read to its end."""
        error = (self.status or 0) >= 400
        return self._line > _LONGEST_LINE or (error and self._length > _LONGEST_ERROR)


def _without_fields(lines: bytes) -> bytes:
    """Lines of an event stream, but for the names, numbers and waiting times of its events.

    The client library takes each of them for an event, with data or without, and after a number
    each comment that keeps the connection alive; on one without data it fails.
    """
    return _FIELDS.sub(b"", lines)


@asynccontextmanager
async def connection(
    choice: ModelChoice, certificates: ssl.SSLContext, reply: Reply
) -> AsyncGenerator[AsyncOpenAI]:
    """A client for one request to the chosen server, and nowhere else; ``reply`` is filled in.

    Nothing outlives it. Redirections are not followed, nor are proxies of the environment asked:
    a client that is given its transport looks for none.
    """
    timeout = httpx2.Timeout(choice.timeout, connect=min(CONNECT_TIMEOUT, choice.timeout))
    transport = _ObservedTransport(choice, certificates, reply)
    async with httpx2.AsyncClient(transport=transport, timeout=timeout) as http:
        client = AsyncOpenAI(
            # The transport sends the key. Without one here, the library would look for
            # OPENAI_API_KEY, whoever the server is.
            api_key="none",
            admin_api_key="",
            base_url=choice.base_url,
            timeout=timeout,
            max_retries=0,
            http_client=http,
        )
        yield client


class _ObservedTransport(httpx2.AsyncBaseTransport):
    """Sends only what has to be sent, and takes notice of what comes back."""

    def __init__(self, choice: ModelChoice, certificates: ssl.SSLContext, reply: Reply) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=certificates)
        self._sent = _SENT_TO_OPENAI if choice.provider == "openai" else _SENT
        self._key = choice.key
        self._reply = reply

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        for name in [name for name in request.headers if name.lower() not in self._sent]:
            del request.headers[name]
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key.reveal()}"
        response = await self._inner.handle_async_request(request)
        self._reply.status = response.status_code
        self._reply.location = response.headers.get("location", "")
        body = _ObservedBody(cast("httpx2.AsyncByteStream", response.stream), self._reply)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=body,
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ObservedBody(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream, reply: Reply) -> None:
        self._body = body
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun: list[bytes] = []
        async for piece in self._body:
            self._reply.note(piece)
            end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
            if end:
                yield _without_fields(b"".join((*begun, piece[:end])))
                begun = []
            begun.append(piece[end:])
            if self._reply.endless:
                break
        yield _without_fields(b"".join(begun))

    async def aclose(self) -> None:
        await self._body.aclose()
