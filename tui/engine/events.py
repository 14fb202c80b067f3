"""What happens during a turn, in the order in which a reader may be told."""

from dataclasses import dataclass
from typing import Literal

from tui.domain.message import Message, ToolCall

TurnStatus = Literal["complete", "interrupted", "failed", "truncated"]


@dataclass(frozen=True, slots=True)
class MessageSaved:
    """A message is on disk; never said before it is."""

    session_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The model was asked; what comes belongs to this message.

    It ``replaces`` an answer that failed or was stopped, if that one was asked again.
    """

    message_id: str
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class TextAdded:
    """A piece of the answer; the session has it already."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asked for a tool; the call is on disk."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool, or the want of it, answered."""

    call: ToolCall
    result: str


@dataclass(frozen=True, slots=True)
class NoticeGiven:
    """Something about the session that the user should read, not kept with it."""

    text: str


@dataclass(frozen=True, slots=True)
class SaveFailed:
    """What was to be saved is still pending; ``short`` is the reason for a status line."""

    reason: str
    short: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of a turn; ``error`` says why it failed."""

    session_id: str
    message_id: str
    status: TurnStatus
    error: str | None = None


TurnEvent = (
    MessageSaved
    | AnswerStarted
    | TextAdded
    | ToolCalled
    | ToolReturned
    | NoticeGiven
    | SaveFailed
    | TurnEnded
)
