"""The rows of the sidebar: a virtual list with folds, a filter and a question in a row."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import ClassVar, get_args

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from tui.domain.text import cut_at_word
from tui.domain.views.session_rows import (
    SET_ASIDE,
    Group,
    Mark,
    SessionRow,
    SessionRows,
    Times,
    matches,
    narrows,
)
from tui.widgets import intents
from tui.widgets.cells import cut, fill, one_line
from tui.widgets.keys import SIDEBAR_ROWS
from tui.widgets.sidebar.session_list import (
    BAR,
    NO_SESSIONS,
    PIN,
    SIGNS,
    Part,
    Piece,
    SessionList,
    called,
    question_pieces,
)

_NONE: Mapping[Group, int] = MappingProxyType({})


class GroupHeading(msgspec.Struct, frozen=True):
    """The heading of a group; ``current``: the session on screen is folded away in it."""

    group: Group
    count: int
    folded: bool = False
    current: bool = False


Line = GroupHeading | SessionRow


class Outline:
    """Rows and headings as lines, with an index from each to its line number."""

    def __init__(
        self,
        rows: Iterable[SessionRow] = (),
        folded: AbstractSet[Group] = frozenset(),
        current: str = "",
        set_aside: Mapping[Group, int] = _NONE,
    ) -> None:
        """``set_aside`` are the numbers of archived and deleted sessions, loaded or not."""
        self.lines: list[Line] = []
        self._groups: dict[Group, int] = {}
        self._sessions: dict[str, int] = {}
        self._folded: dict[str, Group] = {}
        groups = {group: list(each) for group, each in groupby(rows, key=attrgetter("group"))}
        # Those that have sessions, none of which is loaded, come last, in their order.
        unloaded = [group for group, count in set_aside.items() if count or group in groups]
        shown = [*(group for group in groups if group not in set_aside), *unloaded]
        for group in shown:
            members, is_folded = groups.get(group, []), group in folded
            self._groups[group] = len(self.lines)
            hidden = is_folded and any(row.id == current for row in members)
            count = max(len(members), set_aside.get(group, 0))
            self.lines.append(GroupHeading(group, count, is_folded, hidden))
            if is_folded:
                self._folded.update((row.id, group) for row in members)
                continue
            first = len(self.lines)
            self._sessions.update((row.id, place) for place, row in enumerate(members, first))
            self.lines.extend(members)

    def place_of(self, line: Line) -> int | None:
        """The line number of a line of another outline; that of the heading for a folded row."""
        if isinstance(line, GroupHeading):
            return self._groups.get(line.group)
        return self.place_of_session(line.id)

    def place_of_session(self, session_id: str) -> int | None:
        """The line number of a session; that of its heading while that is folded."""
        if session_id in self._folded:
            return self._groups[self._folded[session_id]]
        return self._sessions.get(session_id)

    def nearest_row(self, place: int) -> int:
        """The row nearest to a line, else the heading there; 0 without lines."""
        last = len(self.lines) - 1
        place = max(0, min(place, last))
        for distance in range(last + 1):
            for near in (place - distance, place + distance):
                if 0 <= near <= last and isinstance(self.lines[near], SessionRow):
                    return near
        return place

    def drift(self, seen: Sequence[Line], first: int) -> int:
        """The number of lines by which most lines in view, from ``first`` on, have moved.

        A single line says nothing: a session that was used goes to the top.
        """
        places = ((self.place_of(line), place) for place, line in enumerate(seen, first))
        moves = Counter(now - before for now, before in places if now is not None)
        return moves.most_common(1)[0][0] if moves else 0


NO_MATCHES = "No matches"
# A narrower list has no room for them beside the label.
_CELLS_FOR_AGE = 20
_CELLS_FOR_COUNT = 40
_PROJECT_CELLS = 12
_PROGRAM_CELLS = 11


def row_pieces(
    row: SessionRow, when: str, width: int, current: str, *, everywhere: bool = False
) -> Iterator[Piece]:
    """State mark and label; project, if all are shown, ``when`` and count where there is room."""
    is_wide = width >= _CELLS_FOR_COUNT
    age = when if width >= _CELLS_FOR_AGE else ""
    # A column beside a count; alone it takes only the room it needs.
    age = f"{age:>6}" if is_wide else f" {age}" if age else ""
    number = row.message_count
    words = f"{number if number < 10_000 else f'{number // 1000}k'} msg{'s' * (number != 1)}"
    count = f"{words:>10}" if is_wide else ""
    if everywhere and row.scope:
        age = f" {cut(one_line(row.scope), min(_PROJECT_CELLS, width // 4))}{age}"
    if row.program:
        age = f" {cut(one_line(row.program), min(_PROGRAM_CELLS, width // 4))}{age}"
    is_cut = cell_len(called(row)) > width - 3 - cell_len(count + age)
    aside = f" {age.strip()}" if is_cut and count else count + age
    is_current = row.id == current
    sign, part = SIGNS[row.mark]
    yield (BAR if is_current else " ", "current")
    yield (f"{PIN if row.pinned and row.mark is Mark.NONE else sign} ", part)
    room = width - cell_len(aside) - 3
    yield (fill(cut_at_word(called(row), room), room), "current" if is_current else "text")
    yield (aside, "aside")


def heading_pieces(heading: GroupHeading, width: int) -> Iterator[Piece]:
    """A fold sign, the name of the group, and the number of folded rows."""
    sign, count = ("▸", f" {heading.count}") if heading.folded else ("▾", "")
    yield (BAR if heading.current else " ", "current")
    yield (fill(f"{sign} {heading.group.value}{count}", width - 1), "heading")


class RowsView(SessionList[Line], can_focus=True):
    """Sessions under headings, one of which is highlighted.

    While the list is filtered, its groups fold on their own, unfolded at first.
    """

    # With priority, as the sidebar's own: without it those overtake them in fast typing.
    BINDINGS: ClassVar[list[BindingType]] = [*SIDEBAR_ROWS]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line-list--{part}" for part in get_args(Part)}

    class ViewMoved(Message):
        """The view was scrolled or resized."""

    def __init__(self) -> None:
        super().__init__()
        # Textual looks for the actions of BINDINGS here.
        self.action_move, self.action_move_page = self.move, self.move_page
        self.loaded: SessionRows | None = None
        self.outline = Outline()
        self._filter = ""
        self.matching: tuple[SessionRow, ...] = ()
        """The loaded rows that the filter leaves."""
        self._folded: set[Group] = set(SET_ASIDE)
        self._folded_while_filtering: set[Group] = set()
        self._times = Times()
        self.place = 0
        self._kept: Line | None = None  # the line that the reader highlighted, shown or not
        self._awaited = ""  # the session to be highlighted as soon as it has a row
        self._seen_height = 0
        self._asked = False
        self._asked_after: tuple[int, str] | None = None

    @property
    def highlighted(self) -> SessionRow | None:
        """The highlighted session; ``None`` on a heading."""
        line = self.line_at(self.place)
        return line if isinstance(line, SessionRow) else None

    def show_rows(self, rows: SessionRows, now: datetime) -> None:
        """Show other rows, or the same ones at a later time; keep highlight and view."""
        first = not self._all
        self._times = Times(rows.rows, now)
        self._asked = True  # the reader did not move what moves here
        self.loaded = rows
        self._match(rows.rows)
        if first:
            place = self.outline.place_of_session(rows.current)
            self._move_to(self.outline.nearest_row(0) if place is None else place)
        elif self._awaited:
            self.highlight(self._awaited)
        self._asked = False
        # A request that brought nothing is repeated only when the reader moves.
        if self._last != self._asked_after:
            self.ask_for_more()

    def filter(self, text: str) -> None:
        """Show the rows that match a text, under headings that are unfolded at first."""
        narrower = narrows(text, self._filter)
        if not self._filter:
            self._folded_while_filtering.clear()
        self._filter = text
        self._match(self.matching if narrower else self._all)
        self.bring_into_view()
        self._ask_for_set_aside()

    def highlight(self, session_id: str) -> None:
        """Highlight a session and bring it into view, as soon as it has a row.

        Once the reader has moved the highlight, it stays with the reader.
        """
        place = self.outline.place_of_session(session_id)
        if place is None:
            self._awaited = session_id
        else:
            self._move_to(place)

    @property
    def shown(self) -> list[SessionRow]:
        """The sessions among the lines, without those that are filtered or folded away."""
        return [line for line in self.lines if isinstance(line, SessionRow)]

    # --- keys and mouse

    def action_choose(self) -> None:
        row = self.highlighted
        if row is None:
            self.action_fold(-1)
            return
        self.take_question_back()
        self._kept = row
        if row.group is Group.TRASHED:
            self.ask()
        else:
            self.post_message(intents.SessionSelected(row.id))

    def action_fold(self, step: int) -> None:
        """Fold the group (1) or unfold it (-1), which restores the highlighted row."""
        line = self.line_at(self.place)
        if line is not None and (line.group in self._folds) == (step < 0):
            self._turn_fold(line.group)
            self.bring_into_view()

    def clicked(self, place: int, line: Line, clicks: int) -> None:  # noqa: ARG002 -- one is enough
        if isinstance(line, SessionRow):
            self._move_to(place)
            self.action_choose()
        else:
            self._turn_fold(line.group)

    # --- lines

    def is_heading(self, line: Line) -> bool:
        return isinstance(line, GroupHeading)

    def is_stop(self, line: Line) -> bool:
        """True on a session, or on the heading of a folded group."""
        return isinstance(line, SessionRow) or line.folded

    def _turn_fold(self, group: Group) -> None:
        self.take_question_back()
        self._folds.symmetric_difference_update({group})
        self._lay_out()
        self._ask_for_set_aside()

    @property
    def _all(self) -> tuple[SessionRow, ...]:
        return self.loaded.rows if self.loaded else ()

    @property
    def _last(self) -> tuple[int, str]:
        """The number of rows and the id of the last: it changes when a request brings more."""
        return (len(self._all), self._all[-1].id) if self._all else (0, "")

    @property
    def _folds(self) -> set[Group]:
        return self._folded_while_filtering if self._filter.strip() else self._folded

    def _match(self, rows: tuple[SessionRow, ...]) -> None:
        text = self._filter
        self.matching = tuple(row for row in rows if matches(row, text)) if text.strip() else rows
        self._lay_out()

    def _lay_out(self) -> None:
        """Lay the lines out anew; keep the highlight and the view."""
        before, top = self.outline, self.scroll_offset.y
        seen = before.lines[top : top + self.height]
        highlighted = (self._kept, self.line_at(self.place))
        if self.loaded is not None:
            counts = self.loaded.set_aside
            if self._filter.strip():
                counts = dict.fromkeys(counts, 0)
            self.outline = Outline(self.matching, self._folds, self.loaded.current, counts)
            self.lines = self.outline.lines
        places = (self.outline.place_of(line) for line in highlighted if line)
        known = next((place for place in places if place is not None), None)
        self.place = self.outline.nearest_row(self.place) if known is None else known
        if self.lines:
            self.place = self.stop_beyond(self.place, 1)
        self.keep_question()
        self.update_size()
        # A view at the top stays there, as new rows come there.
        self.scroll_to_line(top + self.outline.drift(seen, top) if top else 0)
        self.refresh()

    # --- the view

    def move_to(self, place: int) -> None:
        """Move to the stop at or beyond a line."""
        self._move_to(self.stop_beyond(place, 1 if place > self.place else -1))

    def _move_to(self, place: int) -> None:
        if not self.lines:
            return
        place = max(0, min(place, len(self.lines) - 1))
        self._kept = self.line_at(place)
        self._awaited = ""
        self.highlight_place(place)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.ViewMoved())

    def resized(self) -> None:
        self.post_message(self.ViewMoved())
        below, self._seen_height = self._seen_height, self.height
        if not below or 0 <= self.place - self.scroll_offset.y < below:
            self.bring_into_view()
        self.ask_for_more()

    def ask_for_more(self) -> None:
        """Ask for more rows near the end, once until rows are shown."""
        loaded = self.loaded
        if not self._asked and loaded is not None and loaded.more and self.nears_end:
            self._asked, self._asked_after = True, self._last
            super().ask_for_more()

    def _ask_for_set_aside(self) -> None:
        """Ask for archive and trash where they are unfolded and not loaded, and for more rows."""
        counts = self.loaded.set_aside if self.loaded else {}
        loaded = Counter(row.group for row in self._all)
        for group in counts:
            if group not in self._folds and loaded[group] < counts[group]:
                self.post(intents.GroupUnfolded(group))
        self.ask_for_more()

    # --- drawing

    def pieces(self, line: Line, width: int) -> Iterable[Piece]:
        if isinstance(line, GroupHeading):
            return heading_pieces(line, width)
        current = self.loaded.current if self.loaded else ""
        if line.id == self._asked_about:
            return question_pieces(line, width)
        everywhere = self.loaded is not None and not self.loaded.scope
        return row_pieces(line, self._times.of(line), width, current, everywhere=everywhere)

    def blank_row(self, y: int, width: int) -> Strip:
        if y or self.lines or self.loaded is None:
            return super().blank_row(y, width)
        text = NO_MATCHES if self._all else NO_SESSIONS
        return Strip([Segment(fill(f" {text}", width), self.part_style("aside"))])
