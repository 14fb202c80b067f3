"""What the status bar says of the session on screen."""

from datetime import datetime

import msgspec

from tui.domain.text.labels import plural, scope_name

# An answer that comes at once need not be timed.
_LONG_SECONDS = 3


def wait_words(seconds: int) -> str:
    """For how long something is waited for, in seconds or minutes; empty where it is not long."""
    if seconds < _LONG_SECONDS:
        return ""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02}" if minutes else f"{seconds} s"


class SaveState(msgspec.Struct, frozen=True):
    """Whether all that was said is on disk: the time of the last save, or why not."""

    saved_at: datetime | None = None
    saving: bool = False
    failure: str = ""

    def __str__(self) -> str:
        """As it is shown; empty for a session that nothing was said in."""
        if self.failure:
            return f"NOT SAVED: {self.failure}"
        if self.saving:
            return "saving"
        return f"saved {self.saved_at.astimezone():%H:%M}" if self.saved_at else ""


class SessionStatus(msgspec.Struct, frozen=True):
    """All that stands in the status bar; ``name`` is empty where only the label says it.

    ``answering_for`` is how many seconds ago the answer that is being made was asked for,
    ``summarised`` the message up to which a summary stands for what was said.
    """

    session_id: str
    label: str
    message_count: int
    model: str
    scope: str
    save: SaveState = SaveState()
    running: bool = False
    answering_for: int = 0
    summarising: bool = False
    asking: bool = False
    queued: int = 0
    read_only: bool = False
    name: str = ""
    summarised: str = ""

    @property
    def count_words(self) -> str:
        return plural(self.message_count, "message")

    @property
    def short_scope(self) -> str:
        """The scope as its user calls it: a project by the name of its directory."""
        return scope_name(self.scope)
