"""What the engine asks of whatever answers: the seam between a conversation and a model.

Two things stand behind it today: the adapter to real models and the offline guide.
"""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol

import msgspec

from tui.domain.journal.message import Message, ToolCall

Task = Literal["answer", "summary"]
EndReason = Literal["stop", "length", "tool_calls"]


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool that the model may call; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True):
    """All that a model is sent for one answer.

    ``messages`` is ready to be sent: every call of an assistant message is followed by its
    result, no failed or replaced answer is among them, and the last is a user's or a tool's.
    A model reads from the prompt that it is to write a summary; ``task`` says it to what is none:
    there is one message then, with a block for each that is summarised, and its ``role``.
    """

    system_prompt: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    task: Task = "answer"


class TextReceived(msgspec.Struct, frozen=True):
    """A piece of the answer's text; never empty."""

    text: str


class ToolCallReceived(msgspec.Struct, frozen=True):
    """A whole call; arguments that are neither a JSON object nor null are the string that came."""

    call: ToolCall


class UsageReported(msgspec.Struct, frozen=True):
    """What the server counted, in tokens; shown, never stored.

    ``dollars`` is what its vendor asks for them at most, by the list; ``None`` if no list says.
    """

    input_tokens: int
    output_tokens: int
    dollars: float | None = None


class AnswerEnded(msgspec.Struct, frozen=True):
    """The answer came to its own end: always the last event of a stream that did not fail."""

    reason: EndReason


ModelEvent = TextReceived | ToolCallReceived | UsageReported | AnswerEnded


class Model(Protocol):
    """Something that answers a conversation."""

    @property
    def name(self) -> str:
        """``PROVIDER:MODEL``, as it is shown and kept with each answer."""
        ...

    @property
    def context_window(self) -> int:
        """How many tokens a request and its answer may have together."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Ask for one answer and give its events as they arrive.

        Closing the iterator stops the answer and frees the connection. Raises ``ModelError``
        and its kinds, after the events that had arrived before.
        """
        ...
