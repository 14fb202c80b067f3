"""The message of a conversation: the ``message`` record, and the value that is shown."""

from typing import Annotated, Any, Literal

import msgspec

from tui.domain.journal.blocks import Attachment, attachments_of, title_text, typed_text, whole_text
from tui.domain.json_limits import Count

TEXT_BYTES = 8 * 1024 * 1024
"""Limit of the text of one message."""
INTERRUPTED = "interrupted"
"""The result that a model is sent for a tool call that never returned."""

Role = Literal["user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True):
    """A model's request to run a tool."""

    id: str
    """Assigned by the server; the result names it as ``tool_call_id``."""
    name: str
    arguments: Any
    """Any JSON value, as it came; an object or null from a correct model."""


MessageId = Annotated[str, msgspec.Meta(min_length=1)]
"""The id of a message; an empty one is none, as the ``after`` of a first message is empty."""


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The tokens of one request and its answer, as the server counted them."""

    input_tokens: Count
    """Everything that was sent, cached tokens included."""
    output_tokens: Count
    cached_tokens: Count = 0
    """The part of the input that the server read from its cache."""
    cache_write_tokens: Count = 0
    """The part of the input that the server wrote to its cache, where that has a price."""

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


class Message(msgspec.Struct, frozen=True, tag_field="type", tag="message", omit_defaults=True):
    """One message of a conversation, and the ``message`` record of a journal."""

    id: MessageId
    role: Role
    content: str | list[Any] | None
    """Text; or a list of blocks, each a string or an object such as ``{"type", "text"}``.

    ``None`` where an assistant message has only tool calls. This program writes text, and for a
    prompt with files or pictures the blocks of ``tui.domain.journal.blocks``.
    """
    timestamp: str
    """UTC, as in ``tui.domain.timestamps``."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of an assistant message; a message of role ``tool`` follows for each."""
    tool_call_id: str | None = None
    """Of a ``tool`` message: the call that it is the result of."""
    status: str | None = None
    """``interrupted``, ``failed`` or ``truncated``; ``None`` means complete."""
    error: str | None = None
    """The reason of a failure, as shown to the user."""
    model: str | None = None
    """``PROVIDER:MODEL`` of an answer."""
    usage: TokenUsage | None = None
    """The tokens of an answer; ``None`` where the server did not count them."""
    replaces: str | None = None
    """The id of the message that this one hides, such as a failed answer asked for again."""
    after: str | None = None
    """The id of the message that this one follows, if not the one before it in the file.

    ``""`` for a first message. Messages that follow the same one are versions of each other.
    """
    after_at: Count | None = None
    """The offset of the message that this one follows, in bytes; a hint, verified on use."""
    folded: tuple[tuple[Count, Count], ...] | None = None
    """Of a prompt: begin and end, in its typed text, of each long paste; shown as one line."""
    context_snapshot: Any = None
    """Not used; kept from other programs."""
    metadata: dict[str, Any] | None = None
    """Not used; kept from other programs."""

    @property
    def text(self) -> str:
        """The whole content as text: files with their text, pictures as their label."""
        return whole_text(self.content)

    @property
    def typed_text(self) -> str:
        """The text without files and pictures."""
        return typed_text(self.content)

    @property
    def pastes(self) -> tuple[str, ...]:
        """The long pastes in the typed text."""
        text = self.typed_text
        return tuple(filter(None, (text[begin:end] for begin, end in self.folded or ())))

    @property
    def title_text(self) -> str:
        """The text that titles a session without a name: the typed one, else labels of files.

        Long pastes say nothing of the question beside them.
        """
        typed, own, end = self.typed_text, "", 0
        for begin, after in sorted(self.folded or ()):
            own, end = own + typed[end:begin], after
        own += typed[end:]
        return own if own.strip() else title_text(self.content)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files and pictures that came with it, in order."""
        return attachments_of(self.content)
