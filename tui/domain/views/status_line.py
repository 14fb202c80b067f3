"""The view model of the status bar."""

from datetime import datetime

import msgspec

from tui.domain.providers import OFFLINE
from tui.domain.text.labels import plural, scope_name

# Shorter waits are not shown.
_LONG_SECONDS = 3


def wait_words(seconds: int) -> str:
    """Format a waiting time: ``7 s``, ``1:05``; empty below three seconds."""
    if seconds < _LONG_SECONDS:
        return ""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02}" if minutes else f"{seconds} s"


class SaveState(msgspec.Struct, frozen=True):
    """The time of the last save, or the reason of its failure."""

    saved_at: datetime | None = None
    saving: bool = False
    failure: str = ""

    def __str__(self) -> str:
        """The words in the status bar; empty for an empty session."""
        if self.failure:
            return f"NOT SAVED: {self.failure}"
        if self.saving:
            return "saving"
        return f"saved {self.saved_at.astimezone():%H:%M}" if self.saved_at else ""


class SessionStatus(msgspec.Struct, frozen=True):
    """Everything that the status bar shows of a session."""

    session_id: str
    label: str
    message_count: int
    model: str
    scope: str
    save: SaveState = SaveState()
    running: bool = False
    answering_for: int = 0
    """Seconds since the arriving answer was requested."""
    summarising: bool = False
    asking: bool = False
    queued: int = 0
    read_only: bool = False
    name: str = ""
    """The name that the user gave; empty without one."""
    summarised: str = ""
    """The id of the last message that the summary covers."""

    @property
    def has_model(self) -> bool:
        """False if only the built-in guide answers."""
        return not self.model.startswith(f"{OFFLINE}:")

    @property
    def count_words(self) -> str:
        return plural(self.message_count, "message")

    @property
    def short_scope(self) -> str:
        """The short form of the scope: the directory name of a project."""
        return scope_name(self.scope)
