"""Real models: one request each, by way of pydantic-ai, in the dialect of chat completions.

The engine runs the tool loop, so that each call and result is on disk before the next request:
what is asked for here is always one answer, never an agent's run.
"""

import asyncio
import itertools
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing
from typing import TypeVar

import httpx2
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RequestUsage

from tui.errors import ModelUnavailable
from tui.providers.catalog import ModelChoice
from tui.providers.connection import Reply, connection
from tui.providers.dialect import library_messages, library_parameters, received_call, sendable
from tui.providers.failures import explained, pause_before_retry, unfinished, withheld
from tui.providers.protocol import (
    AnswerEnded,
    EndReason,
    ModelEvent,
    ModelRequest,
    TextReceived,
    ToolCallReceived,
    UsageReported,
)
from tui.providers.thinking import ThinkingFilter

# What the library guesses from a model's name, and does to texts because of it, is turned off:
# what was typed is what is sent, what is received is passed on at once, and tools are offered in
# the form that every server takes. Thinking is taken away by ThinkingFilter, which knows tags
# that are split over pieces, and leaves alone those that an answer speaks of: no piece is empty.
_PROFILE = OpenAIModelProfile(
    may_tokenize_special_tokens_in_content=False,
    thinking_tags=("", ""),
    json_schema_transformer=None,
)

# What the library runs into, where a server's events are JSON but not of the shape that it takes
# for granted.
_MISSHAPEN = (AttributeError, LookupError, RecursionError, TypeError, ValueError)

_Got = TypeVar("_Got")


class ChatModel:
    """A model behind an OpenAI-compatible server. It keeps no connection between two requests."""

    def __init__(self, choice: ModelChoice) -> None:
        try:
            httpx2.URL(choice.base_url)
        except httpx2.InvalidURL:
            raise ModelUnavailable(f"{choice.base_url} is not the address of a server.") from None
        self._choice = choice
        # Read once, and here: it takes 20 ms, and requests are made on the event loop.
        self._certificates = httpx2.create_ssl_context()

    @property
    def name(self) -> str:
        return self._choice.name

    @property
    def context_window(self) -> int:
        return self._choice.context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Ask for one answer; again, as ``Provider`` says, if it fails before it began."""
        for tries in itertools.count(1):
            reply = Reply()
            try:
                async with aclosing(self._ask(request, reply)) as events:
                    async for event in events:
                        yield event
            except AgentRunError as error:
                failure = explained(error, reply, self._choice, tries)
                pause = pause_before_retry(error, reply, tries)
            else:
                return
            # Outside of the handler: the library's error, which may quote the key, is let go of.
            if pause is None or tries > self._choice.retries:
                raise failure
            await asyncio.sleep(pause)

    async def _ask(self, request: ModelRequest, reply: Reply) -> AsyncGenerator[ModelEvent]:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                connection(self._choice, self._certificates, reply)
            )
            opening = model_request_stream(
                _model(self._choice, client),
                library_messages(request),
                model_request_parameters=library_parameters(request.tools),
                instrument=False,
            )
            response = await self._understood(stack.enter_async_context(opening), reply)
            thinking = ThinkingFilter()
            async with aclosing(self._events(response, reply)) as events:
                async for event in events:
                    text = thinking.take(_text(event))
                    if text:
                        yield TextReceived(text)
            rest = thinking.rest()
            if rest:
                yield TextReceived(rest)
            for ending in self._ending(response, reply):
                yield ending

    async def _events(
        self, response: StreamedResponse, reply: Reply
    ) -> AsyncGenerator[ModelResponseStreamEvent]:
        events = aiter(response)
        while event := await self._understood(anext(events, None), reply):
            yield event

    async def _understood(self, waiting: Awaitable[_Got], reply: Reply) -> _Got:
        """What the library makes of what a server sent, without the errors that are its own."""
        try:
            return await waiting
        except _MISSHAPEN:
            if reply.status is None:
                # Nothing came yet that could be wrong: this is a defect here.
                raise
        raise explained(None, reply, self._choice, tries=1)

    def _ending(self, response: StreamedResponse, reply: Reply) -> Iterator[ModelEvent]:
        """Whole calls, usage and the reason of a stream that was read to its end."""
        details = response.provider_details or {}
        if response.finish_reason == "content_filter":
            raise withheld(self._choice, str(details.get("refusal", "")))
        if not details.get("finish_reason") and not reply.done:
            raise unfinished(self._choice)
        parts = [part for part in response.get().parts if isinstance(part, ToolCallPart)]
        taken: set[str] = set()
        for part in parts:
            yield ToolCallReceived(received_call(part, taken))
        usage = response.usage
        if usage.input_tokens or usage.output_tokens:
            yield UsageReported(usage.input_tokens, usage.output_tokens)
        yield AnswerEnded(_reason(str(details.get("finish_reason")), parts))


class _Response(OpenAIStreamedResponse):
    """The library's stream, without thinking and without looking up prices for the usage."""

    def _map_thinking_delta(self, choice: Choice) -> Iterable[ModelResponseStreamEvent]:  # noqa: ARG002 - the library's
        return ()

    def _map_usage(self, response: ChatCompletionChunk) -> RequestUsage:
        usage = response.usage
        counts = (getattr(usage, name, 0) for name in ("prompt_tokens", "completion_tokens"))
        sent, received = (count if isinstance(count, int) else 0 for count in counts)
        return RequestUsage(input_tokens=max(sent, 0), output_tokens=max(received, 0))


class _LibraryModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _Response


def _model(choice: ModelChoice, client: AsyncOpenAI) -> OpenAIChatModel:
    provider = OpenAIProvider(openai_client=client)
    return _LibraryModel(sendable(choice.model), provider=provider, profile=_PROFILE)


def _text(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _reason(said: str, calls: Sequence[ToolCallPart]) -> EndReason:
    """Servers that call tools do not all say so, and some have words of their own."""
    if said in {"length", "model_length", "max_tokens"}:
        return "length"
    return "tool_calls" if calls else "stop"
