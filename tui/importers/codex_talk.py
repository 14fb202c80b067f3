"""Lines of Codex's files, in all their forms since 2025, and the messages of its two logs.

One log is what the model was sent and has sent, the other what was shown. The user's words are in
both, the model's mostly in the first, tools in the second as often. So a text or call of an event
counts only if the first log does not have it.
"""

import hashlib
import json
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import msgspec

from tui.domain.journal.message import Role, TokenUsage, ToolCall
from tui.importers import contents
from tui.importers.json_lines import items_in, object_in, objects_in, text_in
from tui.importers.json_paths import object_at, text_at, value_at
from tui.importers.message_blocks import Blocks, skipped
from tui.importers.protocol import ForeignMessage, ForeignSummary, ForeignTodos, Item, Json, Ledger
from tui.importers.times import utc
from tui.importers.trees import AGAIN

# fmt: off
_INJECTED = ("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md",
             "<permissions instructions>", "<app-context>", "<recommended_plugins>",
             "<collaboration_mode>", "<subagent_notification>", "<turn_aborted>", "<skill>",
             "<user_action>", "<image", "</image>")
CALLS = {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call",
         "web_search_call", "image_generation_call", "tool_call"}
RESULTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output",
           "tool_search_output", "tool_result", "function_result"}
DROPPED = {
    **dict.fromkeys(("reasoning", "agent_reasoning", "agent_reasoning_raw_content",
                     "agent_reasoning_section_break"), "thinking"),
    **dict.fromkeys(("exec_command_begin", "exec_command_end", "exec_command_output_delta",
                     "mcp_tool_call_begin", "mcp_tool_call_end", "patch_apply_begin",
                     "patch_apply_end", "web_search_begin", "web_search_end",
                     "image_generation_end", "task_complete"), "duplicate"),
    "world_state": "world state",
    "ghost_snapshot": "ghost snapshot",
}
# fmt: on
UNPARSED = {*DROPPED, "function_call_output", "custom_tool_call_output", "token_count", "compacted"}
"""Kinds that have neither facts nor what events repeat."""
_HEAD = re.compile(
    rb'^\{"timestamp":"([^"]*)",(?:"ordinal":\d+,)?"type":"(\w+)"(?:,"payload":\{"type":"(\w+)")?'
)
_HEAD_BYTES = 256
_SKIPPED = re.compile(
    r"(task|turn|item|thread)[._](started|completed|complete|updated)|turn_diff|token_count|state"
    r"|mcp_startup_(update|complete)|(agent_)?(message|reasoning)\w*_delta|plan_(delta|update)"
    r"|(exec|apply_patch)_approval_request|request_(permissions|user_input)|elicitation_request"
    r"|dynamic_tool_call_(request|response)|(mcp_list_tools|get_history_entry)_response"
    r"|list_\w+_response|remote_skill_downloaded|skills_update_available|guardian_\w+|realtime_\w+"
    r"|undo_(started|completed)|(entered|exited)_review_mode|hook_(started|completed)|collab_\w+"
    r"|thread_(settings_applied|goal_updated)|sub_agent_activity|inter_agent_communication\w*"
    r"|context_(compacted|compaction)|compaction(_summary|_trigger)?|view_image_tool_call"
    r"|terminal_interaction|background_event|stream_error|warning|deprecation_notice|shutdown_complete"
    r"|session_configured|model_(reroute|verification)|patch_apply_updated|image_generation_begin"
    r"|raw_response_item|codex/event/raw_item|agent_message"
)
ITEMS = re.compile(
    "WebSearch|ImageView|ImageGeneration|ContextCompaction|HookPrompt|(Entered|Exited)ReviewMode"
    "|DynamicToolCall|CollabAgentToolCall|TodoList|Error"
)


class Entry(NamedTuple):
    """A record, and its kind in one form of names."""

    kind: str
    record: Json
    timestamp: Any
    is_event: bool = False


_WHOLE = ("session_meta", "turn_context", "compacted")


