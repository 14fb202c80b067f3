"""Rows of the session picker: sessions of all states and projects."""

from collections.abc import Container, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from tui.domain.journal.session import SessionEntry
from tui.domain.moves import Move, move_words
from tui.domain.text.labels import UNREADABLE, age, plural
from tui.domain.timestamps import parse_utc
from tui.domain.views.sidebar_rows import Mark, SessionRow, State, group_of, session_row

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
