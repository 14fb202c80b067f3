"""Sessions of Cursor's command line: a database of each, or else its readable copy."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import with_unique_ids
from tui.importers.contents import arguments, joined, placeholder, title
from tui.importers.databases import MAGIC, DatabaseCopy, found, has, is_database, opened, schema
from tui.importers.json_lines import items_in, object_in, objects, objects_in, parse, text_in
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc

_TRANSCRIPT = re.compile(rb'\s*\{\s*"role"\s*:\s*"\w+"\s*,\s*"message"\s*:\s*\{')
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
# Tags of one word may be the user's own, such as those of HTML.
_INJECTED = re.compile(r"\s*<[a-z]+_[a-z_]+>.*</[a-z]+_[a-z_]+>\s*", re.DOTALL)
_REDACTED = "[REDACTED]"
_REFERENCE = re.compile(rb"(?=\x20(.{32}))", re.DOTALL)
"""A field of 32 bytes: its length, and what may be the id of another blob."""

_TURNS = 8
_AGENT_TURN = 1
_PROMPT, _STEP = 1, 2
_TEXT = 1
_STEPS = {2: "tool call", 3: "thinking"}
"""Kinds of steps whose contents are not known."""
_FIXED = {1: 8, 5: 4}
"""Bytes of a value by its wire type."""


def turns(root: str, read: Callable[[str], bytes], ledger: p.Ledger) -> Iterator[p.Json]:
    """Read the prompts and answers below a root, as messages with ``role`` and ``content``."""
    for turn in _all(read(root), _TURNS):
        for agent_turn in _all(read(turn.hex()), _AGENT_TURN):
            for prompt in _all(agent_turn, _PROMPT):
                yield {"role": "user", "content": _text(read(prompt.hex()))}
            for step in _all(agent_turn, _STEP):
                for number, value in _fields(read(step.hex())):
                    if number == _TEXT:
                        yield {"role": "assistant", "content": _text(value)}
                    else:
                        ledger.skipped[_STEPS.get(number, "unknown record")] += 1


def _text(data: bytes) -> str:
    return b"".join(_all(data, _TEXT)).decode("utf-8", "replace")


def _all(data: bytes, wanted: int) -> list[bytes]:
    return [value for number, value in _fields(data) if number == wanted]


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that are bytes, with their numbers; of damaged data, those before the damage."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            _, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            yield number, data[at : at + length]
            at += length
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends; at most the ten bytes that 64 bits take."""
    value = 0
    for shift, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, at + shift + 1
    return 0, len(data)


def _find(places: p.Places) -> Iterator[p.Source]:
    for folder in _folders(places):
        stored = places.glob(folder, "chats/*/*/store.db")
        yield from found(*stored)
        known = {path.parent.name for path in stored}
        for path in places.glob(folder, "projects/*/agent-transcripts/**/*.jsonl"):
            if path.stem not in known and path.parent.name != "subagents":
                yield p.Source.of(path)


def _folders(places: p.Places) -> list[Path]:
    if named := places.environment.get("CURSOR_CONFIG_DIR", "").strip():
        return [Path(named).expanduser()]
    return [places.home / ".cursor", places.config / "cursor"]


def _recognises(path: Path, head: bytes) -> bool:
    if head.startswith(MAGIC):
        tables = schema(path, head)
        return has(tables, "blobs", "id", "data") and has(tables, "meta", "key", "value")
    return bool(_TRANSCRIPT.match(head))


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    path = source.path
    if not is_database(path):
        yield _conversation(p.Heading(path.stem), partial(_lines, path))
        return
    with opened(path) as database:
        yield _stored(path, database, ledger)


def _stored(path: Path, database: DatabaseCopy, ledger: p.Ledger) -> p.Conversation:
    facts: p.Json = {}
    for row in database.rows("meta", ["value"], ledger, equal={"key": "0"}):
        with suppress(ValueError):
            facts = object_in(parse(bytes.fromhex(text_in(row.get("value")))))
    heading = p.Heading(
        source_id=text_in(facts.get("agentId")) or path.parent.name,
        name=title(facts.get("name")),
        project_path=text_in(facts.get("workspacePath")),
        created_at=utc(facts.get("createdAt")),
        model=text_in(facts.get("lastUsedModel")),
    )
    root = text_in(facts.get("latestRootBlobId"))
    return _conversation(heading, partial(_blobs, database, root), heading.model)


def _conversation(
    heading: p.Heading, read: Callable[[p.Ledger], Iterable[p.Json]], model: str = ""
) -> p.Conversation:
    name = heading.source_id
    return p.Conversation.of(
        heading, lambda ledger: with_unique_ids(_items(name, read, model, ledger))
    )


