"""Continue's sessions: a file of JSON each, and a list of them with their dates."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from msgspec.structs import replace

from tui.importers import protocol as p
from tui.importers.contents import placeholder, title, usage
from tui.importers.json_file import content
from tui.importers.json_lines import object_in, objects_in, text_in, whole_if_there
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc
from tui.importers.vendor_messages import said

_LIST = "sessions.json"


def _find(places: p.Places) -> Iterator[p.Source]:
    home = places.named("CONTINUE_GLOBAL_DIR", places.home / ".continue")
    for path in places.glob(home, "sessions/*.json"):
        if path.name != _LIST:
            yield p.Source.of(path)


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix != ".json" or path.name == _LIST:
        return False
    return b'"sessionId"' in head and (b'"history"' in head or b'"workspaceDirectory"' in head)


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    counts = p.Ledger()
    fields, records = content(source.path, "history", counts)
    heading = _heading(source.path, fields)
    yield p.Conversation(heading, partial(_items, heading.source_id, records, counts), counts)


def _heading(path: Path, fields: p.Json) -> p.Heading:
    name = text_in(fields.get("sessionId")) or path.stem
    # The editors keep the dates in a list of all sessions.
    sessions = objects_in(whole_if_there(path.with_name(_LIST)))
    listed = next((each for each in sessions if each.get("sessionId") == name), p.Json())
    folder = text_in(fields.get("workspaceDirectory"))
    folder = unquote(folder.removeprefix("file://")) if "://" in folder else folder
    return p.Heading(
        source_id=name,
        name=title(fields.get("title")),
        project_path=folder if folder.startswith("/") else "",
        created_at=utc(fields.get("dateCreated")) or utc(listed.get("dateCreated")),
        model=text_in(fields.get("chatModelTitle")),
    )


def _items(session: str, records: list[p.Json], ledger: p.Ledger) -> Iterator[p.Item]:
    ids = MadeIds(session)
    answered = {text_in(object_in(each.get("message")).get("toolCallId")) for each in records}
    for record in records:
        message = _message(record, ids, ledger)
        if not message:
            continue
        yield message
        yield from _results(record, message, answered, ids)
        if summary := text_in(record.get("conversationSummary")):
            yield p.ForeignSummary(summary, through=message.id)


def _message(record: p.Json, ids: MadeIds, ledger: p.Ledger) -> p.ForeignMessage | None:
    facts = object_in(record.get("message"))
    known = text_in(facts.get("id"))
    message = said(facts, ids, ledger, known and ids.within(known), _files(record))
    counts = object_in(facts.get("usage"))
    # The editors write the one form, the command line the other.
    sent = counts.get("promptTokens", counts.get("prompt_tokens"))
    received = counts.get("completionTokens", counts.get("completion_tokens"))
    model = text_in(counts.get("model")) or None
    return message and replace(message, model=model, usage=usage(sent, received))


def _results(
    record: p.Json, message: p.ForeignMessage, answered: set[str], ids: MadeIds
) -> Iterator[p.ForeignMessage]:
    """The results that are beside their calls and not among the messages."""
    for state in objects_in(record.get("toolCallStates")):
        call = text_in(state.get("toolCallId"))
        texts = [text_in(each.get("content")) for each in objects_in(state.get("output"))]
        if call and call not in answered and any(texts):
            name = ids.within(f"{message.id}-{call}")
            yield p.ForeignMessage(name, "tool", "\n\n".join(texts), tool_call_id=call)


def _files(record: p.Json) -> Iterator[str]:
    """Marks for the files that the user has attached; their text was sent, but not written."""
    for item in objects_in(record.get("contextItems")):
        yield placeholder("context", item.get("name"), item.get("description"))


READER = p.Reader("continue", "Continue", _find, _recognises, _read)
