"""The list of the picker: sessions of all states, one of them highlighted."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from rich.cells import cell_len

from tui.domain.text import cut_at_word
from tui.domain.views.session_rows import Mark, SessionRow, State, Times
from tui.widgets.cells import fill, one_line
from tui.widgets.sidebar.session_list import PIN, SIGNS, SessionList, called, question_pieces

Line = tuple[int, SessionRow]
"""A session and its number, from 1."""

_STATES: dict[State, str] = {"open here": "○", "open elsewhere": "⊘", "unreadable": "!"}
_SIGN_CELLS = 3
_PROJECT_CELLS = 16
_PROJECT_FROM_CELLS = 56
_STATE_CELLS = 15
_STATE_FROM_CELLS = 76
_COUNT_FROM_CELLS = 110


def row_pieces(
    row: SessionRow, number: str, times: Times, projects: int, width: int
) -> Iterator[tuple[str, str]]:
    """Number, signs and title; then project, state, count and age where there is room.

    ``projects`` are the cells of the column of projects.
    """
    aside = f" {times.of(row):>{times.cells}}"
    if width >= _COUNT_FROM_CELLS:
        aside = f"{row.message_count:>6} msgs{aside}"
    if width >= _STATE_FROM_CELLS:
        aside = f"  {'' if row.state == 'closed' else row.state:<{_STATE_CELLS - 2}}{aside}"
    if width >= _PROJECT_FROM_CELLS:
        aside = f"  {fill(one_line(row.scope), projects)}{aside}"
    sign = _STATES.get(row.state or "closed", " ") if row.mark is Mark.NONE else SIGNS[row.mark][0]
    yield f"{number} ", "number"
    yield f"{PIN if row.pinned else ' '}{sign}".ljust(_SIGN_CELLS), "sign"
    room = max(1, width - len(number) - 1 - _SIGN_CELLS - cell_len(aside))
    yield fill(cut_at_word(called(row), room), room), "text" if row.is_kept else "set-aside"
    yield aside, "aside"


class PickerList(SessionList[Line], can_focus=True):
    """A virtual list of sessions with their numbers."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"line-list--{part}" for part in ("number", "set-aside", "sign", "warning")
    }
    DEFAULT_CSS = """
    PickerList {
        background: $background;
        scrollbar-background: $background;
        scrollbar-color: $panel;

        & > .line-list--number { color: $text-muted; }
        & > .line-list--set-aside { color: $text-muted; text-style: italic; }
        & > .line-list--sign { color: $text-accent; }
        & > .line-list--warning { color: $text-error; text-style: bold; }
    }
    """

    _times = Times()
    _projects = 0

    @property
    def cells_before_title(self) -> int:
        """The columns of number and signs."""
        return len(str(len(self.lines))) + 1 + _SIGN_CELLS

    @property
    def highlighted(self) -> SessionRow | None:
        line = self.line_at(self.place)
        return line[1] if line else None

    def pieces(self, line: Line, width: int) -> Iterable[tuple[str, str]]:
        number, row = line
        if row.id == self._asked_about:
            return question_pieces(row, width)
        digits = f"{number:>{len(str(len(self.lines)))}}"
        return row_pieces(row, digits, self._times, self._projects, width)

    def show(self, rows: Sequence[SessionRow], now: datetime, *, from_top: bool) -> None:
        """Show other rows, with the highlight on the same session or, ``from_top``, the first."""
        before = self.highlighted
        self.lines, self._times = [*enumerate(rows, 1)], Times(rows, now)
        projects = (cell_len(one_line(scope)) for scope in {row.scope for row in rows})
        self._projects = min(_PROJECT_CELLS, max(projects, default=0))
        self.update_size()
        # One that was put away, or came back, has gone to another part of the list.
        stays = {(row.id, row.is_kept): place for place, row in enumerate(rows)}
        key = (before.id, before.is_kept) if before else None
        place = stays.get(key, max(0, self.place)) if key else max(0, self.place)
        self.highlight_place(min(0 if from_top else place, len(rows) - 1))
        self.post_message(self.Highlighted())

    def resized(self) -> None:
        super().resized()
        self.ask_for_more()
