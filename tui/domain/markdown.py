"""A session as Markdown, for people and their other tools."""

import json
from collections.abc import Iterator, Sequence

from tui.domain.message import Message
from tui.domain.session import Session, SessionEntry
from tui.domain.timestamps import parse_utc

_MARKS = {"pending": " ", "in_progress": "~", "completed": "x"}


def as_markdown(entry: SessionEntry, session: Session, messages: Sequence[Message]) -> str:
    """The whole text: what the session is, its summary, its to-dos, and every message."""
    parts = [f"# {entry.label}", _facts(entry), *_summary(session), *_todos(session)]
    return "\n\n".join([*parts, *map(_message, messages)]) + "\n"


def _facts(entry: SessionEntry) -> str:
    return "\n".join(
        (
            f"- id: {entry.id}",
            f"- scope: {entry.scope} #{entry.ordinal}",
            f"- model: {entry.model}",
            f"- created: {_local(entry.created_at)}",
            f"- last used: {_local(entry.last_used_at)}",
            f"- status: {entry.status}",
        )
    )


def _summary(session: Session) -> Iterator[str]:
    if session.summary:
        yield f"## Summary\n\n{session.summary.text}"


def _todos(session: Session) -> Iterator[str]:
    if session.todos:
        items = [f"- [{_MARKS[item.status]}] {item.content}" for item in session.todos]
        yield "## To do\n\n" + "\n".join(items)


def _message(message: Message) -> str:
    parts = [_heading(message), message.text, *_calls(message)]
    if message.error:
        parts.append(f"> {message.error}")
    return "\n\n".join(part for part in parts if part)


def _heading(message: Message) -> str:
    speaker = {"user": "You", "tool": "Tool"}.get(message.role, message.model or "Assistant")
    status = f" ({message.status})" if message.status else ""
    return f"## {speaker} · {_local(message.timestamp)}{status}"


def _calls(message: Message) -> Iterator[str]:
    for call in message.tool_calls:
        yield f"> {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"


def _local(time: str) -> str:
    moment = parse_utc(time)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "unknown"