def _lines(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    for line in objects(path, ledger):
        yield {**object_in(line.value.get("message")), "role": line.value.get("role")}


def _blobs(database: DatabaseCopy, root: str, ledger: p.Ledger) -> Iterator[p.Json]:
    """The messages that the last state refers to, in its order; of a state unknown here, all.

    Some states refer to no prompt and no answer: their turns have the words.
    """
    ids = [
        text_in(row.get("id")) for row in database.rows("blobs", ["id"], ledger, order=["rowid"])
    ]
    read = partial(_blob, database, ledger)
    shown = list(_referred(root, set(ids), read))
    said = [] if any(_is_said(read(name)) for name in shown) else list(turns(root, read, ledger))
    yield from said
    is_known = bool(shown or said)
    for name in shown if is_known else ids:
        data = read(name)
        if data.startswith(b"{"):
            yield object_in(parse(data))
    for name in set(ids) - set(shown) if is_known else ():
        if read(name).startswith(b"{"):
            ledger.skipped["message of an earlier state"] += 1


def _is_said(data: bytes) -> bool:
    return object_in(parse(data)).get("role") in ("user", "assistant")


def _blob(database: DatabaseCopy, ledger: p.Ledger, name: str) -> bytes:
    for row in database.rows("blobs", ["data"], ledger, equal={"id": name}):
        data = row.get("data")
        return data.encode("utf-8", "replace") if isinstance(data, str) else data or b""
    return b""


def _referred(root: str, ids: set[str], read: Callable[[str], bytes]) -> Iterator[str]:
    """The messages below a blob; one that was said twice is referred to twice."""
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in ids or name in seen:
            continue
        data = read(name)
        if data.startswith(b"{"):
            yield name
            continue
        seen.add(name)
        names = (match[1].hex() for match in _REFERENCE.finditer(data))
        waiting.extend(reversed([each for each in names if each in ids]))


def _items(
    name: str, read: Callable[[p.Ledger], Iterable[p.Json]], model: str, ledger: p.Ledger
) -> Iterator[p.Item]:
    ids = MadeIds(name)
    waiting: list[str] = []
    for record in read(ledger):
        role = record.get("role")
        if role not in ("user", "assistant", "tool"):
            ledger.skipped["system prompt" if role == "system" else "unreadable line"] += 1
            continue
        content = record.get("content")
        is_text = isinstance(content, str)
        blocks = [{"type": "text", "text": content}] if is_text else objects_in(content)
        made = ids.make(role, content)
        pieces = [
            piece
            for number, block in enumerate(blocks)
            for piece in _piece(made, number, block, role)
        ]
        said_by = model or None if role == "assistant" else None
        whole = p.ForeignMessage(made, "user" if role == "tool" else role, None, model=said_by)
        said = messages(whole, _paired(pieces, waiting))
        ledger.count(said, _reason(role, blocks))
        yield from said


def _reason(role: object, blocks: list[p.Json]) -> str:
    kinds = {text_in(block.get("type")) for block in blocks}
    if kinds & {"thinking", "reasoning"}:
        return "thinking"
    has_text = any(text_in(block.get("text")).strip() for block in blocks)
    return "injected text" if role == "user" and has_text else "empty message"


def _piece(name: str, number: int, block: p.Json, role: str) -> Iterator[Piece]:
    match block.get("type"):
        case "text" if role == "user":
            yield _asked(text_in(block.get("text")))
        case "text":
            text = text_in(block.get("text"))
            yield "" if text.strip() == _REDACTED else text
        case "tool_use" | "tool-call":
            call = text_in(block.get("toolCallId")) or text_in(block.get("id"))
            tool = text_in(block.get("toolName")) or text_in(block.get("name"))
            sent = arguments(block.get("args", block.get("input")))
            yield ToolCall(call or f"{name}-call-{number}", tool, sent)
        case "tool_result" | "tool-result":
            call = text_in(block.get("toolCallId")) or text_in(block.get("tool_use_id"))
            tool = text_in(block.get("toolName"))
            yield Result(call, _result(block.get("result", block.get("content"))), tool)
        case "image" | "file" as kind:
            yield placeholder(kind, text_in(block.get("filename")), text_in(block.get("mimeType")))
        case _:
            pass


def _asked(text: str) -> str:
    """The words of the user, which stand in a tag; what stands in other tags is injected."""
    found = _QUERY.findall(text)
    if found:
        return joined(found)
    return "" if _INJECTED.fullmatch(text) else text


def _result(value: object) -> str:
    if not isinstance(value, list):
        return text_in(value) or text_in(object_in(value).get("text"))
    return joined(_output(object_in(block)) for block in items_in(value))


def _output(block: p.Json) -> str:
    return text_in(block.get("text")) or placeholder(text_in(block.get("type")) or "block")


def _paired(pieces: list[Piece], waiting: list[str]) -> Iterator[Piece]:
    """Name the call of each result: the first that waits where the name is of none."""
    for piece in pieces:
        if isinstance(piece, ToolCall):
            waiting.append(piece.id)
        if isinstance(piece, Result):
            call = piece.call if piece.call in waiting else waiting[0] if waiting else piece.call
            if call in waiting:
                waiting.remove(call)
            yield piece._replace(call=call)
        else:
            yield piece


READER = p.Reader("cursor-cli", "Cursor CLI", _find, _recognises, _read)
