"""The rows of the sidebar: sessions in groups, each with what is going on in it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

from tui.domain.labels import scope_name
from tui.domain.session import SessionEntry
from tui.domain.timestamps import parse_utc

_SPANS = ((3600, "m", 60), (86400, "h", 3600), (7 * 86400, "d", 86400))


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


class SessionRow(msgspec.Struct, frozen=True):
    """One session in the sidebar; ``last_used_at`` is a UTC time as files have it.

    ``name`` is empty where only the label says what it is; ``scope`` is called as its user does.
    """

    id: str
    label: str
    group: Group
    last_used_at: str
    message_count: int
    mark: Mark = Mark.NONE
    name: str = ""
    scope: str = ""


class SessionRows(msgspec.Struct, frozen=True):
    """All that the sidebar shows.

    ``rows`` are in order, those of a group together. ``current`` is the session on screen.
    ``more`` says that older ones can be had by asking. ``scope`` is the project's name while only
    its sessions are shown, else empty; ``elsewhere`` is how many others that hides. ``archived``
    is how many there are in the archive, whether they are among ``rows`` or not read yet.
    """

    rows: tuple[SessionRow, ...]
    current: str
    more: bool = False
    scope: str = ""
    elsewhere: int = 0
    archived: int = 0


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


def short_age(then: datetime | None, now: datetime) -> str:
    """Say in at most five cells how long ago something was: ``now``, ``5m``, ``3h``, ``2d``.

    From a week on it is the local date, ``11-05``, or the year if it is not this one's. Empty for
    a time that is not known.
    """
    if then is None:
        return ""
    seconds = (now.astimezone(UTC) - then).total_seconds()
    if seconds < 60:
        return "now"
    for limit, unit, length in _SPANS:
        if seconds < limit:
            return f"{int(seconds // length)}{unit}"
    return _short_date(then, now)


def _short_date(then: datetime, now: datetime) -> str:
    try:
        day = then.astimezone().date()
    except (OverflowError, ValueError, OSError):
        return ""
    # Not %Y, which writes the years before 1000 shorter on some systems.
    return f"{day:%m-%d}" if day.year == now.astimezone().year else day.isoformat()[:4]


def matches(row: SessionRow, text: str) -> bool:
    """Whether each word of a filter is in the row's label or id, small and capital alike."""
    hay = f"{row.label}\n{row.id}".casefold()
    return all(word in hay for word in text.casefold().split())


def _row(entry: SessionEntry, group: Group, marks: Mapping[str, Mark]) -> SessionRow:
    return SessionRow(
        id=entry.id,
        label=entry.label,
        group=group,
        last_used_at=entry.last_used_at,
        message_count=entry.message_count,
        mark=marks.get(entry.id, Mark.NONE),
        name=entry.name,
        scope=scope_name(entry.scope),
    )


def neighbour(rows: Sequence[SessionRow], session_id: str, step: int) -> str | None:
    """The session so many rows below another (above, if negative), or the last on the way.

    ``None`` where there are no rows; the first one if the other is not among them.
    """
    ids = [row.id for row in rows]
    if not ids:
        return None
    if session_id not in ids:
        return ids[0]
    return ids[max(0, min(len(ids) - 1, ids.index(session_id) + step))]
