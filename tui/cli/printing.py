"""Printing of a turn: as text, or as JSON with one object per line."""

from typing import Protocol

import msgspec

from tui.cli import console
from tui.domain.journal.json_text import terminal_json
from tui.engine.turns.events import (
    LEFT_OUT,
    AnswerRestarted,
    AnswerStarted,
    AttemptRepeated,
    MessageSaved,
    MessagesLeftOut,
    NoticeGiven,
    RequestChanged,
    SaveFailed,
    TextAdded,
    ThinkingAdded,
    ToolCalled,
    ToolReturned,
    ToolServersAwaited,
    ToolStarted,
    TurnEnded,
    TurnEvent,
    UsageCounted,
)

_LEFT_OUT = f"{LEFT_OUT} In sibyl-tui, /compact summarises them."


class Printer(Protocol):
    """Prints the events of a turn."""

    def show(self, event: TurnEvent) -> None:
        """Print one event."""
        ...

    def fail(self, reason: str) -> None:
        """Print the error that ended the turn."""
        ...


class TextPrinter:
    """Prints the answer on standard output, everything else on standard error."""

    def __init__(self) -> None:
        self._in_line = False

    def show(self, event: TurnEvent) -> None:
        match event:
            case TextAdded(text=text):
                console.put(text)
                self._in_line = not text.endswith("\n")
            case AnswerStarted():
                self._end_line()
            case ToolCalled(call=call):
                self._end_line()
                console.tell(f"Tool called: {call.name} {terminal_json(call.arguments)}")
            case ToolReturned(result=result):
                console.tell(result)
            case MessagesLeftOut():
                console.tell(_LEFT_OUT)
            case NoticeGiven(text=text) | RequestChanged(text=text) | AnswerRestarted(text=text):
                self._end_line()
                console.tell(text)
            case TurnEnded():
                self._end_line()
                if event.error:
                    console.tell(event.error)
                elif event.status != "complete":
                    console.tell(f"The answer was {event.status}.")
            case (
                MessageSaved()
                | ThinkingAdded()
                | AttemptRepeated()
                | UsageCounted()
                | ToolServersAwaited()
                | ToolStarted()
                # The session is saved once more when it is closed: only then it is known.
                | SaveFailed()
            ):
                pass

    def fail(self, reason: str) -> None:
        self._end_line()
        console.tell(reason)

    def _end_line(self) -> None:
        if self._in_line:
            console.put_line()
            self._in_line = False


class JsonPrinter:
    """Prints one JSON object per line on standard output."""

    def __init__(self) -> None:
        self._left_out = False

    def show(self, event: TurnEvent) -> None:
        match event:
            case MessageSaved(session_id=session_id, message=message):
                ids = {"session_id": session_id, "message_id": message.id}
                usage = {"usage": msgspec.to_builtins(message.usage)} if message.usage else {}
                console.put_json({"type": "saved", **ids, "role": message.role, **usage})
            case TextAdded(text=text):
                console.put_json({"type": "delta", "text": text})
            case AnswerRestarted():
                console.put_json({"type": "restart"})
            case ToolCalled(call=call):
                console.put_json({"type": "tool_call", **msgspec.structs.asdict(call)})
            case ToolReturned(call=call, result=result):
                told = {"tool_call_id": call.id, "name": call.name, "content": result}
                console.put_json({"type": "tool_result", **told})
            case MessagesLeftOut():
                console.tell(_LEFT_OUT)
                self._left_out = True
            case NoticeGiven(text=text) | RequestChanged(text=text):
                console.tell(text)
            case TurnEnded():
                if event.error:
                    self.fail(event.error)
                ids = {"session_id": event.session_id, "message_id": event.message_id}
                left_out = {"earlier_messages_left_out": True} if self._left_out else {}
                console.put_json({"type": "done", **ids, "status": event.status, **left_out})
            case (
                AnswerStarted()
                | ThinkingAdded()
                | AttemptRepeated()
                | UsageCounted()
                | ToolServersAwaited()
                | ToolStarted()
                # The session is saved once more when it is closed: only then it is known.
                | SaveFailed()
            ):
                pass

    def fail(self, reason: str) -> None:
        console.put_json({"type": "error", "message": reason})
