"""Export of a session as Markdown."""

import json
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

import msgspec

from tui.domain.imports import skipped_words
from tui.domain.journal.message import ImageBlock, Message, ToolCall
from tui.domain.journal.records import Reset, Settings
from tui.domain.journal.session import Entry, Session, SessionEntry, Version, Versions, numbered
from tui.domain.models import ModelParameters, effort_called
from tui.domain.text import (
    closed,
    code_span,
    fenced,
    local_minute,
    make_visible_line,
    plural,
    whole_label,
)
from tui.domain.tool_servers import tool_title

Link = Callable[[ImageBlock], str]
"""Formats a picture in the text of its message."""
label_of: Link = attrgetter("label")
_MARKS = {"pending": " ", "in_progress": "~", "completed": "x"}
_CALL_CHARACTERS = 200
_RESULT_LINES = 12
_RESULT_CHARACTERS = 1000


def heading(entry: SessionEntry, session: Session) -> str:
    """Format all but the messages: title, details, system prompt, summary, to-dos."""
    exact = msgspec.structs.replace(entry, message_count=session.message_count)
    about = [*facts_of(exact)]
    if session.imported:
        words = skipped_words(session.imported.read, session.imported.skipped)
        about.append(f"imported: {words}")
        if session.imported.prompts_only:
            about.append("only the prompts: its program had deleted the session, with all answers")
    about += [f"status: {entry.status}", *parameters_of(session.settings)]
    parts = [f"# {whole_label(entry.name, entry.label)}", "\n".join(f"- {fact}" for fact in about)]
    prompt = session.settings.system_prompt
    if prompt is not None:
        parts.append(f"## System prompt\n\n{closed(prompt) or '(none)'}")
    if session.summary:
        parts.append(f"## Summary\n\n{closed(session.summary.text)}")
    if session.todos:
        items = [f"- [{_MARKS[item.status]}] {item.content}" for item in session.todos]
        parts.append("## To do\n\n" + "\n".join(items))
    return "\n\n".join(parts)


def facts_of(entry: SessionEntry) -> Sequence[str]:
    """The details of a session, one line each."""
    number = f" #{entry.ordinal}" if entry.ordinal else ""
    path = entry.scope.removeprefix("project:")
    place = f"scope: {path}" if path == entry.scope else f"project: {path}"
    return (
        f"id: {entry.id}",
        *((f"imported from: {entry.program}",) if entry.program else ()),
        # Of another program, these may have line breaks.
        f"{make_visible_line(place)}{number}",
        f"model: {make_visible_line(entry.model)}",
        f"created: {local_minute(entry.created_at)}",
        f"last used: {local_minute(entry.last_used_at)}",
        f"messages: {entry.message_count}",
    )


def parameters_of(settings: Settings) -> Iterator[str]:
    """The session's own parameters, one line each."""
    effort = effort_called(settings.effort)
    own = ModelParameters(settings.temperature, settings.max_tokens, effort)
    return (f"{name}: {value}" for name, value in own.named())


class MarkdownMessages:
    """Formats the entries of one session, in their order; ``link`` formats a picture."""

    def __init__(self, versions: Versions, link: Link = label_of) -> None:
        self._link = link
        self._versions = numbered(versions)
        self._called: dict[str, str] = {}

    def format(self, entry: Entry, *, is_earlier_version: bool = False) -> str:
        """Format an entry; ``""`` for a summary, of which the heading has the last."""
        if isinstance(entry, Reset):
            return f"---\n\n*Reset at {local_minute(entry.at)}: messages above are not sent.*"
        if not isinstance(entry, Message):
            return ""
        self._called.update((call.id, tool_title(call.name)) for call in entry.tool_calls)
        mark = " · earlier version" if is_earlier_version else ""
        title = _title(entry, self._versions.get(entry.id), mark)
        error = "\n".join(f"> {line}" for line in (entry.error or "").splitlines())
        parts = [title, self._body(entry), *map(_call, entry.tool_calls), error]
        return "\n\n".join(part for part in parts if part)

    def _body(self, message: Message) -> str:
        if message.role != "tool":
            attached = (
                self._link(block) if isinstance(block, ImageBlock) else block.fenced
                for block in message.attachments
            )
            return "\n\n".join(filter(None, [closed(message.typed_text), *attached]))
        return _result(self._called.pop(message.tool_call_id or "", ""), message.text)


def _title(message: Message, version: Version | None, mark: str) -> str:
    speaker = {"user": "You", "tool": "Tool"}.get(message.role, message.model or "Assistant")
    status = f" ({message.status})" if message.status else ""
    place = f" · version {version.number}/{version.count}" if version else ""
    return f"## {speaker} · {local_minute(message.timestamp)}{place}{mark}{status}"


def _call(call: ToolCall) -> str:
    name, arguments = tool_title(call.name), json.dumps(call.arguments, ensure_ascii=False)
    if len(arguments) <= _CALL_CHARACTERS:
        return f"> {name} {code_span(arguments)}"
    whole = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return _folded(f"{name}: {plural(len(arguments), 'character')}", fenced(whole, "json"))


def _result(tool: str, text: str) -> str:
    """A result as code: it is no Markdown; a long one is folded."""
    if not text:
        return ""
    lines = text.count("\n") + 1
    if lines <= _RESULT_LINES and len(text) <= _RESULT_CHARACTERS:
        return fenced(text)
    return _folded(f"{tool or 'Result'}: {plural(lines, 'line')}", fenced(text))


def _folded(title: str, block: str) -> str:
    """A block that readers of Markdown fold, as web sites show it."""
    # Imported late: the first screen does not need it.
    import html

    return f"<details>\n<summary>{html.escape(title)}</summary>\n\n{block}\n\n</details>"
