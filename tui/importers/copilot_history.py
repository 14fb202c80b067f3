"""Files of the first versions of Copilot CLI: an object with the messages as the model got them."""

from collections.abc import Iterator
from pathlib import Path

from tui.domain.journal.message import ToolCall
from tui.importers import contents
from tui.importers.json_lines import object_in, objects_in, text_in, whole
from tui.importers.made_ids import MadeIds
from tui.importers.protocol import Conversation, ForeignMessage, Heading, Item, Json, Ledger
from tui.importers.times import utc


def read(path: Path, ledger: Ledger) -> Iterator[Conversation]:
    """Read the conversation of a file. Raises ``OSError``."""
    value = object_in(whole(path))
    messages = objects_in(value.get("chatMessages"))
    if not messages:
        ledger.skipped["unreadable file"] += 1
        return
    own = Ledger()
    source_id = text_in(value.get("sessionId")) or path.stem
    heading = Heading(source_id, created_at=utc(value.get("startTime")))
    yield Conversation(heading, lambda: _items(messages, source_id, own), own)


def _items(messages: list[Json], source_id: str, ledger: Ledger) -> Iterator[Item]:
    ids = MadeIds(source_id)
    for message in messages:
        made = _message(message, ids.make(message))
        if made is not None:
            ledger.read += 1
            yield made
        else:
            ledger.skipped["system prompt"] += 1


def _message(message: Json, name: str) -> ForeignMessage | None:
    blocks = contents.blocks(message.get("content"))
    text = contents.joined(text_in(block.get("text")) for block in blocks)
    match message.get("role"):
        case "user":
            return ForeignMessage(name, "user", text)
        case "assistant":
            return ForeignMessage(name, "assistant", text or None, tool_calls=_calls(message))
        case "tool":
            call = text_in(message.get("tool_call_id")) or f"{name}-call"
            return ForeignMessage(name, "tool", text, tool_call_id=call)
        case _:
            return None


def _calls(message: Json) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            text_in(call.get("id")) or f"call-{number}",
            text_in(object_in(call.get("function")).get("name")),
            contents.arguments(object_in(call.get("function")).get("arguments")),
        )
        for number, call in enumerate(objects_in(message.get("tool_calls")), 1)
    )
