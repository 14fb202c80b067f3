"""Lines of Codex's files, in all the forms they have had since 2025."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from tui.domain.journal.message import ToolCall
from tui.importers import contents
from tui.importers.json_lines import object_in, text_in
from tui.importers.json_paths import object_at, text_at, value_at
from tui.importers.message_blocks import Blocks, skipped
from tui.importers.protocol import Json, Ledger

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
# fmt: off
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