def entry_in(line: Json) -> Entry:
    """Make an entry of a line, or of an item of the oldest files, which are one object."""
    payload, kind = line.get("payload"), line.get("type")
    if isinstance(payload, dict):
        record = cast("Json", payload)
        is_event, is_header = kind == "event_msg", False
    else:
        record = line
        is_event, is_header = kind == "error", bool(line.get("id") and line.get("timestamp"))
    time = line.get("created_at") if line.get("timestamp") is None else line["timestamp"]
    own = record.get("type")
    if kind in _WHOLE:
        name = cast("str", kind)
    elif isinstance(own, str) and (record is payload or own != "response_item"):
        name = own
    elif isinstance(record.get("role"), str):
        name = "message"
    else:
        name = "session_meta" if is_header else text_in(kind)
    return Entry(name, record, time, is_event)


def call_id(record: Json) -> str:
    """The id by which a call and its result belong together."""
    return text_at(record, "call_id", "id")


class Head(NamedTuple):
    """The beginning of a line, read without parsing it."""

    timestamp: str
    kind: str


def head_of(data: bytes) -> Head | None:
    """Read the beginning of a line in the usual form; ``None`` of any other."""
    found = _HEAD.match(data[:_HEAD_BYTES])
    if not found:
        return None
    return Head(found[1].decode("utf-8", "replace"), (found[3] or found[2]).decode())


def reason_for(kind: str) -> str:
    """The reason to skip a record of which no message is made."""
    return DROPPED.get(kind) or skipped(kind, _SKIPPED)


def words(record: Json) -> str:
    """The texts of a message, less what the program has put among them."""
    content = record.get("message") if record.get("content") is None else record.get("content")
    return contents.joined(text for text in texts(content) if not is_injected(text))


def is_injected(text: str) -> bool:
    return text.lstrip().startswith(_INJECTED)


def texts(content: Any) -> Iterator[str]:
    return (text for block in contents.blocks(content) if (text := text_in(block.get("text"))))


class _CodexBlocks(Blocks):
    def mark(self, name: str, block: Json) -> str:
        return _picture(block) if "image" in name else super().mark(name, block)


_BLOCKS = _CodexBlocks()


def beside_text(record: Json, ledger: Ledger) -> list[str]:
    """What stands for the pictures and files of a message, and the words of unknown blocks."""
    # Ids are made of the texts alone.
    others = [each for each in contents.blocks(record.get("content")) if not text_at(each, "text")]
    return [str(words) for each in others if (words := _BLOCKS.words(each, ledger))]


def _picture(block: Json) -> str:
    if block.get("type") not in ("input_image", "image", "local_image"):
        return ""
    address = text_at(block, "image_url")
    if not address.startswith("data:"):
        return contents.placeholder("image") if address else ""
    kind, _, data = address.removeprefix("data:").partition(",")
    return contents.placeholder("image", kind.partition(";")[0], contents.base64_size(data))


def call_in(record: Json, kind: str) -> ToolCall:
    """The tool call of a record; its id is ``""`` if it has none."""
    given = value_at(record, "arguments", "parameters")
    match kind:
        case "custom_tool_call":
            parsed = contents.arguments(record.get("input"))
            given = {"input": record.get("input")} if contents.RAW in object_in(parsed) else parsed
        case "local_shell_call" | "web_search_call" | "image_generation_call":
            given = object_at(record, "action")
        case _:
            pass
    name = text_at(record, "name") or text_in(object_at(record, "function").get("name"))
    return ToolCall(call_id(record), name or kind.removesuffix("_call"), contents.arguments(given))


def output_text(output: Any) -> str:
    """The text of a tool's result."""
    if isinstance(output, list):
        blocks = list(contents.blocks(cast("Any", output)))
        texts = [text_in(block.get("text")) or _picture(block) for block in blocks]
        return contents.joined(texts) or _json(cast("Any", output))
    if isinstance(output, dict):
        known = cast("Json", output)
        inner = known.get("content", known.get("output", known.get("text")))
        return output_text(inner) if inner is not None else _json(known)
    text = "" if output is None else str(output)
    # Older versions have sent JSON to the model.
    inner = contents.arguments(text) if text.startswith('{"output":') else None
    said = object_in(inner).get("output")
    return said if isinstance(said, str) else text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""


class Ran(NamedTuple):
    """A call and its result, as an event tells of both."""

    call: ToolCall
    result: str


