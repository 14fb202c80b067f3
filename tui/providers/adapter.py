"""The adapter to models behind a server: one request through pydantic-ai, in its dialect.

The engine runs the tool loop, so that every call and result is saved, as far as the disk allows,
before the next request: this module asks for one answer, never for an agent's run.
"""

import asyncio
import logging
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from random import random
from typing import TypeVar

import httpx2
import msgspec
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import StreamedResponse
from pydantic_ai.usage import RequestUsage

from tui.domain.journal.message import TokenUsage
from tui.domain.model_settings import ModelParameters
from tui.errors import ModelUnavailable
from tui.providers.capabilities import adaptation
from tui.providers.catalog import ModelChoice, provider_of
from tui.providers.connection import connection
from tui.providers.dialect import library_parameters, received_call
from tui.providers.dialects import dialect_of
from tui.providers.failures import (
    asked_pause,
    ended_badly,
    explained,
    passes,
    refusal_words,
    short_reason,
    unfinished,
)
from tui.providers.network import route_to
from tui.providers.prices import dollars, warm_up
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    EndReason,
    ModelEvent,
    ModelRequest,
    RequestAdapted,
    TextReceived,
    TextTakenBack,
    ThinkingReceived,
    ToolCallReceived,
    TurnMemory,
    UsageReported,
)
from tui.providers.refused_parts import PartRefused, RefusedParts, part_refused
from tui.providers.request_log import logged
from tui.providers.retries import Backoff
from tui.providers.server_words import quoted
from tui.providers.thinking import ThinkingFilter
from tui.providers.transport import Reply
from tui.providers.turn_answers import lacks_thinking, worth_keeping

# Exceptions of the library when the JSON of a server's event has an unexpected shape.
_MISSHAPEN = (
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)

_FULL = frozenset(
    {
        "continuation",
        "length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
    }
)

_Got = TypeVar("_Got")
_Piece = str | ThinkingReceived


class ChatModel:
    """A model behind a server; it keeps no connection between requests."""

    def __init__(self, choice: ModelChoice, chance: Callable[[], float] = random) -> None:
        try:
            httpx2.URL(choice.base_url)
        except httpx2.InvalidURL:
            raise ModelUnavailable(f"{choice.base_url} is not the address of a server.") from None
        self._choice = choice
        # Read once, and not in ``stream``, which runs on the event loop; and before a library reads
        # SSL_CERT_FILE, whose errors do not name it.
        self._route = route_to(provider_of(choice))
        self._dialect = dialect_of(choice)
        # Of models whose template has the start tag, so that their answers lack it.
        self._thinks_first = False
        self._chance = chance
        self._refused = RefusedParts(choice.name)
        # Warnings of the libraries are for their developers: none is printed over the screen.
        logging.captureWarnings(capture=True)
        warm_up()

    @property
    def name(self) -> str:
        return self._choice.name

    @property
    def context_window(self) -> int:
        return self._choice.context_window

    @property
    def known_window(self) -> int:
        return self._choice.context_window

    @property
    def sees_images(self) -> bool | None:
        return self._choice.configured_images

    async def window(self) -> int:
        """Return the window that the choice has: whoever loads the model looks it up."""
        return self._choice.context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request one answer, without the parts and parameters that the model does not take."""
        wanted = _wanted(request, thinks_unasked=self._dialect.thinks_unasked)
        parameters = self._dialect.supported(wanted)
        if told := adaptation(self.name, wanted, parameters, self._dialect.supported):
            yield RequestAdapted(told)
        whole = msgspec.structs.replace(request, parameters=parameters)
        while True:
            for notice in self._refused.notices(whole):
                yield RequestAdapted(notice)
            try:
                async with aclosing(self._attempts(self._refused.left_out(whole))) as events:
                    async for event in events:
                        yield event
            except PartRefused as refused:
                self._refused.add(refused)
            else:
                return

    async def _attempts(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request one answer; retry as ``Provider.retries`` says if it fails before it began."""
        backoff = Backoff(self._choice.retries, self._chance)
        while True:
            reply = Reply(self._route)
            try:
                with logged(self._choice, backoff.tries, reply):
                    async with self._asked(request, reply) as received:
                        while events := await received.next():
                            for event in events:
                                yield event
                    self._thinks_first = received.lacked_start
            except AgentRunError as error:
                tries, reason = backoff.tries, short_reason(error)
                failure = explained(error, reply, self._choice, tries, request.parameters)
                asked = asked_pause(error)
                pause = backoff.next_pause(asked) if passes(error, reply) else None
                if refused := self._refused_part(error, reply, request):
                    pause, failure = None, refused
            else:
                return
            # Outside the handler: the library's error may quote the key, and must not be chained.
            if pause is None:
                raise failure
            yield AttemptFailed(tries, reason, pause)
            await asyncio.sleep(pause)

    def _refused_part(
        self, error: AgentRunError, reply: Reply, request: ModelRequest
    ) -> PartRefused | None:
        said = refusal_words(error, reply)
        # A model's name may have the word vision.
        nameless = re.sub(rf"(?<!\w){re.escape(self._choice.model)}(?!\w)", "", said)
        refused = part_refused(nameless, request)
        if refused:
            refused.said = quoted(said, *self._choice.secrets, *reply.route.secrets)
        return refused

    @asynccontextmanager
    async def _asked(self, request: ModelRequest, reply: Reply) -> AsyncGenerator["_Received"]:
        """Send a request, and hold the connection while its answer is received."""
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                connection(self._choice, self._dialect.wire, reply)
            )
            opening = model_request_stream(
                self._dialect.model(http),
                # A long conversation takes a tenth of a second.
                await asyncio.to_thread(self._dialect.messages, request),
                model_settings=self._dialect.settings(request.parameters),
                model_request_parameters=library_parameters(request.tools),
                instrument=False,
            )
            response = await self._understood(stack.enter_async_context(opening), reply)
            events = aiter(response)
            yield _Received(
                ThinkingFilter(inside=self._thinks_first),
                lambda: self._understood(_next_piece(events), reply),
                partial(self._ending, response, reply, request.memory),
                _Counter(self._choice, response),
            )

    async def _understood(self, waiting: Awaitable[_Got], reply: Reply) -> _Got:
        """Await the library's parser; its errors about malformed events become ``ModelError``."""
        try:
            return await waiting
        except _MISSHAPEN:
            if reply.status is None:
                # Nothing was received that could be malformed: this is a bug here.
                raise
        raise explained(None, reply, self._choice, tries=1)

    def _ending(
        self, response: StreamedResponse, reply: Reply, memory: TurnMemory
    ) -> Iterator[ModelEvent]:
        """The events after the text: tool calls and the reason of the end."""
        details = response.provider_details or {}
        reason = str(details.get("finish_reason") or "")
        if reply.broken:
            raise explained(None, reply, self._choice, tries=1)
        if not reason and not reply.is_done:
            raise unfinished(self._choice, reply)
        if failure := ended_badly(reason, details.get("refusal"), self._choice):
            raise failure
        answer = response.get()
        parts = [part for part in answer.parts if isinstance(part, ToolCallPart)]
        if parts:
            memory.keep(worth_keeping(answer))
        taken: set[str] = set()
        for part in parts:
            yield ToolCallReceived(received_call(part, taken))
        yield AnswerEnded(_reason(reason, parts))


