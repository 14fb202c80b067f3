"""Gemini CLI: files of one object until version 0.39, and of lines since then.

Lines replace, rewind and set what the lines before them said, so nothing is known until the last.
"""

import hashlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from tui.files import read_bounded
from tui.importers import contents, json_lines
from tui.importers import protocol as p
from tui.importers.deletions import gemini_cli_days
from tui.importers.json_lines import RawLine, counted_objects, object_in, objects_in
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.made_ids import MadeIds, first_ids
from tui.importers.message_blocks import Blocks, Unknown, as_json, call_in
from tui.importers.times import utc
from tui.importers.trees import Node, in_order, nearest
from tui.importers.two_passes import OBJECTS, Place, Tree

_MARK = re.compile(rb'"projectHash"\s*:|"type"\s*:\s*"gemini"')
_CHECKPOINT = re.compile(rb'^\s*(\{\s*"history"\s*:\s*)?\[\s*\{\s*"(role|parts)"\s*:')
_HISTORY = re.compile(rb'^\s*\{\s*"history"\s*:\s*\[\s*\{\s*"role"\s*:\s*"\w+"\s*,\s*"parts"\s*:')
_SMALL_FILE_BYTES = 4 * 1024 * 1024

_INJECTED = ("/", "?", "<session_context>", "<hook_context>")
_CANCELLED = "Request cancelled"
_SAID = ("type", "content", "parts")
_ANSWERS = ("gemini", "model", "assistant")


class _GeminiBlocks(Blocks):
    kinds = {"videoMetadata": "silent", "thoughtSignature": "silent"}

    def words(self, block: p.Json, ledger: p.Ledger) -> str | Unknown | None:
        # A file may have its metadata beside it, and so more than one key.
        if "inlineData" in block or "fileData" in block:
            return self.mark("", block)
        return super().words(block, ledger)

    def mark(self, name: str, block: p.Json) -> str:
        size = contents.base64_size(value_at(block, "inlineData.data"))
        kind = text_at(block, "inlineData.mimeType", "fileData.mimeType")
        return contents.attachment(text_at(block, "fileData.displayName"), kind, size)


_BLOCKS = _GeminiBlocks()


class _AnswerEnd(NamedTuple):
    """The end of an answer, as a message after it tells of it."""

    status: str
    error: str | None = None


