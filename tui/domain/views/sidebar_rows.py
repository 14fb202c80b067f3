"""The rows of the sidebar: sessions in groups, each with what is going on in it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from unicodedata import combining, normalize

import msgspec

from tui.domain.journal.session import SessionEntry
from tui.domain.text.labels import scope_name
from tui.domain.timestamps import parse_utc

_PREFIX = "session-"
_VOICED = "\u3099\u309a"
_SPANS = ((3600, "m", 60), (86400, "h", 3600), (7 * 86400, "d", 86400))


class Mark(StrEnum):
    """What is going on in a session; the value is what is shown where there is room for words."""

    NONE = ""
    RUNNING = "running"
    ASKING = "waits for approval"
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
    today = now.astimezone().date()
    groups: dict[Group, list[SessionRow]] = {group: [] for group in Group}
    groups[Group.OPEN] = [_row(entry, Group.OPEN, marks) for entry in opened]
    for entry in entries:
        if entry.id not in own:
            group = _group(entry, today)
            groups[group].append(_row(entry, group, marks))
    return tuple(chain.from_iterable(groups.values()))


_scope_name = lru_cache(maxsize=1000)(scope_name)


def _group(entry: SessionEntry, today: date) -> Group:
    if entry.status == "archived":
        return Group.ARCHIVED
    day = _local_day(entry.last_used_at, time.tzname)
    if day is None:
        return Group.OLDER
    if day >= today:
        return Group.TODAY
    if day == today - timedelta(days=1):
        return Group.YESTERDAY
    return Group.LAST_WEEK if day > today - timedelta(days=7) else Group.OLDER


@lru_cache(maxsize=20_000)
def _local_day(used_at: str, _zone: tuple[str, str]) -> date | None:
    # The rows of ten thousand sessions are made anew at each switch; most times stay as they are.
    moment = parse_utc(used_at)
    try:
        return moment.astimezone().date() if moment else None
    except (OverflowError, ValueError, OSError):
        return None


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
    """Whether each word of a filter is in the row's label, name, id or scope.

    Small and capital letters, wide and narrow ones, with and without accents are alike. What all
    ids begin with counts only where it is typed whole.
    """
    label = _plain(f"{row.label}\n{row.name}\n{row.scope}\n{row.id.removeprefix(_PREFIX)}")
    return all(
        word in label or (_PREFIX in word and word in row.id.lower())
        for word in _plain(text).split()
    )


def narrows(text: str, before: str) -> bool:
    """Whether a filter lets through nothing that another one did not."""
    return text.startswith(before) and _PREFIX not in _plain(text)


@lru_cache(maxsize=20_000)
def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    # In pieces, so that what is matched by a text is by its beginning: か begins が.
    letters = normalize("NFKD", normalize("NFKD", text).casefold())
    return "".join(each for each in letters if not combining(each) or each in _VOICED)


def _row(entry: SessionEntry, group: Group, marks: Mapping[str, Mark]) -> SessionRow:
    return SessionRow(
        id=entry.id,
        label=entry.label,
        group=group,
        last_used_at=entry.last_used_at,
        message_count=entry.message_count,
        mark=marks.get(entry.id, Mark.NONE),
        name=entry.name,
        scope=_scope_name(entry.scope),
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