def ran(item: Json) -> Ran | None:
    """The call in an item of an event; ``None`` of other items."""
    name = text_at(item, "id")
    match item.get("type"):
        case "CommandExecution":
            call = ToolCall(name, "shell", {"command": item.get("command")})
            return Ran(call, text_at(item, "aggregated_output", "stdout"))
        case "FileChange":
            call = ToolCall(name, "apply_patch", {"changes": item.get("changes")})
            return Ran(call, text_at(item, "stdout", "status"))
        case "McpToolCall":
            tool = f"{text_at(item, 'server')}__{text_at(item, 'tool')}"
            call = ToolCall(name, tool, contents.arguments(item.get("arguments")))
            return Ran(call, output_text(item.get("result")))
        case "WebSearch" | "Extension":
            asked = {"query": item.get("query"), "action": item.get("action")}
            return Ran(ToolCall(name, text_at(item, "kind") or "web_search", asked), "")
        case _:
            return None


DUPLICATE = "duplicate"


class Seen:
    """The answers and calls of the first log, of which events are repetitions."""

    def __init__(self) -> None:
        self._texts: Counter[int] = Counter()
        self._events: Counter[int] = Counter()
        self._calls: set[str] = set()

    def add(self, entry: Entry) -> None:
        if entry.is_event:
            return
        if entry.kind in CALLS:
            named = (text_at(entry.record, field) for field in ("id", "call_id"))
            self._calls.update(filter(None, named))
        elif entry.kind == "message" and entry.record.get("role") == "assistant":
            self._texts[_mark(words(entry.record))] += 1

    def is_new_text(self, kind: str, text: str) -> bool:
        """True the first time that an event has a text oftener than anything before."""
        mark = _mark(text)
        event = hash((kind, mark))
        self._events[event] += 1
        is_new = self._events[event] > self._texts[mark]
        self._texts[mark] += is_new
        return is_new

    def is_new_call(self, call: str) -> bool:
        is_new = call not in self._calls
        self._calls.add(call)
        return is_new


def _mark(text: str) -> int:
    return hash(" ".join(text.split()))


class _Prompt(msgspec.Struct, gc=False):
    text: str
    pictures: list[str]
    timestamp: Any
    kind: str = ""


class _Answer(msgspec.Struct):
    """One answer of the model, and the results of its calls."""

    timestamp: Any
    text: str = ""
    beside: list[str] = []
    calls: list[ToolCall] = []
    results: list[tuple[str, str, Any]] = []
    usage: TokenUsage | None = None
    status: str | None = None
    error: str | None = None


