"""The answers of a turn that called tools, sent back with their thinking.

A vendor binds the thinking to its signature: it goes back as it came, in its place among the calls.
The rest of an answer is sent as the session has it.
"""

from collections.abc import Iterator
from dataclasses import replace

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from tui.domain.journal.message import Message
from tui.providers.protocol import ModelRequest

# Thinking of chat completions has no signature; its id is the name of the field that it came in.
_FIELDS = frozenset({"reasoning", "reasoning_content"})


def worth_keeping(answer: ModelResponse) -> ModelResponse | None:
    """The answer, if it has more than its text and its calls."""
    more = any(isinstance(part, ThinkingPart) or part.provider_details for part in answer.parts)
    return answer if more else None


def kept_answers(request: ModelRequest) -> dict[str, ModelResponse]:
    """The kept answers of the current turn, by the ids of their messages."""
    calling, kept = _calling(request), request.memory.answers
    pairs = zip(reversed(calling), reversed(kept), strict=False)
    return {message.id: answer for message, answer in pairs if answer is not None}


def lacks_thinking(request: ModelRequest) -> bool:
    """True if the turn has answers of which the thinking was not kept: after a restart, say."""
    return len(_calling(request)) > len(request.memory.answers)


def with_thinking(converted: ModelResponse, kept: ModelResponse) -> ModelResponse:
    """Add to a converted message the parts and marks that only the kept answer has."""
    calls = [part for part in converted.parts if isinstance(part, ToolCallPart)]
    if len(calls) != _count(kept, ToolCallPart):
        return converted
    # The text without tags of thinking, where it is in one piece.
    text = converted.text if _count(kept, TextPart) == 1 else None
    return replace(kept, parts=list(_resent(kept, iter(calls), text)))


def _count(answer: ModelResponse, kind: type[ModelResponsePart]) -> int:
    return sum(isinstance(part, kind) for part in answer.parts)


def _calling(request: ModelRequest) -> list[Message]:
    """The messages since the last question that called tools."""
    asked = [place for place, each in enumerate(request.messages) if each.role == "user"]
    since = request.messages[asked[-1] + 1 :] if asked else request.messages
    return [message for message in since if message.tool_calls]


def _resent(
    kept: ModelResponse, calls: Iterator[ToolCallPart], text: str | None
) -> Iterator[ModelResponsePart]:
    for part in kept.parts:
        match part:
            case ToolCallPart():
                yield replace(
                    next(calls),
                    id=part.id,
                    provider_name=part.provider_name,
                    provider_details=part.provider_details,
                )
            case TextPart() if text or part.content:
                yield replace(part, content=text or part.content)
            case ThinkingPart() if _may_be_sent(part):
                yield part
            case _:
                pass


def _may_be_sent(part: ThinkingPart) -> bool:
    """False for what a vendor would get as text, because its signature is missing."""
    return bool(part.signature) or part.provider_name is None or part.id in _FIELDS
