"""The cleaner of OpenAI's Responses: the events that a chat needs, with all their fields.

The library warns of all others, onto the screen.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tui.providers.cleaning import (
    Halves,
    JsonObject,
    as_list,
    as_object,
    as_text,
    counts,
    failed,
    malformed,
)

_Events = Iterable[JsonObject]


class ResponseEvents:
    """Cleans the events of one answer; those of a kind to come are passed over."""

    def __init__(self) -> None:
        self._number = 0
        self._text = Halves()
        self._thinking = Halves()
        self._cleaners: Mapping[str, Callable[[JsonObject], _Events]] = {
            "response.output_item.added": self._item,
            "response.output_item.done": self._item,
            "response.output_text.delta": self._text_delta,
            "response.refusal.delta": self._refusal,
            "response.reasoning_summary_text.delta": self._summary,
            # Open models have no summaries: their whole thinking is shown in the same place.
            "response.reasoning_text.delta": self._summary,
            "response.function_call_arguments.delta": self._arguments,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._end,
            "response.cancelled": self._end,
        }
        self.is_done = False

    @property
    def is_finished(self) -> bool:
        return self.is_done

    def clean(self, event: JsonObject) -> _Events:
        """Clean an event, or a whole response."""
        if event.get("object") == "response":
            return self._whole(event)
        kind = event.get("type")
        if kind == "error" or (kind is None and event.get("error")):
            raise failed(event)
        if not isinstance(kind, str):
            raise malformed()
        clean = self._cleaners.get(kind)
        return clean(event) if clean else ()

    def rest(self) -> _Events:
        return ()

    def _item(self, event: JsonObject) -> _Events:
        return self._of_item(as_text(event.get("type")), as_object(event.get("item")))

    def _of_item(self, kind: str, given: JsonObject) -> _Events:
        item = _ITEMS.get(as_text(given.get("type")))
        if item:
            clean = {**item(given), "id": as_text(given.get("id")), "type": given["type"]}
            yield self._event(kind, output_index=0, item=clean)

    def _text_delta(self, event: JsonObject) -> _Events:
        text = self._text.joined(as_text(event.get("delta")))
        return [self._piece("response.output_text.delta", event, text, content_index=0)]

    def _refusal(self, event: JsonObject) -> _Events:
        text = as_text(event.get("delta"))
        return [self._piece("response.refusal.delta", event, text, content_index=0)]

    def _summary(self, event: JsonObject) -> _Events:
        given = event.get("summary_index")
        text = self._thinking.joined(as_text(event.get("delta")))
        kind, index = "response.reasoning_summary_text.delta", given if type(given) is int else 0
        return [self._piece(kind, event, text, summary_index=index)]

    def _arguments(self, event: JsonObject) -> _Events:
        kind = "response.function_call_arguments.delta"
        return [self._piece(kind, event, as_text(event.get("delta")))]

    def _end(self, event: JsonObject) -> _Events:
        return [self._ended(as_object(event.get("response")))]

    def _ended(self, response: JsonObject) -> JsonObject:
        status, details = response.get("status"), response.get("incomplete_details")
        if status in ("failed", "cancelled"):
            raise failed(response.get("error") or "")
        self.is_done = True
        reason = as_object(details).get("reason") if details else None
        kind = "response.incomplete" if reason else "response.completed"
        clean: JsonObject = {
            "id": as_text(response.get("id")),
            "object": "response",
            "created_at": 0,
            "model": "",
            "output": [],
            "status": status if isinstance(status, str) else "completed",
            "incomplete_details": {"reason": as_text(reason)} if reason else None,
            "usage": _usage(response.get("usage")),
        }
        return self._event(kind, response=clean)

    def _whole(self, response: JsonObject) -> _Events:
        for given in as_list(response.get("output")):
            item = as_object(given)
            yield from self._of_item("response.output_item.added", item)
            for part in as_list(item.get("summary")):
                yield from self._summary(_delta_of(item, part))
            for part in as_list(item.get("content")) if item.get("type") == "message" else []:
                yield from self._text_delta(_delta_of(item, part))
            yield from self._of_item("response.output_item.done", item)
        yield self._ended(response)

    def _piece(self, kind: str, event: JsonObject, text: str, **more: Any) -> JsonObject:
        place = {"item_id": as_text(event.get("item_id")), "output_index": 0}
        return self._event(kind, **place, delta=text, **more)

    def _event(self, kind: str, **fields: Any) -> JsonObject:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}


def merged_pieces(first: JsonObject, second: JsonObject) -> JsonObject | None:
    """Join two clean events that continue one text."""
    number = first["sequence_number"]
    if "delta" not in first or "delta" not in second:
        return None
    both = {**first, "delta": first["delta"] + second["delta"]}
    return both if {**second, "sequence_number": number, "delta": both["delta"]} == both else None


def _call(item: JsonObject) -> JsonObject:
    return {
        "call_id": as_text(item.get("call_id")),
        "name": as_text(item.get("name")),
        "arguments": as_text(item.get("arguments")),
    }


def _reasoning(item: JsonObject) -> JsonObject:
    signature = item.get("encrypted_content")
    kept = signature if isinstance(signature, str) else None
    return {"summary": [], "encrypted_content": kept}


def _message(item: JsonObject) -> JsonObject:
    phase = item.get("phase")
    kept = phase if phase in ("commentary", "final_answer") else None
    return {"role": "assistant", "status": "in_progress", "content": [], "phase": kept}


_ITEMS: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    "function_call": _call,
    "reasoning": _reasoning,
    "message": _message,
}
"""Items of other kinds are of tools that are never offered."""


def _delta_of(item: JsonObject, part: Any) -> JsonObject:
    return {"item_id": item.get("id"), "delta": as_object(part).get("text")}


def _usage(usage: Any) -> JsonObject | None:
    clean = counts(usage)
    if not clean:
        return None
    none = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    details: dict[str, JsonObject] = {
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    nested: JsonObject = {name: zero | clean.get(name, {}) for name, zero in details.items()}
    return none | clean | nested
