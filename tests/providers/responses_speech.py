"""The words of OpenAI's Responses API, as the tests' own server says them."""

from collections.abc import Sequence
from typing import Any

from tests.providers.loopback import Call, Exchange

_USAGE = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 18,
}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_ERRORS = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


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

    _usage = False
    _number = -1
    _item: dict[str, Any] | None = None
    _index = -1
    _collected = ""

    def begin(self, *, usage: bool = False) -> None:
        self._usage = usage
        self.head()
        self.event(state("created", "in_progress"))
        self.event(state("in_progress", "in_progress"))

    def text(self, piece: str) -> None:
        self._in_item("message", role="assistant", content=[], phase="final_answer")
        self._part(
            "response.output_text.delta",
            content_index=0,
            delta=piece,
            logprobs=[],
            obfuscation="AbCdEf",
        )
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
        usage = _USAGE if self._usage else None
        if not reason and not done:
            return
        self._close()
        if reason in _INCOMPLETE:
            details = {"reason": _INCOMPLETE[reason]}
            self.event(state("incomplete", "incomplete", incomplete_details=details, usage=usage))
        else:
            self.event(state("completed", "completed" if reason else None, usage=usage))

    def failure(self, message: str) -> None:
        self.event({"type": "error", "code": "server_error", "message": message, "param": None})

    def event(self, data: Any) -> None:
        if isinstance(data, dict):
            self._number += 1
            data = {**data, "sequence_number": self._number}
        name = data.get("type", "") if isinstance(data, dict) else "response.output_text.delta"
        self.raw(b"event: %s\ndata: %s\n\n" % (self.encoded(str(name)), self.encoded(data)))

    def error(self, status: int, message: str) -> Any:
        code = _ERRORS.get(status)
        return {"error": {"message": message, "type": "test", "param": None, "code": code}}

    def _in_item(self, kind: str, **fields: Any) -> None:
        if self._item and self._item["type"] == kind:
            return
        self._close()
        self._index += 1
        item_id = f"{kind[:2]}_{self._index}"
        self._item = {"id": item_id, "type": kind, "status": "in_progress", **fields}
        self._add(self._item)

    def _add(self, item: dict[str, Any]) -> None:
        self.event(
            {"type": "response.output_item.added", "output_index": self._index, "item": item}
        )

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
        self.event(
            {"type": "response.output_item.done", "output_index": self._index, "item": whole}
        )
        self._item, self._collected = None, ""
