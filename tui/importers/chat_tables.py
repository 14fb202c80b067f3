"""Chats of oterm and of Elia: a table of them, and one of their messages."""

from collections.abc import Iterator
from hashlib import sha256

from msgspec.structs import replace

from tui.importers import protocol as p
from tui.importers.answers import Piece
from tui.importers.contents import placeholder
from tui.importers.databases import found
from tui.importers.formats import SPEAKERS, WITHOUT_MESSAGES, Database, Reading, Tables, Talk
from tui.importers.json_lines import items_in, parse_text, text_in


class Oterm(Database):
    """oterm, whose database has no times."""

    program = title = "oterm"
    known_by = {"message": ("chat_id", "author", "text"), "chat": ()}
    tables = Tables(
        talks="chat",
        columns=("id", "name", "model"),
        order=("id",),
        messages="message",
        key="chat_id",
        message_columns=("id", "author", "text", "images"),
    )
    name = ("name",)
    role = ("author",)
    roles = SPEAKERS
    one_model = True

    def find(self, places: p.Places) -> Iterator[p.Source]:
        usual = places.named("XDG_DATA_HOME", places.app_support) / "oterm"
        return found(places.named("OTERM_DATA_DIR", usual) / "store.db")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for talk in super().talks(source, ledger):
            first = next(iter(talk.records(ledger)), None)
            if first is None:
                ledger.skipped[WITHOUT_MESSAGES] += 1
                continue
            # Numbers begin again in another database: the first words tell one chat 1 from another.
            words = sha256(text_in(first.get("text")).encode("utf-8", "replace")).hexdigest()
            yield replace(talk, name=f"{talk.facts.get('id')}-{words[:16]}")

    def id_of(self, record: p.Json, reading: Reading) -> str:
        return reading.ids.within(str(record.get("id")))

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        yield text_in(record.get("text"))
        yield from (placeholder("image") for _ in items_in(parse_text(record.get("images"))))


class Elia(Database):
    """Elia, whose chats may have branches."""

    program, title = "elia", "Elia"
    known_by = {"chat": ("model", "started_at"), "message": ("chat_id", "role", "content")}
    tables = Tables(
        talks="chat",
        columns=("id", "model", "title", "started_at"),
        order=("id",),
        messages="message",
        key="chat_id",
        message_columns=("id", "role", "content", "timestamp", "parent_id", "model"),
    )
    created = ("started_at",)
    updated = ()
    roles = SPEAKERS
    time = ("timestamp",)
    one_model = True
    parent = ("parent_id",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        return found(places.data / "elia" / "elia.sqlite")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for talk in super().talks(source, ledger):
            # Numbers begin again in another database.
            facts = talk.facts
            yield replace(talk, name=f"{facts.get('id')}-{facts.get('started_at')}")

    def turn_id(self, record: p.Json, number: int, reading: Reading) -> str:
        return f"{reading.heading.source_id}/{record.get('id')}"

    def turn_before(self, record: p.Json, before: str, reading: Reading) -> str:
        parent = record.get("parent_id")
        return before if parent is None else f"{reading.heading.source_id}/{parent}"


OTERM, ELIA = Oterm().reader(), Elia().reader()
