"""The tree of a file of Claude Code: places and links, without the words.

An answer of the model is written as a line for each of its blocks, and the results of tools as
lines of the user. All of these are one step here, or parallel calls would look like branches.
"""

import os
import re
from array import array
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from tui.files import open_regular
from tui.importers import contents
from tui.importers.claude_code_lines import (
    Line,
    Parts,
    is_notice,
    line_of,
    model_of,
    own_words,
    parts_of,
    says_interrupted,
)
from tui.importers.json_elements import element_lines
from tui.importers.json_lines import RawLine, object_in, raw_lines, text_in
from tui.importers.kinds import skipped
from tui.importers.made_ids import made_id
from tui.importers.protocol import Heading, Ledger
from tui.importers.times import utc
from tui.importers.trees import Node, Order, in_order, nearest
from tui.importers.two_passes import Facts, Place

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SKIPPED = re.compile(
    "system|progress|attachment|started|result|mode|tag|task-summary|speculation-accept|atis-latch"
    "|permission-mode|queue-operation|worktree-state|bridge-session|content-replacement"
    "|agent-(color|setting)|(frame|pr)-link|(file-history|attribution)-snapshot"
    "|marble-origami-(commit|snapshot)|tool_(use|result)"
)
_UNWANTED = re.compile(
    rb'"type":"(progress|file-history-snapshot|attribution-snapshot|content-replacement)"'
)
_HEAD = 4096
_TITLES = ("custom_title", "agent_name", "ai_title")


class Step(msgspec.Struct, gc=False):
    """A prompt, or an answer with the results of its tools."""

    is_answer: bool
    numbers: Any
    """Three of each of its lines: a file may have hundreds of thousands."""
    summaries: tuple[Place, ...] = ()
    """The lines with summaries of all up to this step."""
    interrupted: bool = False

    @property
    def lines(self) -> Iterator[Place]:
        """The places of its lines."""
        numbers = iter(self.numbers)
        return map(Place, numbers, numbers, numbers)


class FileIndex(msgspec.Struct, frozen=True):
    """A file that was looked through."""

    heading: Heading
    order: Order
    """The steps by their keys, such that the shown branch comes last."""
    steps: dict[str, Step]
    ledger: Ledger


def id_of(line: Line, number: int, file: str) -> str:
    """The id of a line; a fork of a conversation has it in common with the original."""
    origin = object_in(line.forked_from).get("messageUuid")
    # Files of lines without ids may be written anew.
    name = text_in(origin) or text_in(line.uuid) or f"~{number}-{made_id(line.message)}"
    return name if _UUID.fullmatch(name) else f"{file}:{name}"


