"""Jan's threads: a folder each, with its facts and a file of messages."""

from collections.abc import Iterator

from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, Unknown
from tui.importers.contents import joined, without_thinking
from tui.importers.formats import FolderFormat, Reading, Talk
from tui.importers.json_paths import object_at, objects_at, text_at
from tui.importers.message_blocks import call_in
from tui.importers.vendor_messages import link


class Jan(FolderFormat):
    """Jan, whose calls are among the blocks, or in the metadata of a message."""

    program, title = "jan", "Jan"
    revision = 2
    facts_name = "thread.json"
    created = ("created",)
    updated = ("updated",)
    model = ("used",)
    message_id = ("id",)
    said_by = ()
    finish = ("status",)
    statuses = {"stopped": "interrupted", "error": "failed"}

    def find(self, places: p.Places) -> Iterator[p.Source]:
        data = [base / "Jan" / "data" for base in (places.config, places.data, places.app_support)]
        for folder in dict.fromkeys([*data, places.home / "jan"]):
            yield from self.sources(places.glob(folder, f"threads/*/{self.lines_name}"))

    def heading(self, talk: Talk) -> p.Heading:
        each = (talk.facts, *objects_at(talk.facts, "assistants"))
        models = (text_at(facts, "model.id") for facts in each)
        talk.facts["used"] = next(filter(None, models), "")
        return super().heading(talk)

    def id_of(self, record: p.Json, reading: Reading) -> str:
        if known := text_at(record, "id"):
            return reading.ids.within(known)
        said = [each for each in self._pieces(record, p.Ledger()) if not isinstance(each, Unknown)]
        return reading.ids.make(text_at(record, "role"), repr(said))

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        pieces = self._pieces(record, reading.ledger)
        if whole.role == "tool":
            texts = [str(piece) for piece in pieces if isinstance(piece, str | Unknown)]
            yield Result(text_at(record, "tool_call_id") or whole.id, joined(texts))
        else:
            yield from pieces

    def _pieces(self, record: p.Json, ledger: p.Ledger) -> Iterator[Piece]:
        yield from self.pieces_in(record.get("content"), "", ledger)
        for called in objects_at(record, "metadata.tool_calls"):
            call = call_in(object_at(called, "tool"), "call")
            yield call
            if response := object_at(called, "response"):
                yield Result(call.id, self.output(response, ledger))

    def text(self, text: str) -> str:
        return without_thinking(text)

    def mark(self, name: str, block: p.Json) -> str:
        return link(text_at(block, "image_url.url"))

    def unnamed(self, message: str, number: int, block: p.Json) -> str:
        return "call"


READER = Jan().reader()