class _Counter:
    """Reports the tokens of an answer: as soon as there are counts, and at the end."""

    def __init__(self, choice: ModelChoice, response: StreamedResponse) -> None:
        self._choice = choice
        self._response = response
        self._reported: TokenUsage | None = None

    def reports(self, *, ended: bool) -> Sequence[UsageReported]:
        """The report that is due now; the first one is all there is of a stopped answer."""
        if self._reported and not ended:
            return ()
        usage = _counted(self._response.usage)
        if not usage.total or usage == self._reported:
            return ()
        self._reported = usage
        price = dollars(self._choice, usage)
        return (
            UsageReported(
                usage.input_tokens,
                usage.output_tokens,
                price,
                usage.cached_tokens,
                usage.cache_write_tokens,
            ),
        )


def _counted(usage: RequestUsage) -> TokenUsage:
    """Convert the library's counts; no more can be cached than was sent."""
    cached = min(usage.cache_read_tokens, usage.input_tokens)
    written = min(usage.cache_write_tokens, usage.input_tokens - cached)
    return TokenUsage(usage.input_tokens, usage.output_tokens, cached, written)


def _wanted(request: ModelRequest, *, thinks_unasked: bool) -> ModelParameters:
    """The parameters of a request, without thinking in a turn whose thinking was not kept.

    Vendors want it back with the results of tools.
    """
    thinks = thinks_unasked or request.parameters.effort is not None
    if not thinks or not lacks_thinking(request):
        return request.parameters
    return msgspec.structs.replace(request.parameters, effort="off")


class _Received:
    """An answer that arrives: its text and the thinking before it, then its ending."""

    def __init__(
        self,
        thinking: ThinkingFilter,
        next_piece: Callable[[], Awaitable[_Piece | None]],
        ending: Callable[[], Iterator[ModelEvent]],
        counter: _Counter,
    ) -> None:
        self._next_piece = next_piece
        self._ending = ending
        self._counter = counter
        self._filter = thinking
        self._text_ended = False
        self._ended = False

    @property
    def lacked_start(self) -> bool:
        """True if the text began with thinking, and without a start tag."""
        return self._filter.lacked_start

    async def next(self) -> Sequence[ModelEvent]:
        """Wait for the next events; none after the last."""
        while not self._text_ended:
            piece = await self._next_piece()
            self._text_ended = piece is None
            counts = self._counter.reports(ended=self._text_ended)
            if events := [*self._events(piece), *counts]:
                return events
        if self._ended:
            return ()
        self._ended = True
        return tuple(self._ending())

    def _events(self, piece: _Piece | None) -> Sequence[ModelEvent]:
        if isinstance(piece, ThinkingReceived):
            return (piece,)
        given = self._filter.rest() if piece is None else self._filter.take(piece)
        events: list[ModelEvent] = [TextTakenBack()] if given.taken_back else []
        if given.thinking:
            events.append(ThinkingReceived(given.thinking))
        if given.text:
            events.append(TextReceived(given.text))
        return events


async def _next_piece(events: AsyncIterator[ModelResponseStreamEvent]) -> _Piece | None:
    """Await the next event and return its text, perhaps empty; ``None`` after the last."""
    event = await anext(events, None)
    return None if event is None else _piece(event)


def _piece(event: ModelResponseStreamEvent) -> _Piece:
    match event:
        case PartStartEvent(part=TextPart(content=str(text))):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=str(text))):
            return text
        case PartStartEvent(part=ThinkingPart(content=str(text)), previous_part_kind="thinking"):
            return ThinkingReceived(f"\n\n{text}")
        case PartStartEvent(part=ThinkingPart(content=str(text))) if text:
            return ThinkingReceived(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
            return ThinkingReceived(text)
        case _:
            return ""


def _reason(said: str, calls: Sequence[ToolCallPart]) -> EndReason:
    """Normalise the reason: not every server reports tool calls, and some have other words."""
    if said.lower() in _FULL:
        return "length"
    return "tool_calls" if calls else "stop"
