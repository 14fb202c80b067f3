"""Lines of Claude Code's files, the words in them, and their tree: places and links without words.

An answer of the model is written as a line for each of its blocks, and the results of tools as
lines of the user. All of these are one step here, or parallel calls would look like branches.
"""

import os
import re
from array import array
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tui.files import open_regular
from tui.importers import contents
from tui.importers.json_elements import element_lines
from tui.importers.json_lines import RawLine, object_in, text_in
from tui.importers.made_ids import made_id
from tui.importers.message_blocks import Blocks, skipped
from tui.importers.protocol import Json, Ledger
from tui.importers.trees import Node, in_order, nearest
from tui.importers.two_passes import Place, Tree

_INTERRUPTED = "[Request interrupted by user"
"""Begins the notice that the user has stopped the answer before."""
_NO_ANSWER = "No response requested."
"""An answer that only fills a gap, and is no error."""
_SYNTHETIC = "<synthetic>"
_INJECTED = (
    "<command-name>", "<command-message>", "<local-command-", "<bash-stdout>", "<bash-stderr>",
    "<system-reminder>", "<task-notification>", "<ide_opened_file>", "<ide_selection>",
    "<ide_diagnostics>", "<teammate-message", "<agent-message", "<cross-session-message",
    "<channel ", "<fork-boilerplate>", "Caveat: The messages below", _INTERRUPTED,
)  # fmt: skip


class Line(msgspec.Struct, rename="camel", gc=False):
    """The wanted fields of a line; any may be of another type than it should."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = msgspec.UNSET
    logical_parent_uuid: Any = None
    forked_from: Any = None
    timestamp: Any = None
    cwd: Any = None
    version: Any = None
    message: Any = None
    attachment: Any = None
    subtype: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    is_aborted_mid_stream: Any = None
    leaf_uuid: Any = None
    explicit: Any = None
    summary: Any = None
    custom_title: Any = None
    agent_name: Any = None
    ai_title: Any = None
    relocated_cwd: Any = None

    @property
    def role(self) -> str:
        """``user`` or ``assistant``; ``""`` of a line that is no message."""
        if self.type == "attachment":
            return "user" if object_in(self.attachment).get("type") == "queued_command" else ""
        role = self.type or object_in(self.message).get("role")
        return role if role in ("user", "assistant") else ""


DECODER = msgspec.json.Decoder(Line)


class _ClaudeBlocks(Blocks):
    file_names = ("title",)
    file_types = ("source.media_type",)
    file_data = ("source.data",)


_BLOCKS = _ClaudeBlocks()


class Parts(NamedTuple):
    """The content of a line, by what its blocks are."""

    texts: list[str]
    """The words and placeholders."""
    calls: list[Json]
    results: list[Json]
    thinks: bool

    @property
    def text(self) -> str:
        return contents.joined(self.texts)


def parts_of(line: Line, ledger: Ledger) -> Parts:
    """Tell the blocks of a line apart; unknown ones are counted, those of results, too."""
    holder, name = (
        (line.message, "content") if line.type != "attachment" else (line.attachment, "prompt")
    )
    content = object_in(holder).get(name)
    if isinstance(content, str):
        return Parts([content] if content else [], [], [], thinks=False)
    texts: list[str] = []
    calls: list[Json] = []
    results: list[Json] = []
    thinks = False
    for block in contents.blocks(content):
        match _BLOCKS.kind(block):
            case "call":
                calls.append(block)
            case "result":
                results.append(block)
                _BLOCKS.count_unknown(block.get("content"), ledger)
            case "thinking":
                thinks = True
            case _:
                if words := _BLOCKS.words(block, ledger):
                    texts.append(str(words))
    return Parts(texts, calls, results, thinks)


def is_usage(line: Line) -> bool:
    """Tell whether a line has only the token counts of an answer."""
    message = object_in(line.message)
    return "usage" in message and not message.get("content")


def result_text(result: Json) -> str:
    """The text of a tool's result."""
    content = result.get("content")
    return content if isinstance(content, str) else _BLOCKS.whole_text(content, Ledger())


def own_words(line: Line, parts: Parts) -> str:
    """The user's own words, without what the program has put beside them."""
    if line.is_meta is True or line.is_compact_summary is True:
        return ""
    queued = object_in(line.attachment) if line.type == "attachment" else {}
    origin = object_in(queued.get("origin")).get("kind", "human")
    if queued.get("commandMode", "prompt") != "prompt" or origin not in ("human", "user", "cli"):
        return ""
    return contents.joined(map(_typed, parts.texts))


def _typed(text: str) -> str:
    start = text.lstrip()
    if start.startswith("<bash-input>"):
        return "!" + _element("bash-input", start)
    if start.startswith(("<command-name>", "<command-message>")):
        given = _element("command-args", start)
        return f"{_element('command-name', start)} {given}".strip() if given else ""
    return "" if start.startswith(_INJECTED) else text


