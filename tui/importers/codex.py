"""Codex: a file for each conversation, to which two logs are written at once."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tui.files import open_regular
from tui.importers import contents
from tui.importers import protocol as p
from tui.importers.codex_lines import Entry, Record, entry_in, entry_of, head_of
from tui.importers.codex_talk import CodexTalk, Seen
from tui.importers.json_lines import (
    RawLine,
    items_in,
    lines_in,
    object_in,
    objects,
    objects_in,
    raw_lines,
    text_in,
    whole,
)
from tui.importers.times import utc
from tui.importers.two_passes import Facts

_INDEX = "session_index.jsonl"
_COMPRESSED = b"\x28\xb5\x2f\xfd"
_MARKS = re.compile(
    rb'"type"\s*:\s*"(session_meta|response_item|request_item|event_msg|turn_context)"'
    rb'|"record_type"|^\{\s*"session"\s*:\s*\{'
    rb'|^\{\s*"id"\s*:\s*"[0-9a-f-]{36}",\s*"timestamp"'
    rb'|^\{\s*"(timestamp|created_at)"\s*:\s*"[^"]*",\s*"role"\s*:'
)
_BLOCK = 1024 * 1024
_WINDOW_BYTES = 64 * 1024 * 1024
_UNPARSED = {"function_call_output", "custom_tool_call_output", "token_count", "compacted"}


def _find(places: p.Places) -> Iterator[p.Source]:
    root = places.named("CODEX_HOME", places.home / ".codex")
    for pattern in ("sessions/**/*", "archived_sessions/**/*"):
        for path in places.glob(root, pattern):
            if _is_wanted_file(path):
                yield p.Source.of(path)


def _is_wanted_file(path: Path) -> bool:
    if not path.name.endswith((".jsonl", ".json", ".jsonl.zst")) or not path.is_file():
        return False
    # A file is compressed while it still has its old name, too.
    return path.suffix != ".zst" or not path.with_suffix("").exists()


def _recognises(path: Path, head: bytes) -> bool:
    if path.name.endswith(".jsonl.zst"):
        return head.startswith(_COMPRESSED)
    return path.suffix in (".jsonl", ".json") and bool(_MARKS.search(head))


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if source.path.suffix == ".json":
        yield from _read_object(source.path, ledger)
        return
    facts = _FileFacts(source.path)
    for raw in _lines(source.path):
        facts.look_at(raw)
    if not facts.lines:
        if source.size:
            ledger.skipped["unreadable file"] += 1
        return
    if facts.left_out:
        ledger.skipped[facts.left_out] += facts.lines
        return
    yield p.Conversation.of(facts.heading(), partial(_items, source.path, facts))


def _items(path: Path, facts: "_FileFacts", ledger: p.Ledger) -> Iterator[p.Item]:
    talk = facts.talk(ledger)
    for raw in _lines(path):
        head = head_of(raw.data)
        if head and head.dropped:
            ledger.skipped[head.dropped] += 1
        elif raw.is_whole and (entry := entry_of(raw.data)):
            yield from talk.add(entry)
        else:
            ledger.skipped[raw.damage] += 1
    yield from talk.end()


def _read_object(path: Path, ledger: p.Ledger) -> Iterator[p.Conversation]:
    value = object_in(whole(path))
    facts = _FileFacts(path)
    header = entry_in(object_in(value.get("session")))
    if header is not None:
        facts.add_header(header)
    items = items_in(value.get("items"))
    entries = [entry for item in objects_in(items) if (entry := entry_in(item)) is not None]
    for entry in entries:
        facts.add(entry)
    if not entries:
        ledger.skipped["unreadable file"] += 1
        return
    own = p.Ledger()
    if len(items) > len(entries):
        own.skipped["unknown record"] += len(items) - len(entries)

    def read() -> Iterator[p.Item]:
        talk = facts.talk(own)
        for entry in entries:
            yield from talk.add(entry)
        yield from talk.end()

    yield p.Conversation(facts.heading(), read, own)


def _lines(path: Path) -> Iterator[RawLine]:
    if path.suffix != ".zst":
        return raw_lines(path, wanted=_is_wanted)
    return lines_in(_decompressed(path), wanted=_is_wanted)


def _decompressed(path: Path) -> Iterator[bytes]:
    """Decompress a file, as far as it is whole. Raises ``OSError``."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    descriptor = open_regular(path, follow=True)
    limit: dict[int, int] = {
        zstd.DecompressionParameter.window_log_max: _WINDOW_BYTES.bit_length() - 1
    }
    with (
        os.fdopen(descriptor, "rb") as file,
        zstd.ZstdFile(file, options=limit) as reader,
        suppress(zstd.ZstdError, EOFError),
    ):
        while block := reader.read1(_BLOCK):
            yield block


