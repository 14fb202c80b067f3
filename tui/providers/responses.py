"""The codec of OpenAI's Responses, which its own address speaks.

There, chat completions refuse tools to models that reason. Nothing is stored at the vendor's:
reasoning goes back encrypted, within a turn.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.chat_completions import (
    OPENAI_HOST,
    REASONING_EFFORTS,
    account_headers,
    supported_by_openai,
)
from tui.providers.codec import (
    Codec,
    IncomingAnswer,
    JsonObject,
    Part,
    PartKind,
    as_list,
    as_object,
    as_text,
)
from tui.providers.model_table import OPENAI, is_at, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest, ThinkingReceived
from tui.providers.sending import PLAIN_ID, arguments_text, data_uri, messages_of, sendable, tool

_REASONING = ("id", "content", "encrypted_content")
"""The fields of reasoning that go back with its summary."""
_KINDS: Mapping[str, PartKind] = {
    "message": "text",
    "reasoning": "thinking",
    "function_call": "call",
}
"""By the types of items; others are of tools that are never offered."""


class ResponseAnswer(IncomingAnswer):
    """The events of one answer; those of a kind to come are passed over."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[Any, int] = {}
        """The last part of each kind at a place, which gateways give to several."""
        self._came: set[str] = set()
        """The types of items that have come, so that their repetition at the end is none."""
        self._summaries: dict[Any, int] = {}
        """The number of the part of a summary that comes, by the place of the reasoning."""

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        if event.get("object") == "response":
            yield from self._ended(event, "")
            return
        match as_text(event.get("type"), None).removeprefix("response."):
            case "error":
                raise self.failed(event)
            case "output_item.added" | "output_item.done" as state:
                fields = as_object(event.get("item"))
                event = {"item_id": fields.get("id"), **event}
                yield from self._item(event, fields, is_done=state.endswith("done"))
            case "output_text.delta":
                yield self.text(self._at(event, "text"), as_text(event.get("delta")))
            case "output_text.done" if not self.part(self._at(event, "text"), "text").text:
                yield self.text(self._at(event, "text"), as_text(event.get("text")))
            case "refusal.delta":
                self.decline(as_text(event.get("delta")))
            # Open models have no summaries: their whole thinking is shown in the same place.
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                text = as_text(event.get("delta"))
                yield self._thought(self._at(event, "thinking"), text, event.get("summary_index"))
            case "function_call_arguments.delta":
                self.part(self._at(event, "call"), "call").text += as_text(event.get("delta"))
            case "function_call_arguments.done":
                self.part(self._at(event, "call"), "call").value = event.get("arguments")
            case "completed" | "incomplete" | "failed" | "cancelled" as status:
                yield from self._ended(as_object(event.get("response")), status)
            case _:
                pass

    def _at(self, event: JsonObject, kind: PartKind, *, is_new: bool = False) -> int:
        """The place of a part; gateways give it another id in each event, but one place."""
        place = event.get("output_index")
        key = kind, place if isinstance(place, int) else as_text(event.get("item_id"))
        if is_new or key not in self._places:
            self._places[key] = len(self.parts)
        return self._places[key]

    def _item(
        self, event: JsonObject, fields: JsonObject, *, is_done: bool
    ) -> Iterator[ModelEvent]:
        """Add an item; texts that did not come in pieces come with its end."""
        kind = _KINDS.get(named := as_text(fields.get("type")))
        if is_done:
            self._came.add(named)
        if named == "image_generation_call" and is_done:
            yield self.picture()
        if kind is None:
            return
        part = self.part(place := self._at(event, kind, is_new=not is_done), kind)
        call_id = as_text(fields.get("call_id"))
        if call_id and part.id not in {"", call_id}:
            part = self.part(place := self._at(event, kind, is_new=True), kind)
        came_in_pieces = bool(part.text) or not is_done
        match kind:
            case "call":
                part.id = call_id or part.id
                part.name = as_text(fields.get("name")) or part.name
                # Some servers send them whole, and then in pieces.
                part.value = fields.get("arguments") or part.value
            case "thinking":
                names = ("summary", *_REASONING) if is_done else _REASONING
                part.extra |= {name: fields[name] for name in names if fields.get(name)}
                texts = as_list(fields.get("summary") or fields.get("content"))
                for index, each in enumerate([] if came_in_pieces else texts):
                    yield self._thought(place, as_text(as_object(each).get("text")), index)
            case _:
                if fields.get("phase") in ("commentary", "final_answer"):
                    part.extra["phase"] = fields["phase"]
                for each in map(as_object, as_list(fields.get("content"))):
                    # In whole, also after its pieces.
                    self.refusal = as_text(each.get("refusal")) or self.refusal
                    if not came_in_pieces:
                        yield self.text(place, as_text(each.get("text")))

    def _thought(self, place: Any, text: str, index: Any) -> ThinkingReceived:
        """Add to the reasoning at a place; the parts of its summary are paragraphs."""
        before = self._summaries.get(place, index)
        self._summaries[place] = index
        thought = self.thinking(place, text)
        return thought if before == index else ThinkingReceived(f"\n\n{text}")

    def _ended(self, response: JsonObject, status: str) -> Iterator[ModelEvent]:
        came = {part.kind for part in self.parts.values() if part.text}
        came |= {_KINDS.get(named, named) for named in self._came}
        for place, fields in enumerate(map(as_object, as_list(response.get("output")))):
            named = as_text(fields.get("type"))
            if _KINDS.get(named, named) not in came:
                yield from self._item({"output_index": place}, fields, is_done=True)
        usage = self.counts(response.get("usage"))
        yield from self.usage(
            usage["input_tokens"],
            usage["output_tokens"],
            usage["input_tokens_details.cached_tokens"],
            usage["input_tokens_details.cache_write_tokens"],
        )
        status = response.get("status") or status
        if status in ("failed", "cancelled"):
            raise self.failed(response.get("error") or "")
        reason = as_text(as_object(response.get("incomplete_details") or {}).get("reason"))
        self.finish(reason or ("incomplete" if status == "incomplete" else ""))
        self.is_done = True


