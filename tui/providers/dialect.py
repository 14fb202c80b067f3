"""The protocol of a dialect, and the parts of a request that all dialects share."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Protocol, cast

import httpx2
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as LibraryRequest
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings, ThinkingLevel
from pydantic_ai.tools import ToolDefinition as LibraryTool

from tui.domain.journal.blocks import Part, merged, parts_of
from tui.domain.journal.message import Message, ToolCall
from tui.domain.model_settings import Effort, ModelParameters
from tui.providers.protocol import ModelRequest, ToolDefinition
from tui.providers.transport import Wire
from tui.providers.turn_answers import kept_answers, with_thinking

INVALID_ARGUMENTS = "INVALID_JSON"
"""The key under which arguments that are not an object are sent back: servers parse them."""


# Turns off everything that the library derives from a model's name: texts are sent as typed, and
# received text is passed on at once.
AS_TYPED = ModelProfile(
    may_tokenize_special_tokens_in_content=False,
    json_schema_transformer=None,
    context_window=None,
)


class Dialect(Protocol):
    """The requests of one kind of server.

    The ``provider_details`` of the library's response have the server's word for the reason of the
    end as ``finish_reason``, and as ``refusal`` the words with which the model declines.
    """

    @property
    def wire(self) -> Wire:
        """The HTTP part."""
        ...

    @property
    def thinks_unasked(self) -> bool:
        """True for a model that thinks without an effort, and whose vendor wants that back."""
        ...

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        """Leave out the parameters that the model is known to refuse; ``settings`` takes these."""
        ...

    def settings(self, parameters: ModelParameters) -> ModelSettings | None:
        """Convert the parameters of a request, with those that the server requires."""
        ...

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        """Convert a request to messages that the server accepts."""
        ...

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        """Create the library's model for one request through ``http``."""
        ...


def library_messages(request: ModelRequest, no_result: str | list[str] = "") -> list[ModelMessage]:
    """Convert the system prompt and the messages one to one.

    Only the results of one message's tool calls are combined; an empty one is sent as
    ``no_result``.
    """
    names = {call.id: call.name for each in request.messages for call in each.tool_calls}
    kept = kept_answers(request)
    messages: list[ModelMessage] = []
    if request.system_prompt:
        messages.append(_asked(SystemPromptPart(sendable(request.system_prompt))))
    for are_results, group in groupby(request.messages, lambda each: each.role == "tool"):
        if are_results:
            messages.append(_asked(*_results(group, names, no_result)))
        else:
            messages += [
                _answered(each, kept.get(each.id))
                if each.role == "assistant"
                else _said(each, request.images)
                for each in group
            ]
    return messages


def library_parameters(tools: Sequence[ToolDefinition]) -> ModelRequestParameters:
    """Convert the tools that a request offers."""
    return ModelRequestParameters(
        function_tools=[
            LibraryTool(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters,
            )
            for tool in tools
        ]
    )


def library_settings(parameters: ModelParameters) -> ModelSettings:
    """Convert the parameters that are set."""
    given = ModelSettings()
    if parameters.temperature is not None:
        given["temperature"] = parameters.temperature
    if parameters.max_tokens is not None:
        given["max_tokens"] = parameters.max_tokens
    if parameters.effort is not None:
        given["thinking"] = thinking_level(parameters.effort)
    return given


def thinking_level(effort: Effort) -> ThinkingLevel:
    """Convert an effort."""
    return False if effort == "off" else effort


def received_call(part: ToolCallPart, taken: set[str]) -> ToolCall:
    """Convert a received call; ``taken`` are earlier ids, which not every server keeps unique.

    Arguments become a JSON object or null; missing ones an empty object; anything else stays text.
    """
    call_id = str(part.tool_call_id)
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    return ToolCall(call_id, str(part.tool_name), _arguments(part.args))


def _asked(*parts: ModelRequestPart) -> LibraryRequest:
    return LibraryRequest(parts=parts)


def _said(message: Message, images: Mapping[str, bytes]) -> LibraryRequest:
    """Convert a user's message; a picture whose bytes are not there becomes its label."""
    parts = (
        part if isinstance(part, str) or part.sha256 in images else part.label
        for part in parts_of(message.content)
    )
    match merged(parts, "\n"):
        case [str(text)]:
            return _asked(UserPromptPart(sendable(text)))
        case several:
            # Many servers refuse blank texts beside others.
            said = (part for part in several if not isinstance(part, str) or part.strip())
            return _asked(UserPromptPart([_content(part, images) for part in said]))


def _content(part: Part, images: Mapping[str, bytes]) -> str | BinaryContent:
    if isinstance(part, str):
        return sendable(part)
    return BinaryContent(images[part.sha256], media_type=part.media_type)


def _answered(message: Message, kept: ModelResponse | None) -> ModelResponse:
    text = sendable(message.text)
    calls = [_called(call) for call in message.tool_calls]
    converted = ModelResponse(parts=[*([TextPart(text)] if text else []), *calls])
    if kept is None:
        return converted
    whole = with_thinking(converted, kept)
    return replace(whole, parts=[_sendable_part(part) for part in whole.parts])


def _sendable_part(part: ModelResponsePart) -> ModelResponsePart:
    if isinstance(part, TextPart | ThinkingPart):
        return replace(part, content=sendable(part.content))
    return part


def _called(call: ToolCall) -> ToolCallPart:
    name, call_id = sendable(call.name), sendable(call.id)
    if call.arguments is None:
        return _CallOfNull(name, None, call_id)
    return ToolCallPart(name, _json(call.arguments), call_id)


class _CallOfNull(ToolCallPart):
    """A call whose arguments are null, which the library would send as an empty object.

    For servers that accept only objects the library asks for a dict, which is empty.
    """

    def args_as_json_str(self) -> str:
        return "null"


def _results(
    messages: Iterable[Message], names: dict[str, str], no_result: str | list[str]
) -> Iterator[ToolReturnPart]:
    for message in messages:
        call_id = message.tool_call_id or ""
        yield ToolReturnPart(
            tool_name=sendable(names.get(call_id, "")),
            content=sendable(message.text) or no_result,
            tool_call_id=sendable(call_id),
        )


def _json(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        arguments = {INVALID_ARGUMENTS: arguments}
    return sendable(json.dumps(arguments, ensure_ascii=False))


def _arguments(args: Any) -> Any:
    if isinstance(args, dict):
        return cast("dict[str, Any]", args)
    text = str(args or "{}")
    try:
        value: Any = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    if value is None or isinstance(value, dict):
        return cast("dict[str, Any] | None", value)
    return text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def sendable(text: str) -> str:
    """Make a text encodable as UTF-8: join surrogate pairs, replace lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
