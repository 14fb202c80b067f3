"""gptme's conversations: a folder each, with a file of lines for the main branch and each other.

Calls are in the text of answers; results are messages of the system.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import joined, placeholder
from tui.importers.formats import FolderFormat, Reading, Talk, line_values
from tui.importers.json_lines import FILE_BYTES, items_in, text_in
from tui.importers.json_paths import text_at
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc_of_local

_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-.*")
"""A name that gptme has made up."""
_INJECTED = re.compile(r"\s*<system>.*</system>\s*", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_CALL = re.compile(r"^@([\w.]+)\(([\w\-:.]+)\):\s*(?=\{)", re.MULTILINE)


class Gptme(FolderFormat):
    """gptme, whose branches are files that repeat what they have in common."""

    program = title = "gptme"
    lines_name = "conversation.jsonl"
    facts_name = "config.toml"
    source_id = ()
    name = ("chat.name", "given")
    project = ("workspace",)
    model = ("chat.model",)
    # Folders of two machines may have the same name; the first prompt has its time.
    compared = 1
    roles = {"user": "user", "assistant": "assistant", "system": "tool"}
    time = ()
    said_by = ("metadata.model",)
    sent = ("metadata.usage.input_tokens",)
    received = ("metadata.usage.output_tokens",)
    parent = ("before",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folder = places.named("GPTME_LOGS_HOME", places.data / "gptme" / "logs")
        for path in places.glob(folder, f"*/{self.lines_name}"):
            yield p.Source.of(path.parent, *self.parts(path))

    def parts(self, path: Path) -> Iterable[Path]:
        lines, config = super().parts(path)
        return lines, config, *sorted((lines.parent / "branches").glob("*.jsonl"))

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.name == self.lines_name or (path / self.lines_name).is_file()

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        lines, config, *_ = self.parts(source.path)
        name, facts = lines.parent.name, _config(config)
        workspace = text_at(facts, "chat.workspace")
        if workspace.startswith("~/"):
            workspace = str(Path(workspace).expanduser())
        facts |= {"given": "" if _DATED.fullmatch(name) else name, "workspace": workspace}
        yield Talk(path=lines, facts=facts, records=lambda _: (), name=name)

    def tree(self, reading: Reading) -> Iterator[p.Item]:
        """All branches as one tree, of which the main one is shown."""
        turns: dict[str, TreeTurn] = {}
        lines, _, *branches = self.parts(reading.talk.path)
        leaf = self._add_branch(turns, lines, reading)
        for path in branches:
            self._add_branch(turns, path, reading)
        return linked(turns.values(), leaf)

    def _add_branch(self, turns: dict[str, TreeTurn], path: Path, reading: Reading) -> str:
        """Add what is new in a branch; gives its last record."""
        ids, skipped = MadeIds(reading.heading.source_id), reading.ledger.skipped
        before, is_begun = "", False
        for record in line_values(path, reading.ledger):
            role, text = record.get("role"), text_at(record, "content")
            is_begun = is_begun or role == "user"
            name = ids.make(role, text, record.get("timestamp"))
            if name in turns:
                skipped["duplicate"] += 1
            elif not is_begun:
                skipped["system prompt"] += 1
                turns[name] = TreeTurn(name, before)
            else:
                turns[name] = TreeTurn(name, before, self.said(record, name, reading))
            before = name
        return before

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        role, text = self.role_of(record), text_at(record, "content")
        is_injected = role == "user" and _INJECTED.fullmatch(text)
        reading.ledger.count(
            role and not is_injected, "injected text" if is_injected else "unknown role"
        )
        if role is None or is_injected:
            return ()
        text, calls = _without_calls(text) if role == "assistant" else (text, ())
        files = [
            placeholder("file", Path(text_in(each)).name) for each in items_in(record.get("files"))
        ]
        return (
            replace(
                self.whole(record, name, role, reading),
                content=joined([text, *files]) if files else text,
                timestamp=utc_of_local(record.get("timestamp")),
                tool_calls=calls,
                tool_call_id=(text_at(record, "call_id") or name) if role == "tool" else None,
                model=text_at(record, *self.said_by) or None,
            ),
        )


def _config(path: Path) -> p.Json:
    try:
        return tomllib.loads(read_bounded(path, FILE_BYTES, follow=True).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}


def _without_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Take calls with an id out of a text: ``@tool(id): {…}``. All others stay."""
    calls: list[ToolCall] = []
    kept: list[str] = []
    place = 0
    for match in _CALL.finditer(text):
        if match.start() < place:
            continue
        try:
            arguments, end = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        calls.append(ToolCall(match[2], match[1], arguments))
        kept.append(text[place : match.start()])
        place = end
    return ("".join([*kept, text[place:]]).strip() if calls else text), tuple(calls)


READER = Gptme().reader()
