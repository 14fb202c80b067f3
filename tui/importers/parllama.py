"""parllama's chats: a file of JSON each."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tui.importers.contents import title
from tui.importers.json_file import content
from tui.importers.json_lines import items_in, object_in, parse, text_in
from tui.importers.made_ids import MadeIds
from tui.importers.protocol import Conversation, Heading, Item, Json, Ledger, Places, Reader, Source
from tui.importers.times import utc
from tui.importers.vendor_messages import link, said


def _find(places: Places) -> Iterator[Source]:
    folder = places.named("PARLLAMA_DATA_DIR", places.data / "parllama")
    for home in (folder, places.home / ".parllama"):
        yield from places.sources(home, "chats/*.json")


def _recognises(path: Path, head: bytes) -> bool:
    known = b'"llm_config"' in head or b'"llm_model_name"' in head
    return path.suffix == ".json" and known and b'"last_updated"' in head


def _read(source: Source, _: Ledger) -> Iterator[Conversation]:
    counts = Ledger()
    fields, records = content(source.path, "messages", counts)
    heading = _heading(source.path, fields)
    yield Conversation(heading, partial(_items, heading.source_id, records, counts), counts)


def _heading(path: Path, fields: Json) -> Heading:
    config = fields.get("llm_config")
    if isinstance(config, str):
        config = parse(config.encode("utf-8", "surrogatepass"))
    model = text_in(object_in(config).get("model_name")) or text_in(fields.get("llm_model_name"))
    return Heading(
        source_id=text_in(fields.get("id")) or text_in(fields.get("session_id")) or path.stem,
        name=title(fields.get("name")) or title(fields.get("session_name")),
        updated_at=utc(fields.get("last_updated")),
        model=model,
    )


def _items(session: str, records: list[Json], ledger: Ledger) -> Iterator[Item]:
    ids = MadeIds(session)
    for record in records:
        known = text_in(record.get("id")) or text_in(record.get("message_id"))
        images = [link(text_in(image)) for image in items_in(record.get("images"))]
        message = said(record, ids, ledger, known and ids.within(known), images)
        if message:
            yield message


READER = Reader("parllama", "parllama", _find, _recognises, _read)
