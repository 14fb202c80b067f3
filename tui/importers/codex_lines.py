"""Lines of Codex's files, in all the forms they have had since 2025."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import msgspec

from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers import contents
from tui.importers.json_lines import decode, items_in, object_in, objects_in, text_in
from tui.importers.json_paths import object_at, text_at
from tui.importers.kinds import skipped
from tui.importers.message_blocks import Blocks
from tui.importers.protocol import ForeignTodos, Json, Ledger

_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md",
    "<permissions instructions>",
    "<app-context>",
    "<recommended_plugins>",
    "<collaboration_mode>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<skill>",
    "<user_action>",
    "<image",
    "</image>",
)
CALLS = {
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "tool_search_call",
    "web_search_call",
    "image_generation_call",
    "tool_call",
}
RESULTS = {
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "tool_search_output",
    "tool_result",
    "function_result",
}
_DROPPED = {
    "reasoning": "thinking",
    "agent_reasoning": "thinking",
    "agent_reasoning_raw_content": "thinking",
    "agent_reasoning_section_break": "thinking",
    "exec_command_begin": "duplicate",
    "exec_command_end": "duplicate",
    "exec_command_output_delta": "duplicate",
    "mcp_tool_call_begin": "duplicate",
    "mcp_tool_call_end": "duplicate",
    "patch_apply_begin": "duplicate",
    "patch_apply_end": "duplicate",
    "web_search_begin": "duplicate",
    "web_search_end": "duplicate",
    "image_generation_end": "duplicate",
    "task_complete": "duplicate",
    "world_state": "world state",
    "ghost_snapshot": "ghost snapshot",
}
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
_ITEMS = re.compile(
    "WebSearch|ImageView|ImageGeneration|ContextCompaction|HookPrompt|(Entered|Exited)ReviewMode"
    "|DynamicToolCall|CollabAgentToolCall|TodoList|Error"
)


class Record(msgspec.Struct, gc=False):
    """The wanted fields of a record; any may be of another type than it should."""

    type: Any = None
    role: Any = None
    content: Any = None
    name: Any = None
    arguments: Any = None
    parameters: Any = None
    input: Any = None
    call_id: Any = None
    id: Any = None
    output: Any = None
    result: Any = None
    tools: Any = None
    function: Any = None
    action: Any = None
    message: Any = None
    text: Any = None
    item: Any = None
    images: Any = None
    local_images: Any = None
    info: Any = None
    model: Any = None
    cwd: Any = None
    num_turns: Any = None
    thread_name: Any = None
    timestamp: Any = None
    created_at: Any = None
    instructions: Any = None
    cli_version: Any = None
    source: Any = None
    thread_source: Any = None

    @property
    def call(self) -> str:
        """The id by which a call and its result belong together."""
        return text_in(self.call_id) or text_in(self.id)


class _LogLine(Record):
    payload: Record | None = None


class Entry(NamedTuple):
    """A record, and its kind in one form of names."""

    kind: str
    record: Record
    timestamp: Any
    is_event: bool = False


_DECODER = msgspec.json.Decoder(_LogLine)
_WHOLE = ("session_meta", "turn_context", "compacted")


def entry_of(data: bytes) -> Entry | None:
    """Decode a line; ``None`` if it is none."""
    line = decode(data, _DECODER)
    if line is None:
        return None
    record = line.payload or line
    return Entry(_kind(line, record), record, _time(line), _is_event(line))


def entry_in(value: Json) -> Entry | None:
    """Make an entry of an item of the oldest files, which are one object."""
    try:
        record = msgspec.convert(value, _LogLine)
    except ValueError:
        return None
    return Entry(_kind(record, record), record, _time(record))


def _time(record: Record) -> Any:
    return record.created_at if record.timestamp is None else record.timestamp


def _kind(line: _LogLine, record: Record) -> str:
    if line.type in _WHOLE:
        return cast("str", line.type)
    if isinstance(record.type, str) and (line.payload or record.type != "response_item"):
        return record.type
    if isinstance(record.role, str):
        return "message"
    is_header = line.payload is None and record.id and record.timestamp
    return "session_meta" if is_header else text_in(line.type)


def _is_event(line: _LogLine) -> bool:
    return line.type == "event_msg" if line.payload else line.type == "error"


class Head(NamedTuple):
    """The beginning of a line, read without parsing it."""

    timestamp: str
    kind: str

    @property
    def dropped(self) -> str:
        """The reason to skip the line; ``""`` to parse it."""
        return _DROPPED.get(self.kind, "")


def head_of(data: bytes) -> Head | None:
    """Read the beginning of a line in the usual form; ``None`` of any other."""
    found = _HEAD.match(data[:_HEAD_BYTES])
    if not found:
        return None
    return Head(found[1].decode("utf-8", "replace"), (found[3] or found[2]).decode())


def reason_for(kind: str) -> str:
    """The reason to skip a record of which no message is made."""
    return _DROPPED.get(kind) or skipped(kind, _SKIPPED)


def reason_for_item(kind: Any) -> str:
    """The reason to skip the item of an event of which no message is made."""
    return "thinking" if kind == "Reasoning" else skipped(kind, _ITEMS)


def words(record: Record) -> str:
    """The texts of a message, less what the program has put among them."""
    content = record.message if record.content is None else record.content
    return contents.joined(text for text in _texts(content) if not is_injected(text))


def is_injected(text: str) -> bool:
    return text.lstrip().startswith(_INJECTED)


def _texts(content: Any) -> Iterator[str]:
    for block in contents.blocks(content):
        if text := text_in(block.get("text")):
            yield text


class _CodexBlocks(Blocks):
    def mark(self, name: str, block: Json) -> str:
        return _picture(block) if "image" in name else super().mark(name, block)


_BLOCKS = _CodexBlocks()


def beside_text(record: Record, ledger: Ledger) -> list[str]:
    """What stands for the pictures and files of a message, and the words of unknown blocks."""
    # Ids are made of the texts alone.
    others = [each for each in contents.blocks(record.content) if not text_at(each, "text")]
    return [str(words) for each in others if (words := _BLOCKS.words(each, ledger))]


def sent_pictures(record: Record) -> list[str]:
    """What stands for the pictures of a prompt that an event repeats."""
    count = len(items_in(record.images)) + len(items_in(record.local_images))
    return [contents.placeholder("image")] * count


def _picture(block: Json) -> str:
    if block.get("type") not in ("input_image", "image", "local_image"):
        return ""
    address = text_at(block, "image_url")
    if not address.startswith("data:"):
        return contents.placeholder("image") if address else ""
    kind, _, data = address.removeprefix("data:").partition(",")
    return contents.placeholder("image", kind.partition(";")[0], contents.base64_size(data))


def call_in(record: Record, kind: str) -> ToolCall:
    """The tool call of a record; its id is ``""`` if it has none."""
    given = record.arguments if record.arguments is not None else record.parameters
    match kind:
        case "custom_tool_call":
            parsed = contents.arguments(record.input)
            given = {"input": record.input} if contents.RAW in object_in(parsed) else parsed
        case "local_shell_call" | "web_search_call" | "image_generation_call":
            given = object_in(record.action)
        case _:
            pass
    name = text_in(record.name) or text_in(object_in(record.function).get("name"))
    return ToolCall(record.call, name or kind.removesuffix("_call"), contents.arguments(given))


def result_in(record: Record) -> str:
    """The text of a tool's result."""
    output = record.output if record.output is not None else record.result
    return _plain(output if output is not None else record.tools)


