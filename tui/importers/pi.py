"""pi: a file for each conversation, whose lines form a tree."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tui.importers import contents
from tui.importers import protocol as p
from tui.importers.json_lines import RawLine, text_in
from tui.importers.json_paths import object_at, text_at
from tui.importers.message_blocks import Blocks, Unknown, call_in, skipped
from tui.importers.times import utc
from tui.importers.trees import Node, in_order, nearest
from tui.importers.two_passes import OBJECTS, Place, Tree

_MARK = re.compile(rb'^\s*\{"type"\s*:\s*"session"\s*,')
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STATUS = {"aborted": "interrupted", "length": "truncated", "error": "failed"}
_ROLES = ("user", "assistant", "toolResult", "bashExecution")
_COUNTS = ("input", "output", "cacheRead", "cacheWrite")
_SKIPPED = re.compile("thinking_level_change|branch_summary|label|custom")


class _PiBlocks(Blocks):
    mark_kind = "image"
    file_types = ("mimeType",)
    file_data = ("data",)


_BLOCKS = _PiBlocks()


class _PiSession(Tree[p.Json]):
    def __init__(self, path: Path) -> None:
        super().__init__(path, OBJECTS)
        self.left_out = "sub-agent" if path.parent.name.startswith("run-") else ""
        self._messages: dict[str, Place] = {}
        """In the order of the file."""
        self._summaries: dict[str, list[Place]] = {}
        """By the messages that they follow."""
        self._compactions: dict[str, Place] = {}
        self._parents: dict[str, str] = {}
        self._before = ""
        self._number = 0
        self._marks: Counter[str] = Counter()

    def add(self, line: p.Json, raw: RawLine) -> str:
        self._number += 1
        if line.get("type") == "session":
            return self._add_header(line)
        key = text_at(line, "id") or f"~{self._number}"
        if key in self._parents:
            return "duplicate"
        # The oldest files have no links, and no branches; the line that a link names may be torn.
        linked = isinstance(line.get("id"), str) and "parentId" in line
        parent = text_at(line, "parentId")
        self._parents[key] = (
            parent if linked and (not parent or parent in self._parents) else self._before
        )
        self._before = key
        self.facts.updated_at = line.get("timestamp") or self.facts.updated_at
        return self._add_entry(key, line, raw)

    def _add_header(self, line: p.Json) -> str:
        facts = self.facts
        if facts.project_path or facts.created_at:
            return "duplicate"
        facts.source_id = text_at(line, "id") or facts.source_id
        # The only part of the path that is of use here is the id at its end.
        found = _UUID.findall(text_at(line, "parentSession"))
        facts.root = found[-1] if found else ""
        facts.project_path = text_at(line, "cwd")
        facts.model = text_at(line, "modelId")
        facts.version = str(line.get("version") or 1)
        facts.created_at = utc(line.get("timestamp"))
        return ""

    def _add_entry(self, key: str, line: p.Json, raw: RawLine) -> str:
        facts = self.facts
        match line.get("type"):
            case "message":
                message = object_at(line, "message")
                role = message.get("role")
                if role not in _ROLES:
                    return "injected text" if role == "custom" else "unknown record"
                self._messages[key] = self.keep(line, raw)
                facts.model = text_at(message, "model") or facts.model
                _BLOCKS.count_unknown(message.get("content"), self.ledger)
            case "compaction":
                self._compactions[key] = self.keep(line, raw)
            case "session_info":
                facts.name = text_at(line, "name") or facts.name
            case "model_change":
                facts.model = text_at(line, "modelId") or facts.model
            case "custom_message":
                return "injected text"
            case kind:
                return skipped(kind, _SKIPPED)
        return ""

    def link(self) -> None:
        for key, place in self._compactions.items():
            self._summaries.setdefault(self._message_at(key), []).append(place)
        self.facts.root = self.facts.root or self.facts.source_id
        nodes = (Node(key, self._message_before(key)) for key in self._messages)
        self.order = in_order(nodes, self._message_at(self._before))

    def items(self) -> Iterator[p.Item]:
        self._marks.clear()
        return super().items()

    def _message_at(self, key: str) -> str:
        """The message of a line, or else the nearest one that it follows."""
        return nearest(key, self._parents, self._messages)

    def _message_before(self, key: str) -> str:
        found = self._message_at(self._parents.get(key, ""))
        return "" if found == key else found

    def said(self, key: str, ending: str) -> Iterator[p.Item]:
        line = self.at(self._messages[key])
        name = self.ends[key] + ending if ending else self._id_of(line)
        yield _message(line, name)
        for line in map(self.at, self._summaries.get(key, [])):
            # The last message that a summary stands for: the one before the first that is kept.
            kept = text_at(line, "firstKeptEntryId")
            through = (self._message_before(kept) if kept else "") or key
            text = text_at(line, "summary")
            if text.strip():
                yield p.ForeignSummary(text, self.ends.get(through + ending, name))

    def _id_of(self, line: p.Json) -> str:
        """Make the id of a message, of what tells it from the others of its file.

        Those of the file are short, and given anew to the oldest files once pi opens them.
        """
        message = object_at(line, "message")
        told = f"{line.get('timestamp')} {message.get('role')} {message.get('toolCallId')} "
        # Blocks of unknown types may be known to later readers.
        blocks = contents.blocks(message.get("content"))
        found = (_BLOCKS.words(each, p.Ledger()) for each in blocks)
        known = contents.joined(each for each in found if each and not isinstance(each, Unknown))
        words = known + text_at(message, "command")
        mark = hashlib.sha256((told + words).encode("utf-8", "replace")).hexdigest()[:24]
        self._marks[mark] += 1
        number = self._marks[mark]
        return f"{self.facts.root}:{mark}-{number}" if number > 1 else f"{self.facts.root}:{mark}"


def _find(places: p.Places) -> Iterator[p.Source]:
    root = places.named("PI_CODING_AGENT_DIR", places.home / ".pi" / "agent")
    return places.sources(root, "sessions/*/*.jsonl", wanted=Path.is_file)


def _recognises(path: Path, head: bytes) -> bool:
    return path.suffix == ".jsonl" and bool(_MARK.match(head)) and b'"cwd"' in head


def _message(line: p.Json, name: str) -> p.ForeignMessage:
    message = object_at(line, "message")
    time = utc(line.get("timestamp")) or utc(message.get("timestamp"))
    text = _BLOCKS.whole_text(message.get("content"), p.Ledger())
    match message.get("role"):
        case "assistant":
            status = _STATUS.get(text_at(message, "stopReason"))
            blocks = contents.blocks(message.get("content"))
            found = [block for block in blocks if _BLOCKS.kind(block) == "call"]
            counts = object_at(message, "usage")
            return p.ForeignMessage(
                name,
                "assistant",
                text or None,
                time,
                tool_calls=tuple(call_in(call, f"{name}-{n}") for n, call in enumerate(found, 1)),
                status=status,
                error=text_at(message, "errorMessage") or None if status == "failed" else None,
                model=text_at(message, "model") or None,
                usage=contents.usage_beside_cache(*map(counts.get, _COUNTS)),
            )
        case "toolResult":
            call = text_at(message, "toolCallId") or f"{name}-call"
            return p.ForeignMessage(name, "tool", text, time, tool_call_id=call)
        case "bashExecution":
            ran = f"!{text_in(message.get('command'))}"
            text = contents.joined([ran, text_at(message, "output")])
            return p.ForeignMessage(name, "user", text, time)
        case _:
            return p.ForeignMessage(name, "user", text, time)


READER = p.Reader(
    "pi",
    "pi",
    _find,
    _recognises,
    read=lambda source, ledger: _PiSession(source.path).read(ledger),
    revision=1,
)
