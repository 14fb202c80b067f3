"""Messages in the form of OpenAI's API, which many programs keep as they send them."""

from collections.abc import Iterable, Iterator
from typing import cast, get_args

from msgspec.structs import replace

from tui.domain.journal.message import Role
from tui.importers import protocol as p
from tui.importers.contents import base64_size, blocks, joined, placeholder
from tui.importers.formats import Format, Reading
from tui.importers.json_lines import objects_in, text_in
from tui.importers.json_paths import text_at, time_at
from tui.importers.made_ids import MadeIds
from tui.importers.message_blocks import Blocks, call_in

_ROLES = get_args(Role)
_DROPPED = {"system": "system prompt", "developer": "system prompt", "thinking": "thinking"}
_THOUGHTS = ("reasoning_content", "thinking")
_MARKED = [f"{kind}{end}" for kind in ("image", "audio", "video") for end in ("_url", "Url")]
"""Names of files' addresses, or of what has them."""
_LINK = 200


class VendorFormat(Format):
    """A program that keeps each record in this form."""

    time = said_by = ()

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        known = text_at(record, *self.message_id)
        own_id = known and self.own_id(known, reading)
        message = said(record, reading.ids, reading.ledger, own_id, self.files(record))
        if message is None:
            return ()
        status, error = self.end(record) if message.role == "assistant" else (None, None)
        return (
            replace(
                message,
                timestamp=time_at(record, *self.time),
                model=self.model_of(record) or None,
                usage=self.usage(record),
                status=status,
                error=error,
            ),
        )

    def own_id(self, name: str, reading: Reading) -> str:
        """The id of a message from that of its record."""
        return reading.ids.within(name)

    def files(self, record: p.Json) -> Iterator[str]:
        """Marks for what is beside the text of a message."""
        return iter(())


class _VendorBlocks(Blocks):
    def mark(self, name: str, block: p.Json) -> str:
        address = text_at(block, *(f"{field}.url" for field in _MARKED), *_MARKED, "url")
        return link(address) if address else placeholder(name.removesuffix("_url"))


_BLOCKS = _VendorBlocks()


def said(
    record: p.Json, ids: MadeIds, ledger: p.Ledger, own_id: str = "", files: Iterable[str] = ()
) -> p.ForeignMessage | None:
    """A message without its time; ``None`` for one that is left out. Both are counted.

    ``files`` are marks for what is beside its text; without ``own_id`` an id is made.
    """
    role = record.get("role")
    if role not in _ROLES:
        ledger.skipped[_DROPPED.get(text_in(role), "unknown role")] += 1
        return None
    content, marks = record.get("content"), list(files)
    if marks or not isinstance(content, str):
        words = (_BLOCKS.words(block, ledger) for block in blocks(content))
        content = joined([*(str(each) for each in words if each), *marks])
    listed = record.get("tool_calls") or record.get("toolCalls")
    calls = objects_in(listed) if role == "assistant" else []
    result_of = text_at(record, "tool_call_id", "toolCallId")
    thinks = any(map(record.get, _THOUGHTS)) or _BLOCKS.thinks(record.get("content"))
    if not (content or calls or result_of) and thinks:
        ledger.skipped["thinking"] += 1
        return None
    ledger.read += 1
    known = [call.get("id") for call in calls]
    name = own_id or ids.make(role, content, result_of, known)
    return p.ForeignMessage(
        id=name,
        role=cast("Role", role),
        content=content,
        tool_calls=tuple(call_in(call, f"{name}-{n}") for n, call in enumerate(calls)),
        tool_call_id=(result_of or name) if role == "tool" else None,
    )


def link(address: str, name: str = "") -> str:
    """Make what stands for a file by its address, which may be its data."""
    header, _, data = address.partition(",")
    scheme, _, kind = header.partition(":")
    if scheme not in ("data", "blobref"):
        return placeholder("file", name or address[:_LINK])
    kind = kind.partition(";")[0]
    size = base64_size(data) if data else ""
    return placeholder(kind.partition("/")[0] or "file", name, kind, size)
