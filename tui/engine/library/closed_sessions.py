"""Closed sessions, latest closed first, and the projects that are open."""

import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tui.domain.journal.session import SessionEntry, Status
from tui.engine.sessions.workspace import Workspace
from tui.errors import UsageError
from tui.storage.protocol import SessionFilter, SessionReader

_ALL = 1_000_000
_CLOSED: frozenset[Status] = frozenset({"closed"})
_OPEN: frozenset[Status] = frozenset({"open"})


def read_closed(reader: SessionReader) -> Sequence[SessionEntry]:
    """Read the closed sessions of every scope, latest closed first.

    Blocks on the disk. Raises ``StorageError``.
    """
    return reader.list(SessionFilter(statuses=_CLOSED, order="closed"), None, _ALL).entries


def read_open_projects(reader: SessionReader, opened: Iterable[SessionEntry]) -> dict[str, str]:
    """Map open sessions to their projects; ``opened`` are those that are open in this program.

    Blocks on the disk. Raises ``StorageError``.
    """
    elsewhere = reader.list(SessionFilter(statuses=_OPEN), None, _ALL).entries
    return {each.id: each.project_path for each in (*elsewhere, *opened) if each.project_path}


def session_with_project(projects: Mapping[str, str], entry: SessionEntry) -> str | None:
    """Find another session that has the project of this one open."""
    others = (each for each, path in projects.items() if path == entry.project_path)
    return next((each for each in others if each != entry.id), None)


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
        raise UsageError(_refused("The project's directory no longer exists.", entry)) from error
    except OSError:
        # Whether it is there cannot be told: no reason to keep its conversation from the user.
        return
    if not stat.S_ISDIR(mode):
        raise UsageError(_refused("The project's path is not a directory.", entry))


def _refused(reason: str, entry: SessionEntry) -> str:
    return f"{reason} Read it with /load {entry.id}."
