"""The lines of the sidebar: the rows that its filter passes, under headings that fold."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

import msgspec

from tui.domain.views.sidebar_rows import Group, SessionRow

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
        self._set_aside = set_aside
        groups = {group: list(members) for group, members in groupby(rows, key=attrgetter("group"))}
        # Those that have sessions, none of which is loaded, come last, in their order.
        unloaded = [group for group, count in set_aside.items() if count or group in groups]
        shown = [*(group for group in groups if group not in set_aside), *unloaded]
        for group in shown:
            self._add(group, groups.get(group, []), current, folded=group in folded)

    def _add(self, group: Group, rows: list[SessionRow], current: str, *, folded: bool) -> None:
        self._groups[group] = len(self.lines)
        hidden = folded and any(row.id == current for row in rows)
        count = max(len(rows), self._set_aside.get(group, 0))
        self.lines.append(GroupHeading(group, count, folded, hidden))
        if folded:
            self._folded.update((row.id, group) for row in rows)
            return
        first = len(self.lines)
        self._sessions.update((row.id, place) for place, row in enumerate(rows, first))
        self.lines.extend(rows)

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
