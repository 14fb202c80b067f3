"""The view model of the status bar."""

from datetime import datetime

import msgspec

from tui.domain.providers import is_guide
from tui.domain.views.costs import ContextUse


class SaveState(msgspec.Struct, frozen=True):
    """The time of the last save, or the reason of its failure; empty for a private session."""

    saved_at: datetime | None = None
    saving: bool = False
    failure: str = ""
    private: bool = False

    def __str__(self) -> str:
        """The words in the status bar; empty for an empty session."""
        if self.failure:
            return f"NOT SAVED: {self.failure}"
        if self.private:
            return "PRIVATE, not saved"
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
    summarising: bool = False
    asking: bool = False
    queued: int = 0
    read_only: bool = False
    name: str = ""
    """The name that the user gave; empty without one."""
    context_use: ContextUse | None = None
    """``None`` if unknown."""

    @property
    def has_model(self) -> bool:
        """False if only the built-in guide answers."""
        return not is_guide(self.model)
