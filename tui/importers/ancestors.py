"""Sessions of Sibyl and Agent-Q, which are forms of Lisp, and of JidoCode: a file of JSON each."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tui.domain.journal.message import Role, ToolCall
from tui.domain.journal.records import Settings
from tui.domain.models import ParameterName, parameter_value
from tui.errors import UsageError
from tui.importers import lisp
from tui.importers import protocol as p
from tui.importers.contents import earlier, joined
from tui.importers.formats import Format, JsonFile, Reading, Talk
from tui.importers.json_lines import items_in, object_in, text_in, whole_bytes
from tui.importers.json_paths import object_at, text_at, time_at
from tui.importers.times import utc, utc_of_local


class _Whole(Format):
    """A program each of whose records is a message, be it empty."""

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        role = self.role_of(record)
        if role is None:
            return reading.skip(self.reason_without_role(record))
        reading.ledger.read += 1
        return tuple(self.messages(record, role, reading))

    def messages(self, record: p.Json, role: Role, reading: Reading) -> Iterator[p.ForeignMessage]:
        """The message of a record, and what else it says."""
        raise NotImplementedError


class _LispFormat(_Whole):
    """A program whose sessions and messages are property lists."""

    source_id = (":id",)
    name = (":name",)
    created = ("begun",)
    updated = ("ended",)
    model = ("asked",)
    version = ("version",)
    role = ("role",)
    reasons = {"debug": "debug message"}
    changed: str
    """The property with the time of the last change."""

    def session(self, text: str, ledger: p.Ledger) -> lisp.LispSession | None:
        """The session of a file; ``None`` if it is none of this program's."""
        raise NotImplementedError

    def utc(self, value: Any) -> str | None:
        """Convert a time."""
        raise NotImplementedError

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path, counts = source.path, p.Ledger()
        text = whole_bytes(path).decode("utf-8-sig", "replace")
        if (session := self.session(text, counts)) is None:
            ledger.skipped["unknown format"] += 1
            return
        known, messages = session
        for each in messages:
            each["role"] = text_in(lisp.as_json(each[":role"])).removeprefix(":")
        times = [time for each in messages if (time := self.utc(each.get(":timestamp")))]
        header = lisp.plist(known.get(":repl-session"))
        facts = {
            **known,
            "begun": self.utc(known.get(":created-at")) or next(iter(times), None),
            "ended": times[-1] if times else self.utc(known.get(self.changed)),
            "asked": lisp.as_json(known.get(":model")),
            "version": str(header.get(":session-version") or known.get(":version") or ""),
        }
        # Sibyl's files are all called alike.
        name = path.parent.name if path.name == _FILE else path.stem
        yield Talk(path, facts, lambda _: messages, name, counts)


def _call(name: str, call: p.Json) -> ToolCall:
    given = lisp.as_object(call.get(":arguments", call.get(":args")))
    return ToolCall(name, text_in(lisp.as_json(call.get(":name"))), given)


_FILE = "session.lisp"
_SLUG = re.compile(r"session-[0-9]{8}-[0-9]{6}-[0-9]{6}-(.+)", re.DOTALL)


class Sibyl(_LispFormat):
    """Sibyl, with a directory for each session, whose file is one form of Common Lisp."""

    program, title = "sibyl", "Sibyl"
    folders = (".sibyl",)
    patterns = (f"sessions/*/{_FILE}",)
    model = ()
    changed = ":last-modified"

    def recognises(self, path: Path, head: bytes) -> bool:
        return head.lstrip().lower().startswith(b"(:repl-session")

    def session(self, text: str, ledger: p.Ledger) -> lisp.LispSession | None:
        is_ours = self.recognises(Path(), text[:64].encode())
        return lisp.read_session(text, lisp.Dialect.COMMON, ledger) if is_ours else None

    def utc(self, value: Any) -> str | None:
        """Convert a time that is local, though it ends as UTC does."""
        return utc_of_local(value.removesuffix("Z")) if isinstance(value, str) else None

    def heading(self, talk: Talk) -> p.Heading:
        heading = super().heading(talk)
        slug = _SLUG.fullmatch(heading.source_id)
        return replace(heading, name=" ".join(slug[1].split()) if slug else "")

    def line(self, reading: Reading) -> Iterator[p.Item]:
        summary = text_at(reading.talk.facts, ":summary")
        if summary.strip():
            yield from earlier(summary, reading.ids.make("summary"))
        yield from super().line(reading)

    def messages(self, record: p.Json, role: Role, reading: Reading) -> Iterator[p.ForeignMessage]:
        content, result_of = _text(record.get(":content")), text_at(record, ":tool-call-id")
        name = reading.ids.make(role, record.get(":timestamp"), content, result_of)
        found = enumerate(map(lisp.plist, items_in(record.get(":tool-calls"))))
        calls = [_call(text_at(call, ":id") or f"{name}-{n}", call) for n, call in found if call]
        yield p.ForeignMessage(
            name,
            role,
            content,
            self.utc(record.get(":timestamp")),
            tool_calls=tuple(calls) if role == "assistant" else (),
            tool_call_id=(result_of or name) if role == "tool" else None,
        )


def _text(content: Any) -> str | None:
    """The text of a message; that of blocks, which are association lists, joined."""
    if content is None or isinstance(content, str):
        return content
    blocks = map(lisp.as_object, items_in(content))
    return joined(text_in(object_in(block).get("text")) for block in blocks)


_HEADER = re.compile(r";+ *Agent-Q Session( v2)?")
_VERSION_2 = re.compile(r"\(\s*:version\s+2\b", re.IGNORECASE)
_HEAD = 4096
_EPOCH = 2_208_988_800
"""1970 in seconds since 1900, which Common Lisp counts from."""
_UNIVERSAL_FROM = 3_000_000_000


