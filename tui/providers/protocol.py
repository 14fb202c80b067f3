"""The interface between the engine and a model.

Implemented by the adapter to models behind servers and by the built-in guide.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, Protocol

import msgspec

from tui.domain.journal.message import (
    Message,
    TokenUsage,
    ToolCall,
    with_beginning,
    with_calls_as_text,
)
from tui.domain.models import ModelParameters

EndReason = Literal["stop", "length", "tool_calls"]


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool that the model may call; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class TurnMemory(msgspec.Struct, eq=False):
    """The answers of one turn that called tools, in the adapter's own form; never stored.

    A vendor requires its thinking back with the results of the calls, unchanged.
    """

    answers: list[Any] = []
    """In order; ``None`` for an answer that has nothing but its text and its calls."""

    def forget(self) -> None:
        """Keep nothing of the answers but their text and their calls."""
        self.answers = [None for _ in self.answers]


class ModelRequest(msgspec.Struct, frozen=True):
    """The request for one answer."""

    system_prompt: str
    messages: tuple[Message, ...]
    """Ready to be sent: no failed or replaced answers, and a result after each tool call.

    The last one is a user's or a tool's.
    """
    tools: tuple[ToolDefinition, ...] = ()
    parameters: ModelParameters = ModelParameters()
    memory: TurnMemory = msgspec.field(default_factory=TurnMemory)
    images: Mapping[str, bytes] = {}
    """The bytes of the pictures in ``messages``, by their SHA-256; one that is absent is sent as
    its label."""

    def without_tools(self) -> "ModelRequest":
        """The same request, which offers no tools; its earlier calls are text."""
        messages = with_calls_as_text(self.messages)
        return msgspec.structs.replace(self, tools=(), messages=messages)

    def without_system_prompt(self) -> "ModelRequest":
        """The same request, whose first message begins with the system prompt."""
        messages = with_beginning(self.system_prompt, self.messages)
        return msgspec.structs.replace(self, system_prompt="", messages=messages)


class TextReceived(msgspec.Struct, frozen=True):
    """A piece of the answer's text, not empty."""

    text: str


class ThinkingReceived(msgspec.Struct, frozen=True):
    """A piece of the model's thinking, not empty; shown, never stored."""

    text: str


class TextTakenBack(msgspec.Struct, frozen=True):
    """All text of the answer so far was thinking, whose beginning the server left out."""


class RequestAdapted(msgspec.Struct, frozen=True):
    """The model does not take all that was asked for: the request was sent without it."""

    notice: str
    """For the user: the part that was left out."""


class AttemptFailed(msgspec.Struct, frozen=True):
    """A request that failed before its answer began, and will be sent again."""

    attempt: int
    """The number of the attempt that failed, from 1."""
    reason: str
    """In a few words: ``status 500``, ``no connection``."""
    seconds: float
    """The pause before the next attempt."""


class AnswerEnded(msgspec.Struct, frozen=True):
    """The end of the answer: the last event of every stream that does not fail."""

    reason: EndReason


ModelEvent = (
    TextReceived
    | ThinkingReceived
    | TextTakenBack
    | RequestAdapted
    | AttemptFailed
    | ToolCall
    | TokenUsage
    | AnswerEnded
)
"""Of counts, those so far: the last ones count, and are kept with the answer.

A tool call is complete; arguments that are neither an object nor null stay a string.
"""


class Answering(Protocol):
    """Something that answers: a model behind a server, or the built-in guide."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request one answer and yield its events as they arrive.

        Closing the generator stops the answer and the connection. Raises ``ModelError``, after the
        events that arrived before the failure.
        """
        ...


class Model(Answering, Protocol):
    """A language model, or the built-in guide."""

    name: str
    """``PROVIDER:MODEL``, as shown and stored with each answer."""
    sees_images: bool | None
    """False for a model that takes no pictures; ``None`` where that is not known."""

    @property
    def context_window(self) -> int:
        """Limit of a request and its answer together, in tokens, as far as it is known."""
        ...

    @property
    def known_window(self) -> int | None:
        """The limit; ``None`` until it was found out."""
        ...

    async def window(self) -> int:
        """Find out the limit: before a request, and after its answer. Raises ``ModelError``.

        A server that loads the model for the first request may take less than the model could.
        """
        ...
