"""PicoClaw's sessions: a file of JSON each; later one of a message a line, and one beside it.

The file beside it has the summary, and how many lines it stands for. An index says which session
is active in each scope.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from tui.importers import protocol as p
from tui.importers.contents import placeholder, summary
from tui.importers.json_file import content
from tui.importers.json_lines import (
    BLANK,
    items_in,
    object_in,
    objects,
    objects_in,
    text_in,
    whole_if_there,
)
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc
from tui.importers.vendor_messages import link, said

_INDEXES = ("index.json", "session_index.json")
_MIGRATED = ".json.migrated"
_META = ".meta.json"
_KEY = re.compile(rb'\s*\{\s*"key"\s*:')
_NUMBERED = re.compile(r"(.+)#([1-9][0-9]{0,8})", re.DOTALL)


def _find(places: p.Places) -> Iterator[p.Source]:
    home = places.named("PICOCLAW_HOME", places.home / ".picoclaw")
    for path in places.glob(home, "workspace*/sessions/*"):
        if _is_session(path):
            yield p.Source.of(path, *_parts(path))


def _parts(path: Path) -> tuple[Path, ...]:
    return path, _meta(path)


def _is_session(path: Path) -> bool:
    if path.name.endswith(_MIGRATED):
        return not path.with_name(path.name.removesuffix(_MIGRATED) + ".jsonl").exists()
    if path.suffix == ".jsonl":
        return True
    return path.suffix == ".json" and path.name not in _INDEXES and not path.name.endswith(_META)


def _meta(path: Path) -> Path:
    return path.with_name(path.stem + _META)


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix == ".jsonl":
        # Claude Code, too, has such a file beside a sub-agent's.
        return b'"parentUuid":' not in head and _meta(path).exists()
    return _is_session(path) and b'"messages"' in head and _KEY.match(head) is not None


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    counts = p.Ledger()
    if source.path.suffix == ".jsonl":
        facts = object_in(whole_if_there(_meta(source.path)))
        records = partial(_lines, source.path, counts)
    else:
        facts, messages = content(source.path, "messages", counts)
        records = partial(enumerate, messages, 1)
    heading = _heading(source.path, facts)
    items = partial(_items, heading.source_id, facts, records, counts)
    yield p.Conversation(heading, items, counts)


def _lines(path: Path, ledger: p.Ledger) -> Iterator[tuple[int, p.Json]]:
    """The messages of a file and the numbers of their lines; empty lines do not count."""
    lines = p.Ledger()
    for place, line in enumerate(objects(path, lines), 1):
        yield place + lines.total - lines.skipped[BLANK], line.value
    ledger.add(lines)


def _heading(path: Path, facts: p.Json) -> p.Heading:
    key = text_in(facts.get("key")) or path.name.removesuffix(".migrated").rpartition(".")[0]
    numbered = _NUMBERED.fullmatch(key)
    scope = numbered[1] if numbered else key
    aliases = [text_in(alias) for alias in items_in(facts.get("aliases"))]
    is_opaque = key.startswith("sk_")
    return p.Heading(
        source_id=key,
        created_at=utc(facts.get("created_at") or facts.get("created")),
        updated_at=utc(facts.get("updated_at") or facts.get("updated")),
        scope=next(filter(None, aliases), key) if is_opaque else scope,
        ordinal=0 if is_opaque else int(numbered[2]) if numbered else 1,
        active=_active(path.parent, scope) == key,
    )


def _active(folder: Path, scope: str) -> str:
    """The key of the session that is active in a scope."""
    for name in _INDEXES:
        scopes = object_in(object_in(whole_if_there(folder / name)).get("scopes"))
        if active := text_in(object_in(scopes.get(scope)).get("active_session_key")):
            return active
    return ""


def _items(
    session: str,
    facts: p.Json,
    records: Callable[[], Iterable[tuple[int, p.Json]]],
    ledger: p.Ledger,
) -> Iterator[p.Item]:
    """The messages, and the summary behind those that it stands for."""
    ids = MadeIds(session)
    text = text_in(facts.get("summary")).strip()
    cut = skipped if isinstance(skipped := facts.get("skip"), int) else 0
    through = ""
    for place, record in records():
        if text and place > cut:
            yield from summary(text, through, ids)
            text = ""
        if message := _message(record, ids, ledger):
            yield message
            through = message.id
    if text:
        yield from summary(text, through, ids)


def _message(record: p.Json, ids: MadeIds, ledger: p.Ledger) -> p.ForeignMessage | None:
    message = said(record, ids, ledger, files=_files(record))
    return message and replace(
        message,
        timestamp=utc(record.get("created_at")),
        model=text_in(record.get("model_name")) or None,
    )


def _files(record: p.Json) -> Iterator[str]:
    attachments = objects_in(record.get("attachments"))
    for file in attachments:
        kind = text_in(file.get("type")) or "file"
        yield placeholder(kind, file.get("filename"), file.get("content_type"))
    for address in items_in(record.get("media")) if not attachments else ():
        yield link(text_in(address))


READER = p.Reader("picoclaw", "PicoClaw", _find, _recognises, _read, parts=_parts)
