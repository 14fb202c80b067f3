"""One attempt to get an answer by HTTP: the request as it is configured, and the reply."""

import asyncio
import json
import logging
import math
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx2
import msgspec

import tui
from tui.logs import error_name
from tui.providers.catalog import ModelChoice
from tui.providers.codec import BrokenStream, Codec, JsonObject
from tui.providers.network import Route, explained
from tui.providers.protocol import AnswerEnded, ModelEvent
from tui.providers.reception import Reception

_log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10.0
"""In seconds."""
# Looked up here, and not when it is sent: that reads files.
_USER_AGENT = f"sibyl-tui/{tui.__version__}"
_HEAD = 4_096
_LONGEST_ERROR = 64 * 1024
_AT_ONCE = 8 * 1024
# All in bytes.
_BETWEEN_READS = 0.01
"""In seconds; the screen is drawn less often."""
_AFTER_THE_REASON = 2.0
"""In seconds: servers may keep the connection open, and send no end mark."""


class Refusal(Exception):
    """A reply whose status is no success; ``body`` is its beginning."""

    def __init__(self, status: int, body: str, retry_after: float | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.retry_after = retry_after


@dataclass(slots=True)
class Reply:
    """Observations of a server's reply."""

    route: Route
    status: int | None = None
    location: str = field(default="", repr=False)
    head: bytes = field(default=b"", repr=False)
    """The first bytes of the body."""
    is_done: bool = False
    """True once the end of the answer was received."""
    path: str = field(default="", repr=False)
    length: int = 0
    first_at: float | None = None
    """The moment of the first byte, of ``time.perf_counter``."""

    @property
    def text(self) -> str:
        """The beginning of the body."""
        return self.head.decode("utf-8", "replace")

    def record(self, piece: bytes) -> None:
        """Count a piece of the body, and keep the beginning."""
        self.length += len(piece)
        self.first_at = self.first_at or time.perf_counter()
        if len(self.head) < _HEAD:
            self.head += piece[: _HEAD - len(self.head)]


async def answer_by_http(
    choice: ModelChoice, codec: Codec, body: JsonObject, reception: Reception, reply: Reply
) -> AsyncGenerator[ModelEvent]:
    """Send a request and give the events of its answer; a client for each request.

    Redirects are not followed. Raises ``Refusal``, ``NoReply`` and ``BrokenStream``.
    """
    provider = choice.provider
    # A long conversation takes a tenth of a second.
    data = await asyncio.to_thread(_encoded, body | provider.extra_body)
    connect = min(CONNECT_TIMEOUT, provider.timeout)
    headers = httpx2.Headers(
        {
            "Accept": "text/event-stream, application/json",
            # A compressed answer may be delayed: a gateway buffers until it has enough to compress.
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": _USER_AGENT,
            **codec.headers,
        }
    )
    for name, value in choice.headers:
        headers[name] = value
    url = httpx2.URL(provider.base_url.rstrip("/") + codec.path)
    timeout = httpx2.Timeout(provider.timeout, connect=connect)
    request = httpx2.Request(
        "POST",
        url.copy_merge_params(provider.query) if provider.query else url,
        headers=headers,
        content=data,
        extensions={"timeout": timeout.as_dict()},
    )
    async with reply.route.transport() as transport:
        response = await _replied(transport, request, reply, connect)
        try:
            if not response.is_success:
                raise await _refusal(response, reply)
            async with aclosing(_events(response, reception, reply)) as events:
                async for event in events:
                    yield event
        finally:
            await response.aclose()


def _encoded(body: JsonObject) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        # Lone surrogates, say in a tool's description.
        return json.dumps(body).encode()


async def _replied(
    transport: httpx2.AsyncBaseTransport, request: httpx2.Request, reply: Reply, connect: float
) -> httpx2.Response:
    try:
        response = await transport.handle_async_request(request)
    except (httpx2.ReadTimeout, httpx2.WriteTimeout, httpx2.PoolTimeout):
        # The server was reached, and is silent.
        raise BrokenStream("silent") from None
    except (httpx2.TransportError, httpx2.InvalidURL, OSError) as error:
        raise explained(error, reply.route, connect) from None
    reply.status = response.status_code
    reply.path = request.url.path
    reply.location = response.headers.get("location", "")
    if reply.location:
        with suppress(httpx2.InvalidURL):
            reply.location = str(request.url.join(reply.location))
    return response


async def _refusal(response: httpx2.Response, reply: Reply) -> Refusal:
    body = bytearray()
    try:
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                reply.record(piece)
                body += piece
                if len(body) >= _LONGEST_ERROR:
                    break
    except (httpx2.TransportError, httpx2.DecodingError):
        # What came of it is quoted.
        pass
    text = bytes(body[:_LONGEST_ERROR]).decode("utf-8", "replace")
    return Refusal(response.status_code, text, _retry_after(response.headers))


def _retry_after(headers: httpx2.Headers) -> float | None:
    """The seconds for which the server asks its clients to wait."""
    said, milliseconds = headers.get("retry-after", ""), headers.get("retry-after-ms")
    with suppress(ValueError):
        seconds = float(milliseconds) / 1000 if milliseconds else float(said)
        return seconds if math.isfinite(seconds) else None
    with suppress(TypeError, ValueError):
        return (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()
    return None


async def _events(
    response: httpx2.Response, reception: Reception, reply: Reply
) -> AsyncGenerator[ModelEvent]:
    """The events of a body, until it ends, or until the answer is whole and the server waits."""
    last_moment: float | None = None
    has_come = False
    try:
        async with aclosing(response.aiter_bytes()) as pieces:
            while not reception.is_done:
                # Some servers give the reason with each piece.
                if reception.is_finished and (has_come or last_moment is None):
                    last_moment = asyncio.get_running_loop().time() + _AFTER_THE_REASON
                has_come = False
                async with asyncio.timeout_at(last_moment):
                    piece = await anext(pieces, None)
                if piece is None:
                    break
                reply.record(piece)
                for start in range(0, len(piece), _AT_ONCE):
                    if start:
                        # A key has its turn between two slices.
                        await asyncio.sleep(0)
                    for event in reception.feed(piece[start : start + _AT_ONCE]):
                        has_come = True
                        yield event
                    if reception.is_done:
                        break
                if len(piece) < _AT_ONCE and not reception.is_done:
                    # A read costs more than ten words: those that come meanwhile share the next.
                    await asyncio.sleep(_BETWEEN_READS)
    except TimeoutError:
        pass
    except httpx2.DecodingError:
        reception.break_off(BrokenStream("no_stream"))
    except httpx2.ReadTimeout:
        reception.break_off(BrokenStream("silent"))
    except httpx2.TransportError:
        reception.break_off(BrokenStream("cut"))
    for event in reception.end():
        # Whoever listens may stop here.
        reply.is_done = isinstance(event, AnswerEnded)
        yield event


@contextmanager
def logged(choice: ModelChoice, attempt: int, reply: Reply) -> Generator[None]:
    """Log the beginning and the end of one attempt to get an answer: places, sizes and times."""
    address = urlsplit(choice.provider.base_url)
    through = f" through {reply.route.proxy}" if reply.route.proxy else ""
    place = (
        f"{choice.provider.name} at {address.hostname}:{address.port or address.scheme}{through}"
    )
    _log.info("request to %s: attempt %d begins", place, attempt)
    begun = time.perf_counter()
    end = "complete"
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, GeneratorExit) and reply.is_done):
            stopped = isinstance(error, GeneratorExit | asyncio.CancelledError)
            end = "stopped" if stopped else error_name(error)
        raise
    finally:
        _log.info(
            "request to %s%s: attempt %d, status %s, first byte %s, %d bytes, %.2f s, %s",
            place,
            # What the address itself has may be a secret.
            reply.path.removeprefix(address.path.rstrip("/")),
            attempt,
            reply.status or "none",
            f"{reply.first_at - begun:.2f} s" if reply.first_at else "none",
            reply.length,
            time.perf_counter() - begun,
            end,
        )
