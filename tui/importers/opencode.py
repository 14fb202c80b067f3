"""Sessions of opencode: its database, its older JSON files, and what it exports."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tui.importers.databases import MAGIC, Database, found, has, is_database, opened, schema
from tui.importers.json_file import content
from tui.importers.json_lines import object_in, objects_in, parse, text_in, whole, whole_if_there
from tui.importers.opencode_messages import Stored, conversation, exported
from tui.importers.protocol import Conversation, Json, Ledger, Places, Reader, Source

_SESSION = (
    *("id", "parent_id", "directory", "title", "version", "revert"),
    *("time_created", "time_updated", "data"),
)


def _find(places: Places) -> Iterator[Source]:
    folder = places.data / "opencode"
    databases = {*places.glob(folder, "opencode.db"), *places.glob(folder, "opencode-*.db")}
    named = places.environment.get("OPENCODE_DB", "").strip()
    if named and named != ":memory:":
        databases.add(folder / Path(named).expanduser())
    yield from found(*sorted(databases))
    # After the database: what was moved into it is there as it was then.
    for path in places.glob(folder, "storage/session/*/*.json"):
        yield Source.of(path, *_parts(path))
    for path in places.glob(folder, "project/*/storage/session/info/*.json"):
        yield Source.of(path, *_parts(path))


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


def _read(source: Source, ledger: Ledger) -> Iterator[Conversation]:
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
        yield exported(object_in(found.fields.get("info")), found.records)
    elif not ledger.total:
        ledger.skipped["conversation without messages"] += 1


def _read_session(path: Path, ledger: Ledger) -> Iterator[Conversation]:
    info = object_in(whole(path))
    messages = _messages_of(path) or _named(_storage(path) / "message", info)
    # Parts that are not in folders of their messages, as the first versions kept them.
    loose: dict[str, list[Json]] = {}
    for part in map(_object, _files(_storage(path) / "part")):
        loose.setdefault(text_in(part.get("messageID")), []).append(part)
    stored = [_stored(path, message, loose) for message in messages]
    if info.get("parentID"):
        ledger.skipped["sub-agent"] += len(stored)
        return
    if not info and not stored:
        ledger.skipped["damaged file"] += 1
        return
    if not info.get("directory"):
        info = {**info, "directory": _directory(stored)}
    listed = objects_in(whole_if_there(_todos_of(path)))
    yield conversation(path.stem, info, lambda _: stored, listed)


def _stored(path: Path, message: Path, loose: dict[str, list[Json]]) -> Stored:
    info = _object(message)
    parts = _files(_parts_of(path, message)) or _named(_storage(path) / "part", info)
    found = [_object(part) for part in parts] or loose.get(text_in(info.get("id")), [])
    return Stored(message.stem, info, found)


def _object(path: Path) -> Json:
    return object_in(whole_if_there(path))


def _directory(stored: list[Stored]) -> str:
    """The working directory, which older sessions have in their answers."""
    paths = (object_in(message.info.get("path")) for message in stored)
    return next((text_in(path["cwd"]) for path in paths if path.get("cwd")), "")


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


def _named(folder: Path, info: Json) -> list[Path]:
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


def _read_database(database: Database, ledger: Ledger) -> Iterator[Conversation]:
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
        yield conversation(name, info, partial(_rows, database, name), listed)


def _session(row: Json) -> Json:
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


def _rows(database: Database, session: str, ledger: Ledger) -> Iterator[Stored]:
    columns = ["id", "data", "time_created"]
    messages = database.rows("message", columns, ledger, equal={"session_id": session})
    for row in messages:
        name = text_in(row.get("id"))
        info = _object_of(row.get("data"))
        if info and not info.get("time"):
            info["time"] = {"created": row.get("time_created")}
        parts = database.rows("part", ["data"], ledger, equal={"message_id": name}, order=["id"])
        yield Stored(name, info, [_object_of(part.get("data")) for part in parts])


def _object_of(data: object) -> Json:
    """The object of a column, which is text or bytes."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    return object_in(parse(data)) if isinstance(data, bytes) else {}


READER = Reader("opencode", "opencode", _find, _recognises, _read, several=True, parts=_parts)
