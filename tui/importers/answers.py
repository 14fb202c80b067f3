"""The messages of an answer that its source keeps as one record, calls and results included.

A model was called again after each round of results: so its texts become several messages.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.importers.contents import joined
from tui.importers.protocol import ForeignMessage


class Result(NamedTuple):
    """The result of a call; ``""`` where the source does not say of which."""

    call: str
    text: str
    tool: str = ""


class Unknown(NamedTuple):
    """A block of a type that no reader knows, with its words."""

    type: str
    words: str

    def __str__(self) -> str:
        return f"[{self.type}] {self.words}".rstrip()


Piece = str | ToolCall | Result | Unknown


def messages(whole: ForeignMessage, pieces: Iterable[Piece]) -> tuple[ForeignMessage, ...]:
    """Divide a record into messages; ``whole`` has what they have in common.

    A record without a word and a call is none.
    """
    divided = _Divided(whole)
    for piece in pieces:
        divided.add(piece)
    return divided.finished()


class _Divided:
    """The messages so far, and the texts and calls of the next one."""

    def __init__(self, whole: ForeignMessage) -> None:
        self._whole = whole
        self._done: list[ForeignMessage] = []
        self._texts: list[str] = []
        self._calls: list[ToolCall] = []
        self._waiting: dict[str, ToolCall] = {}

    def add(self, piece: Piece) -> None:
        match piece:
            case str() | Unknown():
                self._texts.append(str(piece))
            case ToolCall():
                self._calls.append(piece)
                self._waiting[piece.id] = piece
            case Result():
                self._end_message()
                call = self._answered(piece)
                self._append(ForeignMessage("", "tool", piece.text, tool_call_id=call))

    def finished(self) -> tuple[ForeignMessage, ...]:
        self._end_message()
        if self._done and (self._whole.status or self._whole.error):
            self._done[-1] = replace(
                self._done[-1], status=self._whole.status, error=self._whole.error
            )
        return tuple(self._done)

    def _end_message(self) -> None:
        text = joined(self._texts)
        if text or self._calls:
            self._append(
                replace(
                    self._whole,
                    content=text or None,
                    tool_calls=tuple(self._calls),
                    status=None,
                    error=None,
                )
            )
        self._texts, self._calls = [], []

    def _append(self, message: ForeignMessage) -> None:
        number = len(self._done)
        name = f"{self._whole.id}-{number}" if number else self._whole.id
        usage = None if number else self._whole.usage
        self._done.append(replace(message, id=name, timestamp=self._whole.timestamp, usage=usage))

    def _answered(self, result: Result) -> str:
        """The call of a result: the one named, else the first that waits, of this tool or any."""
        if result.call:
            self._waiting.pop(result.call, None)
            return result.call
        calls = list(self._waiting.values())
        same = [call for call in calls if call.name == result.tool]
        for call in same or calls:
            return self._waiting.pop(call.id).id
        return f"{self._whole.id}-{len(self._done)}"
