"""A message, as it is kept and as it is shown."""

from typing import Any, Literal

import msgspec

TEXT_BYTES = 8 * 1024 * 1024
"""The longest text that one message may have."""
INTERRUPTED = "interrupted"
"""The result of a tool call that never came back, as a model is told."""

Role = Literal["user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True):
    """What a model asked a tool to do; ``arguments`` is any JSON value, nested as it came."""

    id: str
    name: str
    arguments: Any


class Message(msgspec.Struct, frozen=True, tag_field="type", tag="message", omit_defaults=True):
    """One message of a conversation: also the ``message`` record of a journal.

    ``status`` is ``interrupted``, ``failed`` or ``truncated``; absent means complete. A message
    whose ``replaces`` names another hides that one: a failed answer that was retried.
    """

    id: str
    role: Role
    content: str | list[Any] | None
    timestamp: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    status: str | None = None
    error: str | None = None
    model: str | None = None
    replaces: str | None = None
    context_snapshot: Any = None
    metadata: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """What a reader sees of the content: the text itself, or that of its blocks."""
        if self.content is None:
            return ""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_block_text(block) for block in self.content)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    fields: dict[str, Any] = {str(key): value for key, value in block.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    text = fields.get("text")
    return text if isinstance(text, str) else f"[{fields.get('type', 'block')}]"
