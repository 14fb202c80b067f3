"""The details line of a message."""

from tui.domain.journal.blocks import Attachment, ImageBlock
from tui.domain.journal.message import Message
from tui.domain.text.labels import cut_middle
from tui.domain.text.safe_text import make_visible_line, make_visible_name
from tui.domain.timestamps import parse_utc
from tui.domain.views.usage import AnswerCost, money, seconds_words, token_words

PARTED = " · "
"""The separator of details."""

_UNKNOWN = AnswerCost()
_NAME_CHARACTERS = 120


def details(message: Message, cost: AnswerCost | None = None) -> str:
    """Format local time with zone, model, status, size, tokens, cost and id in one line."""
    size, cost = len(message.typed_text), cost or _UNKNOWN
    parts = [
        _time(message.timestamp),
        make_visible_line(message.model or ""),
        make_visible_line(message.status or ("complete" if message.role == "assistant" else "")),
        f"{size:,} character" + ("" if size == 1 else "s"),
        *map(_attached, message.attachments),
        "" if cost.seconds is None else f"took {seconds_words(cost.seconds)}",
        token_words(message.usage) if message.usage else "",
        "" if cost.dollars is None else money(cost.dollars),
        make_visible_line(message.id),
    ]
    return PARTED.join(part for part in parts if part)


def _attached(attachment: Attachment) -> str:
    """Format the kind, name and size of a file; of a picture also the beginning of its hash."""
    words = cut_middle(make_visible_name(attachment.label[1:-1]), _NAME_CHARACTERS)
    return f"{words}, {attachment.sha256[:12]}" if isinstance(attachment, ImageBlock) else words


def _time(timestamp: str) -> str:
    moment = parse_utc(timestamp)
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}" if moment else "time unknown"
