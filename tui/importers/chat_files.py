"""Conversations of Jan, gptme and LM Studio: a folder or a file each."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.contents import THINKING, joined, placeholder
from tui.importers.formats import FolderFormat, JsonFile, Reading, Talk, line_values
from tui.importers.json_lines import items_in, parse_text, text_in, whole_bytes
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.made_ids import MadeIds
from tui.importers.message_blocks import Piece, Result, Unknown, call_in
from tui.importers.times import utc_of_local
from tui.importers.trees import TreeTurn, linked


class Jan(FolderFormat):
    """Jan, whose calls are among the blocks, or in the metadata of a message."""

    program, title = "jan", "Jan"
    revision = 2
    facts_name = "thread.json"
    created = ("created",)
    updated = ("updated",)
    model = ("used",)
    message_id = ("id",)
    said_by = ()
    finish = ("status",)
    statuses = {"stopped": "interrupted", "error": "failed"}
    unnamed = "call"
    mark_kind = "file"
    file_addresses = ("image_url.url",)
    unsaid = (THINKING,)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        data = [base / "Jan" / "data" for base in (places.config, places.data, places.app_support)]
        for folder in dict.fromkeys([*data, places.home / "jan"]):
            yield from self.sources(places.glob(folder, f"threads/*/{self.lines_name}"))

    def heading(self, talk: Talk) -> p.Heading:
        each = (talk.facts, *objects_at(talk.facts, "assistants"))
        models = (text_at(facts, "model.id") for facts in each)
        talk.facts["used"] = next(filter(None, models), "")
        return super().heading(talk)

    def id_of(self, record: p.Json, reading: Reading) -> str:
        if known := text_at(record, "id"):
            return reading.ids.within(known)
        said = [each for each in self._pieces(record, p.Ledger()) if not isinstance(each, Unknown)]
        return reading.ids.make(text_at(record, "role"), repr(said))

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        pieces = self._pieces(record, reading.ledger)
        if whole.role == "tool":
            texts = [str(piece) for piece in pieces if isinstance(piece, str | Unknown)]
            yield Result(text_at(record, "tool_call_id") or whole.id, joined(texts))
        else:
            yield from pieces

    def _pieces(self, record: p.Json, ledger: p.Ledger) -> Iterator[Piece]:
        yield from self.pieces_in(record.get("content"), "", ledger)
        for called in objects_at(record, "metadata.tool_calls"):
            call = call_in(object_at(called, "tool"), "call")
            yield call
            if response := object_at(called, "response"):
                yield Result(call.id, self.output(response, ledger))


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
        yield Talk(lines, facts, lambda _: (), name)

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
        return tomllib.loads(whole_bytes(path).decode("utf-8", "replace"))
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


_CUT_OFF = ("maxPredictedTokensReached", "contextLengthReached")


class LmStudio(JsonFile):
    """LM Studio; of the versions of a message, one is shown."""

    program, title = "lm-studio", "LM Studio"
    folders = (".lmstudio", ".cache/lm-studio")
    patterns = ("conversations/**/*.conversation.json",)
    suffix = ".json"
    marks = (b"messages", b"versions", b"currentlySelected")
    source_id = ("number",)
    name = ("name",)
    created = ("createdAt",)
    updated = ("assistantLastMessagedAt", "userLastMessagedAt")
    model = ("lastUsedModel.identifier",)
    content = ("blocks",)
    time = ()
    said_by = ("senderInfo.senderName", "info.identifier")
    finish = ("info.stats.stopReason",)
    statuses = {
        **dict.fromkeys(_CUT_OFF, "truncated"),
        "userStopped": "interrupted",
        "failed": "failed",
        "modelUnloaded": "failed",
    }
    sent = ("info.stats.promptTokensCount",)
    received = ("info.stats.predictedTokensCount",)
    message_id = ("own_id",)
    parent = ("before",)
    shown = ("shown",)
    kinds = {
        "toolCallRequest": "call",
        "toolCallResult": "result",
        "citationBlock": "mark",
        **dict.fromkeys(("toolStatus", "debugInfoBlock", "genInfo", "status"), "silent"),
    }

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        return {**fields, "number": path.name.removesuffix(".json").removesuffix(".conversation")}

    def records_of(self, facts: p.Json, found: list[p.Json]) -> list[p.Json]:
        versions = list(_versions(found, MadeIds(facts["number"])))
        facts["shown"] = next((each["own_id"] for each in reversed(versions) if each["shown"]), "")
        return versions

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        status, _ = super().end(record)
        return status, text_at(record, *self.finish) if status == "failed" else None

    def mark(self, name: str, block: p.Json) -> str:
        if name == "citationBlock":
            return placeholder("citation", text_at(block, "citedText"))
        size = block.get("sizeBytes")
        kind = "image" if block.get("fileType") == "image" else "file"
        return placeholder(kind, text_at(block, "fileIdentifier"), f"{size} bytes" if size else "")


def _versions(messages: Iterable[p.Json], ids: MadeIds) -> Iterator[p.Json]:
    """The versions of all messages, each with the one that it follows."""
    before = ""
    for message in messages:
        versions = objects_at(message, "versions") or [p.Json()]
        selected, shown = message.get("currentlySelected"), before
        place = selected if isinstance(selected, int) and 0 <= selected < len(versions) else 0
        for number, version in enumerate(versions):
            steps = objects_at(version, "steps")
            words = repr([version.get("content"), *(each.get("content") for each in steps)])
            named = next((text_at(each, "stepIdentifier") for each in steps), "")
            name = ids.within(named) if named else ids.make(text_at(version, "role"), words)
            infos = (object_at(each, "genInfo") for each in (*reversed(steps), version))
            yield {
                **version,
                "own_id": name,
                "before": before,
                "blocks": list(_blocks(version, steps, name)),
                "info": next(filter(None, infos), p.Json()),
                "shown": number == place,
            }
            shown = name if number == place else shown
        before = shown


def _blocks(version: p.Json, steps: list[p.Json], name: str) -> Iterator[p.Json]:
    """The blocks of a version: its own, or those of its steps."""
    yield from objects_at(version, "content")
    for step in steps:
        if step.get("type") != "contentBlock":
            yield step
            continue
        for block in objects_at(step, "content"):
            if value_at(step, "style.type") == "thinking":
                yield {"type": "thinking"}
            elif block.get("type") in ("toolCallRequest", "toolCallResult"):
                call = text_at(block, "toolCallRequestId") or f"{name}-{block.get('callId')}"
                content = block.get("content")
                yield {
                    **block,
                    "call_id": call,
                    "content": items_in(parse_text(content)) or content,
                }
            else:
                yield block
