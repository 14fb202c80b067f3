"""Logs of simonw's llm in ``logs.db``: the form up to 0.31, and the one since."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import TreeTurn, linked, with_unique_ids
from tui.importers.contents import arguments, attachment, joined, placeholder, title, usage
from tui.importers.databases import DatabaseCopy, Row, found, has, opened, schema
from tui.importers.json_lines import object_in, objects_in, parse_text, text_in
from tui.importers.times import utc

_THREAD = ("id", "name", "tip_message_hash", "datetime_utc")
_RESPONSE = (
    *("id", "model", "resolved_model", "prompt", "response", "datetime_utc"),
    *("input_tokens", "output_tokens"),
)
_TURN = (
    *("id", "parent_message_hash", "tip_message_hash", "model", "resolved_model"),
    *("datetime_utc", "input_tokens", "output_tokens"),
)

Ids = dict[str, list[str]]


def _find(places: p.Places) -> Iterator[p.Source]:
    usual = (places.app_support if places.is_mac else places.config) / "io.datasette.llm"
    yield from found(places.named("LLM_USER_PATH", usual) / "logs.db")


def _recognises(path: Path, head: bytes) -> bool:
    tables = schema(path, head)
    old = has(tables, "responses", "prompt", "response")
    return old or has(tables, "threads", "tip_message_hash")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    with opened(source.path) as database:
        threads = set[str]()
        for row in database.rows("threads", _THREAD, ledger):
            name, updated = text_in(row.get("id")), utc(row.get("datetime_utc"))
            threads.add(name)
            thread = _Thread(database, name, text_in(row.get("tip_message_hash")))
            heading = p.Heading(name, title(row.get("name")), updated_at=updated)
            yield p.Conversation.of(heading, thread.items)
        yield from _old(database, threads, ledger)


class _Thread:
    """The messages of a thread, which may share some with others: each is named by both."""

    def __init__(self, database: DatabaseCopy, name: str, tip: str) -> None:
        self._database = database
        self._name = name
        self._tip = tip

    def items(self, ledger: p.Ledger) -> Iterator[p.Item]:
        rounds = list(
            self._database.rows(
                "turns", _TURN, ledger, equal={"thread_id": self._name}, order=["rowid"]
            )
        )
        answers = {text_in(row.get("tip_message_hash")): row for row in rounds}
        asked = {text_in(row.get("parent_message_hash")): row for row in rounds}
        known: dict[str, Row] = {}
        for tip in (*asked, *answers, self._tip):
            known |= self._chain(tip, known, ledger)
        turns = [
            self._turn(row, answers.get(name), asked.get(name) or {}, ledger)
            for name, row in known.items()
        ]
        return linked(turns, self._id(self._tip))

    def _chain(self, tip: str, known: dict[str, Row], ledger: p.Ledger) -> dict[str, Row]:
        """A message and those before it, as far as they are not known yet; the first one first."""
        found: dict[str, Row] = {}
        columns = ["hash", "parent_hash", "role"]
        while tip and tip not in known and tip not in found:
            row = next(self._database.rows("messages", columns, ledger, equal={"hash": tip}), None)
            if row is None:
                break
            found[tip] = row
            tip = text_in(row.get("parent_hash"))
        return dict(reversed(found.items()))

    def _id(self, name: str) -> str:
        return f"{self._name}/{name}"

    def _turn(self, row: Row, answer: Row | None, asked: Row, ledger: p.Ledger) -> TreeTurn:
        name, role = self._id(text_in(row.get("hash"))), row.get("role")
        parent = text_in(row.get("parent_hash"))
        said: tuple[p.ForeignMessage, ...] = ()
        if role in ("user", "assistant", "tool"):
            facts = answer or asked
            whole = p.ForeignMessage(
                id=name,
                role=role,
                content=None,
                timestamp=utc(facts.get("datetime_utc")),
                model=_model(facts) if role == "assistant" else None,
                usage=_usage(answer) if answer else None,
            )
            said = messages(whole, self._pieces(text_in(row.get("hash")), whole, ledger))
        ledger.count(said, "system prompt" if role == "system" else "empty message")
        return TreeTurn(name, self._id(parent) if parent else "", said)

    def _pieces(self, name: str, whole: p.ForeignMessage, ledger: p.Ledger) -> Iterator[Piece]:
        columns = ["id", "type", "tool_name", "text", "payload"]
        equal = {"message_hash": name}
        parts = self._database.rows("parts", columns, ledger, equal=equal, order=["position"])
        for number, part in enumerate(parts):
            facts = object_in(parse_text(part.get("payload")))
            call = text_in(facts.get("tool_call_id"))
            tool = text_in(facts.get("name")) or text_in(part.get("tool_name"))
            match part.get("type"):
                case "text" if whole.role == "tool":
                    yield Result("", text_in(part.get("text")))
                case "text":
                    yield text_in(part.get("text")) or self._referred(facts, ledger)
                case "tool_call":
                    sent = arguments(facts.get("arguments"))
                    yield ToolCall(call or f"{whole.id}-call-{number}", tool, sent)
                case "tool_result":
                    output = facts.get("output")
                    words = text_in(output) or text_in(object_in(output).get("output"))
                    yield Result(call, words, tool)
                case "attachment":
                    yield placeholder("file", text_in(facts.get("type")))
                case _:
                    pass

    def _referred(self, facts: p.Json, ledger: p.Ledger) -> str:
        """A text that is made of fragments, which are kept once."""
        pieces: list[str] = []
        for piece in objects_in(facts.get("text_ref")):
            pieces.append(text_in(piece.get("literal")))
            equal = {"id": piece.get("fragment")}
            rows = self._database.rows("fragments", ["content"], ledger, equal=equal)
            pieces.extend(text_in(row.get("content")) for row in rows)
        return "".join(pieces)


def _old(database: DatabaseCopy, threads: set[str], ledger: p.Ledger) -> Iterator[p.Conversation]:
    columns = ["id", "conversation_id"]
    responses: Ids = defaultdict(list)
    for row in database.rows("responses", columns, ledger, order=["rowid"]):
        name = text_in(row.get("id"))
        responses[text_in(row.get("conversation_id")) or name].append(name)
    names = {
        text_in(row.get("id")): row.get("name")
        for row in database.rows("conversations", ["id", "name"], ledger)
    }
    log = _OldLog(database, ledger)
    for name, ids in responses.items():
        if name not in threads:
            heading = p.Heading(name, title(names.get(name)))
            yield p.Conversation.of(heading, partial(log.items, ids))


class _OldLog:
    """The rows of the old form: each is a prompt and its answer."""

    def __init__(self, database: DatabaseCopy, ledger: p.Ledger) -> None:
        self._database = database
        # Few columns, and no row has an index for these.
        self._of_response = {
            table: self._ids(table, column, ledger)
            for table, column in (
                ("tool_calls", "id"),
                ("tool_results", "id"),
                ("prompt_attachments", "attachment_id"),
                ("prompt_fragments", "fragment_id"),
            )
        }

    def _ids(self, table: str, column: str, ledger: p.Ledger) -> dict[str, list[object]]:
        found: dict[str, list[object]] = defaultdict(list)
        for row in self._database.rows(
            table, ["response_id", column], ledger, order=["order", "rowid"]
        ):
            found[text_in(row.get("response_id"))].append(row.get(column))
        return found

    def _rows(
        self, of: str, table: str, name: str, columns: list[str], ledger: p.Ledger
    ) -> Iterator[Row]:
        for number in self._of_response[of].get(name, ()):
            yield from self._database.rows(table, columns, ledger, equal={"id": number})

    def items(self, ids: list[str], ledger: p.Ledger) -> Iterator[p.Item]:
        return with_unique_ids(self._all_items(ids, ledger))

    def _all_items(self, ids: list[str], ledger: p.Ledger) -> Iterator[p.Item]:
        for name in ids:
            for row in self._database.rows("responses", _RESPONSE, ledger, equal={"id": name}):
                said = [*self._results(name, row, ledger), *self._asked(name, row, ledger)]
                said += self._answered(name, row, ledger)
                ledger.count(said, "empty message")
                yield from said

    def _results(self, name: str, row: Row, ledger: p.Ledger) -> Iterator[p.ForeignMessage]:
        columns = ["output", "tool_call_id"]
        rows = self._rows("tool_results", "tool_results", name, columns, ledger)
        for number, result in enumerate(rows):
            yield p.ForeignMessage(
                id=f"{name}/result-{number}",
                role="tool",
                content=text_in(result.get("output")),
                timestamp=utc(row.get("datetime_utc")),
                tool_call_id=text_in(result.get("tool_call_id")) or f"{name}/{number}",
            )

    def _asked(self, name: str, row: Row, ledger: p.Ledger) -> Iterator[p.ForeignMessage]:
        fragments = self._rows("prompt_fragments", "fragments", name, ["content"], ledger)
        columns = ["type", "path", "url"]
        files = self._rows("prompt_attachments", "attachments", name, columns, ledger)
        text = joined(
            [
                *(text_in(fragment.get("content")) for fragment in fragments),
                text_in(row.get("prompt")),
                *(_file(file) for file in files),
            ]
        )
        if text:
            yield p.ForeignMessage(
                f"{name}/prompt", "user", text, timestamp=utc(row.get("datetime_utc"))
            )

    def _answered(self, name: str, row: Row, ledger: p.Ledger) -> Iterator[p.ForeignMessage]:
        columns = ["name", "arguments", "tool_call_id"]
        rows = self._rows("tool_calls", "tool_calls", name, columns, ledger)
        calls = tuple(
            ToolCall(
                text_in(call.get("tool_call_id")) or f"{name}/{number}",
                text_in(call.get("name")),
                arguments(call.get("arguments")),
            )
            for number, call in enumerate(rows)
        )
        text = text_in(row.get("response"))
        if text.strip() or calls:
            yield p.ForeignMessage(
                id=name,
                role="assistant",
                content=text or None,
                timestamp=utc(row.get("datetime_utc")),
                tool_calls=calls,
                model=_model(row),
                usage=_usage(row),
            )


def _model(row: Row) -> str | None:
    return text_in(row.get("resolved_model")) or text_in(row.get("model")) or None


def _usage(row: Row) -> TokenUsage | None:
    return usage(row.get("input_tokens"), row.get("output_tokens"))


def _file(row: Row) -> str:
    name = Path(text_in(row.get("path"))).name or text_in(row.get("url"))
    return attachment(name, text_in(row.get("type")))


READER = p.Reader("llm", "llm", _find, _recognises, _read, several=True)
