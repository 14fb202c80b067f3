"""The rows of the sidebar: sessions in groups, each with what is going on in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from tui.domain.session import SessionEntry
from tui.domain.timestamps import parse_utc


class Mark(StrEnum):
    """What is going on in a session; the value is what is shown where there is room for words."""

    NONE = ""
    RUNNING = "running"
    UNREAD = "unread"
    UNSAVED = "unsaved"
    READ_ONLY = "read-only"


class Group(StrEnum):
    """Under which heading a session stands; the value is the heading."""

    OPEN = "Open"
    TODAY = "Today"
    YESTERDAY = "Yesterday"
    LAST_WEEK = "Last 7 days"
    OLDER = "Older"
    ARCHIVED = "Archived"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in the sidebar; ``last_used_at`` is a UTC time as files have it."""

    id: str
    label: str
    group: Group
    last_used_at: str
    message_count: int
    mark: Mark = Mark.NONE


@dataclass(frozen=True, slots=True)
class SessionRows:
    """All that the sidebar shows.

    ``rows`` are in order, those of a group together. ``current`` is the session on screen.
    ``more`` says that older ones can be had by asking. ``scope`` is the project's name while only
    its sessions are shown, else empty.
    """

    rows: tuple[SessionRow, ...]
    current: str
    more: bool = False
    scope: str = ""


def arrange(
    entries: Iterable[SessionEntry],
    opened: Sequence[SessionEntry],
    marks: Mapping[str, Mark],
    now: datetime,
) -> tuple[SessionRow, ...]:
    """Put sessions into groups: those ``opened`` by this program first, in their own order.

    ``entries`` come newest use first, and may hold the opened ones as well.
    """
    own = {entry.id for entry in opened}
    rows = [_row(entry, Group.OPEN, marks) for entry in opened]
    others = [_row(entry, group_of(entry, now), marks) for entry in entries if entry.id not in own]
    # Stable: within a group the order of the list stays.
    order = {group: place for place, group in enumerate(Group)}
    return tuple(sorted([*rows, *others], key=lambda row: order[row.group]))


def group_of(entry: SessionEntry, now: datetime) -> Group:
    """The group of a session that is not open, by the local day of its last use."""
    if entry.status == "archived":
        return Group.ARCHIVED
    used = parse_utc(entry.last_used_at)
    if used is None:
        return Group.OLDER
    today = now.astimezone().date()
    try:
        day = used.astimezone().date()
    except (OverflowError, ValueError, OSError):
        return Group.OLDER
    if day >= today:
        return Group.TODAY
    if day == today - timedelta(days=1):
        return Group.YESTERDAY
    return Group.LAST_WEEK if day > today - timedelta(days=7) else Group.OLDER


def _row(entry: SessionEntry, group: Group, marks: Mapping[str, Mark]) -> SessionRow:
    mark = marks.get(entry.id, Mark.NONE)
    return SessionRow(entry.id, entry.label, group, entry.last_used_at, entry.message_count, mark)
