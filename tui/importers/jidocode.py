"""JidoCode's sessions: a file of JSON each, with a signature or without, which is not checked.

The signature needs a secret of the machine that made it.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast, get_args

import msgspec

from tui.domain.journal.message import Role
from tui.domain.journal.records import Settings
from tui.domain.model_settings import ParameterName, parameter_value
from tui.errors import UsageError
from tui.importers import protocol as p
from tui.importers.contents import title, todos, usage
from tui.importers.json_file import content
from tui.importers.json_lines import object_in, objects_in, text_in
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc

_ROLES = get_args(Role)
_PARAMETERS: tuple[ParameterName, ...] = ("temperature", "max_tokens")


def _find(places: p.Places) -> Iterator[p.Source]:
    yield from places.sources(places.home, ".jido_code/sessions/*.json")


def _recognises(path: Path, head: bytes) -> bool:
    in_place = path.parent.parent.name == ".jido_code"
    return path.suffix == ".json" and (in_place or b'"closed_at"' in head)


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    counts = p.Ledger()
    fields, records = content(source.path, "conversation", counts)
    messages = _in_time(records)
    heading = _heading(source.path, fields, messages)
    items = partial(_items, heading.source_id, messages, fields, counts)
    yield p.Conversation(heading, items, counts)


def _in_time(records: list[p.Json]) -> list[p.Json]:
    """Order messages by time: the file has the newest first, or the restored ones behind them."""
    times = [time for record in records if (time := utc(record.get("timestamp")))]
    # Messages of one time are in the order of the others.
    step = -1 if times and times[0] > times[-1] else 1
    keyed: list[tuple[str, p.Json]] = []
    for record in records[::step]:
        before = keyed[-1][0] if keyed else ""
        keyed.append((utc(record.get("timestamp")) or before, record))
    return [record for _, record in sorted(keyed, key=lambda each: each[0])]


def _heading(path: Path, fields: p.Json, messages: list[p.Json]) -> p.Heading:
    project = text_in(fields.get("project_path"))
    times = [time for record in messages if (time := utc(record.get("timestamp")))]
    return p.Heading(
        source_id=text_in(fields.get("id")) or path.stem,
        name=title(fields.get("name")),
        project_path=project if project.startswith("/") else "",
        created_at=utc(fields.get("created_at")) or next(iter(times), None),
        updated_at=times[-1] if times else utc(fields.get("updated_at")),
        model=text_in(object_in(fields.get("config")).get("model")),
        version=str(fields.get("version") or ""),
    )


def _items(
    session: str, messages: list[p.Json], fields: p.Json, ledger: p.Ledger
) -> Iterator[p.Item]:
    ids = MadeIds(session)
    for record in messages:
        role = record.get("role")
        if role not in _ROLES:
            ledger.skipped["system prompt" if role == "system" else "unknown role"] += 1
            continue
        ledger.read += 1
        yield _message(ids, cast("Role", role), record)
    if items := objects_in(fields.get("todos")):
        yield todos((item.get("content"), item.get("status"), item.get("active_form"))
                    for item in items)  # fmt: skip
    config = object_in(fields.get("config"))
    known = {name: value for name in _PARAMETERS if (value := _parameter(name, config)) is not None}
    if known:
        yield msgspec.convert(known, Settings)


def _parameter(name: ParameterName, config: p.Json) -> float | str | None:
    with suppress(UsageError):
        return parameter_value(name, str(config.get(name)))
    return None


def _message(ids: MadeIds, role: Role, record: p.Json) -> p.ForeignMessage:
    text, time = text_in(record.get("content")), record.get("timestamp")
    known = text_in(record.get("id"))
    name = ids.within(known) if known else ids.make(role, time, text)
    counts = object_in(record.get("usage"))
    return p.ForeignMessage(
        id=name,
        role=role,
        content=text,
        timestamp=utc(time),
        tool_call_id=name if role == "tool" else None,
        usage=usage(counts.get("input_tokens"), counts.get("output_tokens")),
    )


READER = p.Reader("jidocode", "JidoCode", _find, _recognises, _read, revision=1)
