"""The cleaner of chat completions: chunks as OpenAI sends them, of what compatible servers send."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tui.providers.cleaning import (
    Halves,
    JsonObject,
    as_list,
    as_object,
    as_text,
    counts,
    failed,
)

_REASONING = ("reasoning_content", "reasoning")
_TEXTS = frozenset({"content", *_REASONING})
_NO_REASON = {"", "null"}
"""Reasons of servers that give one with each chunk."""


class ChatEvents:
    """Cleans the chunks of one answer; the counts of all of them become one chunk at the end."""

    is_done = False
    """The end mark is ``[DONE]``, which is no chunk."""

    def __init__(self) -> None:
        self._calls = _Calls()
        self._text = Halves()
        self._usage: JsonObject = {}
        self.is_finished = False

    def clean(self, event: JsonObject) -> Iterable[JsonObject]:
        """Clean a chunk, or a whole completion."""
        _refuse_error(event)
        # Some servers count anew with each chunk: only the last counts count.
        self._usage = counts(event.get("usage")) or self._usage
        choices = as_list(event.get("choices"))
        return [self._chunk(event, as_object(each)) for each in choices[:1]]

    def rest(self) -> Iterable[JsonObject]:
        """The chunk with the counts, if the server gave any."""
        if not self._usage:
            return []
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0} | self._usage
        return [_chunk([], usage=usage)]

    def _chunk(self, event: JsonObject, choice: JsonObject) -> JsonObject:
        if choice.get("error"):
            raise failed(choice)
        given = choice.get("finish_reason")
        reason = given if isinstance(given, str) and given not in _NO_REASON else None
        self.is_finished = self.is_finished or reason is not None
        delta = self._delta(_delta_of(choice))
        more = {"id": event["id"]} if isinstance(event.get("id"), str) else {}
        return _chunk([{"index": 0, "delta": delta, "finish_reason": reason}], **more)

    def _delta(self, delta: JsonObject) -> JsonObject:
        text, thinking = _content(delta.get("content"))
        clean: JsonObject = {"content": self._text.joined(text)} if text else {}
        reasoning = {"reasoning_content": thinking} if thinking else _reasoning(delta)
        refusal = as_text(delta.get("refusal"))
        calls = [*self._calls.clean(as_list(delta.get("tool_calls")))]
        if legacy := delta.get("function_call"):
            calls += self._calls.clean([{"function": legacy}])
        return (
            clean
            | reasoning
            | ({"refusal": refusal} if refusal else {})
            | ({"tool_calls": calls} if calls else {})
        )


def merged_chunks(first: JsonObject, second: JsonObject) -> JsonObject | None:
    """Join two clean chunks that continue one text."""
    if not first["choices"] or not second["choices"]:
        return None
    begun, more = first["choices"][0], second["choices"][0]
    name, *others = begun["delta"] or [""]
    is_text = not others and name in _TEXTS and more["delta"].keys() == {name}
    if not is_text or begun["finish_reason"] or more["finish_reason"]:
        return None
    delta = {name: begun["delta"][name] + more["delta"][name]}
    return {**first, "choices": [{**begun, "delta": delta}]}


def _chunk(choices: list[Any], **more: Any) -> JsonObject:
    return {
        "id": "",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "",
        "choices": choices,
        **more,
    }


def _refuse_error(event: JsonObject) -> None:
    """Raise ``BrokenStream`` for an error in place of a chunk, or beside one."""
    if event.get("error"):
        raise failed(event)
    if "choices" not in event and any(event.get(each) for each in ("message", "detail", "msg")):
        raise failed(event)


def _delta_of(choice: JsonObject) -> JsonObject:
    """The new part of an answer, under any of the names that servers have for it."""
    for name in ("delta", "message"):
        if choice.get(name) is not None:
            return as_object(choice[name])
    return {"content": choice.get("text")}


def _content(content: Any) -> tuple[str, str]:
    """The text of an answer and its thinking; some servers send both as typed parts."""
    if not isinstance(content, list):
        return as_text(content), ""
    parts = [as_object(each) for each in as_list(content)]
    text = [as_text(each.get("text")) for each in parts]
    thinking = [_content(each.get("thinking"))[0] for each in parts]
    return "".join(text), "".join(thinking)


def _reasoning(delta: JsonObject) -> dict[str, str]:
    """The field of thinking; of servers that send it twice, under two names, the first."""
    for name in _REASONING:
        text = delta.get(name)
        if text and isinstance(text, str):
            return {name: text}
    return {}


class _Calls:
    """Gives each tool call an index of its own and its name once.

    Servers send two calls under one index or without any, or repeat the name in each fragment.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Call] = {}
        self._count = 0

    def clean(self, fragments: list[Any]) -> Iterator[JsonObject]:
        for place, fragment in enumerate(map(as_object, fragments)):
            index = fragment.get("index")
            key = index if isinstance(index, int) else place
            yield self._cleaned(key, fragment)

    def _cleaned(self, key: int, fragment: JsonObject) -> JsonObject:
        function = as_object(fragment.get("function") or {})
        given_id = fragment.get("id")
        call_id = "" if given_id is None else str(given_id)
        name, arguments = as_text(function.get("name")), _arguments(function.get("arguments"))
        call = self._open.get(key)
        if call is None or call.is_followed_by(call_id, name, arguments):
            call = self._open[key] = _Call(self._count)
            self._count += 1
        more = {"extra_content": fragment["extra_content"]} if "extra_content" in fragment else {}
        return call.fragment(call_id, name, arguments) | more


class _Call:
    """A tool call that arrives in fragments."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._id = ""
        self._name = ""
        self._arguments: list[str] = []

    def is_followed_by(self, call_id: str, name: str, arguments: str) -> bool:
        """True if a fragment with the index of this call begins another one."""
        if not name or not self._name:
            return False
        if name != self._name:
            return bool(self._arguments) or "" != call_id != self._id
        if call_id and call_id == self._id:
            return False
        return arguments.lstrip().startswith("{") and self._is_whole()

    def fragment(self, call_id: str, name: str, arguments: str) -> JsonObject:
        """Add a fragment, and give it without what was said before."""
        function: dict[str, str] = {}
        if name and name != self._name:
            function["name"] = name
            self._name += name
        if arguments:
            function["arguments"] = arguments
            self._arguments.append(arguments)
        clean: JsonObject = {"index": self._index, "type": "function", "function": function}
        if call_id and not self._id:
            self._id = clean["id"] = call_id
        return clean

    def _is_whole(self) -> bool:
        try:
            return isinstance(json.loads("".join(self._arguments)), dict)
        except (ValueError, RecursionError):
            return False


def _arguments(arguments: Any) -> str:
    """The arguments as text; some servers send the object itself."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments)
