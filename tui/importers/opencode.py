"""Sessions of opencode: its database, its older JSON files, and what it exports."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from tui.domain.journal.message import TokenUsage
from tui.importers import json_lines
from tui.importers import protocol as p
from tui.importers.contents import attachment, joined, todos, usage
from tui.importers.databases import MAGIC, OpenDatabase, found, has, is_database, opened, schema
from tui.importers.formats import SPEAKERS, WITHOUT_MESSAGES, Format, Reading, Talk
from tui.importers.json_elements import content
from tui.importers.json_lines import UNREADABLE, object_if_there, object_in, object_of, objects_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.message_blocks import Piece, Result, call_in, unknown, unknown_block
from tui.importers.trees import TreeTurn

_SESSION = (
    *("id", "parent_id", "directory", "title", "version", "revert"),
    *("time_created", "time_updated", "data"),
)
_STOPPED = {"MessageAbortedError": "interrupted", "MessageOutputLengthError": "truncated"}
_REASONS = {
    "reasoning": "thinking",
    **dict.fromkeys(
        ("step-start", "step-finish", "snapshot", "patch", "agent", "compaction", "retry", "text",
         "subtask", "file"),
        "part without words",
    ),
}  # fmt: skip


class OpenCode(Format):
    """opencode, whose records are the parts of messages, too."""

    program = title = "opencode"
    revision = 2
    variable = "OPENCODE_DB"
    several = True
    source_id = ()
    project = ("directory",)
    created = ("time.created",)
    updated = ("time.updated",)
    model = ()
    version = ("version",)
    sub_agent = ("parentID",)
    role = ("info.role",)
    message_id = ("id",)
    roles = SPEAKERS
    time = ("info.time.created",)
    summary = ("info.summary", True)
    parent = ("before",)
    follows_on = True

    def find(self, places: p.Places) -> Iterator[p.Source]:
        name = self.program
        folder = places.data / name
        # Kilo's were opencode's before they had their own name.
        kinds = (f"{each}{end}" for each in (name, "opencode") for end in (".db", "-*.db"))
        databases = {path for kind in kinds for path in places.glob(folder, kind)}
        named = places.environment.get(self.variable, "").strip()
        if named and named != ":memory:":
            databases.add(folder / Path(named).expanduser())
        yield from found(*sorted(databases))
        # After the database: what was moved into it is there as it was then.
        files = "storage/session/*/*.json", "project/*/storage/session/info/*.json"
        yield from places.sources(folder, *files, parts=self.parts)

    def parts(self, path: Path) -> Iterator[Path]:
        yield path
        if path.suffix == ".json" and _is_of_a_session(path):
            yield _storage(path) / "todo" / path.name
            for message in _files(_storage(path) / "message" / path.stem):
                yield message
                yield from _files(_parts_of(path, message))

    def recognises(self, path: Path, head: bytes) -> bool:
        is_of_kilo = path.name.startswith("kilo") or "kilo" in path.parts
        if is_of_kilo != (self.program == "kilo"):
            return False
        if head.startswith(MAGIC):
            return has(schema(path, head), "part", "message_id", "data")
        if b'"messages"' in head or b'"parts"' in head:
            return b'"sessionID"' in head and b'"info"' in head
        return path.suffix == ".json" and _is_of_a_session(path)

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        if is_database(source.path):
            with opened(source.path) as database:
                yield from map(_in_order, _in_database(source.path, database, ledger))
        elif _is_of_a_session(source.path):
            yield from map(_in_order, _in_files(source.path, ledger))
        else:
            yield from map(_in_order, _exported(source.path, ledger))

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        """The message before those that were undone, else the last one."""
        undone_from = text_at(reading.talk.facts, "revert.messageID")
        undone = next((turn.parent for turn in turns if turn.id == undone_from), "")
        return undone or super().leaf(reading, turns)

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        listed = objects_in(reading.talk.facts["todos"])
        # One that was cancelled is not to be done.
        left = [item for item in listed if item.get("status") != "cancelled"]
        if listed:
            yield todos(left)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        # Parts are counted, whoever says them.
        record = {**record, "pieces": list(_pieces(record, reading.ledger))}
        return super().said(record, name, reading)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        return iter(record["pieces"])

    def reason_without_role(self, record: p.Json) -> str:
        return "unknown role" if record["info"] else UNREADABLE

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        name = text_at(record, "info.error.name")
        if name in _STOPPED:
            return _STOPPED[name], None
        if object_at(record, "info.error"):
            return "failed", text_at(record, "info.error.data.message") or name or "failed"
        return ("truncated" if text_at(record, "info.finish") == "length" else None), None

    def model_of(self, record: p.Json) -> str:
        model = text_at(record, "info.modelID", "info.model.modelID")
        provider = text_at(record, "info.providerID", "info.model.providerID")
        return f"{provider}/{model}" if provider and model else model

    def usage(self, record: p.Json) -> TokenUsage | None:
        if self.role_of(record) != "assistant":
            return None
        tokens = object_at(record, "info.tokens")
        names = ("input", "output", "reasoning", "cache.read", "cache.write")
        found = (value_at(tokens, name) for name in names)
        counts = (each if isinstance(each, int) and each > 0 else 0 for each in found)
        sent, received, thought, cached, written = counts
        return usage(sent + cached + written, received + thought, cached, written)


def _in_order(talk: Talk) -> Talk:
    """A conversation with its messages in the order of time."""

    def records(ledger: p.Ledger) -> list[p.Json]:
        found = talk.records(ledger)
        return sorted(found, key=lambda each: (time_at(each, *OpenCode.time) or "", each["id"]))

    return replace(talk, records=records)


def _pieces(record: p.Json, ledger: p.Ledger) -> Iterator[Piece]:
    """What the parts say; the results of a step come after all of its calls."""
    results: list[Result] = []
    for number, part in enumerate(record["parts"]):
        made = list(_part(f"{record['id']}-call-{number}", part, ledger))
        if part.get("type") == "step-start" or any(isinstance(piece, str) for piece in made):
            yield from results
            results = []
        for piece in made:
            if isinstance(piece, Result):
                results.append(piece)
            else:
                yield piece
    yield from results


def _part(unnamed: str, part: p.Json, ledger: p.Ledger) -> Iterator[Piece]:
    """What a part says, which is counted."""
    kind = text_at(part, "type")
    text = ""
    match kind:
        case "tool":
            ledger.read += 1
            state = object_at(part, "state")
            named = {"id": part.get("callID"), "name": part.get("tool")}
            call = call_in({**named, "input": state.get("input")}, unnamed)
            yield call
            shown = objects_at(state, "attachments")
            files = (attachment(text_at(e, "filename"), text_at(e, "mime")) for e in shown)
            result = joined([text_at(state, "output", "error"), *files])
            if state.get("status") in ("completed", "error") or result:
                yield Result(call.id, result)
            return
        case "text" if part.get("synthetic") is True or part.get("ignored") is True:
            ledger.skipped["injected text"] += 1
            return
        case "text" | "subtask":
            text = text_at(part, "text" if kind == "text" else "prompt")
        case "file":
            text = attachment(text_at(part, "filename"), text_at(part, "mime"))
        case _ if part and kind not in _REASONS and (found := unknown_block(kind, part)).words:
            yield found
        case _:
            pass
    if text.strip():
        yield text
    reason = _REASONS.get(kind) or (unknown("part", kind) if part else UNREADABLE)
    ledger.count(text.strip(), reason)


def _is_of_a_session(path: Path) -> bool:
    names: list[str] = ["", "", "", *path.parts]
    *_, above, folder, inner, _ = names
    if inner == "info":
        return folder == "session"
    is_stored = above.startswith("storage") or _storage(path).joinpath("message").is_dir()
    return folder == "session" and is_stored


def _exported(path: Path, ledger: p.Ledger) -> Iterator[Talk]:
    """The conversation of ``opencode export``."""
    found = content(path, "messages", ledger)
    if not found.records:
        if not ledger.total:
            ledger.skipped[WITHOUT_MESSAGES] += 1
        return
    info = object_at(found.fields, "info")
    records: list[p.Json] = []
    for number, record in enumerate(found.records):
        facts = object_at(record, "info")
        name = text_at(facts, "id") or f"{text_at(info, 'id')}-{number}"
        records.append({"id": name, "info": facts, "parts": objects_at(record, "parts")})
    name = text_at(info, "id") or text_at(records[0], "info.sessionID")
    # An export of a sub-agent was asked for.
    facts: p.Json = {**info, "parentID": None, "todos": []}
    yield Talk(path, facts, lambda _: records, name)


def _in_files(path: Path, ledger: p.Ledger) -> Iterator[Talk]:
    info = object_in(json_lines.whole(path))
    # Parts that are not in folders of their messages, as the first versions kept them.
    loose: dict[str, list[p.Json]] = {}
    for part in map(object_if_there, _files(_storage(path) / "part")):
        loose.setdefault(text_at(part, "messageID"), []).append(part)
    records: list[p.Json] = []
    found = _files(_storage(path) / "message" / path.stem)
    for message in found or _named(_storage(path) / "message", info):
        facts = object_if_there(message)
        parts = _files(_parts_of(path, message)) or _named(_storage(path) / "part", facts)
        whole_parts = list(map(object_if_there, parts)) or loose.get(text_at(facts, "id"), [])
        records.append({"id": message.stem, "info": facts, "parts": whole_parts})
    if not info and not records:
        ledger.skipped["damaged file"] += 1
        return
    listed = json_lines.whole_if_there(_storage(path) / "todo" / path.name)
    # Older sessions have it in their answers.
    folders = (text_at(record, "info.path.cwd") for record in records)
    directory = info.get("directory") or next(filter(None, folders), "")
    facts = {**info, "directory": directory, "todos": listed}
    yield Talk(path, facts, lambda _: records, path.stem)


def _in_database(path: Path, database: OpenDatabase, ledger: p.Ledger) -> Iterator[Talk]:
    for row in database.rows("session", _SESSION, ledger, order=["time_created", "id"]):
        name = text_at(row, "id")
        equal = {"session_id": name}
        listed = database.rows(
            "todo", ["content", "status"], ledger, equal=equal, order=["position"]
        )
        facts = {
            **object_of(row.get("data")),
            "parentID": row.get("parent_id"),
            "directory": row.get("directory"),
            "title": row.get("title"),
            "version": row.get("version"),
            "revert": object_of(row.get("revert")),
            "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
            "todos": list(listed),
        }
        yield Talk(path, facts, partial(_rows, database, name), name)


def _rows(database: OpenDatabase, session: str, ledger: p.Ledger) -> Iterator[p.Json]:
    columns = ["id", "data", "time_created"]
    for row in database.rows("message", columns, ledger, equal={"session_id": session}):
        name = text_at(row, "id")
        info = object_of(row.get("data"))
        if info and not info.get("time"):
            info["time"] = {"created": row.get("time_created")}
        parts = database.rows("part", ["data"], ledger, equal={"message_id": name}, order=["id"])
        found = [object_of(part.get("data")) for part in parts]
        yield {"id": name, "info": info, "parts": found}


def _storage(path: Path) -> Path:
    """The folder of messages, parts and to-dos: beside the one of sessions."""
    return path.parents[1] if path.parent.name == "info" else path.parents[2]


def _parts_of(path: Path, message: Path) -> Path:
    own = path.stem if path.parent.name == "info" else ""
    return _storage(path) / "part" / own / message.stem


def _named(folder: Path, info: p.Json) -> list[Path]:
    """The files of an object whose own file is not named as it: only of a folder that is there."""
    name = text_at(info, "id")
    with suppress(OSError):
        for each in folder.iterdir():
            if each.name == name:
                return _files(each)
    return []


def _files(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(each for each in folder.iterdir() if each.suffix == ".json")
    return []


class Kilo(OpenCode):
    """Kilo's command line and its newer extension, which are built on opencode."""

    program, title = "kilo", "Kilo"
    revision = 0
    variable = "KILO_DB"
