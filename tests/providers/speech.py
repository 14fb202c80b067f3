"""What the tests' own server says, in the words of OpenAI's stream and of Anthropic's."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.providers.loopback import Call, Exchange

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def chunk(delta: dict[str, Any], finish: str | None = None, **extra: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "test-model",
        "choices": [choice],
        **extra,
    }


def usage_chunk(usage: Any = USAGE) -> dict[str, Any]:
    return {**chunk({}), "choices": [], "usage": usage}


class OpenAIExchange(Exchange):
    """Chat completions: chunks of one choice, and ``[DONE]``."""

    _usage = False

    def begin(self, *, usage: bool = False) -> None:
        self._usage = usage
        self.head()
        self._delta(role="assistant", content="")

    def text(self, piece: str) -> None:
        self._delta(content=piece)

    def thinking(self, piece: str) -> None:
        self._delta(reasoning_content=piece)

    def calls(self, calls: Sequence[Call]) -> None:
        for delta in self._shuffled(calls):
            self._delta(tool_calls=[delta])

    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        if reason:
            self._delta(reason)
        if self._usage:
            self.event(usage_chunk())
        if done:
            self.event("[DONE]")

    def failure(self, message: str) -> None:
        self.event({"error": {"message": message, "code": 500}})

    def event(self, data: Any) -> None:
        self.raw(b"data: %s\n\n" % self.encoded(data))

    def error(self, status: int, message: str) -> Any:
        return {"error": {"message": message, "type": "test"}}

    def _delta(self, finish: str | None = None, **delta: Any) -> None:
        self.event(chunk(delta, finish))

    @staticmethod
    def _shuffled(calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
        """The pieces of all calls in turn, like a deck shuffled."""
        for index, (call_id, name, _) in enumerate(calls):
            function = {"name": name, "arguments": ""}
            yield {"index": index, "id": call_id, "type": "function", "function": function}
        for turn in range(max(len(pieces) for _, _, pieces in calls)):
            for index, (_, _, pieces) in enumerate(calls):
                if turn < len(pieces):
                    yield {"index": index, "function": {"arguments": pieces[turn]}}


_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def message_start(usage: Any = None) -> dict[str, Any]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0} if usage is None else usage,
    }
    return {"type": "message_start", "message": message}


def block_start(index: int, block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: int, delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def block_stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def message_delta(reason: Any, usage: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None, **more},
        "usage": {"output_tokens": 0} if usage is None else usage,
    }


class AnthropicExchange(Exchange):
    """Messages: named events, and an answer in numbered blocks, one after the other."""

    _usage = False
    _block = -1
    _open = ""

    def begin(self, *, usage: bool = False) -> None:
        self._usage = usage
        self.head()
        counts = {"input_tokens": 11, "output_tokens": 1} if usage else None
        self.event(message_start(counts))
        self.event({"type": "ping"})

    def text(self, piece: str) -> None:
        self._in_block("text", {"type": "text", "text": ""})
        self._delta({"type": "text_delta", "text": piece})

    def thinking(self, piece: str) -> None:
        self._in_block("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        self._delta({"type": "thinking_delta", "thinking": piece})
        self._delta({"type": "signature_delta", "signature": "c2ln"})

    def calls(self, calls: Sequence[Call]) -> None:
        for call_id, name, pieces in calls:
            self._close()
            block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            self._in_block("tool_use", block)
            for piece in pieces:
                self._delta({"type": "input_json_delta", "partial_json": piece})

    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        if reason:
            self._close()
            counts = {"output_tokens": 7} if self._usage else None
            self.event(message_delta(_REASONS.get(reason, reason), counts))
        if done:
            self.event({"type": "message_stop"})

    def failure(self, message: str) -> None:
        self.event(self.error(500, message))

    def event(self, data: Any) -> None:
        name = data.get("type", "") if isinstance(data, dict) else "content_block_delta"
        self.raw(b"event: %s\ndata: %s\n\n" % (self.encoded(str(name)), self.encoded(data)))

    def error(self, status: int, message: str) -> Any:
        kind = _ERRORS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def _in_block(self, kind: str, block: dict[str, Any]) -> None:
        if self._open == kind:
            return
        self._close()
        self._block += 1
        self._open = kind
        self.event(block_start(self._block, block))

    def _delta(self, delta: dict[str, Any]) -> None:
        self.event(block_delta(self._block, delta))

    def _close(self) -> None:
        if self._open:
            self.event(block_stop(self._block))
        self._open = ""
