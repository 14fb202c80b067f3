"""Sessions of goose: its database, and the files of one session each before 1.10."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from tui.importers import protocol as p
from tui.importers.contents import placeholder, todos
from tui.importers.databases import MAGIC, Row, found, is_database
from tui.importers.formats import SPEAKERS, Database, Reading, Tables, Talk, line_values
from tui.importers.json_lines import object_in, parse_text, text_in
from tui.importers.json_paths import text_at
from tui.importers.message_blocks import SILENT, TEXT

_SESSION = (
    *("id", "name", "description", "session_type", "working_dir"),
    *("created_at", "updated_at", "extension_data"),
)
_MESSAGE = ("role", "content_json", "created_timestamp", "metadata_json")
_LEFT_OUT = {"sub_agent": "sub-agent", "hidden": "hidden session", "scheduled": "scheduled run"}
_TODO = re.compile(r"^\s*[-*] \[([ xX])\] (.+)$", re.MULTILINE)
_NOTICES = (
    *("toolConfirmationRequest", "actionRequired", "systemNotification"),
    *("contextLengthExceeded", "summarizationRequested", "conversationCompacted"),
)


class Goose(Database):
    """goose, whose ids are dates and numbers, as on other machines."""

    program = title = "goose"
    revision = 1
    compared = 1
    known_by = {"messages": ("session_id", "content_json")}
    tables = Tables(
        talks="sessions",
        columns=_SESSION,
        order=("created_at", "rowid"),
        messages="messages",
        key="session_id",
        message_columns=_MESSAGE,
    )
    name = ("name", "description")
    project = ("working_dir",)
    model = said_by = ()
    roles = SPEAKERS
    time = ("created",)
    kinds = {"resource": TEXT, **dict.fromkeys(_NOTICES, SILENT)}

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folders = [places.data / "goose"]
        if places.is_mac:
            folders.append(places.app_support / "Block" / "goose")
        if root := places.environment.get("GOOSE_PATH_ROOT", "").strip():
            folders.append(Path(root).expanduser() / "data")
        for folder in folders:
            yield from found(folder / "sessions" / "sessions.db")
            yield from places.sources(folder, "sessions/*.jsonl")

    def recognises(self, path: Path, head: bytes) -> bool:
        if head.startswith(MAGIC):
            return super().recognises(path, head)
        first = head.split(b"\n", 1)[0]
        return path.suffix == ".jsonl" and b'"working_dir"' in first and b'"role"' not in first

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path = source.path
        if is_database(path):
            yield from super().talks(source, ledger)
            return
        first = next(line_values(path, p.Ledger()), p.Json())
        known = ("description", "working_dir") if "role" not in first else ()
        facts = {field: first.get(field) for field in known}
        yield Talk(path=path, facts=facts, records=partial(_lines, path), name=path.stem)

    def left_out(self, facts: p.Json) -> str:
        return _LEFT_OUT.get(text_at(facts, "session_type"), "")

    def record(self, row: Row) -> p.Json:
        return {
            "role": row.get("role"),
            "created": row.get("created_timestamp"),
            "content": parse_text(row.get("content_json")),
            "metadata": parse_text(row.get("metadata_json")),
        }

    def line(self, reading: Reading) -> Iterator[p.Item]:
        was_summary = False
        for record in reading.talk.records(reading.ledger):
            facts = object_in(record.get("metadata"))
            hidden = facts.get("userVisible") is False and facts.get("agentVisible") is not False
            counts = p.Ledger()
            said = self.said(record, self.id_of(record, reading), replace(reading, ledger=counts))
            if hidden and (was_summary or not reading.last or not said):
                # After a summary, the model is told to go on.
                reading.ledger.skipped["injected text"] += 1
                continue
            reading.ledger.add(counts)
            if hidden:
                yield p.ForeignSummary(
                    "\n\n".join(each.content or "" for each in said), reading.last
                )
            else:
                yield from said
                reading.last = said[-1].id if said else reading.last
            was_summary = hidden

    def id_of(self, record: p.Json, reading: Reading) -> str:
        # goose writes all rows anew when it sums up: their numbers name nothing.
        return reading.ids.make(*(record.get(each) for each in ("role", "created", "content")))

    def mark(self, name: str, block: p.Json) -> str:
        return placeholder("image", text_at(block, "mimeType"))

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        """The items of a list that is kept as Markdown."""
        listed: list[tuple[str, str]] = []
        for name, facts in object_in(parse_text(reading.talk.facts.get("extension_data"))).items():
            if name.startswith("todo"):
                listed += _TODO.findall(text_in(object_in(facts).get("content")))
        if listed:
            states = {" ": "pending"}
            yield todos((text, states.get(mark, "completed"), None) for mark, text in listed)


def _lines(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    for number, record in enumerate(line_values(path, ledger)):
        if number == 0 and "role" not in record:
            ledger.skipped["facts of the session"] += 1
        else:
            yield record


READER = Goose().reader()
