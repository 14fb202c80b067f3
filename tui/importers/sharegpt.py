"""Conversations in the form of ShareGPT: ``{"conversations": [{"from", "value"}]}``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tui.importers.export_files import beginning, has_key, nowhere, records
from tui.importers.json_lines import UNREADABLE, items_in, object_in, parse_text, text_in
from tui.importers.plain_messages import conversation
from tui.importers.protocol import Conversation, Json, Ledger, Reader, Source

_ROLES = {
    "human": "user",
    "user": "user",
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard", "model"), "assistant"),
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
    "system": "system",
}


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    return has_key(start, b"conversations", b"from", b"value")


def _read(source: Source, ledger: Ledger) -> Iterator[Conversation]:
    for record in records(source, ledger):
        turns = record.get("conversations", record.get("conversation"))
        if isinstance(turns, list):
            messages = [_message(object_in(turn)) for turn in items_in(turns)]
            yield conversation({**record, "messages": messages})
        else:
            ledger.skipped[UNREADABLE] += 1


def _message(turn: Json) -> Json:
    """A turn in the form of the vendors."""
    speaker = text_in(turn.get("from")).lower()
    if speaker == "function_call":
        return {"role": "assistant", "tool_calls": [_call(turn.get("value"))]}
    return {"role": _ROLES.get(speaker, ""), "content": turn.get("value")}


def _call(value: Any) -> Json:
    call = object_in(parse_text(value) or value)
    return call if text_in(call.get("name")) else {"name": "tool", "arguments": value}


READER = Reader("sharegpt", "ShareGPT", nowhere, _recognises, _read, several=True, archives=True)