def _element(name: str, text: str) -> str:
    found = re.search(f"<{name}>(.*?)</{name}>", text, re.DOTALL)
    return found[1].strip() if found else ""


def is_failure(line: Line) -> bool:
    """True for an error that the program has written as an answer."""
    synthetic = object_in(line.message).get("model") == _SYNTHETIC
    return synthetic or line.is_api_error_message is True


def model_of(line: Line) -> str:
    """The model of an answer; ``""`` for what the program wrote itself."""
    model = text_in(object_in(line.message).get("model"))
    return "" if model == _SYNTHETIC else model


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
        numbers = iter(self.numbers)
        return map(Place, numbers, numbers, numbers)


def id_of(line: Line, number: int, file: str) -> str:
    """The id of a line; a fork of a conversation has it in common with the original."""
    origin = object_in(line.forked_from).get("messageUuid")
    # Files of lines without ids may be written anew.
    name = text_in(origin) or text_in(line.uuid) or f"~{number}-{made_id(line.message)}"
    return name if _UUID.fullmatch(name) else f"{file}:{name}"


class _Links(msgspec.Struct):
    """What is known of links before the last line; no more is needed once they are made."""

    parents: dict[str, str] = {}
    of: dict[str, str] = {}
    """The steps of lines."""
    answers: dict[str, str] = {}
    calls: dict[str, str] = {}
    unlinked: dict[str, str] = {}
    roots: list[str] = []
    is_linked: bool = True
    before: str = ""
    """The line before."""
    interruptions: list[str] = []
    summaries: list[tuple[str, Place]] = []
    leaf: str = ""
    is_explicit: bool = False
    titles: dict[str, str] = {}
    leaf_titles: dict[str, str] = {}


