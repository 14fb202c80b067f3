"""gptme's conversations: a folder each, with a file of lines for the main branch and each other.

Calls are in the text of answers; results are messages of the system.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from tui.domain.journal.message import Role, ToolCall
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import joined, placeholder, title, usage
from tui.importers.json_lines import FILE_BYTES, items_in, object_in, objects, text_in
from tui.importers.made_ids import MadeIds, first_ids
from tui.importers.times import utc_of_local

_MAIN = "conversation.jsonl"
_CONFIG = "config.toml"
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-.*")
"""A name that gptme has made up."""
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "tool"}
_INJECTED = re.compile(r"\s*<system>.*</system>\s*", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_CALL = re.compile(r"^@([\w.]+)\(([\w\-:.]+)\):\s*(?=\{)", re.MULTILINE)


def _find(places: p.Places) -> Iterator[p.Source]:
    folder = places.named("GPTME_LOGS_HOME", places.data / "gptme" / "logs")
    for path in places.glob(folder, f"*/{_MAIN}"):
        yield p.Source.of(path.parent, *_parts(path))


def _parts(path: Path) -> tuple[Path, ...]:
    files = _Files.of(path)
    return files.main, files.config, *files.branches


class _Files(NamedTuple):
    """The files of a conversation."""

    main: Path
    config: Path
    branches: list[Path]

    @classmethod
    def of(cls, path: Path) -> "_Files":
        folder = path if path.is_dir() else path.parent
        branches = sorted((folder / "branches").glob("*.jsonl"))
        return cls(folder / _MAIN, folder / _CONFIG, branches)


def _recognises(path: Path, _: bytes) -> bool:
    return path.name == _MAIN or (path / _MAIN).is_file()


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    files = _Files.of(source.path)
    heading = _heading(files)
    items = partial(_items, heading.source_id, files)
    # Folders of two machines may have the same name; the first prompt has its time.
    heading = replace(heading, beginning=first_ids(items(p.Ledger()), 1))
    yield p.Conversation.of(heading, items)


def _heading(files: _Files) -> p.Heading:
    chat = object_in(_config(files.config).get("chat"))
    folder = files.main.parent.name
    workspace = text_in(chat.get("workspace"))
    if workspace.startswith("~/"):
        workspace = str(Path(workspace).expanduser())
    given = "" if _DATED.fullmatch(folder) else folder
    return p.Heading(
        source_id=folder,
        name=title(chat.get("name")) or title(given),
        project_path=workspace if workspace.startswith("/") else "",
        model=text_in(chat.get("model")),
    )


def _config(path: Path) -> p.Json:
    try:
        return tomllib.loads(read_bounded(path, FILE_BYTES, follow=True).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}


def _items(session: str, files: _Files, ledger: p.Ledger) -> Iterator[p.Item]:
    """All branches as one tree, of which the main one is shown."""
    turns: dict[str, TreeTurn] = {}
    leaf = _add_branch(turns, files.main, session, ledger)
    for path in files.branches:
        _add_branch(turns, path, session, ledger)
    return linked(turns.values(), leaf)


def _add_branch(turns: dict[str, TreeTurn], path: Path, session: str, ledger: p.Ledger) -> str:
    """Add what is new in a branch, which repeats what it has in common with others."""
    ids = MadeIds(session)
    before = ""
    is_begun = False
    for _, record in objects(path, ledger):
        role, text = record.get("role"), text_in(record.get("content"))
        is_begun = is_begun or role == "user"
        name = ids.make(role, text, record.get("timestamp"))
        if name in turns:
            ledger.skipped["duplicate"] += 1
        else:
            message = _message(name, record, ledger) if is_begun else None
            if not is_begun:
                ledger.skipped["system prompt"] += 1
            turns[name] = TreeTurn(name, before, (message,) if message else ())
        before = name
    return before


def _message(name: str, record: p.Json, ledger: p.Ledger) -> p.ForeignMessage | None:
    role = _ROLES.get(text_in(record.get("role")))
    if role is None:
        ledger.skipped["unknown role"] += 1
        return None
    text, calls = text_in(record.get("content")), ()
    if role == "user" and _INJECTED.fullmatch(text):
        ledger.skipped["injected text"] += 1
        return None
    ledger.read += 1
    if role == "assistant":
        text, calls = _without_calls(text)
    files = [
        placeholder("file", Path(text_in(file)).name) for file in items_in(record.get("files"))
    ]
    facts = object_in(record.get("metadata"))
    counts = object_in(facts.get("usage"))
    return p.ForeignMessage(
        id=name,
        role=role,
        content=joined([text, *files]) if files else text,
        timestamp=utc_of_local(record.get("timestamp")),
        tool_calls=calls,
        tool_call_id=(text_in(record.get("call_id")) or name) if role == "tool" else None,
        model=text_in(facts.get("model")) or None,
        usage=usage(counts.get("input_tokens"), counts.get("output_tokens")),
    )


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


READER = p.Reader("gptme", "gptme", _find, _recognises, _read, parts=_parts)
