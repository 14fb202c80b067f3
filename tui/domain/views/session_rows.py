"""Rows of sessions: those of the sidebar, and those of the picker, of all states and projects."""

import time
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Literal
from unicodedata import combining, normalize

import msgspec

from tui.domain.journal.session import SessionEntry
from tui.domain.moves import Move, move_words
from tui.domain.text import UNREADABLE, age, plural, scope_name
from tui.domain.timestamps import parse_utc

_PREFIX = "session-"
_VOICED = "\u3099\u309a"
_SPANS = ((3600, "m", 60), (86400, "h", 3600), (7 * 86400, "d", 86400))


class Mark(StrEnum):
    """The state of a session; the values are shown where there is room for words."""

    NONE = ""
    RUNNING = "running"
    ASKING = "waits for approval"
    UNREAD = "unread"
    UNSAVED = "unsaved"
    READ_ONLY = "read-only"


class Group(StrEnum):
    """The group of a session; the values are the headings."""

    PINNED = "Pinned"
    OPEN = "Open"
    TODAY = "Today"
    YESTERDAY = "Yesterday"
    LAST_WEEK = "Last 7 days"
    OLDER = "Older"
    ARCHIVED = "Archived"
    TRASHED = "Trash"


SET_ASIDE = (Group.ARCHIVED, Group.TRASHED)
"""The groups that are folded at first, and loaded once they are unfolded."""

State = Literal["open here", "open elsewhere", "closed", "archived", "in the trash", "unreadable"]


class SessionRow(msgspec.Struct, frozen=True):
    """A session in a list."""

    id: str
    label: str
    """The title, uncut if it is of 80 cells at most."""
    group: Group
    last_used_at: str
    """UTC, as in ``tui.domain.timestamps``."""
    message_count: int
    mark: Mark = Mark.NONE
    name: str = ""
    """The name that the user gave, uncut; empty without one."""
    scope: str = ""
    """The short form: the directory name of a project."""
    pinned: bool = False
    program: str = ""
    """The program that it was imported from; empty for an own session."""
    state: State | None = None
    """Known where sessions of all states are listed together, as the two fields below."""
    closed_at: str | None = None
    moved: str = ""
    """When and why it was archived or moved to the trash; empty if that is unknown."""

    @property
    def is_kept(self) -> bool:
        """True outside of archive and trash."""
        return self.group not in SET_ASIDE


class SessionRows(msgspec.Struct, frozen=True):
    """Everything that the sidebar shows."""

    rows: tuple[SessionRow, ...]
    """In the order of the screen, grouped."""
    current: str
    """The id of the session on screen."""
    more: bool = False
    """True if there are older sessions to load."""
    scope: str = ""
    """The project's name while only its sessions are shown; else empty."""
    elsewhere: int = 0
    """The number of sessions of other projects that are not shown."""
    archived: int = 0
    """The number of sessions in the archive, loaded or not."""
    trashed: int = 0
    """The number of sessions in the trash, loaded or not."""
    others: tuple[SessionRow, ...] = ()
    """Sessions of other projects that were used last, for the palette and for completion."""

    @property
    def known(self) -> tuple[SessionRow, ...]:
        """All sessions that can be found by typing: listed ones, then ``others``."""
        listed = {row.id for row in self.rows}
        return (*self.rows, *(row for row in self.others if row.id not in listed))

    @property
    def set_aside(self) -> dict[Group, int]:
        """The number of sessions in the groups that are loaded once they are unfolded."""
        return {Group.ARCHIVED: self.archived, Group.TRASHED: self.trashed}


def arrange(
    entries: Iterable[SessionEntry],
    opened: Sequence[SessionEntry],
    marks: Mapping[str, Mark],
    now: datetime,
) -> tuple[SessionRow, ...]:
    """Group sessions: pinned ones, then those that are open here (``opened``) in their own order.

    ``entries`` are sorted by last use, newest first, and may contain the opened ones.
    """
    own = {entry.id for entry in opened}
    today = now.astimezone().date()
    groups: dict[Group, list[SessionRow]] = {group: [] for group in Group}
    for entry in opened:
        group = Group.PINNED if entry.pinned else Group.OPEN
        groups[group].append(session_row(entry, group, marks))
    for entry in entries:
        if entry.id not in own:
            group = group_of(entry, today)
            groups[group].append(session_row(entry, group, marks))
    return tuple(chain.from_iterable(groups.values()))


_scope_name = lru_cache(maxsize=1000)(scope_name)


def group_of(entry: SessionEntry, today: date) -> Group:
    """Give the group of a session that is not open here."""
    match entry.status:
        case "archived":
            return Group.ARCHIVED
        case "trashed":
            return Group.TRASHED
        case _ if entry.pinned:
            return Group.PINNED
        case _:
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
    # Cached: a switch arranges ten thousand rows, most of them with unchanged times.
    moment = parse_utc(used_at)
    return moment.astimezone().date() if moment else None