class _LineChat(Tree[p.Json]):
    """A file of lines, and the messages of it that are shown."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, OBJECTS)
        folder = _folder(path).name
        self.facts.source_id = f"{folder}:{path.stem}"
        self.facts.name = path.stem.removeprefix("checkpoint-") if "checkpoint" in path.stem else ""
        self._is_named_by_file = True
        """True if it has no id: its file may be written anew with another conversation."""
        self._hash = ""
        self._ids = MadeIds("")
        self._places: dict[str, Place] = {}
        """The messages with words."""
        self._notes: dict[str, _AnswerEnd] = {}
        self._summaries: dict[str, str] = {}
        """By the last messages that they stand for."""
        self._roles: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._live: dict[str, None] = {}

    def add(self, line: p.Json, raw: RawLine) -> str:
        place = self.keep(line, raw)
        for message in [line, *objects_at(line, "$set.messages", "messages")]:
            _BLOCKS.count_unknown(_said(message), self.ledger)
        if isinstance(rewound := line.get("$rewindTo"), str):
            # A message and all that follow it are undone; all messages if it is unknown.
            kept = itertools.takewhile(lambda each: each != rewound, self._live)
            self._live = dict.fromkeys(kept) if rewound in self._live else {}
        elif isinstance(line.get("id"), str):
            return self._add_message(line, place)
        elif isinstance(line.get("$set"), dict) or "sessionId" in line:
            fields = object_at(line, "$set") or line
            self._add_facts(fields)
            if isinstance(fields.get("messages"), list):
                self._set(objects_at(fields, "messages"), place._replace(number=0))
        else:
            return "unknown record"
        return ""

    def _add_facts(self, fields: p.Json) -> None:
        found = self.facts
        if own := text_at(fields, "sessionId"):
            found.source_id, self._is_named_by_file = own, False
        if fields.get("kind") == "subagent":
            self.left_out = "sub-agent"
        found.name = text_at(fields, "summary") or found.name
        found.created_at = found.created_at or value_at(fields, "startTime", "start_time")
        found.updated_at = fields.get("lastUpdated") or found.updated_at
        found.model = text_at(fields, "meta.model") or found.model
        self._hash = text_at(fields, "projectHash") or self._hash

    def _add_message(self, message: p.Json, place: Place) -> str:
        self.facts.model = text_at(message, "model") or self.facts.model
        self.facts.created_at = self.facts.created_at or message.get("timestamp")
        return self._add_said(message, place)

    def _add_said(self, message: p.Json, place: Place) -> str:
        name = text_at(message, "id") or self._ids.make(*map(message.get, _SAID))
        kind = message.get("type")
        if kind in ("info", "warning", "error"):
            return self._add_end(name, message, place)
        if name not in self._parents:
            self._parents[name] = next(reversed(self._live), "")
        self._live[name] = None
        reason = _reason(message)
        if not reason:
            self._places[name] = place
            self._roles[name] = "user" if kind == "user" else "assistant"
        return reason

    def _set(self, messages: list[p.Json], place: Place) -> None:
        """Set the whole chat: what is compacted or cut off by it is kept."""
        names = [text_at(message, "id") for message in messages]
        known = [name for name in names if name in self._live and name in self._places]
        first = names.index(known[0]) if known else len(names)
        new = [message for message in messages[:first] if not _reason(message)]
        asked = [message for message in new if message.get("type") == "user"]
        if not known and (not self._live or len(asked) > 1):
            self._live, first = {}, 0
        elif new:
            through = self._before_live().get(known[0], "") if known else self._last()
            text = contents.joined(_message_text(message) for message in asked or new)
            if through and text:
                self._summaries[through] = text
        if known:
            kept = itertools.takewhile(lambda each: each != known[-1], self._live)
            self._live = dict.fromkeys([*kept, known[-1]])
        for number, message in enumerate(messages[first:], first):
            if names[number] in self._parents:
                self._live[names[number]] = None
            else:
                self._add_said(message, place._replace(number=number))

    def link(self) -> None:
        before = self._before_live()
        nodes: list[Node] = []
        for name in self._places:
            above = nearest(self._parents.get(name, ""), self._parents, self._places)
            nodes.append(Node(name, before.get(name) or above))
        self.order = in_order(nodes, self._last())

    def _before_live(self) -> dict[str, str]:
        """The messages with words that those of the shown chat follow."""
        with_words = [name for name in self._live if name in self._places]
        return dict(zip(with_words[1:], with_words, strict=False))

    def _last(self) -> str:
        return next((name for name in reversed(self._live) if name in self._places), "")

    def _add_end(self, name: str, message: p.Json, place: Place) -> str:
        kind, last = text_at(message, "type"), self._last()
        text = _message_text(message)
        if kind == "info" and text.startswith(_CANCELLED) and self._roles.get(last) == "assistant":
            self._notes[last] = _AnswerEnd("interrupted")
            return ""
        if kind != "error" or not last:
            return kind
        if self._roles[last] == "assistant":
            self._notes[last] = _AnswerEnd("failed", text)
            return ""
        self._parents[name] = next(reversed(self._live))
        self._live[name] = None
        self._places[name] = place
        self._roles[name] = "assistant"
        self._notes[name] = _AnswerEnd("failed", text)
        return ""

    def heading(self) -> p.Heading:
        self.facts.project_path = _project(self.path, self._hash)
        return super().heading()

    def said(self, key: str, ending: str) -> Iterator[p.Item]:
        place = self._places[key]
        message, end = self.at(place), self._notes.get(key)
        if place.number >= 0:
            messages = objects_at(message, "$set.messages", "messages")
            if place.number >= len(messages):
                raise json_lines.SourceChanged
            message = messages[place.number]
        yield from _messages(message, f"{self.facts.source_id}:{key}{ending}", end)
        if key in self._summaries:
            yield p.ForeignSummary(self._summaries[key], "")


class _WholeChat(_LineChat):
    """A file that is one object."""

    def lines(self) -> Iterator[tuple[RawLine, p.Json | None]]:
        value = json_lines.whole(self.path)
        fields, messages = object_in(value), _messages_in(value)
        self._add_facts(fields)
        listed = fields.get("messages", fields.get("history", value))
        counted_objects(listed, self.ledger, "unknown record")
        for number, message in enumerate(messages):
            yield RawLine(number, 0, b"", last=False), message
        if value is None:
            self.ledger.skipped["unreadable file"] += 1

    def add(self, line: p.Json, raw: RawLine) -> str:
        _BLOCKS.count_unknown(_said(line), self.ledger)
        return self._add_message(line, self.keep(line, raw))

    def heading(self) -> p.Heading:
        heading = super().heading()
        if not self._is_named_by_file:
            return heading
        return replace(heading, beginning=first_ids(self.items()))


def _reason(message: p.Json) -> str:
    """The reason to skip a message; ``""`` if it has words."""
    kind = message.get("type")
    if kind == "user":
        if _user_text(message):
            return ""
        parts = contents.blocks(_said(message))
        answers = any("functionResponse" in part for part in parts)
        return "duplicate" if answers else "injected text"
    if kind not in _ANSWERS:
        return "unknown record"
    if _message_text(message) or objects_at(message, "toolCalls"):
        return ""
    return "thinking" if message.get("thoughts") else "empty message"


def _user_text(message: p.Json) -> str:
    """The user's own words, as they were typed."""
    typed = message.get("displayContent")
    text = (_text(typed) if typed else "") or _message_text(message)
    return "" if text.lstrip().startswith(_INJECTED) else text