class AgentQ(_LispFormat):
    """Agent-Q, whose forms Emacs Lisp has written at first, and Common Lisp since.

    A header comment tells one from the other; their names do not.
    """

    program, title = "agent-q", "Agent-Q"
    folders = (".emacs.d/agent-q-sessions",)
    patterns = ("session-*.el", "session-*.lisp")
    changed = ":updated-at"

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.suffix not in {".el", ".lisp"}:
            return False
        in_place = path.parent.name == "agent-q-sessions" and path.name.startswith("session-")
        return in_place or _HEADER.search(head.decode("utf-8", "replace")) is not None

    def session(self, text: str, ledger: p.Ledger) -> lisp.LispSession | None:
        header = _HEADER.search(text, 0, _HEAD)
        is_second = header[1] if header else _VERSION_2.search(text, 0, _HEAD)
        dialect = lisp.Dialect.COMMON if is_second else lisp.Dialect.EMACS
        found = lisp.read_session(text, dialect, ledger)
        return found if found.messages or ":id" in found.properties else None

    def utc(self, value: Any) -> str | None:
        """Convert seconds since 1900 or 1970, ``(HIGH LOW …)`` or ``(TICKS . HZ)``."""
        with suppress(OverflowError):
            match value:
                case int() | float():
                    return utc(value - _EPOCH if value >= _UNIVERSAL_FROM else value)
                case lisp.Dotted(items=(int() as ticks,), tail=int() as per_second) if (
                    per_second > 0
                ):
                    return utc(ticks / per_second)
                case [int() as high, int() as low, *rest]:
                    micro = rest[0] if rest and isinstance(rest[0], int) else 0
                    return utc(high * 65536 + low + micro / 1e6)
                case _:
                    return utc(value)
        return None

    def messages(self, record: p.Json, role: Role, reading: Reading) -> Iterator[p.ForeignMessage]:
        """A message, and the results of its calls: they have no ids, and are in its metadata."""
        content, time = text_at(record, ":content"), self.utc(record.get(":timestamp"))
        known = text_at(record, ":id")
        name = reading.ids.within(known) if known else reading.ids.make(role, time, content)
        metadata = lisp.plist(record.get(":metadata"))
        calls = [lisp.plist(call) for call in items_in(metadata.get(":tool-calls"))]
        yield p.ForeignMessage(
            name,
            role,
            content,
            time,
            tool_calls=tuple(_call(f"{name}-{n}", call) for n, call in enumerate(calls)),
            tool_call_id=name if role == "tool" else None,
            model=text_in(lisp.as_json(metadata.get(":model"))) or None,
        )
        for number, call in enumerate(calls):
            if isinstance(result := call.get(":result"), str):
                call_id = f"{name}-{number}"
                result_id = reading.ids.within(f"{call_id}-result")
                yield p.ForeignMessage(result_id, "tool", result, time, tool_call_id=call_id)


_PARAMETERS: tuple[ParameterName, ...] = ("temperature", "max_tokens")


class JidoCode(_Whole, JsonFile):
    """JidoCode, whose records have texts and no calls.

    Its signature is not checked: it needs a secret of the machine that made it.
    """

    program, title = "jidocode", "JidoCode"
    revision = 1
    folders = (".jido_code",)
    patterns = ("sessions/*.json",)
    records_key = "conversation"
    todos = ("todos",)
    todo_fields = ("content", "active_form")
    name = ("name",)
    project = ("project_path",)
    created = ("created_at", "begun")
    updated = ("ended", "updated_at")
    model = ("config.model",)
    version = ("version",)
    message_id = ("id",)
    time = ("timestamp",)
    said_by = ()
    sent = ("usage.input_tokens",)
    received = ("usage.output_tokens",)

    def recognises(self, path: Path, head: bytes) -> bool:
        in_place = path.parent.parent.name == ".jido_code"
        return path.suffix == ".json" and (in_place or b'"closed_at"' in head)

    def records_of(self, facts: p.Json, found: list[p.Json]) -> list[p.Json]:
        """The records by time: the file has the newest first, or the restored ones behind them."""
        times = [time for record in found if (time := time_at(record, "timestamp"))]
        if times:
            facts |= {"begun": min(times), "ended": max(times)}
        # Messages of one time are in the order of the others.
        step = -1 if times and times[0] > times[-1] else 1
        keyed: list[tuple[str, p.Json]] = []
        for record in found[::step]:
            before = keyed[-1][0] if keyed else ""
            keyed.append((time_at(record, "timestamp") or before, record))
        return [record for _, record in sorted(keyed, key=lambda each: each[0])]

    def id_of(self, record: p.Json, reading: Reading) -> str:
        known = text_at(record, "id")
        facts = record.get("role"), record.get("timestamp"), text_at(record, "content")
        return reading.ids.within(known) if known else reading.ids.make(*facts)

    def messages(self, record: p.Json, role: Role, reading: Reading) -> Iterator[p.ForeignMessage]:
        whole = self.whole(record, self.id_of(record, reading), role, reading)
        call = whole.id if role == "tool" else None
        yield replace(whole, content=text_at(record, "content"), tool_call_id=call)

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        yield from super().ending(reading)
        config = object_at(reading.talk.facts, "config")
        known: dict[str, float | str] = {}
        for name in _PARAMETERS:
            with suppress(UsageError):
                known[name] = parameter_value(name, str(config.get(name)))
        if known:
            yield msgspec.convert(known, Settings)
