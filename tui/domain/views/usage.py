"""Cost of answers in time, tokens and money; counted per run, never stored."""

import math
from datetime import datetime

import msgspec

from tui.domain.views.status_line import SessionStatus


class Usage(msgspec.Struct, frozen=True):
    """The token counts that a server reported for one answer."""

    sent: int
    received: int
    dollars: float | None = None
    """The price by the vendor's list, without discounts; ``None`` if unknown."""


class AnswerCost(msgspec.Struct, frozen=True):
    """The cost of one answer, as far as it is known."""

    seconds: float | None = None
    usage: Usage | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The parts of the details line."""
        time = () if self.seconds is None else (f"took {_seconds(self.seconds)}",)
        if self.usage is None:
            return time
        counted = f"{self.usage.sent:,} tokens sent, {self.usage.received:,} received"
        cost = () if self.usage.dollars is None else (f"at most {money(self.usage.dollars)}",)
        return (*time, counted, *cost)


class ContextUse(msgspec.Struct, frozen=True):
    """The use of a model's context window after an answer."""

    status: SessionStatus
    """The session's status at that moment."""
    tokens: int
    window: int
    """The size of the window, in tokens."""

    def holds_for(self, status: SessionStatus) -> bool:
        """True while the session has only grown since: same model, no reset, no new summary."""
        before = self.status
        return (
            (status.session_id, status.model, status.summarised)
            == (before.session_id, before.model, before.summarised)
        ) and status.message_count >= before.message_count

    @property
    def percent(self) -> int:
        """The used share of the window."""
        return round(self.tokens * 100 / self.window)


class SessionCost(msgspec.Struct, frozen=True):
    """The total cost of a session's answers since a moment."""

    since: datetime
    answers: int = 0
    sent: int = 0
    received: int = 0
    dollars: float = 0
    unpriced: int = 0
    """Answers of unknown price."""

    def plus(self, usage: Usage) -> "SessionCost":
        """Add an answer."""
        return SessionCost(
            self.since,
            self.answers + 1,
            self.sent + usage.sent,
            self.received + usage.received,
            self.dollars + (usage.dollars or 0),
            self.unpriced + (usage.dollars is None),
        )


def money(dollars: float) -> str:
    """Format dollars, rounded up: two decimal places, four below one dollar."""
    places = 4 if dollars < 1 else 2
    return f"${math.ceil(dollars * 10**places - 1e-6) / 10**places:,.{places}f}"


def _seconds(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
