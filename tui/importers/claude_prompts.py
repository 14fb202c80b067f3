"""Claude Code's history of prompts: all that is left of the sessions that it has deleted."""

import re
from array import array
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tui.domain.imports import PROMPTS_ONLY
from tui.domain.journal.message import TEXT_BYTES, Role
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.folders import matching
from tui.importers.formats import Format, Reading, Talk
from tui.importers.json_lines import UNREADABLE, decode, object_in, raw_lines, text_in
from tui.importers.made_ids import made_id
from tui.importers.two_passes import OBJECTS, Place, read_again

_PASTED = re.compile(r"\[(?:Pasted text|\.{3}Truncated text) #(\d+)(?: \+\d+ lines)?\.*\]")
_HASH = re.compile(r"[0-9a-f]{8,64}")
_ENDING = re.compile(
    r"\s*(?:/(?:clear|reset|new|resume|continue|exit|quit)(?:\s.*)?|exit|quit|:w?q!?)\s*", re.DOTALL
)
"""Commands after which another session begins."""
_COMMAND = re.compile(
    r"\s*/(?:[\w:.-]+|(?:add-dir|agents|bashes|branch|bug|color|compact|config|context|copy|cost"
    r"|doctor|effort|export|feedback|help|hooks|ide|login|logout|mcp|memory|model|output-style"
    r"|permissions|plugin|rename|rewind|sandbox|skills|stats|status|tag|tasks|theme|todos|usage"
    r"|vim|voice)\s.*)\s*",
    re.DOTALL,
)
"""Commands without words for a model: all without arguments, and the program's own."""
_NO_PROMPT = "command"
_PAUSE = 4 * 60 * 60 * 1000
"""Milliseconds after which a line that names no session begins another one."""


class _Group(msgspec.Struct):
    """The lines of one session."""

    facts: p.Json
    ledger: p.Ledger
    numbers: Any
    """Two of each line."""
    marks: set[int]
    """What tells lines that are there twice."""


class PromptHistory(Format):
    """The prompts that Claude Code keeps when it deletes a session."""

    program, title = "claude-code", "Claude Code"
    source_id = ("sessionId",)
    name = content = ("display",)
    project = ("project",)
    created = time = ("timestamp",)
    updated = ("last",)

    def is_named(self, path: Path) -> bool:
        """Tell a history from the files of sessions, which have their ids as names."""
        return path.suffix == ".jsonl" and path.name.startswith("history")

    def recognises(self, path: Path, head: bytes) -> bool:
        return self.is_named(path) and head.startswith(b'{"display":')

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        there = {path.stem for path in matching(source.path.parent, "projects/*/*.jsonl", [])}
        for name, group in _groups(source.path, ledger).items():
            facts = {**group.facts, "sessionId": name, "there": name in there}
            lines = partial(_lines, source.path, group.numbers)
            yield Talk(path=source.path, facts=facts, records=lines, ledger=group.ledger)

    def left_out(self, facts: p.Json) -> str:
        otherwise = "" if "display" in facts else _NO_PROMPT
        return p.IN_WHOLE_SESSION if facts["there"] else otherwise

    def heading(self, talk: Talk) -> p.Heading:
        heading = super().heading(talk)
        return replace(heading, name=f"{PROMPTS_ONLY}{heading.name}", prompts_only=True)

    def role_of(self, record: p.Json) -> Role | None:
        return None if _is_command(record["display"]) else "user"

    def reason_without_role(self, record: p.Json) -> str:
        return _NO_PROMPT

    def id_of(self, record: p.Json, reading: Reading) -> str:
        return reading.ids.make(record.get("timestamp"), record["display"])

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[str]:
        """The words of a line, with what was pasted into them as far as that is there."""
        pasted = object_in(record.get("pastedContents"))
        cache = reading.talk.path.parent / "paste-cache"

        def content(mark: re.Match[str]) -> str:
            found = object_in(pasted.get(mark[1]))
            return text_in(found.get("content")) or _cached(cache, found) or mark[0]

        yield _PASTED.sub(content, record["display"])


def _groups(path: Path, ledger: p.Ledger) -> dict[str, _Group]:
    """The lines of each session; those that name none are one up to a pause in their project."""
    groups: dict[str, _Group] = {}
    unnamed: dict[str, tuple[str, float]] = {}
    for raw in raw_lines(path):
        line = decode(raw.data, OBJECTS) if raw.is_whole else None
        display = line.get("display") if line else None
        if line is None or not isinstance(display, str):
            ledger.skipped[raw.damage if line is None else UNREADABLE] += 1
            continue
        project, told = text_in(line.get("project")), line.get("timestamp")
        name, time = text_in(line.get("sessionId")), told if isinstance(told, int | float) else 0
        if not name:
            name, last = unnamed.get(project, ("", time))
            if not name or time - last > _PAUSE:
                name = made_id(project, time, display)
            unnamed[project] = "" if _ENDING.fullmatch(display) else name, max(time, last)
        if (group := groups.get(name)) is None:
            facts = {"project": project, "timestamp": told}
            group = groups[name] = _Group(facts, p.Ledger(), array("q"), set())
        if (mark := hash((time, display))) in group.marks:
            group.ledger.skipped["duplicate"] += 1
            continue
        group.marks.add(mark)
        group.numbers.extend((raw.offset, raw.length))
        group.facts["last"] = told
        if not _is_command(display):
            group.facts.setdefault("display", display[:200])
    return groups


def _lines(path: Path, places: Any, _: p.Ledger) -> Iterator[p.Json]:
    numbers = iter(places)
    with read_again(path, OBJECTS) as line_at:
        yield from map(line_at, map(Place, numbers, numbers))


def _is_command(display: str) -> bool:
    return bool(_COMMAND.fullmatch(display) or _ENDING.fullmatch(display))


def _cached(cache: Path, pasted: p.Json) -> str:
    """A long text that was pasted, from its file; ``""`` if Claude Code has deleted it."""
    name = text_in(pasted.get("contentHash"))
    with suppress(OSError):
        # A hash leads to no other folder.
        if _HASH.fullmatch(name):
            data = read_bounded(cache / f"{name}.txt", TEXT_BYTES, follow=True)
            return data.decode("utf-8", "replace")
    return ""


HISTORY = PromptHistory()