class LineTree(Tree[Line]):
    """Looks through a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, DECODER)
        self.left_out = "sub-agent" if is_sub_agent(path) else ""
        self.steps: dict[str, Step] = {}
        """By the uuid of their first lines, in the order of the file."""
        self.kept_parts: dict[int, Parts] = {}
        self._number = 0
        self._is_named = bool(_UUID.fullmatch(path.stem))
        self._links = _Links()

    def raw(self) -> Iterator[RawLine]:
        if self.path.suffix != ".json":
            yield from super().raw()
            return
        with os.fdopen(open_regular(self.path, follow=True), "rb") as stream:
            yield from element_lines(stream, self.ledger, ["loglines"])

    def is_wanted(self, start: bytes) -> bool:
        return not _UNWANTED.search(start[:_HEAD])

    def damage(self, raw: RawLine) -> str:
        unwanted = None if raw.is_whole else _UNWANTED.search(raw.data)
        return unwanted[1].decode() if unwanted else raw.damage

    def add(self, line: Line, raw: RawLine) -> str:
        self._number += 1
        if line.is_sidechain is True:
            return "sub-agent"
        if not line.role and not isinstance(line.uuid, str):
            return self._add_fact(line)
        links, key = self._links, text_in(line.uuid) or f"~{self._number}"
        if key in links.of:
            return "duplicate"
        self._add_link(key, line)
        links.before = key
        links.is_explicit = False
        if line.subtype == "compact_boundary":
            links.leaf = ""
        if not line.role:
            return _skipped(line)
        facts = self.facts
        facts.project_path = facts.project_path or text_in(line.cwd)
        facts.version = text_in(line.version) or facts.version
        facts.model = model_of(line) or facts.model
        self.add_time(line.timestamp)
        # Files that were exported or moved are all called session.json or the like.
        if not self._is_named:
            facts.source_id += f"-{sha256(raw.data).hexdigest()[:12]}"
            self._is_named = True
        parts = parts_of(line, self.ledger)
        add = self._add_answer if line.role == "assistant" else self._add_prompt
        return add(key, line, parts, raw)

    def _add_fact(self, line: Line) -> str:
        """Add what a line says of the whole conversation."""
        links, given = self._links, [field for field in _TITLES if _has_text(line, field)]
        match line.type:
            case "last-prompt":
                leaf, explicit = text_in(line.leaf_uuid), line.explicit is True
                if leaf:
                    links.is_explicit = explicit or (links.is_explicit and leaf == links.leaf)
                    links.leaf = leaf
            case "relocated" if _has_text(line, "relocated_cwd"):
                self.facts.project_path = line.relocated_cwd
            case "summary" if _has_text(line, "summary"):
                links.leaf_titles[text_in(line.leaf_uuid)] = line.summary
            case _ if given:
                links.titles[given[0]] = getattr(line, given[0])
            case _:
                return _skipped(line)
        return ""

    def _add_link(self, key: str, line: Line) -> None:
        links, parent = self._links, line.parent_uuid
        if not parent and line.logical_parent_uuid:
            parent = line.logical_parent_uuid
        if isinstance(parent, str) and parent not in ("", key):
            # The same text once: it is mostly the line before.
            links.parents[key] = links.before if parent == links.before else parent
            if parent not in links.parents:
                links.unlinked[key] = links.before
            return
        links.parents[key] = links.before
        if parent is None and line.role == "assistant":
            links.is_linked = False

    def _add_answer(self, key: str, line: Line, parts: Parts, raw: RawLine) -> str:
        if is_failure(line) and parts.text.strip() == _NO_ANSWER:
            return "notice"
        if not parts.calls and not any(map(str.strip, parts.texts)):
            empty = "usage" if is_usage(line) else "empty message"
            return "thinking" if parts.thinks else empty
        group = text_in(object_in(line.message).get("id")) or key
        start = self._links.answers.setdefault(group, key)
        self._add_to(start, key, line, parts, raw)
        for call in parts.calls:
            self._links.calls.setdefault(text_in(call.get("id")) or key, start)
        return ""

    def _add_prompt(self, key: str, line: Line, parts: Parts, raw: RawLine) -> str:
        links = self._links
        if line.is_compact_summary is True:
            links.summaries.append((key, self.keep(line, raw, self._number)))
            return ""
        notices = (text.lstrip().startswith(_INTERRUPTED) for text in parts.texts)
        interrupted = line.is_meta is not True and any(notices)
        if interrupted:
            links.interruptions.append(key)
        if parts.results:
            caller = links.calls.get(text_in(parts.results[0].get("tool_use_id")))
            if caller is None:
                before = self._step_before(key)
                caller = before if before and self.steps[before].is_answer else key
            self._add_to(caller, key, line, parts, raw)
            return ""
        if line.type == "user" and line.parent_uuid is None and not line.logical_parent_uuid:
            links.roots.append(key)
        if own_words(line, parts):
            self._add_to(key, key, line, parts, raw)
            return ""
        if interrupted:
            return ""
        return "injected text" if any(map(str.strip, parts.texts)) else "empty message"

    def _add_to(self, start: str, key: str, line: Line, parts: Parts, raw: RawLine) -> None:
        """Add a line to the step that another line began, or begin one."""
        self._links.of[key] = start
        step = self.steps.get(start)
        if step is None:
            step = self.steps[start] = Step(line.role == "assistant", array("q"))
            # Copies and forks of the conversation have the same first message.
            facts = self.facts
            facts.root = facts.root or id_of(line, self._number, facts.source_id)
        step.numbers.extend(self.keep(line, raw, self._number))
        if raw.offset in self.kept:
            self.kept_parts[raw.offset] = parts

    def link(self) -> None:
        links = self._links
        for key, before in links.unlinked.items():
            if links.parents[key] not in links.parents:
                links.parents[key] = before
        # A file whose answers follow nothing has no links; else these are edited first prompts.
        if links.is_linked:
            links.parents.update(dict.fromkeys(links.roots, ""))
        for key in links.interruptions:
            step = self.steps.get(self._step_at(key))
            if step and step.is_answer:
                step.interrupted = True
        for key, summary in links.summaries:
            if step := self.steps.get(self._step_at(key)):
                step.summaries = (*step.summaries, summary)
            else:
                # Its messages are in another file, or gone.
                links.of[key] = key
                self.steps[key] = Step(is_answer=True, numbers=array("q", summary))
        # A summary of another file's messages only if there is no other title.
        own = [text for leaf, text in links.leaf_titles.items() if leaf in links.parents]
        titles = [links.titles.get(field, "") for field in _TITLES]
        titles += [*reversed(own), *reversed(links.leaf_titles.values())]
        self.facts.name = next((name for text in titles if (name := contents.title(text))), "")
        before = {key: self._step_before(key) for key in self.steps}
        newest = self._step_at(links.before)
        leaf = self._step_at(links.leaf) if links.leaf in links.parents else ""
        # A leaf that the newest line goes on from is none any more.
        if not leaf or (not links.is_explicit and nearest(newest, before, {leaf})):
            leaf = newest
        self.order = in_order((Node(key, parent) for key, parent in before.items()), leaf)
        self._links = _Links()

    def _step_at(self, key: str) -> str:
        """The step of a line, or else of the nearest one that it follows; ``""`` for none."""
        return self._links.of.get(nearest(key, self._links.parents, self._links.of), "")

    def _step_before(self, key: str) -> str:
        """The step that the one of a line follows."""
        own = self._links.of.get(key, key)
        at, passed = self._links.parents.get(key, ""), {key}
        while at and at not in passed:
            passed.add(at)
            found = self._links.of.get(at, own)
            if found != own:
                return found
            at = self._links.parents.get(at, "")
        return ""


def is_sub_agent(path: Path) -> bool:
    """True for the file of a sub-agent."""
    return path.name.startswith("agent-") or path.parent.name == "subagents"


def _skipped(line: Line) -> str:
    return "usage" if is_usage(line) else skipped(line.type, _SKIPPED)


def _has_text(line: Line, field: str) -> bool:
    return isinstance(getattr(line, field), str)
