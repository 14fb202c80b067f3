"""The events of a turn."""

from typing import Literal

import msgspec

from tui.domain.journal.message import Message, TokenUsage, ToolCall

TurnStatus = Literal["complete", "interrupted", "failed", "truncated"]


class MessageSaved(msgspec.Struct, frozen=True):
    """A message is on disk; never said before it is."""

    session_id: str
    message: Message


class AnswerStarted(msgspec.Struct, frozen=True):
    """The model was asked; the events that follow belong to this message.

    It ``replaces`` an answer that failed or was stopped, if that one was asked again. A new version
    comes ``after`` an earlier message, and what followed that leaves the conversation.
    """

    message_id: str
    replaces: str | None = None
    after: str | None = None


class MessagesLeftOut(msgspec.Struct, frozen=True):
    """Earlier messages did not fit into the model's window, and were not sent."""


LEFT_OUT = "Earlier messages are not sent: the model's window is full."
"""The words for it; each place adds how to summarise them."""


class TextAdded(msgspec.Struct, frozen=True):
    """A piece of the answer; the session has it already."""

    message_id: str
    text: str


class AnswerRestarted(msgspec.Struct, frozen=True):
    """All text of an answer so far was thinking: it is no part of the answer any more."""

    message_id: str

    @property
    def text(self) -> str:
        """The words for it, where text cannot be taken back."""
        return "The text so far was the model's thinking: its answer follows."


class ThinkingAdded(msgspec.Struct, frozen=True):
    """A piece of the model's thinking; shown, kept nowhere."""

    message_id: str
    text: str


class AttemptRepeated(msgspec.Struct, frozen=True):
    """A request failed before its answer began; it is sent again after ``seconds``."""

    message_id: str
    attempt: int
    """The number of the attempt that comes next, from 2."""
    reason: str
    seconds: float


class UsageCounted(msgspec.Struct, frozen=True):
    """The server has counted the tokens of an answer."""

    message_id: str
    usage: TokenUsage


class RequestChanged(msgspec.Struct, frozen=True):
    """A request is sent without something that belongs to it; said once a turn."""

    text: str


class ToolCalled(msgspec.Struct, frozen=True):
    """The model asked for a tool; the call is on disk."""

    call: ToolCall


class ToolServersAwaited(msgspec.Struct, frozen=True):
    """Servers of tools are started; the request goes once they are ready, or have failed."""

    names: tuple[str, ...]


class ToolStarted(msgspec.Struct, frozen=True):
    """A call runs, as it was allowed; ``title`` is its tool's, foreign text."""

    title: str


class ToolReturned(msgspec.Struct, frozen=True):
    """A tool, or the want of it, answered."""

    call: ToolCall
    result: str


class NoticeGiven(msgspec.Struct, frozen=True):
    """Something about the session that the user should read, not kept with it."""

    text: str


class SaveFailed(msgspec.Struct, frozen=True):
    """A save failed and its records are pending; ``short`` is the reason for a status line."""

    reason: str
    short: str


class TurnEnded(msgspec.Struct, frozen=True):
    """The last event of a turn; ``error`` says why it failed."""

    session_id: str
    message_id: str
    status: TurnStatus
    error: str | None = None


TurnEvent = (
    MessageSaved
    | AnswerStarted
    | MessagesLeftOut
    | RequestChanged
    | TextAdded
    | AnswerRestarted
    | ThinkingAdded
    | AttemptRepeated
    | UsageCounted
    | ToolServersAwaited
    | ToolCalled
    | ToolStarted
    | ToolReturned
    | NoticeGiven
    | SaveFailed
    | TurnEnded
)
