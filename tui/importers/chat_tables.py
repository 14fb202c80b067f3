"""Chats of oterm, Elia, AnythingLLM and simonw's llm: databases of them and their messages."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from tui.importers import protocol as p
from tui.importers.contents import THINKING, attachment, joined, placeholder
from tui.importers.databases import OpenDatabase, Row, found, has, opened, schema
from tui.importers.formats import SPEAKERS, WITHOUT_MESSAGES, Database, Format, Reading, Talk
from tui.importers.json_lines import items_in, object_of, objects_in, parse_text, text_in
from tui.importers.json_paths import objects_at, text_at, time_at
from tui.importers.message_blocks import Piece, Result, call_in, unknown, unknown_block


class Oterm(Database):
    """oterm, whose database has no times."""

    program = title = "oterm"
    known_by = {"message": ("chat_id", "author", "text"), "chat": ()}
    talk_table = "chat"
    talk_columns = ("id", "name", "model")
    message_table = "message"
    talk_key = "chat_id"
    message_columns = ("id", "author", "text", "images")
    name = ("name",)
    role = ("author",)
    roles = SPEAKERS
    message_id = ("id",)
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
            words = sha256(text_at(first, "text").encode("utf-8", "replace")).hexdigest()
            yield replace(talk, name=f"{talk.facts.get('id')}-{words[:16]}")

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        yield text_at(record, "text")
        yield from (placeholder("image") for _ in items_in(parse_text(record.get("images"))))


class Elia(Database):
    """Elia, whose chats may have branches."""

    program, title = "elia", "Elia"
    known_by = {"chat": ("model", "started_at"), "message": ("chat_id", "role", "content")}
    talk_table = "chat"
    talk_columns = ("id", "model", "title", "started_at")
    message_table = "message"
    talk_key = "chat_id"
    message_columns = ("id", "role", "content", "timestamp", "parent_id", "model")
    # Numbers begin again in another database.
    named_by = ("id", "started_at")
    created = ("started_at",)
    updated = ()
    roles = SPEAKERS
    message_id = ("id",)
    time = ("timestamp",)
    one_model = True
    parent = ("parent_id",)
    local_ids = follows_on = True

    def find(self, places: p.Places) -> Iterator[p.Source]:
        return found(places.data / "elia" / "elia.sqlite")


_CHATS = "workspace_chats"
_TALK = ("workspaceId", "thread_id", "user_id", "api_session_id")
_ABOUT = ("id", "name", "slug", "createdAt", "chatModel")
_ROW = ("id", "prompt", "response", "createdAt")


class AnythingLlm(Database):
    """AnythingLLM, whose workspaces have a chat of their own and threads."""

    program, title = "anything-llm", "AnythingLLM"
    known_by = {_CHATS: ("prompt", "response"), "workspaces": ("slug",)}
    source_id = ()
    name = ("name",)
    created = time = ("createdAt",)
    updated = ()
    model = ("chatModel",)
    message_id = ("id",)
    said_by = ("metrics.model",)
    sent = ("metrics.prompt_tokens",)
    received = ("metrics.completion_tokens",)
    unsaid = (THINKING,)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folders = [base / "anythingllm-desktop" for base in (places.config, places.app_support)]
        return found(*(folder / "storage" / "anythingllm.db" for folder in folders))

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with opened(source.path) as database:
            workspaces, threads = (
                {row.get("id"): row for row in database.rows(table, _ABOUT, ledger)}
                for table in ("workspaces", "workspace_threads")
            )
            rows = database.rows(_CHATS, _TALK, ledger, order=["id"])
            for key in dict.fromkeys(tuple(row.items()) for row in rows):
                talk = dict(key)
                about = threads.get(talk.get("thread_id")) or workspaces.get(talk["workspaceId"])
                facts = about or {}
                # Numbers begin again in another database.
                names = (facts.get("slug"), facts.get("createdAt"), *talk.values())
                name = "-".join(str(each) for each in names if each is not None)
                read = partial(_records, database, talk)
                yield Talk(source.path, facts, read, name)


def _records(database: OpenDatabase, talk: Row, ledger: p.Ledger) -> Iterator[p.Json]:
    """The prompts of a chat, each with its answer."""
    for row in database.rows(_CHATS, _ROW, ledger, equal=talk, order=["id"]):
        answer = object_of(row.get("response")) or {"text": row.get("response")}
        files = objects_at(answer, "attachments")
        marks = [attachment(text_at(file, "name"), text_at(file, "mime")) for file in files]
        titles = dict.fromkeys(text_at(each, "title") for each in objects_at(answer, "sources"))
        sources = [placeholder("source", title) for title in titles]
        name, asked = str(row.get("id")), [row.get("prompt"), *marks]
        said = [answer.get("text"), *sources]
        yield {**row, "role": "user", "id": f"{name}-prompt", "content": asked}
        yield {**answer, **row, "role": "assistant", "id": name, "content": said}


_THREAD = ("id", "name", "tip_message_hash", "datetime_utc")
_SAID = ("model", "resolved_model", "datetime_utc", "input_tokens", "output_tokens")
_RESPONSE = ("id", "prompt", "response", *_SAID)
_TURN = ("id", "parent_message_hash", "tip_message_hash", *_SAID)
_OF_RESPONSES = {
    "tool_calls": "id",
    "tool_results": "id",
    "prompt_attachments": "attachment_id",
    "prompt_fragments": "fragment_id",
}


class Llm(Format):
    """llm since 0.32: threads of messages, of which each names the one before it."""

    program = title = "llm"
    revision = 1
    several = True
    name = ("name",)
    created = model = ()
    updated = ("datetime_utc",)
    time = ("facts.datetime_utc",)
    said_by = ("facts.resolved_model", "facts.model")
    sent = ("answer.input_tokens",)
    received = ("answer.output_tokens",)
    message_id = ("hash",)
    parent = ("parent_hash",)
    shown = ("tip_message_hash",)
    # Threads may share messages.
    local_ids = True

    def find(self, places: p.Places) -> Iterator[p.Source]:
        usual = (places.app_support if places.is_mac else places.config) / "io.datasette.llm"
        yield from found(places.named("LLM_USER_PATH", usual) / "logs.db")

    def recognises(self, path: Path, head: bytes) -> bool:
        tables = schema(path, head)
        old = has(tables, "responses", "prompt", "response")
        return old or has(tables, "threads", "tip_message_hash")

    def read(self, source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
        yield from super().read(source, ledger)
        yield from _OLD.read(source, ledger)

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with opened(source.path) as database:
            for row in database.rows("threads", _THREAD, ledger):
                yield Talk(source.path, row, partial(_thread, database, row))

    def reason_without_role(self, record: p.Json) -> str:
        return "system prompt" if text_at(record, "role") == "system" else "empty message"

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        for number, part in enumerate(record["parts"]):
            facts, text = object_of(part.get("payload")), text_at(part, "text")
            tool = text_at(facts, "name") or text_at(part, "tool_name")
            match part.get("type"):
                case "text" if record["role"] == "tool":
                    yield Result("", text)
                case "text":
                    yield text or part["referred"]
                case "tool_call":
                    yield call_in({**facts, "name": tool}, f"{whole.id}-call-{number}")
                case "tool_result":
                    words = text_at(facts, "output", "output.output")
                    yield Result(text_at(facts, "tool_call_id"), words, tool)
                case "attachment":
                    yield placeholder("file", text_at(facts, "type"))
                case "reasoning":
                    pass
                case kind:
                    reading.ledger.skipped[unknown("block", kind)] += 1
                    yield unknown_block(text_in(kind), {"text": text, **facts})


def _thread(database: OpenDatabase, row: Row, ledger: p.Ledger) -> Iterator[p.Json]:
    """The messages of all that was sent and answered in a thread, parents first."""
    equal = {"thread_id": text_at(row, "id")}
    rounds = list(database.rows("turns", _TURN, ledger, equal=equal, order=["rowid"]))
    answers = {text_at(each, "tip_message_hash"): each for each in rounds}
    asked = {text_at(each, "parent_message_hash"): each for each in rounds}
    known: dict[str, Row] = {}
    for tip in (*asked, *answers, text_at(row, "tip_message_hash")):
        known |= _chain(database, tip, known, ledger)
    for name, message in known.items():
        answer = answers.get(name)
        yield {
            **message,
            "answer": answer,
            "facts": answer or asked.get(name),
            "parts": list(_parts(database, name, ledger)),
        }


def _chain(
    database: OpenDatabase, tip: str, known: dict[str, Row], ledger: p.Ledger
) -> dict[str, Row]:
    """A message and those before it, as far as they are not known yet; the first one first."""
    found: dict[str, Row] = {}
    columns = ["hash", "parent_hash", "role"]
    while tip and tip not in known and tip not in found:
        row = next(database.rows("messages", columns, ledger, equal={"hash": tip}), None)
        if row is None:
            break
        found[tip] = row
        tip = text_at(row, "parent_hash")
    return dict(reversed(found.items()))


def _parts(database: OpenDatabase, message: str, ledger: p.Ledger) -> Iterator[p.Json]:
    """The parts of a message; a text may be made of fragments, which are kept once."""
    columns = ["id", "type", "tool_name", "text", "payload"]
    equal = {"message_hash": message}
    for part in database.rows("parts", columns, ledger, equal=equal, order=["position"]):
        pieces: list[str] = []
        for piece in objects_in(object_of(part.get("payload")).get("text_ref")):
            pieces.append(text_at(piece, "literal"))
            equal = {"id": piece.get("fragment")}
            rows = database.rows("fragments", ["content"], ledger, equal=equal)
            pieces.extend(text_at(row, "content") for row in rows)
        yield {**part, "referred": "".join(pieces)}


class _OldLlm(Format):
    """llm until 0.31: rows that are a prompt and its answer each."""

    program = title = "llm"
    name = ("name",)
    created = updated = model = ()
    time = ("datetime_utc",)
    said_by = ("resolved_model", "model")
    sent = ("input_tokens",)
    received = ("output_tokens",)

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with opened(source.path) as database:
            threads = {text_at(row, "id") for row in database.rows("threads", ["id"], ledger)}
            responses: dict[str, list[str]] = defaultdict(list)
            columns = ["id", "conversation_id"]
            for row in database.rows("responses", columns, ledger, order=["rowid"]):
                name = text_at(row, "id")
                responses[text_at(row, "conversation_id") or name].append(name)
            rows = database.rows("conversations", ["id", "name"], ledger)
            names = {text_at(row, "id"): row.get("name") for row in rows}
            belonging = _belonging(database, ledger)
            for name, ids in responses.items():
                if name not in threads:
                    facts = {"id": name, "name": names.get(name)}
                    yield Talk(source.path, facts, partial(_old_records, database, belonging, ids))

    def line(self, reading: Reading) -> Iterator[p.Item]:
        for record in reading.talk.records(reading.ledger):
            name, time = record["name"], time_at(record, "datetime_utc")
            said = [
                p.ForeignMessage(
                    id=f"{name}/result-{number}",
                    role="tool",
                    content=text_at(result, "output"),
                    timestamp=time,
                    tool_call_id=text_at(result, "tool_call_id") or f"{name}/{number}",
                )
                for number, result in enumerate(record["results"])
            ]
            texts = (text_at(each, "content") for each in record["fragments"])
            files = (
                (Path(text_at(each, "path")).name or text_at(each, "url"), text_at(each, "type"))
                for each in record["attachments"]
            )
            marks = (attachment(name, kind) for name, kind in files)
            if text := joined([*texts, text_at(record, "prompt"), *marks]):
                said.append(p.ForeignMessage(f"{name}/prompt", "user", text, time))
            calls = enumerate(record["calls"])
            calls = tuple(call_in({**call, "id": None}, f"{name}/{n}") for n, call in calls)
            answer = text_at(record, "response")
            if answer.strip() or calls:
                whole = self.whole(record, name, "assistant", reading)
                said.append(replace(whole, content=answer or None, tool_calls=calls))
            reading.ledger.count(said, "empty message")
            yield from said


_Belonging = dict[str, dict[str, list[object]]]
"""The ids of the rows of tables that belong to a response, by its id."""


def _belonging(database: OpenDatabase, ledger: p.Ledger) -> _Belonging:
    # Few of the tables have an index.
    found: _Belonging = {table: defaultdict(list) for table in _OF_RESPONSES}
    for table, column in _OF_RESPONSES.items():
        columns, order = ["response_id", column], ["order", "rowid"]
        for row in database.rows(table, columns, ledger, order=order):
            found[table][text_at(row, "response_id")].append(row.get(column))
    return found


def _old_records(
    database: OpenDatabase, belonging: _Belonging, ids: Sequence[str], ledger: p.Ledger
) -> Iterator[p.Json]:
    """The rows of a conversation with all that belongs to them."""

    def rows(of: str, table: str, *columns: str) -> list[Row]:
        numbers = belonging[of].get(name, ())
        found = (database.rows(table, columns, ledger, equal={"id": each}) for each in numbers)
        return [row for each in found for row in each]

    for name in ids:
        for row in database.rows("responses", _RESPONSE, ledger, equal={"id": name}):
            yield {
                **row,
                "name": name,
                "results": rows("tool_results", "tool_results", "output", "tool_call_id"),
                "fragments": rows("prompt_fragments", "fragments", "content"),
                "attachments": rows("prompt_attachments", "attachments", "type", "path", "url"),
                "calls": rows("tool_calls", "tool_calls", "name", "arguments", "tool_call_id"),
            }


_OLD = _OldLlm()
