"""The message of a conversation, the blocks of its content, and forms that strict servers accept.

docs/journal-format.md describes their JSON. Blocks of other programs stay as they are.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, TypeGuard

import msgspec
from msgspec.structs import replace

from tui.domain.json_text import MOST, Count, converted, journal_json
from tui.domain.text import late_pattern

_UNITS = ("bytes", "KB", "MB", "GB")
_BACKTICKS = late_pattern(r"^ *(`{3,})", re.MULTILINE)


class FileBlock(msgspec.Struct, frozen=True, tag_field="type", tag="file", omit_defaults=True):
    """A text file that came with a message, or the list of a folder's entries."""

    name: str = msgspec.field(name="path")
    """The path, as the user named it."""
    text: str
    """The beginning of the file, or the entries of the folder, one a line."""
    size: Count
    """Of the whole file, in bytes; of a folder, its number of entries."""
    cut: bool = False
    """True if ``text`` is not the whole file."""
    folder: bool = False

    @property
    def label(self) -> str:
        """A line for it: ``[file: notes.txt, 3 KB]``."""
        if self.folder:
            shown = f"first {len(self.text.splitlines())} of " if self.cut else ""
            entries = "entry" if self.size == 1 else "entries"
            return f"[folder: {self.name}, {shown}{self.size} {entries}]"
        shown = f"first {byte_words(len(self.text.encode(errors='replace')))} of "
        return f"[file: {self.name}, {shown if self.cut else ''}{byte_words(self.size)}]"

    @property
    def language(self) -> str:
        """The end of the name of a file, as the language of its code; may be empty."""
        suffix = "" if self.folder else PurePosixPath(self.name).suffix[1:]
        return suffix if suffix.isalnum() else ""

    @property
    def fenced(self) -> str:
        """The label, and below it the text as a block of code."""
        longest = max((len(found) for found in _BACKTICKS.findall(self.text)), default=2)
        fence = "`" * (longest + 1)
        return f"{self.label}\n{fence}{self.language}\n{self.text.rstrip(chr(10))}\n{fence}"


class ImageBlock(msgspec.Struct, frozen=True, tag_field="type", tag="image", omit_defaults=True):
    """A picture that came with a message; the store keeps its bytes once, by their hash."""

    name: str
    media_type: str
    """``image/png``, ``image/jpeg``, ``image/gif`` or ``image/webp``."""
    sha256: str
    """64 hexadecimal digits."""
    size: Count
    """In bytes."""

    @property
    def label(self) -> str:
        """A line for it: ``[image: photo.png, 120 KB]``."""
        return f"[image: {self.name}, {byte_words(self.size)}]"


Attachment = FileBlock | ImageBlock
_KINDS: dict[str, type[Attachment]] = {"file": FileBlock, "image": ImageBlock}
Part = str | ImageBlock
"""A piece of a content as it is sent: text, or a picture."""
Content = str | list[Any] | None
"""The content of a message: text, or a list of blocks."""

_SHA256 = late_pattern(r"[0-9a-f]{64}")


def content_of(text: str, attachments: Sequence[Attachment]) -> str | list[Any]:
    """Make the content of a message: its text, and the blocks of what came with it."""
    if not attachments:
        return text
    return [{"type": "text", "text": text}, *map(msgspec.to_builtins, attachments)]


def attachments_of(content: Content) -> tuple[Attachment, ...]:
    """The files and pictures among the blocks of a content, in order."""
    if not isinstance(content, list):
        return ()
    return tuple(block for block in map(_attachment, content) if block is not None)


def typed_text(content: Content) -> str:
    """The text of a content without its files and pictures: the words of its author."""
    if not isinstance(content, list):
        return content or ""
    return "\n".join(_block_text(block) for block in content if _attachment(block) is None)


def title_text(content: Content) -> str:
    """The text to call a session by: the words of its author, else what came without any."""
    typed = typed_text(content)
    return typed if typed.strip() else " ".join(each.label for each in attachments_of(content))


def whole_text(content: Content) -> str:
    """The content as text: files with their text, pictures as their label."""
    if not isinstance(content, list):
        return content or ""
    parts = map(_part, content)
    return "\n".join(part if isinstance(part, str) else part.label for part in parts)


def parts_of(content: Content) -> list[Part]:
    """The text of a content, with that of its files, and the pictures between its pieces."""
    if not isinstance(content, list):
        return [content or ""]
    return merged(map(_part, content), "\n")


def damaged_blocks(content: Content) -> int:
    """Count the files and pictures whose size no file can have; they are read as text."""
    if not isinstance(content, list):
        return 0
    sizes = [block.get("size") for block in content if _is_attachment(block)]
    return sum(isinstance(size, int | float) and not 0 <= size <= MOST for size in sizes)


def content_of_parts(parts: Sequence[Part]) -> str | list[Any]:
    """Make a content of texts and pictures; without a picture it is a text."""
    if any(isinstance(part, ImageBlock) for part in parts):
        return [part if isinstance(part, str) else msgspec.to_builtins(part) for part in parts]
    return "\n".join(part for part in parts if isinstance(part, str))


def merged(parts: Iterable[Part], between: str) -> list[Part]:
    """Join texts that are neighbours, with ``between`` between them."""
    found: list[Part] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        neighbours = list(group)
        if is_text:
            found.append(between.join(part for part in neighbours if isinstance(part, str)))
        else:
            found += neighbours
    return found


