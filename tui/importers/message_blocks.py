"""The blocks of messages and results: texts, calls, results, pictures, thinking under many names.

Programs have taken them over from the vendors, or call the same things otherwise. A block of an
unknown type keeps its words behind its type, and is counted.

An answer may be one record, calls and results included. A model was called again after each round
of results: so its texts become several messages.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, cast

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.importers.contents import arguments, base64_size, blocks, joined, link, placeholder
from tui.importers.json_lines import items_in, object_in, text_in
from tui.importers.json_paths import text_at, value_at
from tui.importers.protocol import ForeignMessage, Json, Ledger

QWEN_CODE = rb'"message"\s*:\s*\{[^{}\[\]]*"parts"\s*:|"systemPayload"\s*:'
"""The mark of Qwen Code, whose lines look like Claude Code's."""
OTHERS = rb'^\s*\{\s*"kind"\s*:|^\s*\{[^{}]*"protocol_version"\s*:|' + QWEN_CODE
"""The beginnings of logs that have marks of Claude Code, too: of VS Code, Kimi and Qwen Code."""
_PLAIN = re.compile(r"[a-zA-Z][a-zA-Z_/. -]{1,40}")
_SEPARATOR = re.compile(r"[_.]")


def skipped(kind: Any, known: re.Pattern[str]) -> str:
    """The reason to skip a record: its kind in words, after ``unknown`` if no rule names it."""
    if is_plain(kind) and known.fullmatch(kind):
        return _SEPARATOR.sub(" ", kind)
    return unknown("record", kind)


def unknown(unit: str, kind: Any) -> str:
    """The reason to count a record or block as unknown; its kind if that is a plain word."""
    return f"unknown {unit} {_SEPARATOR.sub(' ', kind)}" if is_plain(kind) else f"unknown {unit}"


def is_plain(kind: Any) -> bool:
    """True for a kind that may be shown: a short word that can hold no secret."""
    return isinstance(kind, str) and _PLAIN.fullmatch(kind) is not None


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
    done: list[ForeignMessage] = []
    texts: list[str] = []
    calls: list[ToolCall] = []
    waiting: dict[str, ToolCall] = {}

    def add(message: ForeignMessage) -> None:
        name = f"{whole.id}-{len(done)}" if done else whole.id
        usage = None if done else whole.usage
        done.append(replace(message, id=name, timestamp=whole.timestamp, usage=usage))

    def end_message() -> None:
        content, called = joined(texts) or None, tuple(calls)
        if content or called:
            add(replace(whole, content=content, tool_calls=called, status=None, error=None))
        texts.clear()
        calls.clear()

    for piece in pieces:
        match piece:
            case str() | Unknown():
                texts.append(str(piece))
            case ToolCall():
                calls.append(piece)
                waiting[piece.id] = piece
            case Result():
                end_message()
                call = _answered(piece, waiting) or f"{whole.id}-{len(done)}"
                add(ForeignMessage("", "tool", piece.text, tool_call_id=call))
    end_message()
    if done and (whole.status or whole.error):
        done[-1] = replace(done[-1], status=whole.status, error=whole.error)
    return tuple(done)


def _answered(result: Result, waiting: dict[str, ToolCall]) -> str:
    """The call of a result: the one named, else the first that waits, of this tool or any."""
    same = (call.id for call in waiting.values() if call.name == result.tool)
    call = result.call or next(same, next(iter(waiting), ""))
    waiting.pop(call, None)
    return call


Kind = Literal["text", "call", "result", "mark", "source", "thinking", "silent", ""]
"""What a block is; those that are silent say nothing, and ``""`` is an unknown one."""