def _message_text(message: p.Json) -> str:
    """The text of a message, and what stands for its files."""
    return _text(_said(message))


def _said(message: p.Json) -> Any:
    return message.get("content") or message.get("parts")


def _text(content: Any) -> str:
    return _BLOCKS.whole_text(content, p.Ledger())


def _find(places: p.Places) -> Iterator[p.Source]:
    root = places.named("GEMINI_CLI_HOME", places.home) / ".gemini" / "tmp"
    files = "*/chats/session-*.json", "*/chats/session-*.jsonl", "*/checkpoint-*.json"
    return places.sources(root, *files, wanted=Path.is_file)


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix == ".json" and path.name.startswith("checkpoint"):
        return bool(_CHECKPOINT.match(head) or _MARK.search(head))
    is_chat = _MARK.search(head) or _HISTORY.match(head)
    return path.suffix in (".json", ".jsonl") and bool(is_chat)


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    path = source.path
    yield from (_LineChat if path.suffix == ".jsonl" else _WholeChat)(path).read(ledger)


def _messages_in(value: Any) -> list[p.Json]:
    """The messages of a file; those that were saved by hand have the form of the model's."""
    fields = object_in(value)
    if "messages" in fields:
        return objects_at(fields, "messages")
    history = objects_in(fields.get("history", value))
    return [
        {
            "type": "user" if each.get("role") == "user" else "gemini",
            "parts": each.get("parts"),
            "timestamp": each.get("ts"),
            "toolCalls": _calls_in_parts(each, history[number + 1 : number + 2]),
        }
        for number, each in enumerate(history)
    ]


def _calls_in_parts(message: p.Json, following: list[p.Json]) -> list[p.Json]:
    """The calls of a message, with their results from the next one."""
    parts = [part for each in following for part in objects_at(each, "parts")]
    answers = [part for part in parts if "functionResponse" in part]
    called = [part for part in objects_at(message, "parts") if "functionCall" in part]
    return [
        {**object_at(part, "functionCall"), "result": answers[number : number + 1]}
        for number, part in enumerate(called)
    ]


def _folder(path: Path) -> Path:
    """The folder of the project that a file belongs to."""
    return path.parent.parent if path.parent.name == "chats" else path.parent


def _project(path: Path, mark: str) -> str:
    """The working directory, which only files beside the chats name."""
    folder = _folder(path)
    named = _small(folder / ".project_root").strip()
    if named:
        return named
    index = json_lines.object_of(_small(folder.parent.parent / "projects.json"))
    for project, slug in object_at(index, "projects").items():
        told = hashlib.sha256(project.encode("utf-8", "replace")).hexdigest()
        if folder.name in (slug, told) or mark == told:
            return project
    return ""


def _small(path: Path) -> str:
    try:
        return read_bounded(path, _SMALL_FILE_BYTES, follow=True).decode("utf-8", "replace")
    except OSError:
        return ""


def _messages(message: p.Json, name: str, end: _AnswerEnd | None) -> Iterator[p.ForeignMessage]:
    time = utc(message.get("timestamp"))
    if message.get("type") == "user":
        yield p.ForeignMessage(name, "user", _user_text(message), time)
        return
    counts = object_at(message, "tokens")
    found = objects_at(message, "toolCalls")
    calls = [call_in(call, f"{name}-{number}") for number, call in enumerate(found, 1)]
    is_error = message.get("type") == "error"
    cancelled = any(call.get("status") == "cancelled" for call in found)
    yield p.ForeignMessage(
        name,
        "assistant",
        None if is_error else _message_text(message) or None,
        time,
        tool_calls=tuple(calls),
        status=end.status if end else "interrupted" if cancelled else None,
        error=end.error if end else None,
        model=text_at(message, "model") or None,
        usage=contents.usage(counts.get("input"), counts.get("output"), counts.get("cached")),
    )
    for number, (call, facts) in enumerate(zip(calls, found, strict=True), 1):
        result, text = facts.get("result"), facts.get("resultDisplay")
        if result is not None:
            text = contents.joined(map(_result_text, contents.blocks(result)))
        if isinstance(text, str):
            done = utc(facts.get("timestamp")) or time
            yield p.ForeignMessage(f"{name}-{number}", "tool", text, done, tool_call_id=call.id)


def _result_text(part: p.Json) -> str:
    response = value_at(part, "functionResponse.response")
    if response is None:
        return _text(part)
    texts = (object_in(response).get(key) for key in ("output", "error", "content"))
    return next((text for text in texts if isinstance(text, str)), "") or as_json(response)


READER = p.Reader(
    "gemini-cli",
    "Gemini CLI",
    _find,
    _recognises,
    _read,
    revision=1,
    deletion=p.Deletion(gemini_cli_days, "chats/*"),
)
