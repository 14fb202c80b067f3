"""The cleaner of Anthropic's messages: the events that a chat needs, with all their fields."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tui.providers.cleaning import Halves, JsonObject, as_list, as_object, counts, failed, malformed

_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The text of each kind of delta; other kinds are of tools that are never offered."""
_BLOCKS: Mapping[str, Mapping[str, type]] = {
    "text": {"text": str},
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
    "tool_use": {"id": str, "name": str, "input": dict},
}

_Events = Iterable[JsonObject]


class MessageEvents:
    """Cleans the events of one answer; those of a kind to come are passed over."""

    def __init__(self) -> None:
        self._usage: JsonObject = {"input_tokens": 0, "output_tokens": 0}
        self._text = Halves()
        self._unknown: set[int] = set()
        self._is_begun = False
        self._cleaners: Mapping[str, Callable[[JsonObject], _Events]] = {
            "message": self._whole,
            "message_start": self._start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._end,
            "message_stop": self._stop,
        }
        self.is_finished = False
        self.is_done = False

    def clean(self, event: JsonObject) -> _Events:
        """Clean an event, or a whole message."""
        kind = event.get("type")
        if kind == "error" or (kind is None and event.get("error")):
            raise failed(event)
        if not isinstance(kind, str):
            raise malformed()
        cleaner = self._cleaners.get(kind)
        return self._begun(list(cleaner(event))) if cleaner else ()

    def rest(self) -> _Events:
        return ()

    def _begun(self, events: list[JsonObject]) -> list[JsonObject]:
        """Add the first event of all where a server leaves it out."""
        if self._is_begun or not events:
            return events
        self._is_begun = True
        is_first = events[0]["type"] == "message_start"
        return events if is_first else [self._started({}), *events]

    def _start(self, event: JsonObject) -> _Events:
        return [self._started(as_object(event.get("message")))]

    def _started(self, message: JsonObject) -> JsonObject:
        given = message.get("id")
        clean: JsonObject = {
            "id": given if isinstance(given, str) else "",
            "type": "message",
            "role": "assistant",
            "model": "",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._counted(message.get("usage")),
        }
        return {"type": "message_start", "message": clean}

    def _block_start(self, event: JsonObject) -> _Events:
        return self._started_block(_index(event), as_object(event.get("content_block")))

    def _started_block(self, index: int, block: JsonObject) -> _Events:
        kind = block.get("type")
        if not isinstance(kind, str):
            raise malformed()
        if kind not in _BLOCKS:
            self._unknown.add(index)
            return ()
        clean: JsonObject = {"type": kind}
        for name, expected in _BLOCKS[kind].items():
            clean[name] = _of(expected, block.get(name))
        return [{"type": "content_block_start", "index": index, "content_block": clean}]

    def _block_delta(self, event: JsonObject) -> _Events:
        index, delta = _index(event), as_object(event.get("delta"))
        kind = delta.get("type")
        if not isinstance(kind, str):
            raise malformed()
        if kind not in _TEXTS or index in self._unknown:
            return ()
        text = delta.get(_TEXTS[kind])
        if not isinstance(text, str):
            raise malformed()
        clean = {"type": kind, _TEXTS[kind]: self._text.joined(text)}
        return [{"type": "content_block_delta", "index": index, "delta": clean}]

    def _block_stop(self, event: JsonObject) -> _Events:
        index = _index(event)
        if index in self._unknown:
            return ()
        return [{"type": "content_block_stop", "index": index}]

    def _end(self, event: JsonObject) -> _Events:
        return [self._ended(as_object(event.get("delta")), event.get("usage"))]

    def _ended(self, delta: JsonObject, usage: Any) -> JsonObject:
        reason, details = delta.get("stop_reason"), delta.get("stop_details")
        self.is_finished = self.is_finished or bool(reason)
        clean: JsonObject = {
            "stop_reason": reason if isinstance(reason, str) else None,
            "stop_sequence": None,
            "stop_details": as_object(details) if details else None,
        }
        return {"type": "message_delta", "delta": clean, "usage": self._counted(usage)}

    def _stop(self, _: JsonObject) -> _Events:
        self.is_done = True
        return [{"type": "message_stop"}]

    def _whole(self, message: JsonObject) -> _Events:
        events = [self._started(message)]
        for index, block in enumerate(as_list(message.get("content"))):
            events += self._started_block(index, as_object(block))
            events += self._block_stop({"index": index})
        return [*events, self._ended(message, message.get("usage"))]

    def _counted(self, usage: Any) -> JsonObject:
        """The counts so far; one that is missing in an event keeps its last value."""
        self._usage |= counts(usage)
        return dict(self._usage)


def merged_events(first: JsonObject, second: JsonObject) -> JsonObject | None:
    """Join two clean events that continue one text."""
    if not first["type"] == second["type"] == "content_block_delta":
        return None
    begun, more = first["delta"], second["delta"]
    if first["index"] != second["index"] or begun["type"] != more["type"]:
        return None
    name = _TEXTS[begun["type"]]
    return {**first, "delta": {**begun, name: begun[name] + more[name]}}


def _index(event: JsonObject) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise malformed()
    return index


def _of(expected: type, value: Any) -> Any:
    """The value of a field; an empty one if it is missing."""
    if value is None:
        return expected()
    if not isinstance(value, expected):
        raise malformed()
    return value