def byte_words(size: int) -> str:
    """Format the size of a file: ``120 KB``, ``1.2 MB``."""
    amount, unit = float(size), 0
    while amount >= 999.5 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    shown = f"{amount:.1f}" if unit > 1 and amount < 9.95 else f"{amount:.0f}"
    return f"{shown} {_UNITS[unit]}" if size != 1 else "1 byte"


def _part(block: Any) -> Part:
    attachment = _attachment(block)
    if attachment is None:
        return _block_text(block)
    return attachment.fenced if isinstance(attachment, FileBlock) else attachment


def _attachment(block: Any) -> Attachment | None:
    if not _is_attachment(block):
        return None
    try:
        found = converted(block, _KINDS[block["type"]])
    except ValueError:
        return None
    if isinstance(found, ImageBlock) and not _SHA256.fullmatch(found.sha256):
        return None
    return found


def _is_attachment(block: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(block, dict) and block.get("type") in ("file", "image")  # pyright: ignore[reportUnknownMemberType]


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    fields: dict[str, Any] = {str(key): value for key, value in block.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    text = fields.get("text")
    return text if isinstance(text, str) else f"[{fields.get('type', 'block')}]"


PICTURE_BYTES = 5_000_000
"""The size limit of one picture: the largest vendors refuse more."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}


def media_type_of(data: bytes) -> str | None:
    """Recognise a picture by its first bytes, whatever its name; ``None`` if it is none."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS if data.startswith(beginning)), None)


def file_ending(data: bytes) -> str:
    """Choose the ending of a picture's file name by its bytes; ``.bin`` if it is none."""
    return _ENDINGS.get(media_type_of(data) or "", ".bin")


TEXT_BYTES = 8 * 1024 * 1024
"""Limit of the text of one message."""
INTERRUPTED = "interrupted"
"""The result that a model is sent for a tool call that never returned."""

Role = Literal["user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True):
    """A model's request to run a tool."""

    id: str
    """Assigned by the server; the result names it as ``tool_call_id``."""
    name: str
    arguments: Any
    """Any JSON value, as it came; an object or null from a correct model."""


MessageId = Annotated[str, msgspec.Meta(min_length=1)]
"""The id of a message; an empty one is none, as the ``after`` of a first message is empty."""


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The tokens of one request and its answer, as the server counted them."""

    input_tokens: Count
    """Everything that was sent, cached tokens included."""
    output_tokens: Count
    cached_tokens: Count = 0
    """The part of the input that the server read from its cache."""
    cache_write_tokens: Count = 0
    """The part of the input that the server wrote to its cache, where that has a price."""

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


class Message(msgspec.Struct, frozen=True, tag_field="type", tag="message", omit_defaults=True):
    """One message of a conversation, and the ``message`` record of a journal."""

    id: MessageId
    role: Role
    content: str | list[Any] | None
    """Text; or a list of blocks, each a string or an object such as ``{"type", "text"}``.

    ``None`` where an assistant message has only tool calls. This program writes text, and for a
    prompt with files or pictures the blocks below.
    """
    timestamp: str
    """UTC, as in ``tui.domain.timestamps``."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of an assistant message; a message of role ``tool`` follows for each."""
    tool_call_id: str | None = None
    """Of a ``tool`` message: the call that it is the result of."""
    status: str | None = None
    """``interrupted``, ``failed`` or ``truncated``; ``None`` means complete."""
    error: str | None = None
    """The reason of a failure, as shown to the user."""
    model: str | None = None
    """``PROVIDER:MODEL`` of an answer."""
    usage: TokenUsage | None = None
    """The tokens of an answer; ``None`` where the server did not count them."""
    replaces: str | None = None
    """The id of the message that this one hides, such as a failed answer asked for again."""
    after: str | None = None
    """The id of the message that this one follows, if not the one before it in the file.

    ``""`` for a first message. Messages that follow the same one are versions of each other.
    """
    after_at: Count | None = None
    """The offset of the message that this one follows, in bytes; a hint, verified on use."""
    folded: tuple[tuple[Count, Count], ...] | None = None
    """Of a prompt: begin and end, in its typed text, of each long paste; shown as one line."""
    context_snapshot: Any = None
    """Not used; kept from other programs."""
    metadata: dict[str, Any] | None = None
    """Not used; kept from other programs."""

    @property
    def text(self) -> str:
        """The whole content as text: files with their text, pictures as their label."""
        return whole_text(self.content)

    @property
    def typed_text(self) -> str:
        """The text without files and pictures."""
        return typed_text(self.content)

    @property
    def pastes(self) -> tuple[str, ...]:
        """The long pastes in the typed text."""
        text = self.typed_text
        return tuple(filter(None, (text[begin:end] for begin, end in self.folded or ())))

    @property
    def title_text(self) -> str:
        """The text that titles a session without a name: the typed one, else labels of files.

        Long pastes say nothing of the question beside them.
        """
        typed, own, end = self.typed_text, "", 0
        for begin, after in sorted(self.folded or ()):
            own, end = own + typed[end:begin], after
        own += typed[end:]
        return own if own.strip() else title_text(self.content)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files and pictures that came with it, in order."""
        return attachments_of(self.content)


def joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join neighbours of one role, as prompts without an answer: many templates refuse them."""
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
