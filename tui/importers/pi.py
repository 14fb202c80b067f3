"""pi: a file for each conversation, whose lines form a tree."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tui.domain.journal.message import ToolCall
from tui.importers import contents
from tui.importers import protocol as p
from tui.importers.answers import Unknown
from tui.importers.json_lines import RawLine, decode, object_in, raw_lines, text_in
from tui.importers.json_paths import text_at
from tui.importers.kinds import skipped
from tui.importers.message_blocks import CALL, Blocks, call_in, type_of
from tui.importers.times import utc
from tui.importers.trees import AGAIN, Node, Order, in_order, nearest
from tui.importers.two_passes import Facts, Place, read_again

_MARK = re.compile(rb'^\s*\{"type"\s*:\s*"session"\s*,')
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STATUS = {"aborted": "interrupted", "length": "truncated", "error": "failed"}
_ROLES = ("user", "assistant", "toolResult", "bashExecution")
_SKIPPED = re.compile("thinking_level_change|branch_summary|label|custom")


class _Line(msgspec.Struct, rename="camel", gc=False):
    type: Any = None
    id: Any = None
    parent_id: Any = msgspec.UNSET
    timestamp: Any = None
    message: Any = None
    summary: Any = None
    first_kept_entry_id: Any = None
    name: Any = None
    model_id: Any = None
    cwd: Any = None
    version: Any = None
    parent_session: Any = None


_DECODER = msgspec.json.Decoder(_Line)


class _PiBlocks(Blocks):
    def mark(self, name: str, block: p.Json) -> str:
        size = contents.base64_size(block.get("data"))
        return contents.placeholder("image", text_at(block, "mimeType"), size)


_BLOCKS = _PiBlocks()


class _EntryTree:
    """Looks through a file once. Raises ``OSError``."""

    def __init__(self, path: Path) -> None:
        self.ledger = p.Ledger()
        self.facts = Facts(path.stem)
        self.places: dict[str, Place] = {}
        """The messages, in the order of the file."""
        self.summaries: dict[str, list[Place]] = {}
        """Summaries by the messages that they follow."""
        self._parents: dict[str, str] = {}
        self._before = ""
        self._pending: dict[str, Place] = {}
        self._number = 0
        for raw in raw_lines(path):
            line = decode(raw.data, _DECODER) if raw.is_whole else None
            reason = self._add(line, raw) if line else raw.damage
            self.ledger.count(not reason, reason)
        for key, place in self._pending.items():
            self.summaries.setdefault(self.message_at(key), []).append(place)
        self.facts.root = self.facts.root or self.facts.source_id

    def order(self) -> Order:
        nodes = (Node(key, self.message_before(key)) for key in self.places)
        return in_order(nodes, self.message_at(self._before))

    def message_at(self, key: str) -> str:
        """The message of a line, or else the nearest one that it follows."""
        return nearest(key, self._parents, self.places)

    def message_before(self, key: str) -> str:
        found = self.message_at(self._parents.get(key, ""))
        return "" if found == key else found

    def _add(self, line: _Line, raw: RawLine) -> str:
        """Add a line; gives the reason if it is skipped."""
        self._number += 1
        if line.type == "session":
            return self._add_header(line)
        key = text_in(line.id) or f"~{self._number}"
        if key in self._parents:
            return "duplicate"
        # The oldest files have no links, and no branches; the line that a link names may be torn.
        linked = isinstance(line.id, str) and line.parent_id is not msgspec.UNSET
        parent = text_in(line.parent_id)
        self._parents[key] = (
            parent if linked and (not parent or parent in self._parents) else self._before
        )
        self._before = key
        self.facts.updated = line.timestamp or self.facts.updated
        return self._add_entry(key, line, Place(raw.offset, raw.length))

    def _add_header(self, line: _Line) -> str:
        facts = self.facts
        if facts.project or facts.created:
            return "duplicate"
        facts.source_id = text_in(line.id) or facts.source_id
        # The only part of the path that is of use here is the id at its end.
        found = _UUID.findall(text_in(line.parent_session))
        facts.root = found[-1] if found else ""
        facts.project = text_in(line.cwd)
        facts.model = text_in(line.model_id)
        facts.version = str(line.version or 1)
        facts.created = utc(line.timestamp)
        return ""

    def _add_entry(self, key: str, line: _Line, place: Place) -> str:
        facts = self.facts
        match line.type:
            case "message":
                message = object_in(line.message)
                role = message.get("role")
                if role not in _ROLES:
                    return "injected text" if role == "custom" else "unknown record"
                self.places[key] = place
                facts.model = text_at(message, "model") or facts.model
                _BLOCKS.count_unknown(message.get("content"), self.ledger)
            case "compaction":
                self._pending[key] = place
            case "session_info":
                facts.name = text_in(line.name) or facts.name
            case "model_change":
                facts.model = text_in(line.model_id) or facts.model
            case "custom_message":
                return "injected text"
            case _:
                return skipped(line.type, _SKIPPED)
        return ""


def _find(places: p.Places) -> Iterator[p.Source]:
    root = places.named("PI_CODING_AGENT_DIR", places.home / ".pi" / "agent")
    for path in places.glob(root, "sessions/*/*.jsonl"):
        if path.is_file():
            yield p.Source.of(path)


def _recognises(path: Path, head: bytes) -> bool:
    return path.suffix == ".jsonl" and bool(_MARK.match(head)) and b'"cwd"' in head


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if source.path.parent.name.startswith("run-"):
        ledger.skipped["sub-agent"] += sum(1 for _ in raw_lines(source.path))
        return
    tree = _EntryTree(source.path)
    if not tree.places:
        ledger.add(tree.ledger)
        return
    yield p.Conversation(tree.facts.heading(), lambda: _items(source.path, tree), tree.ledger)


def _items(path: Path, tree: _EntryTree) -> Iterator[p.Item]:
    names = _Names(tree.facts.root)
    # Without the root that all have in common: there may be hundreds of thousands.
    given = {"": ""}
    with read_again(path, _DECODER) as line_at:
        for node in tree.order():
            key = node.id.removesuffix(AGAIN)
            line = line_at(tree.places[key])
            ending = AGAIN if key != node.id else ""
            mark = given[key] + ending if ending else names.mark_of(line)
            given[node.id] = mark
            yield _message(line, names.whole(mark), names.whole(given[node.parent]))
            for place in tree.summaries.get(key, []):
                # The last message that a summary stands for: the one before the first that is kept.
                line = line_at(place)
                kept = text_in(line.first_kept_entry_id)
                through = (tree.message_before(kept) if kept else "") or key
                text = text_in(line.summary)
                if text.strip():
                    last = given.get(through + ending, given[node.id])
                    yield p.ForeignSummary(text, names.whole(last))


class _Names:
    """Makes the ids of messages.

    Those of the file are short, and given anew to the oldest files once pi opens them.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._seen: Counter[str] = Counter()

    def whole(self, mark: str) -> str:
        """The id of a mark; ``""`` for none."""
        return f"{self._root}:{mark}" if mark else ""

    def mark_of(self, line: _Line) -> str:
        """The part of an id that tells a message from the others of its file."""
        message = object_in(line.message)
        told = f"{line.timestamp} {message.get('role')} {message.get('toolCallId')} "
        words = _known_text(message) + text_at(message, "command")
        mark = hashlib.sha256((told + words).encode("utf-8", "replace")).hexdigest()[:24]
        self._seen[mark] += 1
        return f"{mark}-{self._seen[mark]}" if self._seen[mark] > 1 else mark


