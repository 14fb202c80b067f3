"""The details line of a message."""

from tui.domain.journal.message import Message
from tui.domain.text.safe_text import make_visible_line
from tui.domain.timestamps import parse_utc
from tui.domain.views.usage import AnswerCost

PARTED = " · "
"""The separator of details."""


def details(message: Message, cost: AnswerCost | None = None) -> str:
    """Format local time with zone, model, status, size, cost and id in one line."""
    size = len(message.text)
    parts = [
        _time(message.timestamp),
        make_visible_line(message.model or ""),
        make_visible_line(message.status or ("complete" if message.role == "assistant" else "")),
        f"{size:,} character" + ("" if size == 1 else "s"),
        *(cost.words if cost else ()),
        make_visible_line(message.id),
    ]
    return PARTED.join(part for part in parts if part)


def _time(timestamp: str) -> str:
    moment = parse_utc(timestamp)
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}" if moment else "time unknown"
