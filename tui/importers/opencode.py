"""Sessions of opencode: its database, its older JSON files, and what it exports."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import arguments, attachment, title, todos, usage
from tui.importers.databases import MAGIC, DatabaseCopy, found, has, is_database, opened, schema
from tui.importers.json_file import content
from tui.importers.json_lines import (
    UNREADABLE,
    object_in,
    objects_in,
    parse,
    text_in,
    whole,
    whole_if_there,
)
from tui.importers.times import utc

_SESSION = (
    *("id", "parent_id", "directory", "title", "version", "revert"),
    *("time_created", "time_updated", "data"),
)
_STOPPED = {"MessageAbortedError": "interrupted", "MessageOutputLengthError": "truncated"}
_WITHOUT_WORDS = {"step-start", "step-finish", "snapshot", "patch", "agent", "compaction", "retry"}


class _Stored(NamedTuple):
    """A message with its parts; an object that could not be read is empty."""

    id: str
    info: p.Json
    parts: list[p.Json]


def _conversation(
    name: str,
    info: p.Json,
    read: Callable[[p.Ledger], Iterable[_Stored]],
    listed: Iterable[p.Json] = (),
) -> p.Conversation:
    """The conversation of a session; its messages are read when they are asked for."""
    times = object_in(info.get("time"))
    heading = p.Heading(
        source_id=name,
        name=title(info.get("title")),
        project_path=text_in(info.get("directory")),
        created_at=utc(times.get("created")),
        updated_at=utc(times.get("updated")),
        version=text_in(info.get("version")),
    )
    return p.Conversation.of(heading, partial(_items, info, read, list(listed)))


def _items(
    info: p.Json,
    read: Callable[[p.Ledger], Iterable[_Stored]],
    listed: list[p.Json],
    ledger: p.Ledger,
) -> Iterator[p.Item]:
    stored = sorted(
        read(ledger),
        key=lambda each: (utc(object_in(each.info.get("time")).get("created")) or "", each.id),
    )
    turns, summaries = _turns(stored, ledger)
    undone_from = text_in(object_in(info.get("revert")).get("messageID"))
    # The message before those that were undone, else the last one.
    undone = next((turn.parent for turn in turns if turn.id == undone_from), "")
    for message in linked(turns, undone or (turns[-1].id if turns else "")):
        yield message
        if message.id in summaries:
            yield p.ForeignSummary(summaries[message.id], message.id)
    if listed:
        # One that was cancelled is not to be done.
        left = [item for item in listed if item.get("status") != "cancelled"]
        yield todos((item.get("content"), item.get("status"), None) for item in left)


def _turns(stored: list[_Stored], ledger: p.Ledger) -> tuple[list[TreeTurn], dict[str, str]]:
    """The turns, one after the other, and the summaries by the message that they reach to."""
    turns: list[TreeTurn] = []
    summaries: dict[str, str] = {}
    before = through = ""
    for message in stored:
        said = _said(message, ledger)
        if message.info.get("summary") is True and said and through:
            summaries[through] = "\n\n".join(each.content or "" for each in said)
            continue
        turns.append(TreeTurn(message.id, before, said))
        before = message.id
        through = said[-1].id if said else through
    return turns, summaries


def _said(message: _Stored, ledger: p.Ledger) -> tuple[p.ForeignMessage, ...]:
    info = message.info
    role = info.get("role")
    pieces = list(_pieces(message, ledger))
    if role not in ("user", "assistant"):
        ledger.skipped["unknown role" if info else UNREADABLE] += 1
        return ()
    is_answer = role == "assistant"
    status, error = _end(info) if is_answer else (None, None)
    chosen = object_in(info.get("model"))
    model = text_in(info.get("modelID")) or text_in(chosen.get("modelID"))
    provider = text_in(info.get("providerID")) or text_in(chosen.get("providerID"))
    whole = p.ForeignMessage(
        id=message.id,
        role=role,
        content=None,
        timestamp=utc(object_in(info.get("time")).get("created")),
        status=status,
        error=error,
        model=(f"{provider}/{model}" if provider and model else model or None)
        if is_answer
        else None,
        usage=_usage(object_in(info.get("tokens"))) if is_answer else None,
    )
    said = messages(whole, pieces)
    if not said and error:
        said = (replace(whole, content=""),)
    ledger.count(said, "empty message")
    return said


def _end(info: p.Json) -> tuple[str | None, str | None]:
    """The status of an answer, and its error."""
    error = object_in(info.get("error"))
    name = text_in(error.get("name"))
    if name in _STOPPED:
        return _STOPPED[name], None
    if error:
        return "failed", text_in(object_in(error.get("data")).get("message")) or name or "failed"
    return ("truncated" if info.get("finish") == "length" else None), None


def _usage(tokens: p.Json) -> TokenUsage | None:
    cache = object_in(tokens.get("cache"))
    cached, written = (_count(cache.get(key)) for key in ("read", "write"))
    sent = _count(tokens.get("input")) + cached + written
    received = _count(tokens.get("output")) + _count(tokens.get("reasoning"))
    return usage(sent, received, cached, written)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _pieces(message: _Stored, ledger: p.Ledger) -> Iterator[Piece]:
    """What the parts say; the results of a step come after all of its calls."""
    results: list[Result] = []
    for number, part in enumerate(message.parts):
        made, reason = _part(f"{message.id}-call-{number}", part)
        ledger.count(made, reason)
        if part.get("type") == "step-start" or any(isinstance(piece, str) for piece in made):
            yield from results
            results = []
        for piece in made:
            if isinstance(piece, Result):
                results.append(piece)
            else:
                yield piece
    yield from results


def _part(otherwise: str, part: p.Json) -> tuple[list[Piece], str]:
    """What a part says, or the reason that it says nothing here."""
    kind = text_in(part.get("type"))
    if kind == "tool":
        return _called(otherwise, part), ""
    if kind == "text" and (part.get("synthetic") is True or part.get("ignored") is True):
        return [], "injected text"
    text = _text(kind, part)
    if text.strip():
        return [text], ""
    if kind == "reasoning":
        return [], "thinking"
    known = kind in _WITHOUT_WORDS or kind in ("text", "subtask")
    return [], "part without words" if known else "unknown part" if part else UNREADABLE


def _text(kind: str, part: p.Json) -> str:
    match kind:
        case "text":
            return text_in(part.get("text"))
        case "subtask":
            return text_in(part.get("prompt"))
        case "file":
            return attachment(text_in(part.get("filename")), text_in(part.get("mime")))
        case _:
            return ""


def _called(otherwise: str, part: p.Json) -> list[Piece]:
    state = object_in(part.get("state"))
    call = ToolCall(
        text_in(part.get("callID")) or otherwise,
        text_in(part.get("tool")),
        arguments(state.get("input")),
    )
    output = state.get("output")
    result = text_in(output) or text_in(state.get("error"))
    ended = state.get("status") in ("completed", "error") or bool(result)
    return [call, Result(call.id, result)] if ended else [call]


def _exported(info: p.Json, records: list[p.Json]) -> p.Conversation:
    """The conversation of ``opencode export``."""
    stored: list[_Stored] = []
    for number, record in enumerate(records):
        facts = object_in(record.get("info"))
        name = text_in(facts.get("id")) or f"{text_in(info.get('id'))}-{number}"
        stored.append(_Stored(name, facts, objects_in(record.get("parts"))))
    first = stored[0].info if stored else {}
    name = text_in(info.get("id")) or text_in(first.get("sessionID")) or "unnamed"
    return _conversation(name, info, lambda _: stored)


def _find(places: p.Places) -> Iterator[p.Source]:
    folder = places.data / "opencode"
    databases = {*places.glob(folder, "opencode.db"), *places.glob(folder, "opencode-*.db")}
    named = places.environment.get("OPENCODE_DB", "").strip()
    if named and named != ":memory:":
        databases.add(folder / Path(named).expanduser())
    yield from found(*sorted(databases))
    # After the database: what was moved into it is there as it was then.
    for path in places.glob(folder, "storage/session/*/*.json"):
        yield p.Source.of(path, *_parts(path))
    for path in places.glob(folder, "project/*/storage/session/info/*.json"):
        yield p.Source.of(path, *_parts(path))


def _parts(path: Path) -> Iterator[Path]:
    yield path
    if path.suffix == ".json" and _is_of_a_session(path):
        yield _todos_of(path)
        for message in _messages_of(path):
            yield message
            yield from _files(_parts_of(path, message))


def _recognises(path: Path, head: bytes) -> bool:
    if head.startswith(MAGIC):
        return has(schema(path, head), "part", "message_id", "data")
    if b'"messages"' in head or b'"parts"' in head:
        return b'"sessionID"' in head and b'"info"' in head
    return path.suffix == ".json" and _is_of_a_session(path)


def _is_of_a_session(path: Path) -> bool:
    names: list[str] = ["", "", "", *path.parts]
    *_, above, folder, inner, _ = names
    if inner == "info":
        return folder == "session"
    is_stored = above.startswith("storage") or _storage(path).joinpath("message").is_dir()
    return folder == "session" and is_stored


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    path = source.path
    if is_database(path):
        with opened(path) as database:
            yield from _read_database(database, ledger)
        return
    if _is_of_a_session(path):
        yield from _read_session(path, ledger)
        return
    found = content(path, "messages", ledger)
    if found.records:
        yield _exported(object_in(found.fields.get("info")), found.records)
    elif not ledger.total:
        ledger.skipped["conversation without messages"] += 1


def _read_session(path: Path, ledger: p.Ledger) -> Iterator[p.Conversation]:
    info = object_in(whole(path))
    messages = _messages_of(path) or _named(_storage(path) / "message", info)
    # Parts that are not in folders of their messages, as the first versions kept them.
    loose: dict[str, list[p.Json]] = {}
    for part in map(_object, _files(_storage(path) / "part")):
        loose.setdefault(text_in(part.get("messageID")), []).append(part)
    stored: list[_Stored] = []
    for message in messages:
        facts = _object(message)
        parts = _files(_parts_of(path, message)) or _named(_storage(path) / "part", facts)
        found = [_object(part) for part in parts] or loose.get(text_in(facts.get("id")), [])
        stored.append(_Stored(message.stem, facts, found))
    if info.get("parentID"):
        ledger.skipped["sub-agent"] += len(stored)
        return
    if not info and not stored:
        ledger.skipped["damaged file"] += 1
        return
    if not info.get("directory"):
        # Older sessions have it in their answers.
        paths = (object_in(message.info.get("path")) for message in stored)
        directory = next((text_in(path["cwd"]) for path in paths if path.get("cwd")), "")
        info = {**info, "directory": directory}
    listed = objects_in(whole_if_there(_todos_of(path)))
    yield _conversation(path.stem, info, lambda _: stored, listed)


def _object(path: Path) -> p.Json:
    return object_in(whole_if_there(path))


def _storage(path: Path) -> Path:
    """The folder of messages, parts and to-dos: beside the one of sessions."""
    return path.parents[1] if path.parent.name == "info" else path.parents[2]


def _messages_of(path: Path) -> list[Path]:
    return _files(_storage(path) / "message" / path.stem)


def _parts_of(path: Path, message: Path) -> Path:
    folder = _storage(path) / "part"
    return (
        folder / path.stem / message.stem if path.parent.name == "info" else folder / message.stem
    )


def _named(folder: Path, info: p.Json) -> list[Path]:
    """The files of an object whose own file is not named as it: only of a folder that is there."""
    name = text_in(info.get("id"))
    with suppress(OSError):
        for each in folder.iterdir():
            if each.name == name:
                return _files(each)
    return []


def _todos_of(path: Path) -> Path:
    return _storage(path) / "todo" / path.name


def _files(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(each for each in folder.iterdir() if each.suffix == ".json")
    return []


def _read_database(database: DatabaseCopy, ledger: p.Ledger) -> Iterator[p.Conversation]:
    for row in database.rows("session", _SESSION, ledger, order=["time_created", "id"]):
        name = text_in(row.get("id"))
        info = _session(row)
        if info.get("parentID"):
            messages = database.rows("message", ["id"], ledger, equal={"session_id": name})
            ledger.skipped["sub-agent"] += sum(1 for _ in messages)
            continue
        listed = database.rows(
            "todo", ["content", "status"], ledger, equal={"session_id": name}, order=["position"]
        )
        yield _conversation(name, info, partial(_rows, database, name), listed)


def _session(row: p.Json) -> p.Json:
    times = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    return {
        **_object_of(row.get("data")),
        "parentID": row.get("parent_id"),
        "directory": row.get("directory"),
        "title": row.get("title"),
        "version": row.get("version"),
        "revert": _object_of(row.get("revert")),
        "time": times,
    }


def _rows(database: DatabaseCopy, session: str, ledger: p.Ledger) -> Iterator[_Stored]:
    columns = ["id", "data", "time_created"]
    messages = database.rows("message", columns, ledger, equal={"session_id": session})
    for row in messages:
        name = text_in(row.get("id"))
        info = _object_of(row.get("data"))
        if info and not info.get("time"):
            info["time"] = {"created": row.get("time_created")}
        parts = database.rows("part", ["data"], ledger, equal={"message_id": name}, order=["id"])
        yield _Stored(name, info, [_object_of(part.get("data")) for part in parts])


def _object_of(data: object) -> p.Json:
    """The object of a column, which is text or bytes."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    return object_in(parse(data)) if isinstance(data, bytes) else {}


READER = p.Reader("opencode", "opencode", _find, _recognises, _read, several=True, parts=_parts)
