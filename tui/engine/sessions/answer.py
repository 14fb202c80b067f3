"""An answer while it arrives."""

import json

import msgspec

from tui.domain.journal.message import TEXT_BYTES, Message, TokenUsage, ToolCall
from tui.domain.journal.records import DamagedRecord, Partial, encode


class Answer(msgspec.Struct):
    """Collects an answer's text and calls, and gives the pieces that are not on their way yet."""

    message_id: str
    timestamp: str
    model: str
    replaces: str | None = None
    after: str | None = None
    """The message that it follows, if that is not the last one."""
    cut: bool = False
    thought: bool = False
    """True once the model has thought, of which nothing is kept."""
    usage: TokenUsage | None = None
    calls: list[ToolCall] = msgspec.field(default_factory=list[ToolCall])
    _texts: list[str] = msgspec.field(default_factory=list[str])
    _bytes: int = 0
    _length: int = 0
    _noted: int = 0

    @property
    def text(self) -> str:
        if len(self._texts) > 1:
            self._texts = ["".join(self._texts)]
        return self._texts[0] if self._texts else ""

    def receive(self, text: str) -> str:
        """Take a piece and give what was taken of it: all, unless the limit was reached."""
        data = text.encode("utf-8", "surrogatepass")
        room = TEXT_BYTES - self._bytes
        if len(data) > room:
            text = data[:room].decode("utf-8", "ignore")
            self._bytes = TEXT_BYTES
        else:
            self._bytes += len(data)
        self._texts.append(text)
        self._length += len(text)
        return text

    def take_back(self) -> str:
        """Begin anew, and give the text so far; the next piece takes the place of those before."""
        text = self.text
        self._texts, self._bytes, self._length, self._noted = [], 0, 0, 0
        return text

    def add_call(self, call: ToolCall) -> None:
        """Take a call; arguments that no record can hold are kept as text."""
        try:
            encode(Message(self.message_id, "assistant", "", self.timestamp, (call,)))
        except DamagedRecord:
            text = json.dumps(call.arguments)[:TEXT_BYTES]
            call = msgspec.structs.replace(call, arguments=text)
        self.calls.append(call)

    @property
    def full(self) -> bool:
        return self._bytes >= TEXT_BYTES

    def next_piece(self) -> Partial | None:
        """Give the text since the last piece; ``None`` if there is none."""
        if self._length == self._noted:
            return None
        first = self._noted == 0
        piece = Partial(
            message_id=self.message_id,
            at=self._noted,
            text=self.text[self._noted :],
            role="assistant" if first else None,
            timestamp=self.timestamp if first else None,
            model=self.model if first else None,
            replaces=self.replaces if first else None,
            after=self.after if first else None,
        )
        self._noted = self._length
        return piece

    def message(self, status: str | None = None, error: str | None = None) -> Message:
        """The answer as it stands."""
        return Message(
            id=self.message_id,
            role="assistant",
            content=self.text,
            timestamp=self.timestamp,
            tool_calls=tuple(self.calls),
            status=status,
            error=error,
            model=self.model,
            usage=self.usage,
            replaces=self.replaces,
            after=self.after,
        )
