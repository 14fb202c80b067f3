"""What answers took: time, tokens as the server counted them, and money. Nothing of it is kept."""

import math
from datetime import datetime

import msgspec

from tui.domain.views.status_line import SessionStatus


class Usage(msgspec.Struct, frozen=True):
    """What a server counted for one answer, in tokens.

    ``dollars`` is what its vendor asks for them at most, by the list; ``None`` where no list says.
    """

    sent: int
    received: int
    dollars: float | None = None


class Effort(msgspec.Struct, frozen=True):
    """What one answer took, as far as it is known."""

    seconds: float | None = None
    usage: Usage | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What is told of it."""
        time = () if self.seconds is None else (f"took {_seconds(self.seconds)}",)
        if self.usage is None:
            return time
        counted = f"{self.usage.sent:,} tokens sent, {self.usage.received:,} received"
        cost = () if self.usage.dollars is None else (f"at most {money(self.usage.dollars)}",)
        return (*time, counted, *cost)


class Filled(msgspec.Struct, frozen=True):
    """How full a model's window was after an answer in a session: ``status`` is that of then."""

    status: SessionStatus
    tokens: int
    window: int

    def holds_for(self, status: SessionStatus) -> bool:
        """Whether it says something of how it stands now: nothing was taken away since."""
        before = self.status
        return (
            (status.session_id, status.model, status.summarised)
            == (before.session_id, before.model, before.summarised)
        ) and status.message_count >= before.message_count

    @property
    def percent(self) -> int:
        """Of the window."""
        return round(self.tokens * 100 / self.window)


class Spent(msgspec.Struct, frozen=True):
    """What the answers of a session took since a moment.

    ``unpriced`` is how many of them no list of prices knows.
    """

    since: datetime
    answers: int = 0
    sent: int = 0
    received: int = 0
    dollars: float = 0
    unpriced: int = 0

    def plus(self, usage: Usage) -> "Spent":
        """With another answer."""
        return Spent(
            self.since,
            self.answers + 1,
            self.sent + usage.sent,
            self.received + usage.received,
            self.dollars + (usage.dollars or 0),
            self.unpriced + (usage.dollars is None),
        )


def money(dollars: float) -> str:
    """Dollars, rounded up; of less than one as much as can be told apart."""
    places = 4 if dollars < 1 else 2
    return f"${math.ceil(dollars * 10**places - 1e-6) / 10**places:,.{places}f}"


def _seconds(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
