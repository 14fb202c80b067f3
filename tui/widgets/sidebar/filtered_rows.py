"""The rows of the sidebar that match its filter, under headings that fold."""

from collections.abc import Sequence

from tui.domain.views.sidebar_rows import (
    SET_ASIDE,
    Group,
    SessionRow,
    SessionRows,
    matches,
    narrows,
)
from tui.widgets.sidebar.outline import Outline

Last = tuple[int, str]
"""The number of rows and the id of the last: it changes when a request brings more."""


class FilteredRows:
    """Rows, filter and folds; ``outline`` are the lines that come of them.

    While the list is filtered, its groups fold on their own, unfolded at first.
    """

    def __init__(self) -> None:
        self.loaded: SessionRows | None = None
        self.outline = Outline()
        self._filter = ""
        self._matching: tuple[SessionRow, ...] = ()
        self._folded: set[Group] = set(SET_ASIDE)
        self._folded_while_filtering: set[Group] = set()

    def show(self, rows: SessionRows) -> None:
        """Take other rows."""
        self.loaded = rows
        self._match(rows.rows)

    def filter(self, text: str) -> None:
        """Replace the filter."""
        narrower = narrows(text, self._filter)
        if not self._filter:
            self._folded_while_filtering.clear()
        self._filter = text
        self._match(self._matching if narrower else self.all)

    def turn_fold(self, group: Group) -> None:
        """Fold a group, or unfold it."""
        self._folds.symmetric_difference_update({group})
        self._lay_out()

    def is_folded(self, group: Group) -> bool:
        """Tell if the rows of a group are hidden."""
        return group in self._folds

    @property
    def all(self) -> tuple[SessionRow, ...]:
        """All loaded rows."""
        return self.loaded.rows if self.loaded else ()

    @property
    def hidden(self) -> int:
        """The number of rows that the filter hides."""
        return len(self.all) - len(self._matching) if self.loaded else 0

    @property
    def last(self) -> Last:
        """The state of loading."""
        return (len(self.all), self.all[-1].id) if self.all else (0, "")

    @property
    def lacking(self) -> Sequence[Group]:
        """The groups, archive or trash, that are unfolded but not fully loaded."""
        counts = self.loaded.set_aside if self.loaded else {}
        return [group for group, count in counts.items() if self._lacks(group, count)]

    def _lacks(self, group: Group, count: int) -> bool:
        if self.is_folded(group):
            return False
        return sum(row.group is group for row in self.all) < count

    @property
    def _folds(self) -> set[Group]:
        return self._folded_while_filtering if self._filter.strip() else self._folded

    def _match(self, rows: tuple[SessionRow, ...]) -> None:
        text = self._filter
        self._matching = tuple(row for row in rows if matches(row, text)) if text.strip() else rows
        self._lay_out()

    def _lay_out(self) -> None:
        if self.loaded is None:
            return
        counts = self.loaded.set_aside
        if self._filter.strip():
            counts = dict.fromkeys(counts, 0)
        self.outline = Outline(self._matching, self._folds, self.loaded.current, counts)
