"""The sessions that can be resumed: closed ones, most recently closed first."""

import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tui.domain.journal.session import SessionEntry
from tui.domain.timestamps import parse_utc
from tui.engine.sessions.workspace import Workspace
from tui.errors import UsageError
from tui.storage.protocol import SessionFilter, SessionReader

_ALL = 1_000_000
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ClosedSessions(msgspec.Struct, frozen=True):
    """Closed sessions in the order of a list, and the projects that are open, by session."""

    closed: tuple[SessionEntry, ...]
    open_projects: dict[str, str]

    def outside_open_projects(self) -> "ClosedSessions":
        """Without those whose project is open in a session."""
        taken = set(self.open_projects.values())
        left = tuple(entry for entry in self.closed if entry.project_path not in taken)
        return ClosedSessions(left, self.open_projects)

    def has_open_project(self, entry: SessionEntry) -> bool:
        """Tell whether another session has the project of this one open."""
        return any(
            path == entry.project_path
            for session_id, path in self.open_projects.items()
            if session_id != entry.id
        )


def read_resumable(store: SessionReader, opened: Iterable[SessionEntry]) -> ClosedSessions:
    """Read what can be resumed in every scope; ``opened`` are sessions open in this program.

    Blocks on the disk. Raises ``StorageError``.
    """
    # All of them: one that was used long ago may have been closed a minute ago.
    entries = store.list(SessionFilter(), None, _ALL).entries
    own = {entry.id: entry for entry in opened}
    closed = [each for each in entries if each.status == "closed" and each.id not in own]
    # Stable: of two closed at once the one used last comes first.
    closed.sort(key=_closing, reverse=True)
    projects = {
        each.id: each.project_path
        for each in (*entries, *own.values())
        if each.status == "open" and each.project_path
    }
    return ClosedSessions(tuple(closed), projects)


def opened_here(workspace: Workspace) -> tuple[SessionEntry, ...]:
    """The sessions that this program has open, without those in which nothing was done."""
    touched = {each.id for each in workspace.open if not each.untouched}
    return tuple(row for row in workspace.rows() if row.id in touched)


def check_project(entry: SessionEntry) -> None:
    """Make sure that a session's project is still there. Raises ``UsageError``."""
    if not entry.project_path:
        return
    try:
        mode = Path(entry.project_path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UsageError(_refused("Project path no longer exists.", entry)) from error
    except OSError:
        # Whether it is there cannot be told: no reason to keep its conversation from the user.
        return
    if not stat.S_ISDIR(mode):
        raise UsageError(_refused("Project path is not a directory.", entry))


def _refused(reason: str, entry: SessionEntry) -> str:
    return f"{reason} Read it with /load {entry.id}."


def _closing(entry: SessionEntry) -> datetime:
    return parse_utc(entry.closed_at) or _LONG_AGO
