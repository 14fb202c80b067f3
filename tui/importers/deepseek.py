"""Conversations of DeepSeek's export: nodes as ChatGPT's, with a message of fragments each."""

import re
from collections.abc import Iterator
from pathlib import Path

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result
from tui.importers.contents import joined, placeholder
from tui.importers.export_files import beginning, has_key
from tui.importers.formats import Reading
from tui.importers.json_lines import objects_in
from tui.importers.json_paths import objects_at, text_at
from tui.importers.message_blocks import MARK, SILENT, TEXT, THINKING, unknown_block
from tui.importers.node_exports import NodeExport

_TOOLS = {"SEARCH": "search", "TOOL_SEARCH": "search", "TOOL_OPEN": "open"}
_CITATION = re.compile(r"\[citation:(\d+)\]")


class DeepSeek(NodeExport):
    """DeepSeek, whose searches are among the fragments of an answer."""

    program, title = "deepseek", "DeepSeek"
    created = time = ("inserted_at",)
    updated = ("updated_at",)
    model = ()
    content = ("fragments",)
    kinds = {
        **dict.fromkeys(("REQUEST", "RESPONSE", "TEMPLATE_RESPONSE"), TEXT),
        "THINK": THINKING,
        "TIP": SILENT,
        "FILE": MARK,
    }

    def recognises(self, path: Path, head: bytes) -> bool:
        start = beginning(path, head)
        return has_key(start, b"mapping", b"inserted_at") and not has_key(start, b"current_node")

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        if record["is_empty"]:
            reading.ledger.skipped["node without a message"] += 1
            return ()
        return super().said(record, reading.ids.within(name), reading)

    def role_of(self, record: p.Json) -> Role:
        """The user has asked; all else is said by the model."""
        kinds = [text_at(each, "type") for each in objects_in(record.get("fragments"))]
        is_asked = "REQUEST" in kinds or text_at(record, "role").lower() == "user"
        return "user" if is_asked else "assistant"

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        is_whole = text_at(record, "status") in ("", "FINISHED")
        return None if is_whole else "interrupted", None

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        links = dict[str, str]()
        for number, block in enumerate(objects_in(record.get("fragments"))):
            if tool := _TOOLS.get(text_at(block, "type")):
                found = objects_at(block, "results") or objects_in([block.get("result")])
                links |= {str(each.get("cite_index")): text_at(each, "url") for each in found}
                asked = text_at(block, "content")
                call = f"{whole.id}-call-{number}"
                yield ToolCall(call, tool, {"query": asked} if asked else {})
                yield Result(call, joined(unknown_block("", each).words for each in found))
                continue
            for piece in self.pieces_in([block], whole.id, reading.ledger):
                yield _linked(piece, links) if isinstance(piece, str) else piece
        if not record.get("fragments"):
            yield text_at(record, "content")
        for file in objects_in(record.get("files")):
            yield self.mark("file", file)

    def mark(self, name: str, block: p.Json) -> str:
        files = [text_at(each, "file_name") for each in (block, *objects_at(block, "files"))]
        return placeholder("file", *files)


def _linked(text: str, links: dict[str, str]) -> str:
    """A text whose citations are links to what was found."""

    def link(match: re.Match[str]) -> str:
        address = links.get(match[1])
        return f" [{match[1]}]({address})" if address else match[0]

    return _CITATION.sub(link, text)


READER = DeepSeek().reader()
