"""Sessions of parllama, Vibe, Continue, PicoClaw and aichat: messages as OpenAI's API has them."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import cast, get_args
from urllib.parse import unquote

from msgspec.structs import replace

from tui.domain.journal.message import Role
from tui.importers import json_lines
from tui.importers import protocol as p
from tui.importers.block_yaml import Unfit, load
from tui.importers.contents import joined, link, placeholder, summary
from tui.importers.formats import FolderFormat, Format, JsonFile, Reading, Talk
from tui.importers.json_elements import DAMAGED
from tui.importers.json_lines import items_in, object_if_there, object_in, objects_in, text_in
from tui.importers.json_paths import object_at, objects_at, text_at
from tui.importers.made_ids import COMPARED, MadeIds
from tui.importers.message_blocks import Piece, Result, as_json, call_in, messages
from tui.importers.times import utc_of_local

_ROLES = get_args(Role)
_DROPPED = {"system": "system prompt", "developer": "system prompt", "thinking": "thinking"}
_MARKED = [f"{kind}{end}" for kind in ("image", "audio", "video") for end in ("_url", "Url")]
_ADDRESSES = (*(f"{field}.url" for field in _MARKED), *_MARKED, "url")


class VendorFormat(Format):
    """A program that keeps each record in this form."""

    time = said_by = ()
    thoughts = ("reasoning_content", "thinking")
    file_addresses = _ADDRESSES

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        known, role = text_at(record, *self.message_id), record.get("role")
        own_id = known and reading.ids.within(known)
        if role not in _ROLES:
            return reading.skip(_DROPPED.get(text_in(role), "unknown role"))
        content, marks = record.get("content"), list(self.files(record))
        thinks = any(map(record.get, self.thoughts)) or self.thinks(content)
        if marks or not isinstance(content, str):
            content = joined([self.whole_text(content, reading.ledger), *marks])
        listed = record.get("tool_calls") or record.get("toolCalls")
        calls = objects_in(listed) if role == "assistant" else []
        result_of = text_at(record, "tool_call_id", "toolCallId")
        if not (content or calls or result_of) and thinks:
            return reading.skip("thinking")
        reading.ledger.read += 1
        called = [call.get("id") for call in calls]
        name = own_id or reading.ids.make(role, content, result_of, called)
        message = replace(
            self.whole(record, name, cast("Role", role), reading),
            content=content,
            tool_calls=tuple(call_in(call, f"{name}-{n}") for n, call in enumerate(calls)),
            tool_call_id=(result_of or name) if role == "tool" else None,
            model=self.model_of(record) or None,
        )
        return (message,)

    def files(self, record: p.Json) -> Iterator[str]:
        """Marks for what is beside the text of a message."""
        return iter(())


class Parllama(VendorFormat, JsonFile):
    """parllama, with a file of JSON for each chat."""

    program = title = "parllama"
    source_id = ("id", "session_id")
    name = ("name", "session_name")
    created = ()
    updated = ("last_updated",)
    model = ("llm_config.model_name", "llm_model_name")
    message_id = ("id", "message_id")

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folder = places.named("PARLLAMA_DATA_DIR", places.data / "parllama")
        for home in (folder, places.home / ".parllama"):
            yield from places.sources(home, "chats/*.json")

    def recognises(self, path: Path, head: bytes) -> bool:
        known = b'"llm_config"' in head or b'"llm_model_name"' in head
        return path.suffix == ".json" and known and b'"last_updated"' in head

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        config = fields.get("llm_config")
        return {**fields, "llm_config": json_lines.parse_text(config) or config}

    def files(self, record: p.Json) -> Iterator[str]:
        return (link(text_in(image)) for image in items_in(record.get("images")))


class Vibe(VendorFormat, FolderFormat, JsonFile):
    """Mistral Vibe, with a folder for each session; version 1 had a file instead."""

    program, title = "vibe", "Mistral Vibe"
    facts_name = "meta.json"
    sub_agents = "agents"
    source_id = ("session_id",)
    project = ("environment.working_directory",)
    created = ("start_time",)
    updated = ("end_time",)
    model = ("config.active_model", "config.model")
    message_id = ("message_id",)
    own_ids = True
    summary = ("context_boundary", "compaction")

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folder = places.named("VIBE_HOME", places.home / ".vibe") / "logs" / "session"
        for path in places.glob(folder, "session_*"):
            if (path / self.lines_name).is_file() or (path.suffix == ".json" and path.is_file()):
                yield p.Source.of(path, *self.parts(path))

    def parts(self, path: Path) -> Iterable[Path]:
        return (path,) if path.suffix == ".json" else super().parts(path)

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.suffix == ".json":
            return path.name.startswith("session_") and b'"metadata"' in head
        return super().recognises(path, head)

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        kept = JsonFile if source.path.suffix == ".json" else FolderFormat
        return kept.talks(self, source, ledger)

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        return object_at(fields, "metadata")

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        is_summary = self.sums_up(record, reading)
        if record.get("injected") is True and not is_summary:
            return reading.skip("injected text")
        # Whoever says it.
        record = {**record, "role": "user"} if is_summary else record
        return super().said(record, name, reading)

    def files(self, record: p.Json) -> Iterator[str]:
        for image in objects_at(record, "images"):
            name, kind = text_at(image, "alias"), text_at(image, "mime_type")
            data = text_at(image, "source.data")
            if data:
                yield link(f"data:{kind or 'image'};base64,{data}", name)
            else:
                yield placeholder("image", name, kind)


class Continue(VendorFormat, JsonFile):
    """Continue, with a file of JSON for each session, and a list of them with their dates."""

    program, title = "continue", "Continue"
    records_key = "history"
    source_id = ("sessionId",)
    project = ("workspaceDirectory",)
    created = ("dateCreated", "listed.dateCreated")
    updated = ()
    model = ("chatModelTitle",)
    message_id = ("message.id",)
    said_by = ("usage.model",)
    # The editors write the one form, the command line the other.
    sent = ("usage.promptTokens", "usage.prompt_tokens")
    received = ("usage.completionTokens", "usage.completion_tokens")
    _list = "sessions.json"

    def find(self, places: p.Places) -> Iterator[p.Source]:
        home = places.named("CONTINUE_GLOBAL_DIR", places.home / ".continue")
        return places.sources(home, "sessions/*.json", wanted=lambda path: path.name != self._list)

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.suffix != ".json" or path.name == self._list:
            return False
        return b'"sessionId"' in head and (b'"history"' in head or b'"workspaceDirectory"' in head)

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        name = text_at(fields, "sessionId") or path.stem
        # The editors keep the dates in a list of all sessions.
        sessions = objects_in(json_lines.whole_if_there(path.with_name(self._list)))
        listed = next((each for each in sessions if each.get("sessionId") == name), p.Json())
        folder = text_at(fields, "workspaceDirectory")
        folder = unquote(folder.removeprefix("file://")) if "://" in folder else folder
        return {**fields, "listed": listed, "workspaceDirectory": folder}

    def line(self, reading: Reading) -> Iterator[p.Item]:
        records = list(reading.talk.records(reading.ledger))
        answered = {text_at(each, "message.toolCallId") for each in records}
        for record in records:
            for message in self.said(record, "", reading):
                yield message
                yield from _results(record, message, answered, reading)
                if text := text_at(record, "conversationSummary"):
                    yield p.ForeignSummary(text, through=message.id)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        return super().said({**record, **object_at(record, "message")}, name, reading)

    def files(self, record: p.Json) -> Iterator[str]:
        """Marks for the files that the user has attached; their text was sent, but not written."""
        for item in objects_at(record, "contextItems"):
            yield placeholder("context", item.get("name"), item.get("description"))


def _results(
    record: p.Json, message: p.ForeignMessage, answered: set[str], reading: Reading
) -> Iterator[p.ForeignMessage]:
    """The results that are beside their calls and not among the messages."""
    for state in objects_at(record, "toolCallStates"):
        call = text_at(state, "toolCallId")
        texts = [text_at(each, "content") for each in objects_at(state, "output")]
        if call and call not in answered and any(texts):
            name = reading.ids.within(f"{message.id}-{call}")
            yield p.ForeignMessage(name, "tool", "\n\n".join(texts), tool_call_id=call)


_INDEXES = ("index.json", "session_index.json")
_MIGRATED = ".json.migrated"
_META = ".meta.json"
_KEY = re.compile(rb'\s*\{\s*"key"\s*:')
_NUMBERED = re.compile(r"(.+)#([1-9][0-9]{0,8})", re.DOTALL)


class PicoClaw(VendorFormat, JsonFile):
    """PicoClaw, with a file of JSON for each session; later one of lines, and its facts beside it.

    These have the summary, and how many lines it stands for. An index says which session is active
    in each scope.
    """

    program, title = "picoclaw", "PicoClaw"
    source_id = ("key",)
    name = ()
    model = ()
    created = ("created_at", "created")
    updated = ("updated_at", "updated")
    time = ("created_at",)
    said_by = ("model_name",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        home = places.named("PICOCLAW_HOME", places.home / ".picoclaw")
        files = "workspace*/sessions/*"
        return places.sources(home, files, wanted=_is_session, parts=self.parts)

    def parts(self, path: Path) -> Iterable[Path]:
        return path, _meta(path)

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.suffix == ".jsonl":
            # Claude Code, too, has such a file beside a sub-agent's.
            return b'"parentUuid":' not in head and _meta(path).exists()
        return _is_session(path) and b'"messages"' in head and _KEY.match(head) is not None

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path = source.path
        name = path.name.removesuffix(".migrated").rpartition(".")[0]
        if path.suffix != ".jsonl":
            for talk in super().talks(source, ledger):
                yield replace(talk, name=name)
            return
        facts = object_if_there(_meta(path))
        yield Talk(path, facts, partial(_lines, path), name)

    def heading(self, talk: Talk) -> p.Heading:
        heading = super().heading(talk)
        key = heading.source_id
        numbered = _NUMBERED.fullmatch(key)
        scope = numbered[1] if numbered else key
        aliases = [text_in(alias) for alias in items_in(talk.facts.get("aliases"))]
        is_opaque = key.startswith("sk_")
        return replace(
            heading,
            scope=next(filter(None, aliases), key) if is_opaque else scope,
            ordinal=0 if is_opaque else int(numbered[2]) if numbered else 1,
            active=_active(talk.path.parent, scope) == key,
        )

    def line(self, reading: Reading) -> Iterator[p.Item]:
        """The messages, and the summary behind those that it stands for."""
        facts = reading.talk.facts
        text = text_at(facts, "summary").strip()
        cut = skipped if isinstance(skipped := facts.get("skip"), int) else 0
        for place, record in enumerate(reading.talk.records(reading.ledger), 1):
            if text and record.get("line", place) > cut:
                yield from summary(text, reading.last, reading.ids)
                text = ""
            for message in self.said(record, "", reading):
                yield message
                reading.last = message.id
        if text:
            yield from summary(text, reading.last, reading.ids)

    def files(self, record: p.Json) -> Iterator[str]:
        attachments = objects_at(record, "attachments")
        for file in attachments:
            kind = text_at(file, "type") or "file"
            yield placeholder(kind, file.get("filename"), file.get("content_type"))
        for address in items_in(record.get("media")) if not attachments else ():
            yield link(text_in(address))


def _is_session(path: Path) -> bool:
    if path.name.endswith(_MIGRATED):
        return not path.with_name(path.name.removesuffix(_MIGRATED) + ".jsonl").exists()
    if path.suffix == ".jsonl":
        return True
    return path.suffix == ".json" and path.name not in _INDEXES and not path.name.endswith(_META)


def _meta(path: Path) -> Path:
    return path.with_name(path.stem + _META)


def _lines(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    """The messages of a file with the numbers of their lines; empty lines do not count."""
    lines = p.Ledger()
    for place, line in enumerate(json_lines.objects(path, lines), 1):
        yield {**line.value, "line": place + lines.total - lines.skipped[json_lines.BLANK]}
    ledger.add(lines)


def _active(folder: Path, scope: str) -> str:
    """The key of the session that is active in a scope."""
    for name in _INDEXES:
        scopes = object_at(object_if_there(folder / name), "scopes")
        if active := text_at(object_in(scopes.get(scope)), "active_session_key"):
            return active
    return ""


_DATED = re.compile(r"(\d{8}T\d{6})(?:-(.*))?", re.DOTALL)
_FORM = "%Y%m%dT%H%M%S"


class AiChat(VendorFormat):
    """aichat, with a file of YAML for each session, named by the user or by its beginning."""

    program = title = "aichat"
    name = ("name",)
    summary = ("is_summary", True)
    # Its name is the file's, and other conversations may have it later.
    compared = COMPARED
    created = ("begun",)
    updated = ("changed",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        home = (places.app_support if places.is_mac else places.config) / "aichat"
        sessions = places.named("AICHAT_SESSIONS_DIR", home / "sessions")
        yield from places.sources(sessions, "*.yaml", "_/*.yaml")
        yield from places.sources(home, "agents/*/sessions/**/*.yaml")

    def recognises(self, path: Path, head: bytes) -> bool:
        has_messages = re.search(rb"(?m)^(compressed_)?messages:", head) is not None
        return path.suffix in {".yaml", ".yml"} and has_messages and b"model:" in head

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path, counts = source.path, p.Ledger()
        text = json_lines.whole_bytes(path).decode("utf-8-sig", "replace")
        try:
            document = load(text)
        except Unfit:
            ledger.skipped[DAMAGED] += 1
            return
        if document.skipped:
            counts.skipped[json_lines.UNREADABLE] += document.skipped
        known = object_in(document.value)
        # Names are unique within their folder only.
        dated = _DATED.fullmatch(path.stem) if path.parent.name == "_" else None
        folder = path.parent.parent if dated else path.parent
        agent = folder.parent.name if folder.parent.parent.name == "agents" else ""
        begun = None
        with suppress(ValueError):
            moment = datetime.strptime(dated[1], _FORM) if dated else None  # noqa: DTZ007
            begun = utc_of_local(moment.isoformat()) if moment else None
        facts = {
            "id": "/".join(filter(None, (agent, "_" if dated else "", path.stem))),
            "name": dated[2] if dated else "" if path.stem == "temp" else path.stem,
            "begun": begun,
            "changed": source.changed,
            "model": known.get("model"),
        }
        compressed = items_in(known.get("compressed_messages"))
        live = [object_in(each) for each in items_in(known.get("messages"))]
        if compressed and live and live[0].get("role") == "system" and text_at(live[0], "content"):
            # The summary of those that were compressed.
            live[0] |= {"role": "user", "is_summary": True}
        said = [*map(object_in, compressed), *live]
        yield Talk(path, facts, lambda _: said, ledger=counts)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        content = record.get("content")
        if not record:
            return reading.skip(json_lines.UNREADABLE)
        if self.sums_up(record, reading) and not reading.last:
            # Nothing that it stands for was said.
            record = {**record, "role": "system"}
        if results := objects_at(record, "content.tool_results"):
            reading.ledger.read += 1
            return _round(text_at(record, "content.text"), results, reading.ids)
        if not isinstance(content, str | list):
            # A text that looked like a number or a constant.
            record = {**record, "content": as_json(content)}
        return super().said(record, name, reading)


def _round(text: str, results: list[p.Json], ids: MadeIds) -> tuple[p.ForeignMessage, ...]:
    """The calls of an answer with their results, which are one record."""
    name = ids.make("calls", text, results)
    pieces: list[Piece] = [text]
    answers: list[Piece] = []
    for number, result in enumerate(results):
        called, output = object_at(result, "call"), result.get("output")
        call = call_in(called, f"{name}-call-{number}")
        pieces.append(call)
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        answers.append(Result(call.id, text, call.name))
    return messages(p.ForeignMessage(name, "assistant", None), [*pieces, *answers])
