"""Conversations of LM Studio: a file each, whose messages have versions with steps."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tui.importers import protocol as p
from tui.importers.branches import TreeTurn
from tui.importers.contents import placeholder
from tui.importers.export_files import beginning, has_key
from tui.importers.formats import JsonFile, Reading
from tui.importers.json_lines import items_in, object_in, objects_in, parse_text
from tui.importers.json_paths import text_at, value_at
from tui.importers.made_ids import MadeIds
from tui.importers.message_blocks import CALL, MARK, RESULT, SILENT

_ENDING = ".conversation.json"
_CUT_OFF = ("maxPredictedTokensReached", "contextLengthReached")


class LmStudio(JsonFile):
    """LM Studio; of the versions of a message, one is shown."""

    program, title = "lm-studio", "LM Studio"
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
    kinds = {
        "toolCallRequest": CALL,
        "toolCallResult": RESULT,
        "citationBlock": MARK,
        **dict.fromkeys(("toolStatus", "debugInfoBlock", "genInfo", "status"), SILENT),
    }

    def find(self, places: p.Places) -> Iterator[p.Source]:
        for folder in (places.home / ".lmstudio", places.home / ".cache" / "lm-studio"):
            yield from places.sources(folder, f"conversations/**/*{_ENDING}")

    def recognises(self, path: Path, head: bytes) -> bool:
        keys = b"messages", b"versions", b"currentlySelected"
        return path.suffix == ".json" and has_key(beginning(path, head), *keys)

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        return {**fields, "number": path.name.removesuffix(".json").removesuffix(".conversation")}

    def records_of(self, facts: p.Json, found: list[p.Json]) -> list[p.Json]:
        versions = list(_versions(found, MadeIds(facts["number"])))
        facts["shown"] = next((each["own_id"] for each in reversed(versions) if each["shown"]), "")
        return versions

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        return reading.talk.facts["shown"]

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
        versions = objects_in(message.get("versions")) or [p.Json()]
        selected, shown = message.get("currentlySelected"), before
        place = selected if isinstance(selected, int) and 0 <= selected < len(versions) else 0
        for number, version in enumerate(versions):
            steps = objects_in(version.get("steps"))
            words = repr([version.get("content"), *(each.get("content") for each in steps)])
            named = next((text_at(each, "stepIdentifier") for each in steps), "")
            name = ids.within(named) if named else ids.make(text_at(version, "role"), words)
            infos = (object_in(each.get("genInfo")) for each in (*reversed(steps), version))
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
    yield from objects_in(version.get("content"))
    for step in steps:
        if step.get("type") != "contentBlock":
            yield step
            continue
        for block in objects_in(step.get("content")):
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


READER = LmStudio().reader()