# fmt: off
_ALIASES: dict[Kind, tuple[str, ...]] = {
    "text": ("text", "input_text", "output_text", "summary_text", "refusal"),
    "call": ("tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call", "toolCall",
             "function_call", "functionCall", "toolRequest", "frontendToolRequest"),
    "result": ("tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result",
               "tool-result", "function_call_output", "functionResponse", "toolResponse"),
    "mark": ("image", "image_url", "imageUrl", "image_file", "input_image", "local_image",
             "inlineData", "fileData", "document", "file", "input_file", "audio", "input_audio",
             "video", "binary", "audio_url", "video_url"),
    "source": ("knowledge", "search_result", "web_search_result", "tool_reference"),
    "thinking": ("thinking", "redacted_thinking", "redactedThinking", "reasoning", "think"),
}
# fmt: on
_KINDS: dict[str, Kind] = {alias: kind for kind, aliases in _ALIASES.items() for alias in aliases}
_TEXTS = ("text", "text.value", "refusal", "content", "resource.text", "error")
_SOURCES = ("title", "url", "text", "tool_name")
_NAMES = ("name", "toolName", "tool_name")
_CALL_IDS = ("call_id", "toolCallId", "tool_call_id", "tool_use_id")
_SENT = ("input", "arguments", "args", "parameters")
_OUTPUTS = ("output", "function.output", "result")
_RETURNED = ("content", "output", "result", "response", "toolResult")
_BESIDE = ("thoughtSignature", "videoMetadata")
"""Keys that Google's blocks may have beside the one that names them."""
_ANSWERS_BY_ID = ("toolResponse", "functionResponse")
"""Results that have the id of their call as their own."""
_WORDS = {
    *("title", "url", "text", "content", "value", "summary", "message", "output", "result"),
    *("code", "refusal"),
}
"""Fields of unknown blocks whose texts are words, however few."""
_NO_WORDS = {"type", "kind", "id", "data", "signature", "encrypted_content"}


class Blocks:
    """Reads the blocks of a program, whose class names or overrides what it has otherwise."""

    kinds: ClassVar[Mapping[str, Kind]] = {}
    """More names of kinds, or the program's own meaning of one."""
    mark_kind = ""
    """The word for a picture or another file in what stands for it; else the type of its block."""
    file_names: tuple[str, ...] = ()
    file_types: tuple[str, ...] = ()
    file_data: tuple[str, ...] = ()
    """Where such a block has the name, the type, and the data in base64."""
    file_addresses: tuple[str, ...] = ()
    """Where it has an address, which is shown instead."""
    unnamed = "{message}-call-{number}"
    """The id of a call without one, with its message's, its place there and its tool's name."""
    unsaid: ClassVar[tuple[re.Pattern[str], ...]] = ()
    """Matches what is in text blocks and was not said, such as thinking."""
    output_texts: tuple[str, ...] = ("content", "value", "text", "error")
    """Where a result that is an object has its text; it is shown as JSON without any."""

    def kind(self, block: Json) -> Kind:
        """The kind of a block, ``""`` if it is unknown; Google marks thinking by a flag."""
        if block.get("thought") is True:
            return "thinking"
        name = type_of(block)
        known = self.kinds.get(name) or _KINDS.get(name)
        return known or ("result" if name.endswith("_tool_result") else "")

    def text(self, text: str) -> str:
        """The words of a text block of a message."""
        for pattern in self.unsaid:
            text = pattern.sub("", text)
        return text

    def mark(self, name: str, block: Json) -> str:
        """Make what stands for a picture or another file."""
        if address := text_at(block, *self.file_addresses):
            return link(address)
        return placeholder(
            self.mark_kind or name.removesuffix("_url"),
            text_at(block, *self.file_names),
            text_at(block, *self.file_types),
            base64_size(value_at(block, *self.file_data)),
        )

    def pieces_in(self, content: Any, message: str, ledger: Ledger) -> Iterator[Piece]:
        """The pieces of a message, whose id is the beginning of those of its calls."""
        for number, block in enumerate(blocks(content)):
            name = type_of(block)
            match self.kind(block):
                case "call":
                    facts = object_in(block.get(name)) or block
                    named = {"message": message, "number": number, "name": text_at(facts, "name")}
                    call = call_in(facts, self.unnamed.format_map(named))
                    yield call
                    if (output := value_at(facts, *_OUTPUTS)) is not None:
                        yield Result(call.id, self.output(output, ledger))
                case "result":
                    yield self.result(name, block, ledger)
                case "text":
                    yield self.text(str(self.words(block, ledger)))
                case _:
                    if (words := self.words(block, ledger)) is not None:
                        yield words

    def words(self, block: Json, ledger: Ledger) -> str | Unknown | None:
        """The words of a block that is no call and no result; ``None`` for one without any."""
        name, text = type_of(block), block.get("text")
        if name == "text" and isinstance(text, str) and "thought" not in block:
            # Most blocks are such.
            return text
        match self.kind(block):
            case "text":
                return text_at(block, *_TEXTS)
            case "mark":
                return self.mark(name, block)
            case "source":
                return joined(text_in(block.get(field)) for field in _SOURCES)
            case "thinking" | "silent" | "call" | "result":
                return None
            case _:
                ledger.skipped[unknown("block", name)] += 1
                found = unknown_block(name, block)
                return found if name or found.words else None

    def whole_text(self, content: Any, ledger: Ledger) -> str:
        """The words of all blocks that are no call and no result."""
        return joined(str(words) for each in blocks(content) if (words := self.words(each, ledger)))

    def count_unknown(self, content: Any, ledger: Ledger) -> None:
        """Count the blocks of unknown types, where their words are read later."""
        for block in blocks(content):
            if not self.kind(block):
                ledger.skipped[unknown("block", type_of(block))] += 1

    def result(self, name: str, block: Json, ledger: Ledger) -> Result:
        """The result of a call."""
        facts = object_in(block.get(name)) or block
        ids = (*_CALL_IDS, "id") if name in _ANSWERS_BY_ID else _CALL_IDS
        output = self.output(value_at(facts, *_RETURNED), ledger)
        return Result(text_at(facts, *ids) or text_at(block, *ids), output, text_at(facts, *_NAMES))

    def output(self, value: Any, ledger: Ledger) -> str:
        """The text of a result: of its blocks, or what is no block as JSON."""
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and "type" not in value:
            return self.object_text(cast("Json", value), ledger)
        parts = list(blocks(value))
        if len(parts) < len(items_in(value)) or not all(
            "type" in each or isinstance(each.get("text"), str) for each in parts
        ):
            return as_json(value)
        return self.whole_text(value, ledger)

    def object_text(self, value: Json, ledger: Ledger) -> str:
        """The text of a result that is an object, but no block."""
        inner = value_at(value, *self.output_texts)
        return as_json(value) if inner is None else self.output(inner, ledger)

    def thinks(self, content: Any) -> bool:
        """True if a message has thinking, which may be all that it has."""
        return any(self.kind(block) == "thinking" for block in blocks(content))