def _is_wanted(start: bytes) -> bool:
    head = head_of(start)
    return not (head and head.dropped)


class _FileFacts:
    """The facts of a file, and the answers in it, as they are found."""

    def __init__(self, path: Path) -> None:
        self.seen = Seen()
        self.lines = 0
        self.left_out = ""
        self.found = Facts(path.stem)
        """Its root is the conversation that was forked first, which copies and forks share."""
        self._path = path
        self._in_headers = True
        self._undone = 0

    def talk(self, ledger: p.Ledger) -> CodexTalk:
        """Begin to read the messages."""
        found = self.found
        return CodexTalk(
            found.source_id, found.root or found.source_id, ledger, self.seen, self._undone
        )

    def heading(self) -> p.Heading:
        found = self.found
        title = contents.title(_titles(self._path).get(found.source_id))
        root = found.root or found.source_id
        return replace(found, name=title or found.name, root=root).heading()

    def look_at(self, raw: RawLine) -> None:
        self.lines += 1
        head = head_of(raw.data)
        if head and (head.dropped or head.kind in _UNPARSED):
            self._add_time(head.timestamp)
        elif raw.is_whole and not self.left_out and (entry := entry_of(raw.data)):
            self.add(entry)

    def _add_time(self, timestamp: Any) -> None:
        if timestamp and str(timestamp)[0].isdigit():
            self.found.updated = timestamp

    def add(self, entry: Entry) -> None:
        found = self.found
        self._add_time(entry.timestamp)
        found.created = found.created or utc(entry.timestamp)
        self.seen.add(entry)
        if entry.kind == "session_meta":
            self.add_header(entry)
            return
        self._in_headers = False
        match entry.kind:
            case "turn_context" | "message":
                found.model = text_in(entry.record.model) or found.model
            case "thread_name_updated":
                found.name = text_in(entry.record.thread_name)
            case "thread_rolled_back" if isinstance(count := entry.record.num_turns, int):
                self._undone += max(0, count)
            case _:
                pass

    def add_header(self, entry: Entry) -> None:
        """Add the first header; forked files repeat those of their ancestors after it."""
        found, record = self.found, entry.record
        name = text_in(record.id)
        if found.root and self._in_headers:
            found.root = name or found.root
        if found.root:
            return
        found.root = found.source_id = name or found.source_id
        self.left_out = _left_out(record)
        found.project = text_in(record.cwd)
        found.version = text_in(record.cli_version)
        found.created = utc(record.timestamp) or found.created


def _left_out(meta: Record) -> str:
    """The reason to leave a file out; ``""`` for a user's conversation."""
    if "subagent" in (meta.source, meta.thread_source) or "subagent" in object_in(meta.source):
        return "sub-agent"
    return "one-shot run" if meta.source == "exec" else ""


def _titles(path: Path) -> dict[str, str]:
    """The titles in the index of the folder that a file is in."""
    for folder in path.parents:
        if folder.name in ("sessions", "archived_sessions"):
            index = folder.parent / _INDEX
            try:
                return _titles_in(index, index.stat().st_mtime_ns)
            except OSError:
                return {}
    return {}


@lru_cache(maxsize=1)
def _titles_in(index: Path, _changed: int) -> dict[str, str]:
    lines = (line.value for line in objects(index, p.Ledger()))
    return {text_in(line.get("id")): text_in(line.get("thread_name")) for line in lines}


READER = p.Reader("codex", "Codex", _find, _recognises, _read, revision=1)
