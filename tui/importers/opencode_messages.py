"""Sessions of opencode as conversations, from whichever of its three forms they were read."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from tui.domain.journal.message import TokenUsage, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import Turn, linked
from tui.importers.contents import arguments, attachment, title, todos, usage
from tui.importers.json_lines import UNREADABLE, object_in, objects_in, text_in
from tui.importers.times import utc

_STOPPED = {"MessageAbortedError": "interrupted", "MessageOutputLengthError": "truncated"}
_WITHOUT_WORDS = {"step-start", "step-finish", "snapshot", "patch", "agent", "compaction", "retry"}


class Stored(NamedTuple):
    """A message with its parts; an object that could not be read is empty."""

    id: str
    info: p.Json
    parts: list[p.Json]


def conversation(
    name: str,
    info: p.Json,
    read: Callable[[p.Ledger], Iterable[Stored]],
    listed: Iterable[p.Json] = (),
) -> p.Conversation:
    """The conversation of a session; its messages are read when they are asked for."""
    times = object_in(info.get("time"))
    heading = p.Heading(
        source_id=name,
        name=title(info.get("title")),
        project_path=text_in(info.get("directory")),
        created_at=utc(times.get("created")),
        updated_at=utc(times.get("updated")),
        version=text_in(info.get("version")),
    )
    return p.Conversation.of(heading, partial(_items, info, read, list(listed)))


def _items(
    info: p.Json,
    read: Callable[[p.Ledger], Iterable[Stored]],
    listed: list[p.Json],
    ledger: p.Ledger,
) -> Iterator[p.Item]:
    stored = sorted(read(ledger), key=_order)
    turns, summaries = _turns(stored, ledger)
    undone_from = text_in(object_in(info.get("revert")).get("messageID"))
    # The message before those that were undone, else the last one.
    undone = next((turn.parent for turn in turns if turn.id == undone_from), "")
    for message in linked(turns, undone or (turns[-1].id if turns else "")):
        yield message
        if message.id in summaries:
            yield p.ForeignSummary(summaries[message.id], message.id)
    if listed:
        # One that was cancelled is not to be done.
        left = [item for item in listed if item.get("status") != "cancelled"]
        yield todos((item.get("content"), item.get("status"), None) for item in left)


def _order(message: Stored) -> tuple[str, str]:
    return utc(object_in(message.info.get("time")).get("created")) or "", message.id


def _turns(stored: list[Stored], ledger: p.Ledger) -> tuple[list[Turn], dict[str, str]]:
    """The turns, one after the other, and the summaries by the message that they reach to."""
    turns: list[Turn] = []
    summaries: dict[str, str] = {}
    before = through = ""
    for message in stored:
        said = _said(message, ledger)
        if message.info.get("summary") is True and said and through:
            summaries[through] = "\n\n".join(each.content or "" for each in said)
            continue
        turns.append(Turn(message.id, before, said))
        before = message.id
        through = said[-1].id if said else through
    return turns, summaries


def _said(message: Stored, ledger: p.Ledger) -> tuple[p.ForeignMessage, ...]:
    info = message.info
    role = info.get("role")
    pieces = list(_pieces(message, ledger))
    if role not in ("user", "assistant"):
        ledger.skipped["unknown role" if info else UNREADABLE] += 1
        return ()
    is_answer = role == "assistant"
    status, error = _end(info) if is_answer else (None, None)
    chosen = object_in(info.get("model"))
    model = text_in(info.get("modelID")) or text_in(chosen.get("modelID"))
    provider = text_in(info.get("providerID")) or text_in(chosen.get("providerID"))
    whole = p.ForeignMessage(
        id=message.id,
        role=role,
        content=None,
        timestamp=utc(object_in(info.get("time")).get("created")),
        status=status,
        error=error,
        model=(f"{provider}/{model}" if provider and model else model or None)
        if is_answer
        else None,
        usage=_usage(object_in(info.get("tokens"))) if is_answer else None,
    )
    said = messages(whole, pieces)
    if not said and error:
        said = (replace(whole, content=""),)
    ledger.count(said, "empty message")
    return said


def _end(info: p.Json) -> tuple[str | None, str | None]:
    """The status of an answer, and its error."""
    error = object_in(info.get("error"))
    name = text_in(error.get("name"))
    if name in _STOPPED:
        return _STOPPED[name], None
    if error:
        return "failed", text_in(object_in(error.get("data")).get("message")) or name or "failed"
    return ("truncated" if info.get("finish") == "length" else None), None


def _usage(tokens: p.Json) -> TokenUsage | None:
    cache = object_in(tokens.get("cache"))
    cached, written = (_count(cache.get(key)) for key in ("read", "write"))
    sent = _count(tokens.get("input")) + cached + written
    received = _count(tokens.get("output")) + _count(tokens.get("reasoning"))
    return usage(sent, received, cached, written)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _pieces(message: Stored, ledger: p.Ledger) -> Iterator[Piece]:
    """What the parts say; the results of a step come after all of its calls."""
    results: list[Result] = []
    for number, part in enumerate(message.parts):
        made = _part(f"{message.id}-call-{number}", part, ledger)
        if part.get("type") == "step-start" or any(isinstance(piece, str) for piece in made):
            yield from results
            results = []
        for piece in made:
            if isinstance(piece, Result):
                results.append(piece)
            else:
                yield piece
    yield from results


def _part(otherwise: str, part: p.Json, ledger: p.Ledger) -> list[Piece]:
    kind = text_in(part.get("type"))
    made, reason = _words(otherwise, kind, part)
    ledger.count(made, reason)
    return made


def _words(otherwise: str, kind: str, part: p.Json) -> tuple[list[Piece], str]:
    """What a part says, or the reason that it says nothing here."""
    if kind == "tool":
        return _called(otherwise, part), ""
    if kind == "text" and (part.get("synthetic") is True or part.get("ignored") is True):
        return [], "injected text"
    text = _text(kind, part)
    if text.strip():
        return [text], ""
    if kind == "reasoning":
        return [], "thinking"
    known = kind in _WITHOUT_WORDS or kind in ("text", "subtask")
    return [], "part without words" if known else "unknown part" if part else UNREADABLE


def _text(kind: str, part: p.Json) -> str:
    match kind:
        case "text":
            return text_in(part.get("text"))
        case "subtask":
            return text_in(part.get("prompt"))
        case "file":
            return attachment(text_in(part.get("filename")), text_in(part.get("mime")))
        case _:
            return ""


def _called(otherwise: str, part: p.Json) -> list[Piece]:
    state = object_in(part.get("state"))
    call = ToolCall(
        text_in(part.get("callID")) or otherwise,
        text_in(part.get("tool")),
        arguments(state.get("input")),
    )
    output = state.get("output")
    result = text_in(output) or text_in(state.get("error"))
    ended = state.get("status") in ("completed", "error") or bool(result)
    return [call, Result(call.id, result)] if ended else [call]


def exported(info: p.Json, records: list[p.Json]) -> p.Conversation:
    """The conversation of ``opencode export``."""
    stored: list[Stored] = []
    for number, record in enumerate(records):
        facts = object_in(record.get("info"))
        name = text_in(facts.get("id")) or f"{text_in(info.get('id'))}-{number}"
        stored.append(Stored(name, facts, objects_in(record.get("parts"))))
    first = stored[0].info if stored else {}
    name = text_in(info.get("id")) or text_in(first.get("sessionID")) or "unnamed"
    return conversation(name, info, lambda _: stored)
