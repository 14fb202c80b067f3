"""The words of Amazon Bedrock, as the tests' own server says them: events in binary frames."""

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from tests.providers.loopback import Call, Exchange

_USAGE = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
_ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def frame(payload: Any, **headers: str) -> bytes:
    """A message of AWS's event stream."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    head = b"".join(_header(f":{name}", value) for name, value in names.items())
    body = json.dumps(payload).encode()
    lengths = struct.pack("!II", len(head) + len(body) + 16, len(head))
    begun = lengths + struct.pack("!I", zlib.crc32(lengths)) + head + body
    return begun + struct.pack("!I", zlib.crc32(begun))


def _header(name: str, value: str) -> bytes:
    sizes = struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value))
    return sizes + value.encode()


class BedrockExchange(Exchange):
    """The events of ConverseStream; an answer is a row of blocks."""

    _usage = False
    _block = -1
    _kind = ""
    _chunked = False
    """AWS's client reads the next chunk, else as much as it can get."""

    def begin(self, *, usage: bool = False) -> None:
        self._usage = usage
        kind = "application/vnd.amazon.eventstream"
        self.head(content_type=kind, Transfer_Encoding="chunked")
        self._chunked = True
        self._event("messageStart", role="assistant")

    def text(self, piece: str) -> None:
        self._in_block("text")
        self._delta({"text": piece})

    def thinking(self, piece: str) -> None:
        self._in_block("thinking")
        self._delta({"reasoningContent": {"text": piece}})
        self._delta({"reasoningContent": {"signature": "c2ln"}})

    def calls(self, calls: Sequence[Call]) -> None:
        for call_id, name, pieces in calls:
            self._in_block(call_id)
            start = {"toolUse": {"toolUseId": call_id, "name": name}}
            self._event("contentBlockStart", contentBlockIndex=self._block, start=start)
            for piece in pieces:
                self._delta({"toolUse": {"input": piece}})

    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        if reason:
            self._in_block("")
            self._event("messageStop", stopReason=_REASONS.get(reason, reason))
        if done and self._usage:
            self._event("metadata", usage=_USAGE, metrics={"latencyMs": 1})
        self.raw(b"")

    def failure(self, message: str) -> None:
        headers = {"exception_type": "internalServerException", "message_type": "exception"}
        self.raw(frame({"message": message}, content_type="application/json", **headers))

    def event(self, data: Any) -> None:
        (name,) = data
        self._event(name, **data[name])

    def raw(self, data: bytes) -> None:
        super().raw(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    def error(self, status: int, message: str) -> Any:
        return {"message": message, "__type": _ERRORS.get(status, "InternalServerException")}

    def _in_block(self, kind: str) -> None:
        if kind == self._kind:
            return
        if self._kind:
            self._event("contentBlockStop", contentBlockIndex=self._block)
        self._kind = kind
        self._block += 1

    def _delta(self, delta: dict[str, Any]) -> None:
        self._event("contentBlockDelta", contentBlockIndex=self._block, delta=delta)

    def _event(self, name: str, **fields: Any) -> None:
        headers = {"event_type": name, "message_type": "event"}
        self.raw(frame(fields, content_type="application/json", **headers))
