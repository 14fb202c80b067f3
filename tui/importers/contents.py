"""Parts of messages in the forms that most programs have taken over from the vendors."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from tui.domain.journal.message import TokenUsage
from tui.domain.journal.todo import ITEM_CHARACTERS, MOST_ITEMS, TodoItem, TodoStatus
from tui.importers.json_lines import parse, text_in
from tui.importers.made_ids import MadeIds
from tui.importers.protocol import ForeignMessage, ForeignSummary, ForeignTodos, Item, Json

_NO_TITLE = re.compile(
    r"((new|untitled) (chat|conversation|session|thread)|untitled|thread)( - [\dT:.Z+-]+)?\.?",
    re.IGNORECASE,
)
_STATUSES: dict[str, TodoStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "in-progress": "in_progress",
    "done": "completed",
}
THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
"""What some models put before a text."""
RAW = "_raw"
"""Names the text of arguments that are no JSON."""
_LINK = 200
"""Characters of an address that are shown."""


def joined(texts: Iterable[str]) -> str:
    """Join the texts of a message by a blank line; those without a word are left out."""
    return "\n\n".join(text for text in texts if text.strip())


def placeholder(kind: str, *facts: object) -> str:
    """Make what stands for a picture or a file: ``[image: cat.png, image/png, 2048 bytes]``."""
    known = ", ".join(str(fact) for fact in facts if fact)
    return f"[{kind}: {known}]" if known else f"[{kind}]"


def attachment(name: str, mime: str, size: object = "") -> str:
    """Make what stands for a picture or another file, by its type."""
    return placeholder("image" if mime.startswith("image/") else "file", name, mime, size)


def blocks(content: Any) -> Iterator[Json]:
    """The blocks of a message or of a result; text, also among them, as one."""
    for item in cast("list[Any]", content) if isinstance(content, list) else [content]:
        if isinstance(item, str):
            yield {"type": "text", "text": item}
        elif isinstance(item, dict):
            yield cast("Json", item)


def base64_size(data: Any) -> str:
    """The size of what base64 stands for: ``2048 bytes``; ``""`` of anything but text."""
    if not isinstance(data, str):
        return ""
    encoded = data.rstrip("=")
    return f"{len(encoded) * 3 // 4} bytes"


def link(address: str, name: str = "") -> str:
    """Make what stands for a file by its address, which may be its data."""
    header, _, data = address.partition(",")
    scheme, _, kind = header.partition(":")
    if scheme not in ("data", "blobref"):
        return placeholder("file", name or address[:_LINK])
    kind = kind.partition(";")[0]
    size = base64_size(data) if data else ""
    return placeholder(kind.partition("/")[0] or "file", name, kind, size)


def earlier(text: str, name: str) -> tuple[ForeignMessage, ForeignSummary]:
    """The summary of messages that their program deleted: a message of its own before the rest."""
    content = f"Summary of earlier messages:\n\n{text}"
    return ForeignMessage(name, "assistant", content), ForeignSummary(text, through=name)


def summary(text: str, through: str, ids: MadeIds) -> Iterator[Item]:
    """The summary of the messages up to one of them; ``""`` if they were deleted."""
    if through:
        yield ForeignSummary(text, through)
    else:
        yield from earlier(text, ids.make("summary"))


def arguments(value: Any) -> Any:
    """The arguments of a call: an object, also from its text; other text under ``_raw``."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    parsed = parse(value.encode("utf-8", "surrogatepass"))
    return parsed if parsed is not None else {RAW: value}


def title(text: Any) -> str:
    """A title in one line; ``""`` for what programs call a conversation without one."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return "" if _NO_TITLE.fullmatch(line) else line


def usage(sent: Any, received: Any, cached: Any = 0, cache_written: Any = 0) -> TokenUsage | None:
    """Token counts, cached ones part of those that were sent; ``None`` without any."""
    told = sent, received, cached, cache_written
    counts = [each if isinstance(each, int) and 0 < each < 2**53 else 0 for each in told]
    return TokenUsage(*counts) if any(counts) else None


def usage_beside_cache(
    sent: Any, received: Any, cached: Any = 0, cache_written: Any = 0
) -> TokenUsage | None:
    """Token counts, cached ones beside those that were sent; ``None`` without any."""
    counts = (each if isinstance(each, int) else 0 for each in (sent, cached, cache_written))
    fresh, read, written = counts
    return usage(fresh + read + written, received, read, written)


def todos(items: Iterable[Json], content: str = "content", active: str = "") -> ForeignTodos:
    """A to-do list by the fields of its items; those without content are left out."""
    listed: list[TodoItem] = []
    for item in items:
        words, form = text_in(item.get(content)), item.get(active) or item.get(content)
        if words.strip():
            status = _STATUSES.get(text_in(item.get("status")), "pending")
            short = text_in(form)[:ITEM_CHARACTERS]
            listed.append(TodoItem(words[:ITEM_CHARACTERS], status, short))
    return ForeignTodos(tuple(listed[:MOST_ITEMS]))