class CodexTalk:
    """Makes messages of entries, one after the other.

    ``undone`` is the number of turns that are undone in the whole file: no more are remembered.
    """

    def __init__(
        self, source_id: str, root: str, ledger: Ledger, seen: Seen, undone: int = 0
    ) -> None:
        self._source_id = source_id
        self._root = root
        self._ledger = ledger
        self._seen = seen
        self._model = ""
        self._shown: list[_Prompt] = []
        self._sent: list[_Prompt] = []
        self._unmatched: Counter[int] = Counter()
        """Texts of prompts, by their hashes."""
        self._answer: _Answer | None = None
        self._before_prompts: deque[ForeignMessage | None] = deque(maxlen=min(undone, sys.maxsize))
        self._tail: ForeignMessage | None = None
        self._last: ForeignMessage | None = None
        self._ids: Counter[str] = Counter()
        self._todos: ForeignTodos | None = None

    def messages(self, entries: Iterator[Entry]) -> Iterator[Item]:
        """Make the messages."""
        for entry in entries:
            yield from self._add(entry)
        yield from self._flush()
        if self._tail is not None and self._tail is not self._last:
            # The last turns were undone: else they would be shown.
            yield msgspec.structs.replace(self._tail, id=self._tail.id + AGAIN)
        if self._todos:
            yield self._todos

    def _add(self, entry: Entry) -> Iterator[Item]:
        if entry.is_event:
            yield from self._event(entry)
        elif entry.kind == "message":
            yield from self._message(entry)
        elif entry.kind in CALLS:
            self._ledger.read += 1
            yield from self._call(call_in(entry.record, entry.kind), entry.timestamp)
        elif entry.kind in RESULTS:
            self._ledger.read += 1
            text = output_text(value_at(entry.record, "output", "result", "tools"))
            yield from self._result(call_id(entry.record), text, entry.timestamp)
        else:
            match entry.kind:
                case "session_meta" | "turn_context":
                    self._model = text_at(entry.record, "model") or self._model
                    self._ledger.read += 1
                case "compacted":
                    yield from self._compacted(entry.record, entry.timestamp)
                case _:
                    self._ledger.skipped[reason_for(entry.kind)] += 1

    def _compacted(self, record: Json, timestamp: Any) -> Iterator[Item]:
        yield from self._flush()
        text = text_at(record, "message")
        if not text.strip():
            self._ledger.skipped["empty summary"] += 1
            return
        self._ledger.read += 1
        if self._tail is None:
            # Its messages are in another file, or gone.
            message, _ = contents.earlier(text, "")
            yield self._emit(text, timestamp, message.role, content=message.content)
        yield ForeignSummary(text, self._tail.id if self._tail else "")

    def _message(self, entry: Entry) -> Iterator[Item]:
        record = entry.record
        text = words(record)
        match record.get("role"):
            case "user":
                found = beside_text(record, self._ledger)
                if not text and not found:
                    self._ledger.skipped["injected text"] += 1
                    return
                yield from self._flush_answer()
                self._sent.append(_Prompt(text, found, entry.timestamp))
            case "assistant":
                found = beside_text(record, self._ledger)
                if not text and not found:
                    self._ledger.skipped["empty message"] += 1
                    return
                self._ledger.read += 1
                yield from self._said(text, entry.timestamp)
                if self._answer:
                    self._answer.beside = found
            case _:
                self._ledger.skipped["system prompt"] += 1

    def _event(self, entry: Entry) -> Iterator[Item]:
        record = entry.record
        match entry.kind:
            case "user_message":
                yield from self._prompt(text_at(record, "message"), entry)
            case "agent_message":
                yield from self._shown_text("agent_message", text_at(record, "message"), entry)
            case "item_completed":
                yield from self._item(entry)
            case "token_count":
                counts = object_at(record, "info.last_token_usage")
                names = "input_tokens", "output_tokens", "cached_input_tokens"
                usage = contents.usage(*map(counts.get, names))
                if usage and self._answer and not self._answer.usage:
                    self._answer.usage = usage
                    self._ledger.read += 1
                else:
                    self._ledger.skipped["token count"] += 1
            case "turn_aborted":
                self._ledger.read += 1
                if self._answer:
                    self._answer.status = "interrupted"
            case "error":
                self._ledger.read += 1
                yield from self._flush()
                error = text_at(record, "message") or text_at(record, "text")
                self._answer = _Answer(entry.timestamp, status="failed", error=error)
            case "thread_rolled_back":
                self._ledger.read += 1
                yield from self._flush()
                turns = record.get("num_turns")
                undone = turns if isinstance(turns, int) else 0
                for _ in range(min(undone, len(self._before_prompts))):
                    self._tail = self._before_prompts.pop()
            case "thread_name_updated":
                self._ledger.read += 1
            case _:
                self._ledger.skipped[reason_for(entry.kind)] += 1

    def _prompt(self, text: str, entry: Entry) -> Iterator[Item]:
        pictures = (items_in(entry.record.get(each)) for each in ("images", "local_images"))
        found = [contents.placeholder("image")] * sum(map(len, pictures))
        if is_injected(text) or not (text.strip() or found):
            self._ledger.skipped["injected text"] += 1
            return
        yield from self._flush_answer()
        if any(each.text == text and each.kind != entry.kind for each in self._shown):
            self._ledger.skipped[DUPLICATE] += 1
            return
        self._shown.append(_Prompt(text, found, entry.timestamp, entry.kind))

    def _item(self, entry: Entry) -> Iterator[Item]:
        item = object_at(entry.record, "item")
        text = contents.joined(texts(item.get("content"))) or text_in(item.get("text"))
        if item.get("type") == "UserMessage":
            yield from self._prompt(text, entry)
        elif item.get("type") in ("AgentMessage", "Plan"):
            yield from self._shown_text("item", text, entry)
        elif (done := ran(item)) is None:
            kind = item.get("type")
            self._ledger.skipped["thinking" if kind == "Reasoning" else skipped(kind, ITEMS)] += 1
        elif done.call.id and not self._seen.is_new_call(done.call.id):
            self._ledger.skipped[DUPLICATE] += 1
        else:
            self._ledger.read += 1
            yield from self._call(done.call, entry.timestamp)
            if done.result:
                yield from self._result(done.call.id, done.result, entry.timestamp)

    def _shown_text(self, kind: str, text: str, entry: Entry) -> Iterator[Item]:
        if not text.strip():
            self._ledger.skipped["empty message"] += 1
        elif self._seen.is_new_text(kind, text):
            self._ledger.read += 1
            yield from self._said(text, entry.timestamp)
        else:
            self._ledger.skipped[DUPLICATE] += 1

    def _said(self, text: str, timestamp: Any) -> Iterator[Item]:
        yield from self._flush()
        self._answer = _Answer(timestamp, text)

    def _call(self, call: ToolCall, timestamp: Any) -> Iterator[Item]:
        yield from self._flush_prompts()
        answer = self._answer
        known = {each.id for each in answer.calls if each.id} if answer else set[str]()
        if answer is None or answer.results or answer.usage or call.id in known:
            yield from self._flush_answer()
            answer = self._answer = _Answer(timestamp)
        answer.calls.append(call)
        plan = object_in(call.arguments).get("plan")
        if call.name == "update_plan" and isinstance(plan, list):
            self._todos = contents.todos(objects_in(plan), "step")

    def _result(self, call: str, text: str, timestamp: Any) -> Iterator[Item]:
        yield from self._flush_prompts()
        if self._answer is None:
            self._answer = _Answer(timestamp)
        self._answer.results.append((call, text, timestamp))

    def _flush(self) -> Iterator[Item]:
        yield from self._flush_answer()
        yield from self._flush_prompts()

    def _flush_prompts(self) -> Iterator[Item]:
        shown, sent = self._shown, self._sent
        self._shown, self._sent = [], []
        # As they were shown, but with the pictures as they were sent, of which more is known.
        sent_with = {each.text: each.pictures for each in sent}
        for prompt in shown:
            prompt.pictures = sent_with.get(prompt.text) or prompt.pictures
        for _ in sent if shown else ():
            self._ledger.skipped[DUPLICATE] += 1
        known = {each.text for each in sent} if shown else {each.text for each in shown}
        for prompt in shown or sent:
            if self._unmatched[hash(prompt.text)] > 0 and prompt.text not in known:
                self._unmatched[hash(prompt.text)] -= 1
                self._ledger.skipped[DUPLICATE] += 1
                continue
            if prompt.text not in known:
                self._unmatched[hash(prompt.text)] += 1
            self._ledger.read += 1
            self._before_prompts.append(self._tail)
            content = contents.joined([prompt.text, *prompt.pictures])
            yield self._emit(prompt.text, prompt.timestamp, "user", content=content)

    def _flush_answer(self) -> Iterator[Item]:
        answer, self._answer = self._answer, None
        if answer is None:
            return
        first = answer.text or answer.error or "".join(call.id for call in answer.calls[:1])
        content = contents.joined([answer.text, *answer.beside])
        if first or content or answer.calls:
            yield self._emit(
                first,
                answer.timestamp,
                "assistant",
                content=content or None,
                tool_calls=_named(answer),
                status=answer.status,
                error=answer.error,
                model=self._model or None,
                usage=answer.usage,
            )
        unnamed = [call.id for call in _named(answer)]
        for call, text, timestamp in answer.results:
            name = call or (unnamed[0] if unnamed else "call")
            if name in unnamed:
                unnamed.remove(name)
            yield self._emit(name, timestamp, "tool", content=text, tool_call_id=name)

    def _emit(self, words: str, timestamp: Any, role: Role, **fields: Any) -> ForeignMessage:
        """A message, with an id that its copies in forks of the conversation have, too."""
        parent, time = self._tail.id if self._tail else "", utc(timestamp)
        told = f"{role} {time or self._source_id} {words}"
        mark = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:24]
        self._ids[mark] += 1
        ending = f"-{self._ids[mark]}" if self._ids[mark] > 1 else ""
        name = f"{self._root}:{mark}{ending}"
        self._last = self._tail = ForeignMessage(
            name, role, timestamp=time, parent=parent, **fields
        )
        return self._last


def _named(answer: _Answer) -> tuple[ToolCall, ...]:
    return tuple(
        call if call.id else msgspec.structs.replace(call, id=f"call-{number}")
        for number, call in enumerate(answer.calls, 1)
    )