def _message(line: _Line, name: str, parent: str) -> p.ForeignMessage:
    message = object_in(line.message)
    time = utc(line.timestamp) or utc(message.get("timestamp"))
    text = _text(message)
    match message.get("role"):
        case "assistant":
            return _answer(message, p.ForeignMessage(name, "assistant", text or None, time, parent))
        case "toolResult":
            call = text_at(message, "toolCallId") or f"{name}-call"
            return p.ForeignMessage(name, "tool", text, time, parent, tool_call_id=call)
        case "bashExecution":
            ran = f"!{text_in(message.get('command'))}"
            text = contents.joined([ran, text_at(message, "output")])
            return p.ForeignMessage(name, "user", text, time, parent)
        case _:
            return p.ForeignMessage(name, "user", text, time, parent)


def _answer(message: p.Json, bare: p.ForeignMessage) -> p.ForeignMessage:
    status = _STATUS.get(text_at(message, "stopReason"))
    return msgspec.structs.replace(
        bare,
        tool_calls=_calls(message, bare.id),
        status=status,
        error=text_at(message, "errorMessage") or None if status == "failed" else None,
        model=text_at(message, "model") or None,
        usage=contents.usage_beside_cache(
            object_in(message.get("usage")), "input", "output", "cacheRead", "cacheWrite"
        ),
    )


def _calls(message: p.Json, name: str) -> tuple[ToolCall, ...]:
    blocks = contents.blocks(message.get("content"))
    found = [block for block in blocks if _BLOCKS.kind_of(type_of(block)) == CALL]
    return tuple(call_in(block, f"{name}-{number}") for number, block in enumerate(found, 1))


def _text(message: p.Json) -> str:
    return _BLOCKS.whole_text(message.get("content"), p.Ledger())


def _known_text(message: p.Json) -> str:
    """The text for ids: without blocks of unknown types, which later readers may know."""
    words = (_BLOCKS.words(each, p.Ledger()) for each in contents.blocks(message.get("content")))
    return contents.joined(each for each in words if each and not isinstance(each, Unknown))


READER = p.Reader("pi", "pi", _find, _recognises, _read, revision=1)
