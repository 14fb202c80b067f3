"""The result of an import."""

from pathlib import Path

import msgspec

from tui.importers.protocol import Ledger


class Fork(msgspec.Struct, frozen=True):
    """A session that was continued here, and its fork with what is new in the other program."""

    session_id: str
    fork_id: str
    title: str
    """The name in the other program, else the title here."""


class Failure(msgspec.Struct, frozen=True):
    """A path that could not be read, or a session that could not be written."""

    path: Path
    reason: str


class ImportedProgram(msgspec.Struct):
    """The result of an import for one program; grows while it runs."""

    program: str
    title: str
    added: int = 0
    """New sessions."""
    grown: int = 0
    """Sessions that got new messages."""
    gone: int = 0
    """Left out, as the user has deleted them here."""
    messages: int = 0
    cut: int = 0
    """Messages of which a part was beyond the limits."""
    forks: list[Fork] = msgspec.field(default_factory=list[Fork])
    failures: list[Failure] = msgspec.field(default_factory=list[Failure])
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    """The records of all sources that were read."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of an import."""

    programs: tuple[ImportedProgram, ...]
    stopped: bool
    """By its user."""
    error: str = ""
    """The reason why it ended early, such as a full disk."""
    unread: tuple[Failure, ...] = ()
    """Files and folders below named paths that could not be looked at."""

    @property
    def sessions(self) -> int:
        """The number of sessions that were added or have grown."""
        return sum(each.added + each.grown for each in self.programs)

    @property
    def is_whole(self) -> bool:
        """True if all that was wanted is here."""
        failed = self.unread or any(each.failures for each in self.programs)
        return not (failed or self.stopped or self.error)