def type_of(block: Json) -> str:
    """The type of a block; Google's have none but their only key, with facts beside it."""
    if "type" in block:
        return text_in(block["type"])
    if "text" in block or len(block) == 1:
        return "text" if "text" in block else next(iter(block))
    names = [name for name in block if name not in _BESIDE]
    return names[0] if len(names) == 1 else ""


def call_in(facts: Json, unnamed: str) -> ToolCall:
    """The call of an object, also one in the form of OpenAI's API."""
    inner = object_in(facts.get("function")) or object_in(value_at(facts, "toolCall.value"))
    name = text_at(facts, *_NAMES) or text_at(inner, *_NAMES)
    sent = value_at(inner or facts, *_SENT)
    return ToolCall(text_at(facts, *_CALL_IDS, "id") or unnamed, name, arguments(sent))


def unknown_block(name: str, block: Json) -> Unknown:
    """A block of an unknown type with all of its words."""
    return Unknown(name if is_plain(name) else "block", joined(_words_in(block, name)))


def as_json(value: Any) -> str:
    """A value as JSON; ``""`` for none."""
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _words_in(value: Any, name: str) -> Iterator[str]:
    """The texts in a value: those of fields for words, of the type's own, and of several words."""
    for key, each in object_in(value).items():
        if isinstance(each, str) and key not in _NO_WORDS and not each.startswith("data:"):
            if key in _WORDS or key == name or " " in each.strip():
                yield each
        elif key not in _NO_WORDS:
            yield from _words_in(each, name)
    for each in items_in(value):
        yield from (each,) if isinstance(each, str) else _words_in(each, name)
