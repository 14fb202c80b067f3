"""Mistral Vibe's sessions: a folder each, with its messages and facts; a file each in version 1."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from tui.importers import protocol as p
from tui.importers.contents import placeholder, summary, title
from tui.importers.json_file import content
from tui.importers.json_lines import object_in, objects, objects_in, text_in, whole_if_there
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc
from tui.importers.vendor_messages import link, said

_MESSAGES = "messages.jsonl"
_META = "meta.json"
_SUMMARY = "compaction"


def _find(places: p.Places) -> Iterator[p.Source]:
    folder = places.named("VIBE_HOME", places.home / ".vibe") / "logs" / "session"
    for path in places.glob(folder, "session_*"):
        if (path / _MESSAGES).is_file():
            yield p.Source.of(path, *_parts(path))
        elif path.suffix == ".json" and path.is_file():
            yield p.Source.of(path)


def _parts(path: Path) -> tuple[Path, ...]:
    if path.suffix == ".json":
        return (path,)
    folder = path if path.is_dir() else path.parent
    return folder / _MESSAGES, folder / _META


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix == ".json":
        return path.name.startswith("session_") and b'"metadata"' in head
    folder = path.parent if path.name == _MESSAGES else path
    return (folder / _MESSAGES).is_file() and (folder / _META).is_file()


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    counts = p.Ledger()
    if source.path.suffix == ".json":
        fields, found = content(source.path, "messages", counts)
        meta, records = object_in(fields.get("metadata")), found
    else:
        folder = source.path if source.path.is_dir() else source.path.parent
        meta = object_in(whole_if_there(folder / _META))
        records = (line.value for line in objects(folder / _MESSAGES, counts))
    heading = _heading(source.path, meta)
    yield p.Conversation(heading, partial(_items, heading.source_id, records, counts), counts)


def _heading(path: Path, meta: p.Json) -> p.Heading:
    folder = text_in(object_in(meta.get("environment")).get("working_directory"))
    config = object_in(meta.get("config"))
    name = path.parent.name if path.name == _MESSAGES else path.stem
    return p.Heading(
        source_id=text_in(meta.get("session_id")) or name,
        name=title(meta.get("title")),
        project_path=folder if folder.startswith("/") else "",
        created_at=utc(meta.get("start_time")),
        updated_at=utc(meta.get("end_time")),
        model=text_in(config.get("active_model")) or text_in(config.get("model")),
    )


def _items(session: str, records: Iterable[p.Json], ledger: p.Ledger) -> Iterator[p.Item]:
    ids = MadeIds(session)
    last = ""
    for record in records:
        if record.get("context_boundary") == _SUMMARY:
            ledger.read += 1
            yield from summary(text_in(record.get("content")), last, ids)
        elif record.get("injected") is True:
            ledger.skipped["injected text"] += 1
        else:
            known = text_in(record.get("message_id"))
            message = said(record, ids, ledger, known and ids.own(known), _images(record))
            if message:
                last = message.id
                yield message


def _images(record: p.Json) -> Iterator[str]:
    for image in objects_in(record.get("images")):
        name, kind = text_in(image.get("alias")), text_in(image.get("mime_type"))
        data = text_in(object_in(image.get("source")).get("data"))
        if data:
            yield link(f"data:{kind or 'image'};base64,{data}", name)
        else:
            yield placeholder("image", name, kind)


READER = p.Reader("vibe", "Mistral Vibe", _find, _recognises, _read, parts=_parts)