class Responses(Codec):
    """Requests to OpenAI, or to a server that speaks its Responses."""

    answer = ResponseAnswer
    path = "/responses"
    optional: Mapping[str, str] = {
        "temperature": "temperature",
        "max_output_tokens": "max_tokens",
        "reasoning.effort": "effort",
        # OpenAI refuses them to accounts that it has not verified.
        "reasoning.summary": "",
        "include": "",
        "store": "",
    }

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice, traits_in(OPENAI, choice.model))
        self.headers = account_headers() if is_at(choice.provider.base_url, OPENAI_HOST) else {}

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        return supported_by_openai(parameters, self.choice)

    def body(self, request: ModelRequest) -> JsonObject:
        body: JsonObject = {
            "model": self.model,
            "input": list(self._items(request)),
            "stream": True,
            "store": False,
        }
        reasoning: JsonObject = {}
        if self.traits.efforts:
            # Models that do not reason refuse to summarise it.
            reasoning["summary"] = "auto"
            body["include"] = ["reasoning.encrypted_content"]
        if effort := request.parameters.effort:
            reasoning["effort"] = REASONING_EFFORTS.get(effort, effort)
        if reasoning:
            body["reasoning"] = reasoning
        if request.tools:
            tools = [tool(each, parameters=each.parameters) for each in request.tools]
            body["tools"] = [{"type": "function", **each, "strict": False} for each in tools]
        self.add_limits(body, request.parameters)
        return body

    def _items(self, request: ModelRequest) -> Iterator[JsonObject]:
        if request.system_prompt:
            yield {"role": "system", "content": sendable(request.system_prompt)}
        for role, parts in messages_of(request, PLAIN_ID, self.choice.name):
            if role != "user":
                yield from (item for part in parts if (item := _item(part)))
            elif len(parts) == 1 and parts[0].kind == "text":
                yield {"role": "user", "content": parts[0].text}
            else:
                yield {"role": "user", "content": [_content(part) for part in parts]}


def _content(part: Part) -> JsonObject:
    if part.kind == "text":
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": data_uri(part), "detail": "auto"}


def _item(part: Part) -> JsonObject | None:
    match part.kind:
        case "text":
            said = {"role": "assistant", "content": part.text, **part.extra}
            return said if part.text else None
        case "thinking":
            # The vendor has not stored it.
            is_encrypted = isinstance(part.extra.get("encrypted_content"), str)
            return {"type": "reasoning", "summary": [], **part.extra} if is_encrypted else None
        case "call":
            return {
                "type": "function_call",
                "call_id": part.id,
                "name": part.name,
                "arguments": arguments_text(part.value),
            }
        case "result":
            return {"type": "function_call_output", "call_id": part.id, "output": part.text}
        case _:
            return None