def short_age(then: datetime | None, now: datetime) -> str:
    """Format an age in at most five cells: ``now``, ``5m``, ``3h``, ``2d``.

    From a week on the local date, ``11-05``, or the year of an earlier one. Empty for ``None``.
    """
    if then is None:
        return ""
    seconds = (now.astimezone(UTC) - then).total_seconds()
    if seconds < 60:
        return "now"
    for limit, unit, length in _SPANS:
        if seconds < limit:
            return f"{int(seconds // length)}{unit}"
    day = then.astimezone().date()
    # Not %Y: some systems do not pad years before 1000.
    return f"{day:%m-%d}" if day.year == now.astimezone().year else day.isoformat()[:4]


_NEVER = datetime.min.replace(tzinfo=UTC)


class Times:
    """When sessions were used, in few cells; as a time where rows are else alike."""

    def __init__(self, rows: Iterable[SessionRow] = (), now: datetime = _NEVER) -> None:
        titles = Counter((row.label, row.scope) for row in rows)
        self._alike = {title for title, count in titles.items() if count > 1}
        self._now = now

    @property
    def cells(self) -> int:
        """The cells that the longest may take."""
        return 11 if self._alike else 5

    def of(self, row: SessionRow) -> str:
        """The age of a row, or its local time: ``14:02``, ``11-05 14:02``."""
        then = parse_utc(row.last_used_at)
        if then is None or (row.label, row.scope) not in self._alike:
            return short_age(then, self._now)
        then, now = then.astimezone(), self._now.astimezone()
        if then.date() == now.date():
            return f"{then:%H:%M}"
        return f"{then:%m-%d %H:%M}" if then.year == now.year else then.date().isoformat()


def matches(row: SessionRow, text: str) -> bool:
    """True if each word of a filter occurs in the row's label, name, id or scope.

    Case, width and accents are ignored. The ``session-`` of ids matches only if typed whole.
    """
    label = _plain(f"{row.label}\n{row.name}\n{row.scope}\n{row.id.removeprefix(_PREFIX)}")
    return all(
        word in label or (_PREFIX in word and word in row.id.lower())
        for word in _plain(text).split()
    )


def narrows(text: str, before: str) -> bool:
    """True if a filter can only match rows that the filter ``before`` matched."""
    return text.startswith(before) and _PREFIX not in _plain(text)


@lru_cache(maxsize=20_000)
def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Decomposed, so that every prefix of a matching text matches too: か begins が.
    letters = normalize("NFKD", normalize("NFKD", text).casefold())
    return "".join(each for each in letters if not combining(each) or each in _VOICED)


def session_row(entry: SessionEntry, group: Group, marks: Mapping[str, Mark]) -> SessionRow:
    """Make the row of a session."""
    return SessionRow(
        id=entry.id,
        label=entry.label,
        group=group,
        last_used_at=entry.last_used_at,
        message_count=entry.message_count,
        mark=marks.get(entry.id, Mark.NONE),
        name=entry.name,
        scope=_scope_name(entry.scope),
        pinned=entry.pinned,
        program=entry.program,
    )


def neighbour(rows: Sequence[SessionRow], session_id: str, step: int) -> str | None:
    """The id of the session ``step`` rows below (negative: above), at most the last row.

    ``None`` without rows; the first row if the session is not among them.
    """
    ids = [row.id for row in rows]
    if not ids:
        return None
    if session_id not in ids:
        return ids[0]
    return ids[max(0, min(len(ids) - 1, ids.index(session_id) + step))]


PickerView = Literal["all", "closed", "archive", "trash"]
"""All sessions, closed ones in the order of their closing, the archive, or the trash."""
VIEWS: tuple[PickerView, ...] = ("all", "closed", "archive", "trash")


class PickerRows(msgspec.Struct, frozen=True):
    """All rows of the picker; ``more`` is true while there are pages to read."""

    rows: tuple[SessionRow, ...]
    view: PickerView
    project: str
    """The project whose sessions these are; empty for all projects."""
    more: bool = False
    failure: str = ""
    failure_in_short: str = ""


def picker_row(
    entry: SessionEntry,
    marks: Mapping[str, Mark],
    own: Container[str],
    move: Move | None,
    now: datetime,
) -> SessionRow:
    """Make the row of a session; ``own`` are the ids of those that are open here."""
    return msgspec.structs.replace(
        session_row(entry, group_of(entry, now.astimezone().date()), marks),
        state=_state(entry, own),
        closed_at=entry.closed_at,
        moved=move_words(move, now) if move else "",
    )


def about(row: SessionRow, now: datetime) -> str:
    """Describe a session in a line: project, program, state, size and id."""
    state = f"{row.state}, used {age(parse_utc(row.last_used_at), now)}"
    if not row.is_kept and row.moved:
        state = row.moved
    elif row.state == "closed" and row.closed_at:
        state = f"closed {age(parse_utc(row.closed_at), now)}"
    elif row.mark:
        state = f"{state}, {row.mark.value}"
    program = f"from {row.program}" if row.program else ""
    parts = (row.scope, program, state, plural(row.message_count, "message"), row.id)
    return " · ".join(part for part in parts if part)


def _state(entry: SessionEntry, own: Container[str]) -> State:
    match entry.status:
        case "archived":
            return "archived"
        case "trashed":
            return "in the trash"
        case "open" if entry.id in own:
            return "open here"
        case "open":
            return "open elsewhere"
        case "closed":
            return "unreadable" if entry.label == UNREADABLE else "closed"
