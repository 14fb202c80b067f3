"""Anthropic's messages."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import httpx2
import msgspec
from anthropic import AsyncAnthropic
from anthropic.types.beta import (
    BetaRawContentBlockDeltaEvent,
    BetaRawContentBlockStartEvent,
    BetaRawMessageDeltaEvent,
    BetaRawMessageStartEvent,
    BetaRawMessageStreamEvent,
    BetaTextDelta,
)
from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicStreamedResponse
from pydantic_ai.profiles.anthropic import AnthropicModelProfile, anthropic_model_profile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.journal.message import Message, ToolCall
from tui.providers.catalog import ModelChoice
from tui.providers.connection import Wire
from tui.providers.dialect import AS_TYPED, counted, library_messages, sendable
from tui.providers.protocol import ModelRequest

_WIRE = Wire(
    end=re.compile(rb"[\r\n]event: ?message_stop[\r\n]"),
    headers=frozenset({"anthropic-version", "anthropic-beta"}),
    key_header="X-Api-Key",
    key_form="{}",
)
_ANSWER_SHARE = 4
_LONGEST_NAME = 128
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


class AnthropicDialect:
    """How a request is put to Anthropic, or to a server that speaks as it does."""

    wire = _WIRE

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        most = max(choice.context_window // _ANSWER_SHARE, 1)
        # The library lowers it further, to what it knows of the model.
        self.settings = ModelSettings(max_tokens=min(choice.answer_tokens, most))

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(accepted(request), no_result=[])

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        client = AsyncAnthropic(
            # The connection sends the key. Without one here, the library would look for one in
            # the environment and in files; the other one it has no use for.
            api_key="none",
            webhook_key="",
            base_url=self._choice.base_url,
            timeout=http.timeout,
            max_retries=0,
            open_telemetry=False,
            http_client=http,
        )
        return _MessagesModel(
            sendable(self._choice.model), provider=_Provider(anthropic_client=client)
        )


def accepted(request: ModelRequest) -> ModelRequest:
    """A request as Anthropic takes it: it refuses blank texts, and odd or repeated ids of calls.

    Conversations that were held with other servers, or come from elsewhere, have them.
    """
    ids = _CallIds()
    messages = [_accepted(message, ids) for message in request.messages]
    # A blank prompt that is all that is asked is for the server to refuse, not to be left out.
    kept = [each for each in messages[:-1] if each.role != "user" or each.content]
    system_prompt = _unless_blank(request.system_prompt)
    return msgspec.structs.replace(
        request, system_prompt=system_prompt, messages=(*kept, *messages[-1:])
    )


def _accepted(message: Message, ids: "_CallIds") -> Message:
    calls = tuple(
        ToolCall(ids.given(call.id), _plain(call.name)[:_LONGEST_NAME], call.arguments)
        for call in message.tool_calls
    )
    answered = message.tool_call_id
    return msgspec.structs.replace(
        message,
        content=_unless_blank(message.text),
        tool_calls=calls,
        tool_call_id=None if answered is None else ids.of_result(answered),
    )


def _unless_blank(text: str) -> str:
    return text if text.strip() else ""


def _plain(name: str) -> str:
    return _ODD.sub("_", name) or "_"


class _CallIds:
    """The ids that the calls of one request have: of plain letters, and each used once."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def given(self, call_id: str) -> str:
        """The id of a call, which its results after it are found by."""
        plain = given = _plain(call_id)
        for number in itertools.count(1):
            if given not in self._taken:
                break
            given = f"{plain}_{number}"
        self._taken.add(given)
        self._given[call_id] = given
        return given

    def of_result(self, call_id: str) -> str:
        """The id of the call that a result answers."""
        return self._given.get(call_id, call_id)


class _Provider(AnthropicProvider):
    @staticmethod
    def model_profile(model_name: str) -> AnthropicModelProfile:
        """Nothing that a model's name suggests but how long its answers may be."""
        known = AnthropicModelProfile(**(anthropic_model_profile(model_name) or {}))
        most = known.get("anthropic_max_output_tokens")
        return AnthropicModelProfile(**AS_TYPED, anthropic_max_output_tokens=most)


class _Response(AnthropicStreamedResponse):
    """The library's stream, without looking up prices for the usage."""

    def _map_event(self, event: BetaRawMessageStreamEvent) -> Iterator[ModelResponseStreamEvent]:
        _require_shape(event)
        if not _is_of_unknown_kind(event):
            yield from super()._map_event(event)

    def _map_message_start(self, event: BetaRawMessageStartEvent) -> None:
        self._count(event.message.usage)

    def _map_message_delta(self, event: BetaRawMessageDeltaEvent) -> None:
        self._count(event.usage)
        reason = event.delta.stop_reason
        if reason is None:
            return
        self.provider_details = {"finish_reason": reason}
        if reason == "refusal":
            self.finish_reason = "content_filter"
            said = getattr(event.delta.stop_details, "explanation", None)
            self.provider_details["refusal"] = said or ""

    def _count(self, usage: Any) -> None:
        """Take over what was counted so far; what is not said again stays."""
        before = self._usage
        sent = getattr(usage, "input_tokens", None)
        received = getattr(usage, "output_tokens", None)
        self._usage = counted(
            before.input_tokens if sent is None else sent,
            before.output_tokens if received is None else received,
        )


def _require_shape(event: Any) -> None:
    """Refuse what is no event: the library would pass over it, or pass it on, without a word."""
    match event:
        case BetaRawContentBlockStartEvent():
            part: Any = event.content_block
        case BetaRawContentBlockDeltaEvent():
            part = event.delta
        case _:
            part = event
    if not isinstance(event.type, str) or not isinstance(part.type, str):
        raise TypeError("an event that is none")


def _is_of_unknown_kind(event: BetaRawMessageStreamEvent) -> bool:
    """Whether it is one of those to come that Anthropic announces: they are to be passed over.

    The library takes it for the first kind that it knows.
    """
    match event:
        case BetaRawMessageStartEvent():
            return event.type != "message_start"
        case BetaRawContentBlockDeltaEvent(delta=BetaTextDelta() as delta):
            return delta.type != "text_delta"
        case _:
            return False


class _MessagesModel(AnthropicModel):
    async def _process_streamed_response(self, *arguments: Any, **more: Any) -> _Response:
        response = await super()._process_streamed_response(*arguments, **more)
        given = [each.name for each in fields(response) if each.init]
        return _Response(**{name: getattr(response, name) for name in given})
