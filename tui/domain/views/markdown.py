"""Export of a session as Markdown."""

import json
from collections.abc import Iterator, Sequence

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Settings
from tui.domain.journal.session import Session, SessionEntry
from tui.domain.journal.versions import Version, numbered
from tui.domain.model_settings import ModelParameters, effort_called
from tui.domain.text.labels import local_minute

_MARKS = {"pending": " ", "in_progress": "~", "completed": "x"}


def as_markdown(entry: SessionEntry, session: Session, messages: Sequence[Message]) -> str:
    """Format a session: details, summary, to-dos and ``messages``."""
    exact = msgspec.structs.replace(entry, message_count=session.message_count)
    about = (*facts_of(exact), f"status: {entry.status}", *parameters_of(session.settings))
    facts = "\n".join(f"- {fact}" for fact in about)
    before = (*_system_prompt(session), *_summary(session), *_todos(session))
    parts = [f"# {entry.label}", facts, *before]
    versions = numbered(session.versions)
    said = [_message(message, versions.get(message.id)) for message in messages]
    return "\n\n".join([*parts, *said]) + "\n"


def facts_of(entry: SessionEntry) -> Sequence[str]:
    """The details of a session, one line each."""
    return (
        f"id: {entry.id}",
        *((f"imported from: {entry.program}",) if entry.program else ()),
        f"scope: {entry.scope}" + (f" #{entry.ordinal}" if entry.ordinal else ""),
        f"model: {entry.model}",
        f"created: {local_minute(entry.created_at)}",
        f"last used: {local_minute(entry.last_used_at)}",
        f"messages: {entry.message_count}",
    )


def parameters_of(settings: Settings) -> Iterator[str]:
    """The session's own parameters, one line each."""
    effort = effort_called(settings.effort)
    own = ModelParameters(settings.temperature, settings.max_tokens, effort)
    return (f"{name}: {value}" for name, value in own.named())


def _system_prompt(session: Session) -> Iterator[str]:
    prompt = session.settings.system_prompt
    if prompt is not None:
        yield f"## System prompt\n\n{prompt or '(none)'}"


def _summary(session: Session) -> Iterator[str]:
    if session.summary:
        yield f"## Summary\n\n{session.summary.text}"


def _todos(session: Session) -> Iterator[str]:
    if session.todos:
        items = [f"- [{_MARKS[item.status]}] {item.content}" for item in session.todos]
        yield "## To do\n\n" + "\n".join(items)


def _message(message: Message, version: Version | None) -> str:
    parts = [_heading(message, version), message.text, *_calls(message)]
    if message.error:
        parts.append(f"> {message.error}")
    return "\n\n".join(part for part in parts if part)


def _heading(message: Message, version: Version | None) -> str:
    speaker = {"user": "You", "tool": "Tool"}.get(message.role, message.model or "Assistant")
    status = f" ({message.status})" if message.status else ""
    place = f" · version {version.number}/{version.count}" if version else ""
    return f"## {speaker} · {local_minute(message.timestamp)}{place}{status}"


def _calls(message: Message) -> Iterator[str]:
    for call in message.tool_calls:
        yield f"> {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"
