"""Messages in a form that strict servers accept: roles alternate, and tool calls are text."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from tui.domain.journal.blocks import Content, content_of_parts, merged, parts_of
from tui.domain.journal.json_text import journal_json
from tui.domain.journal.message import Message


def joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join neighbours of one role, such as prompts without an answer.

    Many templates refuse them.
    """
    found: list[Message] = []
    for message in messages:
        if found and message.role == found[-1].role != "tool" and not found[-1].tool_calls:
            content = _paragraphs(found.pop().content, message.content)
            found.append(replace(message, content=content))
        else:
            found.append(message)
    return tuple(found)


def with_calls_as_text(
    messages: Iterable[Message], kept: Container[str] = ()
) -> tuple[Message, ...]:
    """Turn tool calls into text of the assistant, and their results into text of the user.

    Servers refuse both where no tools are offered, or lose them. The calls of the messages whose
    ids are ``kept`` stay.
    """
    return joined(_without_calls(messages, kept))


def result_as_text(message: Message, tool: str = "a tool") -> Message:
    """Turn the result of a tool into text of the user."""
    text = f"Result of {tool}:\n{message.text}"
    return replace(message, role="user", content=text, tool_call_id=None)


def with_beginning(text: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put a text before the first message, which is a user's."""
    firsts = (replace(each, content=_paragraphs(text, each.content)) for each in messages[:1])
    return (*firsts, *messages[1:])


def _paragraphs(*contents: Content) -> str | list[Any]:
    """Join contents: each text is a paragraph, and pictures keep their places."""
    parts = (part for content in contents for part in parts_of(content))
    said = (part for part in parts if not isinstance(part, str) or part.strip())
    return content_of_parts(merged(said, "\n\n"))


def _without_calls(messages: Iterable[Message], kept: Container[str]) -> Iterator[Message]:
    names: dict[str, str] = {}
    stays = False
    for message in messages:
        names.update((call.id, call.name) for call in message.tool_calls)
        # Results follow their calls.
        stays = message.id in kept if message.role != "tool" else stays
        if stays:
            yield message
        elif message.role == "tool":
            yield result_as_text(message, names.get(message.tool_call_id or "", "a tool"))
        elif message.tool_calls:
            calls = (
                f"Called {call.name} with {journal_json(call.arguments).decode()}."
                for call in message.tool_calls
            )
            yield replace(message, content=_paragraphs(message.content, *calls), tool_calls=())
        else:
            yield message
