"""JidoCode's sessions: a file of JSON each, with a signature or without, which is not checked.

The signature needs a secret of the machine that made it.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tui.domain.journal.records import Settings
from tui.domain.model_settings import ParameterName, parameter_value
from tui.errors import UsageError
from tui.importers import protocol as p
from tui.importers.contents import todos
from tui.importers.formats import JsonFile, Reading, Talk
from tui.importers.json_lines import objects_in
from tui.importers.json_paths import object_at, text_at, time_at

_PARAMETERS: tuple[ParameterName, ...] = ("temperature", "max_tokens")


class JidoCode(JsonFile):
    """JidoCode, whose records have texts and no calls."""

    program, title = "jidocode", "JidoCode"
    revision = 1
    records_key = "conversation"
    name = ("name",)
    project = ("project_path",)
    model = ("config.model",)
    version = ("version",)
    message_id = ("id",)
    time = ("timestamp",)
    said_by = ()
    sent = ("usage.input_tokens",)
    received = ("usage.output_tokens",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        yield from places.sources(places.home, ".jido_code/sessions/*.json")

    def recognises(self, path: Path, head: bytes) -> bool:
        in_place = path.parent.parent.name == ".jido_code"
        return path.suffix == ".json" and (in_place or b'"closed_at"' in head)

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for talk in super().talks(source, ledger):
            yield replace(talk, records=partial(_given, _in_time(list(talk.records(ledger)))))

    def heading(self, talk: Talk) -> p.Heading:
        heading = super().heading(talk)
        found = (time_at(record, "timestamp") for record in talk.records(p.Ledger()))
        times = [time for time in found if time]
        return replace(
            heading,
            created_at=heading.created_at or next(iter(times), None),
            updated_at=times[-1] if times else heading.updated_at,
        )

    def id_of(self, record: p.Json, reading: Reading) -> str:
        known = text_at(record, "id")
        facts = record.get("role"), record.get("timestamp"), text_at(record, "content")
        return reading.ids.within(known) if known else reading.ids.make(*facts)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        role = self.role_of(record)
        if role is None:
            reading.ledger.skipped[self.reason_without_role(record)] += 1
            return ()
        reading.ledger.read += 1
        whole = self.whole(record, self.id_of(record, reading), role, reading)
        call = whole.id if role == "tool" else None
        return (replace(whole, content=text_at(record, "content"), tool_call_id=call),)

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        facts = reading.talk.facts
        if items := objects_in(facts.get("todos")):
            yield todos((item.get("content"), item.get("status"), item.get("active_form"))
                        for item in items)  # fmt: skip
        config = object_at(facts, "config")
        found = {name: _parameter(name, config) for name in _PARAMETERS}
        if known := {name: value for name, value in found.items() if value is not None}:
            yield msgspec.convert(known, Settings)


def _given(records: list[p.Json], _: p.Ledger) -> list[p.Json]:
    return records


def _in_time(records: list[p.Json]) -> list[p.Json]:
    """Order messages by time: the file has the newest first, or the restored ones behind them."""
    times = [time for record in records if (time := time_at(record, "timestamp"))]
    # Messages of one time are in the order of the others.
    step = -1 if times and times[0] > times[-1] else 1
    keyed: list[tuple[str, p.Json]] = []
    for record in records[::step]:
        before = keyed[-1][0] if keyed else ""
        keyed.append((time_at(record, "timestamp") or before, record))
    return [record for _, record in sorted(keyed, key=lambda each: each[0])]


def _parameter(name: ParameterName, config: p.Json) -> float | str | None:
    with suppress(UsageError):
        return parameter_value(name, str(config.get(name)))
    return None
