"""A request of ours in the words of the library that sends it."""

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as LibraryRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition as LibraryTool

from tui.domain.message import Message, ToolCall
from tui.providers.protocol import ModelRequest, ToolDefinition

INVALID_ARGUMENTS = "INVALID_JSON"
"""What arguments that are no JSON object are sent back under: servers parse what they are sent."""


def library_messages(request: ModelRequest) -> list[ModelMessage]:
    """The system prompt and the messages, each as one; two of a user stay two."""
    names = {call.id: call.name for each in request.messages for call in each.tool_calls}
    messages: list[ModelMessage] = []
    if request.system_prompt:
        messages.append(_asked(SystemPromptPart(sendable(request.system_prompt))))
    for message in request.messages:
        match message.role:
            case "user":
                messages.append(_asked(UserPromptPart(sendable(message.text))))
            case "assistant":
                messages.append(_answered(message))
            case "tool":
                messages.append(_asked(_result(message, names.get(message.tool_call_id or "", ""))))
    return messages


def library_parameters(tools: Sequence[ToolDefinition]) -> ModelRequestParameters:
    """The tools that are offered with a request."""
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


def received_call(part: ToolCallPart, taken: set[str]) -> ToolCall:
    """A call as it came; ``taken`` has the ids before it, which not every server keeps apart.

    Arguments are the object that they are, and none at all is an empty one; anything else stays
    the text that it was.
    """
    call_id = str(part.tool_call_id)
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    return ToolCall(call_id, str(part.tool_name), _arguments(part.args))


def _asked(part: ModelRequestPart) -> LibraryRequest:
    return LibraryRequest(parts=[part])


def _answered(message: Message) -> ModelResponse:
    text = sendable(message.text)
    calls = [
        ToolCallPart(sendable(call.name), _json(call.arguments), sendable(call.id))
        for call in message.tool_calls
    ]
    return ModelResponse(parts=[*([TextPart(text)] if text else []), *calls])


def _result(message: Message, name: str) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=sendable(name),
        content=sendable(message.text),
        tool_call_id=sendable(message.tool_call_id or ""),
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
    return cast("dict[str, Any]", value) if isinstance(value, dict) else text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def sendable(text: str) -> str:
    """A text as UTF-8 can carry it: two halves of a character are joined, a lone one replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
