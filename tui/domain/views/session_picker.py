"""Rows of the session picker: sessions of all states and projects."""

from collections.abc import Container, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from tui.domain.journal.session import SessionEntry
from tui.domain.moves import Move, move_words
from tui.domain.text.labels import UNREADABLE, age, plural, scope_name
from tui.domain.timestamps import parse_utc
from tui.domain.views.sidebar_rows import Mark

PickerView = Literal["all", "closed", "archive", "trash"]
"""All sessions, closed ones in the order of their closing, the archive, or the trash."""
VIEWS: tuple[PickerView, ...] = ("all", "closed", "archive", "trash")
State = Literal["open here", "open elsewhere", "closed", "archived", "in the trash", "unreadable"]


class PickerRow(msgspec.Struct, frozen=True):
    """A session in the picker."""

    id: str
    label: str
    state: State
    last_used_at: str
    closed_at: str | None
    message_count: int
    mark: Mark = Mark.NONE
    name: str = ""
    scope: str = ""
    """The short form: the directory name of a project."""
    pinned: bool = False
    program: str = ""
    """The program that it was imported from; empty for an own session."""
    moved: str = ""
    """When and why it was archived or moved to the trash; empty if that is unknown."""

    @property
    def is_kept(self) -> bool:
        """True outside of archive and trash."""
        return self.state not in ("archived", "in the trash")

    def about(self, now: datetime) -> str:
        """Describe the session in a line: project, state, size and age."""
        state = self.moved if not self.is_kept and self.moved else self._state(now)
        program = f"from {self.program}" if self.program else ""
        parts = (self.scope, program, state, plural(self.message_count, "message"), self.id)
        return " · ".join(part for part in parts if part)

    def _state(self, now: datetime) -> str:
        if self.state == "closed" and self.closed_at:
            return f"closed {age(parse_utc(self.closed_at), now)}"
        words = f"{self.state}, used {age(parse_utc(self.last_used_at), now)}"
        return f"{words}, {self.mark.value}" if self.mark else words


class PickerRows(msgspec.Struct, frozen=True):
    """All rows of the picker; ``more`` is true while there are pages to read."""

    rows: tuple[PickerRow, ...]
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
) -> PickerRow:
    """Make the row of a session; ``own`` are the ids of those that are open here."""
    return PickerRow(
        id=entry.id,
        label=entry.label,
        state=_state(entry, own),
        last_used_at=entry.last_used_at,
        closed_at=entry.closed_at,
        message_count=entry.message_count,
        mark=marks.get(entry.id, Mark.NONE),
        name=entry.name,
        scope=scope_name(entry.scope),
        pinned=entry.pinned,
        program=entry.program,
        moved=move_words(move, now) if move else "",
    )


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
