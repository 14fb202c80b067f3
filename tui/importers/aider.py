"""aider's histories: a Markdown file in each project, to which all of its chats are appended.

Its unit is the line. Prompts and the program's output are marked at the beginning of a line; only a
code fence tells an answer that has such lines itself. Output of several lines has the mark only
at the first, and two spaces behind the last.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tui.domain.journal.message import Role
from tui.importers import protocol as p
from tui.importers.json_lines import TOO_LONG, raw_lines
from tui.importers.made_ids import MadeIds, first_ids, made_id
from tui.importers.times import utc_of_local

_NAME = ".aider.chat.history.md"
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_MODEL = re.compile(r"> (?:Main model|Models?): (\S+)")
_ENDED = re.compile(r"\S  \r?$")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_TOKENS = "> Tokens: "
"""Begins the line that ends an answer."""
_COMMAND = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
_ENDS_OUTPUT = ("#### ", "# aider chat started at ", _TOKENS)
"""Begin lines that no output goes on over."""
_ASKING = {"ask", "code", "architect"}
"""The commands that are followed by a prompt."""


def _find(places: p.Places) -> Iterator[p.Source]:
    named = places.named("AIDER_CHAT_HISTORY_FILE", places.home / _NAME)
    near = [
        path for depth in ("[!.]*", "[!.]*/[!.]*") for path in places.home.glob(f"{depth}/{_NAME}")
    ]
    known = places.in_projects(_NAME)
    for path in dict.fromkeys((named, places.home / _NAME, *sorted(near), *known)):
        if path.is_file():
            yield p.Source.of(path)


def _recognises(path: Path, head: bytes) -> bool:
    return path.name == _NAME or (path.suffix == ".md" and b"# aider chat started at " in head)


class _Turn(NamedTuple):
    """What somebody said; ``""`` where it was the program's output."""

    role: Role
    text: str
    whole: str
    """With such output among it: ids are made of it."""


class _Chat(NamedTuple):
    """The lines of a chat, and when it was started."""

    start: str
    lines: list[str]


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    for chat in _chats(source.path, ledger):
        counts = p.Ledger()
        messages = list(_messages(chat, counts))
        if any(said.text for said in messages):
            name = made_id(chat.start, (messages[0].role, messages[0].whole))
            models = [found[1] for line in chat.lines if (found := _MODEL.match(line))]
            heading = p.Heading(
                source_id=name,
                project_path=str(source.path.absolute().parent),
                created_at=utc_of_local(chat.start) if chat.start else None,
                model=models[-1] if models else "",
                beginning=() if chat.start else first_ids(_items(chat, name, messages)),
            )
            yield p.Conversation(heading, partial(_items, chat, name, messages), counts)
        else:
            ledger.add(counts)


def _chats(path: Path, ledger: p.Ledger) -> Iterator[_Chat]:
    """Divide a file into chats; lines before the first one are one, too."""
    chat = _Chat("", [])
    for line in raw_lines(path):
        if not line.is_whole:
            ledger.skipped[TOO_LONG] += 1
            continue
        text = line.data.decode("utf-8-sig", "replace")
        if start := _START.fullmatch(text):
            if chat.lines:
                yield chat
            chat = _Chat(start[1], [])
        chat.lines.append(text)
    if chat.lines:
        yield chat


def _items(chat: _Chat, name: str, messages: list[_Turn]) -> Iterator[p.ForeignMessage]:
    ids = MadeIds(name)
    for place, (role, text, whole) in enumerate(messages):
        # A chat is appended to: by its place, an answer that was still being written is known.
        made = ids.within(str(place)) if chat.start else ids.make(role, whole)
        if text:
            yield p.ForeignMessage(made, role, text)


def _messages(chat: _Chat, ledger: p.Ledger) -> Iterator[_Turn]:
    """The prompts and answers of a chat; the lines that are neither are counted."""
    role: Role = "assistant"
    lines: list[tuple[str, bool]] = []
    fence = ""
    output = _output_behind(chat.lines)
    for number, line in enumerate(chat.lines):
        is_output = number in output
        kind, text, fence = ("assistant", line, fence) if is_output else _kind(line, fence)
        if kind != role and lines:
            yield from _said(role, lines, ledger)
            lines = []
        if kind in {"user", "assistant"}:
            role = "user" if kind == "user" else "assistant"
            lines.append((text, is_output))
        else:
            role = "assistant"
            ledger.skipped[kind] += 1
    yield from _said(role, lines, ledger)


def _kind(line: str, fence: str) -> tuple[str, str, str]:
    """The kind of a line, its text, and the code fence that is open behind it."""
    if line.startswith(_TOKENS) or _START.fullmatch(line):
        return ("program output" if line.startswith(_TOKENS) else "beginning of a chat"), line, ""
    mark = _FENCE.match(line)
    if fence:
        return "assistant", line, "" if mark and line.strip() == fence else fence
    if line.startswith("#### "):
        return "user", line[5:].rstrip("\r").removesuffix("  "), ""
    if line.startswith("> ") or line.rstrip() == ">":
        return "program output", line, ""
    return "assistant", line.rstrip("\r"), mark[1] if mark else ""


def _output_behind(lines: list[str]) -> set[int]:
    """The numbers of the lines that continue the output of the line before them."""
    found: set[int] = set()
    waiting: list[int] = []
    for number, (before, line) in enumerate(pairwise(lines), 1):
        begins = before.startswith("> ") and not _ENDED.search(before)
        begins = begins and bool(line.strip()) and not line.startswith(">")
        if line.startswith(_ENDS_OUTPUT):
            waiting = []
        elif waiting or begins:
            waiting.append(number)
            if _ENDED.search(line):
                found.update(waiting)
                waiting = []
    return found


def _said(role: Role, lines: list[tuple[str, bool]], ledger: p.Ledger) -> Iterator[_Turn]:
    whole = "\n".join(line for line, _ in lines).strip("\n")
    text = "\n".join(line for line, is_output in lines if not is_output).strip("\n")
    if role == "user" and (command := _COMMAND.fullmatch(text)):
        # Most commands are no prompts.
        text = command[2] if command[1] in _ASKING else ""
    if role == "user":
        whole = text
    if hidden := sum(is_output for _, is_output in lines):
        ledger.skipped["program output"] += hidden
    if text.strip():
        ledger.read += len(lines) - hidden
    elif left := len(lines) - hidden:
        ledger.skipped["command" if role == "user" else "blank line"] += left
    if whole.strip():
        yield _Turn(role, text if text.strip() else "", whole)


READER = p.Reader("aider", "aider", _find, _recognises, _read, revision=1, several=True)
