"""Messages in the form of OpenAI's API, which many programs keep as they send them."""

from collections.abc import Iterable
from typing import cast, get_args

from tui.domain.journal.message import Role, ToolCall
from tui.importers.contents import arguments, base64_size, blocks, joined, placeholder
from tui.importers.json_lines import object_in, objects_in, text_in
from tui.importers.made_ids import MadeIds
from tui.importers.protocol import ForeignMessage, Json, Ledger

_ROLES = get_args(Role)
_DROPPED = {"system": "system prompt", "developer": "system prompt", "thinking": "thinking"}
_THOUGHTS = ("reasoning_content", "thinking")
_LINK = 200


def said(
    record: Json, ids: MadeIds, ledger: Ledger, own_id: str = "", files: Iterable[str] = ()
) -> ForeignMessage | None:
    """A message without its time; ``None`` for one that is left out. Both are counted.

    ``files`` are marks for what is beside its text; without ``own_id`` an id is made.
    """
    role = record.get("role")
    if role not in _ROLES:
        ledger.skipped[_DROPPED.get(text_in(role), "unknown role")] += 1
        return None
    content, marks = record.get("content"), list(files)
    if marks or not isinstance(content, str):
        content = joined([*map(_block, blocks(content)), *marks])
    listed = record.get("tool_calls") or record.get("toolCalls")
    calls = objects_in(listed) if role == "assistant" else []
    result_of = text_in(record.get("tool_call_id") or record.get("toolCallId"))
    if not (content or calls or result_of) and any(record.get(name) for name in _THOUGHTS):
        ledger.skipped["thinking"] += 1
        return None
    ledger.read += 1
    known = [call.get("id") for call in calls]
    name = own_id or ids.make(role, content, result_of, known)
    return ForeignMessage(
        id=name,
        role=cast("Role", role),
        content=content,
        tool_calls=tuple(_call(f"{name}-{n}", call) for n, call in enumerate(calls)),
        tool_call_id=(result_of or name) if role == "tool" else None,
    )


def link(address: str, name: str = "") -> str:
    """Make what stands for a file by its address, which may be its data."""
    header, _, data = address.partition(",")
    if not header.startswith("data:"):
        return placeholder("file", name or address[:_LINK])
    kind = header.removeprefix("data:").partition(";")[0]
    return placeholder(kind.partition("/")[0] or "file", name, kind, base64_size(data))


def _block(block: Json) -> str:
    address = block.get("image_url") or block.get("imageUrl")
    if address:
        return link(text_in(object_in(address).get("url")) or text_in(address))
    kind = text_in(block.get("type"))
    return text_in(block.get("text")) or ("" if kind == "text" else placeholder(kind or "block"))


def _call(name: str, call: Json) -> ToolCall:
    function = object_in(call.get("function")) or call
    return ToolCall(
        id=text_in(call.get("id")) or name,
        name=text_in(function.get("name")),
        arguments=arguments(function.get("arguments")),
    )
