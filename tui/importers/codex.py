"""Codex: a file for each conversation, to which two logs are written at once."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tui.files import open_regular
from tui.importers import contents, json_lines
from tui.importers import protocol as p
from tui.importers.archives import decompressed
from tui.importers.codex_talk import DROPPED, UNPARSED, CodexTalk, Entry, Seen, entry_in, head_of
from tui.importers.json_lines import RawLine, counted_objects, decode, object_in, objects
from tui.importers.json_paths import object_at, text_at
from tui.importers.times import utc
from tui.importers.two_passes import OBJECTS, Log

_INDEX = "session_index.jsonl"
_COMPRESSED = b"\x28\xb5\x2f\xfd"
_MARKS = re.compile(
    rb'"type"\s*:\s*"(session_meta|response_item|request_item|event_msg|turn_context)"'
    rb'|"record_type"|^\{\s*"session"\s*:\s*\{'
    rb'|^\{\s*"id"\s*:\s*"[0-9a-f-]{36}",\s*"timestamp"'
    rb'|^\{\s*"(timestamp|created_at)"\s*:\s*"[^"]*",\s*"role"\s*:'
)


def _find(places: p.Places) -> Iterator[p.Source]:
    root = places.named("CODEX_HOME", places.home / ".codex")
    return places.sources(root, "sessions/**/*", "archived_sessions/**/*", wanted=_is_wanted)


def _is_wanted(path: Path) -> bool:
    is_named = path.name.endswith((".jsonl", ".json", ".jsonl.zst")) and path.is_file()
    # A file is compressed while it still has its old name, too.
    return is_named and not (path.suffix == ".zst" and path.with_suffix("").exists())


def _recognises(path: Path, head: bytes) -> bool:
    if path.name.endswith(".jsonl.zst"):
        return head.startswith(_COMPRESSED)
    return path.suffix in (".jsonl", ".json") and bool(_MARKS.search(head))


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    yield from (_OldRollout if source.path.suffix == ".json" else _Rollout)(source.path).read(
        ledger
    )


class _Rollout(Log[Entry]):
    def __init__(self, path: Path) -> None:
        super().__init__(path, OBJECTS)
        self._seen = Seen()
        self._in_headers = True
        self._undone = 0
        self._unparsed = UNPARSED

    def raw(self) -> Iterator[RawLine]:
        if self.path.suffix != ".zst":
            yield from super().raw()
            return
        with os.fdopen(open_regular(self.path, follow=True), "rb") as file:
            yield from json_lines.lines_in(decompressed(file), wanted=self.is_wanted)

    def is_wanted(self, start: bytes) -> bool:
        head = head_of(start)
        return head is None or head.kind not in DROPPED

    def decoded(self, raw: RawLine) -> Entry | None:
        head = head_of(raw.data)
        if head and head.kind in self._unparsed:
            return Entry(head.kind, {}, head.timestamp)
        line = decode(raw.data, self._decoder) if raw.is_whole else None
        return None if line is None else entry_in(line)

    def add(self, line: Entry, raw: RawLine) -> str:
        found, record = self.facts, line.record
        self.add_time(line.timestamp)
        self._seen.add(line)
        if line.kind == "session_meta":
            self.add_header(record)
        elif record:
            self._in_headers = False
        match line.kind:
            case "turn_context" | "message":
                found.model = text_at(record, "model") or found.model
            case "thread_name_updated":
                found.name = text_at(record, "thread_name")
            case "thread_rolled_back" if isinstance(count := record.get("num_turns"), int):
                self._undone += max(0, count)
            case _:
                pass
        return ""

    def add_header(self, record: p.Json) -> None:
        """Add the first header; forked files repeat those of their ancestors after it."""
        found, name = self.facts, text_at(record, "id")
        if found.root and self._in_headers:
            found.root = name or found.root
        if found.root:
            return
        # The conversation that was forked first, which copies and forks share.
        found.root = found.source_id = name or found.source_id
        source = record.get("source")
        if "subagent" in (source, record.get("thread_source")) or "subagent" in object_in(source):
            self.left_out = "sub-agent"
        elif source == "exec":
            self.left_out = "one-shot run"
        found.project_path = text_at(record, "cwd")
        found.version = text_at(record, "cli_version")
        found.created_at = utc(record.get("timestamp")) or found.created_at

    def link(self) -> None:
        self._unparsed = {*DROPPED}
        self.facts.root = self.facts.root or self.facts.source_id
        title = contents.title(_titles(self.path).get(self.facts.source_id))
        self.facts.name = title or self.facts.name

    def has_words(self) -> bool:
        if not self.ledger.total and self.path.stat().st_size:
            self.ledger.skipped["unreadable file"] += 1
            return False
        return bool(self.ledger.total)

    def said(self, lines: Iterator[Entry]) -> Iterator[p.Item]:
        found = self.facts
        talk = CodexTalk(found.source_id, found.root, self.ledger, self._seen, self._undone)
        return talk.messages(lines)


class _OldRollout(_Rollout):
    """One of the oldest files, which are one object."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        value = object_in(json_lines.whole(path))
        self._items = value.get("items")
        self.add_header(object_at(value, "session"))

    def lines(self) -> Iterator[tuple[RawLine, Entry | None]]:
        for item in counted_objects(self._items, self.ledger, "unknown record"):
            yield RawLine(0, 0, b"", last=False), entry_in(item)

    def has_words(self) -> bool:
        if not self.ledger.read:
            self.ledger.skipped["unreadable file"] += 1
        return self.ledger.read > 0


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
    return {text_at(line, "id"): text_at(line, "thread_name") for line in lines}


READER = p.Reader("codex", "Codex", _find, _recognises, _read, revision=1)