def _plain(output: Any) -> str:
    if isinstance(output, list):
        blocks = list(contents.blocks(cast("Any", output)))
        texts = [text_in(block.get("text")) or _picture(block) for block in blocks]
        return contents.joined(texts) or _json(cast("Any", output))
    if isinstance(output, dict):
        known = cast("Json", output)
        inner = known.get("content", known.get("output", known.get("text")))
        return _plain(inner) if inner is not None else _json(known)
    return "" if output is None else _inner(str(output))


def _inner(text: str) -> str:
    """The output in the JSON that older versions have sent to the model."""
    if not text.startswith('{"output":'):
        return text
    output = object_in(contents.arguments(text)).get("output")
    return output if isinstance(output, str) else text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""


def todos_in(call: ToolCall) -> ForeignTodos | None:
    """The to-do list that a call writes."""
    plan = object_in(call.arguments).get("plan")
    if call.name != "update_plan" or not isinstance(plan, list):
        return None
    steps = objects_in(plan)
    return contents.todos((each.get("step"), each.get("status"), "") for each in steps)


def usage_in(record: Record) -> TokenUsage | None:
    """The token counts of the last request."""
    counts = object_at(object_in(record.info), "last_token_usage")
    return contents.usage(
        counts.get("input_tokens"), counts.get("output_tokens"), counts.get("cached_input_tokens")
    )


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
            return Ran(call, _plain(item.get("result")))
        case "WebSearch" | "Extension":
            asked = {"query": item.get("query"), "action": item.get("action")}
            return Ran(ToolCall(name, text_at(item, "kind") or "web_search", asked), "")
        case _:
            return None


def item_text(item: Json) -> str:
    """The text of a message that is an item of an event."""
    return contents.joined(_texts(item.get("content"))) or text_in(item.get("text"))
