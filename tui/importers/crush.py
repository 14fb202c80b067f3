"""Sessions of crush, which keeps a database in each project."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tui.files import UnfitFile, system_text
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, Unknown
from tui.importers.contents import attachment, joined, placeholder, todos
from tui.importers.databases import Row, has, schema, source
from tui.importers.formats import Database, Reading, Tables, Talk
from tui.importers.json_lines import object_in, objects_in, parse_text, text_in, whole_if_there
from tui.importers.json_paths import text_at
from tui.importers.message_blocks import SILENT, TEXT

_SESSION = (
    *("id", "parent_session_id", "title", "summary_message_id", "todos"),
    *("created_at", "updated_at"),
)
_NEWER = (("messages", "provider"), ("messages", "is_summary_message"), ("sessions", "todos"))
_MESSAGE = ("id", "role", "parts", "model", "is_summary_message", "created_at")


class Crush(Database):
    """crush, whose messages are lists of parts."""

    program = title = "crush"
    revision = 1
    known_by = {"sessions": ("parent_session_id",), "messages": ("session_id", "parts")}
    tables = Tables(
        talks="sessions",
        columns=_SESSION,
        order=("created_at", "rowid"),
        messages="messages",
        key="session_id",
        message_columns=_MESSAGE,
        message_order=("created_at", "rowid"),
    )
    project = ("project",)
    model = ()
    message_id = ("id",)
    statuses = {"canceled": "interrupted", "max_tokens": "truncated", "error": "failed"}
    kinds = {"finish": SILENT, "shell_command": TEXT}

    def find(self, places: p.Places) -> Iterator[p.Source]:
        value = whole_if_there(places.data / "crush" / "projects.json")
        folders = [each.parent for each in places.in_projects(".crush/crush.db")]
        for project in objects_in(object_in(value).get("projects")) or objects_in(value):
            folder = Path(text_in(project.get("path")))
            if folder.is_absolute():
                folders.append(folder / (text_in(project.get("data_dir")) or ".crush"))
        for data in dict.fromkeys(folders):
            with suppress(FileNotFoundError, UnfitFile):
                yield source(Path(system_text(str(data / "crush.db"))))

    def recognises(self, path: Path, head: bytes) -> bool:
        """Tell its databases from those of opencode's first version, which it has gone on with."""
        tables = schema(path, head)
        is_newer = any(has(tables, table, column) for table, column in _NEWER)
        return is_newer and super().recognises(path, head)

    def heading(self, talk: Talk) -> p.Heading:
        folder = talk.path.absolute().parent
        talk.facts["project"] = str(folder.parent) if folder.name == ".crush" else ""
        return super().heading(talk)

    def left_out(self, facts: p.Json) -> str:
        name = text_in(facts.get("id"))
        is_own = not facts.get("parent_session_id") and "$$" not in name
        return "" if is_own and not name.startswith("title-") else "sub-agent"

    def record(self, row: Row) -> p.Json:
        parts = objects_in(parse_text(row.get("parts")))
        blocks = [{**object_in(part.get("data")), "type": part.get("type")} for part in parts]
        return {**row, "content": blocks}

    def id_of(self, record: p.Json, reading: Reading) -> str:
        return text_in(record.get("id"))

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        is_summary = record.get("id") == reading.talk.facts.get("summary_message_id")
        return reading.last != "" and (is_summary or record.get("is_summary_message") == 1)

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        finishes = (part for part in reversed(record["content"]) if part["type"] == "finish")
        finish = next(finishes, p.Json())
        status = self.statuses.get(text_at(finish, "reason"))
        found = [text for field in ("message", "details") if (text := text_at(finish, field))]
        # Of an answer with words, the first alone is known since long.
        is_all = len(record["content"]) == 1
        error = ": ".join(found if is_all else found[:1]) or "failed"
        return status, error if status == "failed" else None

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        for piece in self.pieces_in(record["content"], whole.id, reading.ledger):
            if whole.role != "tool" or isinstance(piece, Result):
                yield piece

    def words(self, block: p.Json, ledger: p.Ledger) -> str | Unknown | None:
        if block["type"] == "shell_command":
            return joined([text_at(block, "command"), text_at(block, "output")])
        return super().words(block, ledger)

    def mark(self, name: str, block: p.Json) -> str:
        if name == "image_url":
            return placeholder("image")
        return attachment(
            Path(text_at(block, "Path", "path")).name, text_at(block, "MIMEType", "mime_type")
        )

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        if listed := objects_in(parse_text(reading.talk.facts.get("todos"))):
            yield todos(
                (each.get("content"), each.get("status"), each.get("active_form"))
                for each in listed
            )


READER = Crush().reader()
