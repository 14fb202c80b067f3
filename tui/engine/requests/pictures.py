"""The pictures that a request carries: the newest ones; of older ones it has the names."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from tui.domain.journal.blocks import ImageBlock, Part, content_of_parts, merged, parts_of
from tui.domain.journal.message import Message

PICTURES = 20
"""Pictures in one request. Anthropic takes more only if they are small, Bedrock no more."""
REQUEST_PICTURE_BYTES = 15_000_000
"""Their size together: encoded they make 20 MB, which is all that Google takes in a request."""
_STEP = 5
"""Pictures that are left out at once: a request that begins as the one before it is cached."""


def pictures_of(messages: Iterable[Message]) -> list[ImageBlock]:
    """The pictures that users have sent, oldest first."""
    return [
        each
        for message in messages
        if message.role == "user"
        for each in message.attachments
        if isinstance(each, ImageBlock)
    ]


def with_newest_pictures(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with no more pictures than a request carries; older ones are labels."""
    older = _older(messages)
    return _labelled(messages, older) if older else messages


def without_pictures(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages for a model that sees nothing: all pictures are labels."""
    return _labelled(messages, len(pictures_of(messages)))


def _labelled(messages: Sequence[Message], labels: int) -> list[Message]:
    """The messages with the oldest of their pictures as labels."""
    found: list[Message] = []
    for message in messages:
        number = len(pictures_of([message]))
        found.append(_with_labels(message, labels) if number and labels else message)
        labels = max(0, labels - number)
    return found


def _older(messages: Sequence[Message]) -> int:
    """Count the pictures that are too many, in steps; a step spares the last message."""
    sizes = [picture.size for picture in pictures_of(messages)]
    kept, left = 0, REQUEST_PICTURE_BYTES
    for size in reversed(sizes):
        left -= size
        if kept == PICTURES or (kept and left < 0):
            break
        kept += 1
    older = len(sizes) - kept
    newest = next((count for each in reversed(messages) if (count := len(pictures_of([each])))), 0)
    return max(older, min(-(-older // _STEP) * _STEP, len(sizes) - newest))


def _with_labels(message: Message, number: int) -> Message:
    """The message with the first of its pictures as labels."""
    parts: list[Part] = []
    for part in parts_of(message.content):
        if isinstance(part, ImageBlock) and number > 0:
            parts.append(part.label)
            number -= 1
        else:
            parts.append(part)
    return replace(message, content=content_of_parts(merged(parts, "\n")))
