"""What the tests' own server says, in the words of each dialect."""

import json
import struct
import zlib
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

    def begin(self, *, usage: bool = False) -> None:
        super().begin(usage=usage)
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


_ANTHROPIC_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_ANTHROPIC_ERRORS = {
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

    _block = -1
    _open = ""

    def begin(self, *, usage: bool = False) -> None:
        super().begin(usage=usage)
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
            self.event(message_delta(_ANTHROPIC_REASONS.get(reason, reason), counts))
        if done:
            self.event({"type": "message_stop"})

    def failure(self, message: str) -> None:
        self.event(self.error(500, message))

    def event(self, data: Any, default_type: str = "content_block_delta") -> None:
        super().event(data, default_type)

    def error(self, status: int, message: str) -> Any:
        kind = _ANTHROPIC_ERRORS.get(status, "api_error")
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


_BEDROCK_USAGE = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
_BEDROCK_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
_BEDROCK_ERRORS = {
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
            self._event("messageStop", stopReason=_BEDROCK_REASONS.get(reason, reason))
        if done and self._usage:
            self._event("metadata", usage=_BEDROCK_USAGE, metrics={"latencyMs": 1})
        self.raw(b"")

    def failure(self, message: str) -> None:
        headers = {"exception_type": "internalServerException", "message_type": "exception"}
        self.raw(frame({"message": message}, content_type="application/json", **headers))

    def event(self, data: Any, default_type: str = "") -> None:
        (name,) = data
        self._event(name, **data[name])

    def raw(self, data: bytes) -> None:
        super().raw(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    def error(self, status: int, message: str) -> Any:
        return {
            "message": message,
            "__type": _BEDROCK_ERRORS.get(status, "InternalServerException"),
        }

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


_GOOGLE_USAGE = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
_GOOGLE_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_GOOGLE_STATES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def candidate(*parts: dict[str, Any], reason: Any = None, **more: Any) -> dict[str, Any]:
    """A chunk with one candidate."""
    said: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if reason:
        said["finishReason"] = reason
    return {"candidates": [said], "modelVersion": "test-model", "responseId": "answer-1", **more}


class GoogleExchange(Exchange):
    """Chunks of one candidate; the last one has the reason, and nothing comes after it."""

    def text(self, piece: str) -> None:
        self.event(candidate({"text": piece}))

    def thinking(self, piece: str) -> None:
        self.event(candidate({"text": piece, "thought": True}))

    def calls(self, calls: Sequence[Call]) -> None:
        for number, (call_id, name, pieces) in enumerate(calls):
            arguments = json.loads("".join(pieces) or "{}")
            call = {"functionCall": {"id": call_id, "name": name, "args": arguments}}
            # The first call of an answer has the signature of the thought before it.
            self.event(candidate(call if number else {**call, "thoughtSignature": "c2ln"}))

    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        if not reason and not done:
            return
        usage = {"usageMetadata": _GOOGLE_USAGE} if self._usage else {}
        said = _GOOGLE_REASONS.get(reason or "stop", "STOP" if reason == "tool_calls" else reason)
        self.event(candidate({"text": ""}, reason=said, **usage))

    def failure(self, message: str) -> None:
        self.event(self.error(500, message))

    def event(self, data: Any, default_type: str = "") -> None:
        self.raw(b"data: %s\r\n\r\n" % self.encoded(data))

    def error(self, status: int, message: str) -> Any:
        state = _GOOGLE_STATES.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": state}}


_RESPONSES_USAGE = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 18,
}
_RESPONSES_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_RESPONSES_ERRORS = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def response(status: Any, **fields: Any) -> dict[str, Any]:
    """The object that stands in the events of a state."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "test-model",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
        **fields,
    }


def state(kind: str, status: Any, **fields: Any) -> dict[str, Any]:
    """An event that tells the state of the whole: ``completed``, ``incomplete``, ``failed`` …"""
    return {"type": f"response.{kind}", "response": response(status, **fields)}


class ResponsesExchange(Exchange):
    """Named and numbered events; an answer is a row of items, one after the other."""

    _number = -1
    _item: dict[str, Any] | None = None
    _index = -1
    _collected = ""

    def begin(self, *, usage: bool = False) -> None:
        super().begin(usage=usage)
        self.event(state("created", "in_progress"))
        self.event(state("in_progress", "in_progress"))

    def text(self, piece: str) -> None:
        self._in_item("message", role="assistant", content=[], phase="final_answer")
        more = {"content_index": 0, "logprobs": [], "obfuscation": "AbCdEf"}
        self._part("response.output_text.delta", delta=piece, **more)
        self._collected += piece

    def thinking(self, piece: str) -> None:
        self._in_item("reasoning", summary=[], encrypted_content="gAAA")
        self._part("response.reasoning_summary_text.delta", summary_index=0, delta=piece)
        self._collected += piece

    def calls(self, calls: Sequence[Call]) -> None:
        for call_id, name, pieces in calls:
            self._close()
            self._in_item("function_call", call_id=call_id, name=name, arguments="")
            for piece in pieces:
                self._part("response.function_call_arguments.delta", delta=piece)
                self._collected += piece

    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        usage = _RESPONSES_USAGE if self._usage else None
        if not reason and not done:
            return
        self._close()
        if reason in _RESPONSES_INCOMPLETE:
            details = {"reason": _RESPONSES_INCOMPLETE[reason]}
            self.event(state("incomplete", "incomplete", incomplete_details=details, usage=usage))
        else:
            self.event(state("completed", "completed" if reason else None, usage=usage))

    def failure(self, message: str) -> None:
        self.event({"type": "error", "code": "server_error", "message": message, "param": None})

    def event(self, data: Any, default_type: str = "response.output_text.delta") -> None:
        if isinstance(data, dict):
            self._number += 1
            data = {**data, "sequence_number": self._number}
        super().event(data, default_type)

    def error(self, status: int, message: str) -> Any:
        code = _RESPONSES_ERRORS.get(status)
        return {"error": {"message": message, "type": "test", "param": None, "code": code}}

    def _in_item(self, kind: str, **fields: Any) -> None:
        if self._item and self._item["type"] == kind:
            return
        self._close()
        self._index += 1
        item_id = f"{kind[:2]}_{self._index}"
        self._item = {"id": item_id, "type": kind, "status": "in_progress", **fields}
        self._tell("added", self._item)

    def _tell(self, state: str, item: dict[str, Any]) -> None:
        kind = f"response.output_item.{state}"
        self.event({"type": kind, "output_index": self._index, "item": item})

    def _part(self, kind: str, **fields: Any) -> None:
        assert self._item
        place = {"item_id": self._item["id"], "output_index": self._index}
        self.event({"type": kind, **place, **fields})

    def _close(self) -> None:
        if self._item is None:
            return
        said, kind = self._collected, self._item["type"]
        whole = {**self._item, "status": "completed"}
        if kind == "message":
            self._part("response.output_text.done", content_index=0, text=said, logprobs=[])
            words = {"type": "output_text", "annotations": [], "logprobs": [], "text": said}
            whole["content"] = [words]
        elif kind == "reasoning":
            self._part("response.reasoning_summary_text.done", summary_index=0, text=said)
            whole["summary"] = [{"type": "summary_text", "text": said}]
        else:
            self._part("response.function_call_arguments.done", arguments=said)
            whole["arguments"] = said
        self._tell("done", whole)
        self._item, self._collected = None, ""


class MistralExchange(OpenAIExchange):
    """Chat completions, with thinking as a piece of the content."""

    def thinking(self, piece: str) -> None:
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": piece}]}
        self.event(chunk({"content": [thought]}))