class Tree:
    """Looks through a file once, and is dropped then. Raises ``OSError``."""

    def __init__(self, path: Path) -> None:
        self.ledger = Ledger()
        self.steps: dict[str, Step] = {}
        """By the uuid of their first lines, in the order of the file."""
        self.root = ""
        """The id of the first message, which copies and forks of the conversation share."""
        self._path = path
        self._name = path.stem
        """Of the conversation; with a mark of its first message unless it is unique by itself."""
        self._parents: dict[str, str] = {}
        self._of: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        self._calls: dict[str, str] = {}
        self._unlinked: dict[str, str] = {}
        self._roots: list[str] = []
        self._is_linked = True
        self._before = ""
        self._number = 0
        self._interruptions: list[str] = []
        self._summaries: list[tuple[str, Place]] = []
        self._facts = _LineFacts()
        self._leaf = ""
        self._is_explicit = False
        for raw in self._lines():
            line = line_of(raw.data) if raw.is_whole else None
            if line is not None:
                self._number += 1
                self._count(self._reason(line, raw))
            elif not raw.is_whole and (unwanted := _UNWANTED.search(raw.data)):
                self._count(unwanted[1].decode())
            else:
                self._count(raw.damage)
        self._link()

    def index(self) -> FileIndex:
        """Give what is needed to read the file."""
        before = {key: self._step_before(key) for key in self.steps}
        newest = self._step_at(self._before)
        leaf = self._step_at(self._leaf) if self._leaf in self._parents else ""
        if not leaf or (not self._is_explicit and leaf in _ancestors(before, newest)):
            leaf = newest
        order = in_order((Node(key, parent) for key, parent in before.items()), leaf)
        return FileIndex(self._heading(), order, self.steps, self.ledger)

    def _heading(self) -> Heading:
        facts = self._facts.found
        facts.source_id, facts.root = self._name, self.root
        facts.name = self._facts.name(self._parents)
        return facts.heading()

    def _lines(self) -> Iterator[RawLine]:
        if self._path.suffix != ".json":
            yield from raw_lines(self._path, wanted=_is_wanted)
            return
        with os.fdopen(open_regular(self._path, follow=True), "rb") as stream:
            yield from element_lines(stream, self.ledger, ["loglines"])

    def _count(self, reason: str) -> None:
        self.ledger.count(not reason, reason)

    def _reason(self, line: Line, raw: RawLine) -> str:
        """Take a line in; the reason if it is skipped."""
        if line.is_sidechain is True:
            return "sub-agent"
        if not line.role and not isinstance(line.uuid, str):
            if line.type == "last-prompt":
                leaf, explicit = text_in(line.leaf_uuid), line.explicit is True
                if leaf:
                    self._is_explicit = explicit or (self._is_explicit and leaf == self._leaf)
                    self._leaf = leaf
                return ""
            return "" if self._facts.add_title(line) else skipped(line.type, _SKIPPED)
        key = text_in(line.uuid) or f"~{self._number}"
        if key in self._of:
            return "duplicate"
        self._add_link(key, line)
        self._before = key
        self._is_explicit = False
        if line.subtype == "compact_boundary":
            self._leaf = ""
        if not line.role:
            return skipped(line.type, _SKIPPED)
        self._facts.add(line)
        # Files that were exported or moved are all called session.json or the like.
        if self._name == self._path.stem and not _UUID.fullmatch(self._name):
            self._name += f"-{sha256(raw.data).hexdigest()[:12]}"
        parts = parts_of(line, self.ledger)
        add = self._add_answer if line.role == "assistant" else self._add_prompt
        return add(key, line, parts, raw)

    def _add_link(self, key: str, line: Line) -> None:
        parent = line.parent_uuid
        if not parent and line.logical_parent_uuid:
            parent = line.logical_parent_uuid
        if isinstance(parent, str) and parent not in ("", key):
            # The same text once: it is mostly the line before.
            self._parents[key] = self._before if parent == self._before else parent
            if parent not in self._parents:
                self._unlinked[key] = self._before
            return
        self._parents[key] = self._before
        if parent is None and line.role == "assistant":
            self._is_linked = False

    def _add_answer(self, key: str, line: Line, parts: Parts, raw: RawLine) -> str:
        if is_notice(line, parts):
            return "notice"
        if not parts.calls and not any(map(str.strip, parts.texts)):
            return "thinking" if parts.thinks else "empty message"
        group = text_in(object_in(line.message).get("id")) or key
        start = self._answers.setdefault(group, key)
        self._add(start, key, line, raw)
        for call in parts.calls:
            self._calls.setdefault(text_in(call.get("id")) or key, start)
        return ""

    def _add_prompt(self, key: str, line: Line, parts: Parts, raw: RawLine) -> str:
        if line.is_compact_summary is True:
            self._summaries.append((key, Place(raw.offset, raw.length, self._number)))
            return ""
        interrupted = line.is_meta is not True and says_interrupted(parts)
        if interrupted:
            self._interruptions.append(key)
        if parts.results:
            self._add(self._caller(key, parts.results[0].get("tool_use_id")), key, line, raw)
            return ""
        if line.type == "user" and line.parent_uuid is None and not line.logical_parent_uuid:
            self._roots.append(key)
        if own_words(line, parts):
            self._add(key, key, line, raw)
            return ""
        if interrupted:
            return ""
        return "injected text" if any(map(str.strip, parts.texts)) else "empty message"

    def _caller(self, key: str, call: Any) -> str:
        if (known := self._calls.get(text_in(call))) is not None:
            return known
        before = self._step_before(key)
        return before if before and self.steps[before].is_answer else key

    def _add(self, start: str, key: str, line: Line, raw: RawLine) -> None:
        self._of[key] = start
        step = self.steps.get(start)
        if step is None:
            step = self.steps[start] = Step(line.role == "assistant", array("q"))
            self.root = self.root or id_of(line, self._number, self._name)
        step.numbers.extend((raw.offset, raw.length, self._number))

    def _link(self) -> None:
        for key, before in self._unlinked.items():
            if self._parents[key] not in self._parents:
                self._parents[key] = before
        # A file whose answers follow nothing has no links; else these are edited first prompts.
        if self._is_linked:
            self._parents.update(dict.fromkeys(self._roots, ""))
        for key in self._interruptions:
            step = self.steps.get(self._step_at(key))
            if step and step.is_answer:
                step.interrupted = True
        for key, summary in self._summaries:
            if step := self.steps.get(self._step_at(key)):
                step.summaries = (*step.summaries, summary)
            else:
                # Its messages are in another file, or gone.
                self._of[key] = key
                self.steps[key] = Step(is_answer=True, numbers=array("q", summary))

    def _step_at(self, key: str) -> str:
        """The step of a line, or else of the nearest one that it follows; ``""`` for none."""
        return self._of.get(nearest(key, self._parents, self._of), "")

    def _step_before(self, key: str) -> str:
        """The step that the one of a line follows."""
        own = self._of.get(key, key)
        at, passed = self._parents.get(key, ""), {key}
        while at and at not in passed:
            passed.add(at)
            found = self._of.get(at, own)
            if found != own:
                return found
            at = self._parents.get(at, "")
        return ""


class _LineFacts:
    """The facts of a heading, as they are found."""

    def __init__(self) -> None:
        self.found = Facts("")
        self._titles: dict[str, str] = {}
        self._summaries: dict[str, str] = {}

    def add(self, line: Line) -> None:
        found = self.found
        found.project = found.project or text_in(line.cwd)
        found.version = text_in(line.version) or found.version
        found.model = model_of(line) or found.model
        time = utc(line.timestamp)
        found.created = found.created or time
        found.updated = time or found.updated

    def add_title(self, line: Line) -> bool:
        """Add the title or the directory that a line gives; false if it gives none."""
        if line.type == "relocated" and isinstance(line.relocated_cwd, str):
            self.found.project = line.relocated_cwd
            return True
        if line.type == "summary" and isinstance(line.summary, str):
            self._summaries[text_in(line.leaf_uuid)] = line.summary
            return True
        for field in _TITLES:
            if isinstance(value := getattr(line, field), str):
                self._titles[field] = value
                return True
        return False

    def name(self, known: dict[str, str]) -> str:
        """The best title; a summary of another file's messages only if there is no other."""
        given = [self._titles.get(field, "") for field in _TITLES]
        own = [text for leaf, text in self._summaries.items() if leaf in known]
        titles = [*given, *reversed(own), *reversed(self._summaries.values())]
        return next((name for title in titles if (name := contents.title(title))), "")


def _is_wanted(head: bytes) -> bool:
    return not _UNWANTED.search(head[:_HEAD])


def _ancestors(before: dict[str, str], key: str) -> Iterator[str]:
    passed: set[str] = set()
    while key and key not in passed:
        passed.add(key)
        yield key
        key = before[key]
