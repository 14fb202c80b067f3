"""The lines of the sidebar as pieces of text, each with the part that it plays."""

from collections.abc import Iterator
from typing import Literal

from rich.cells import cell_len

from tui.domain.journal.ids import is_private
from tui.domain.text.labels import cut_at_word, whole_label
from tui.domain.views.sidebar_rows import Group, Mark, SessionRow
from tui.widgets.cells import cut, fill, one_line
from tui.widgets.sidebar.outline import GroupHeading

Part = Literal[
    "text", "current", "running", "unread", "unsaved", "read-only", "aside", "heading", "warning"
]
Piece = tuple[str, Part]

BAR = "▌"
SIGNS: dict[Mark, tuple[str, Part]] = {
    Mark.NONE: (" ", "text"),
    Mark.ASKING: ("?", "warning"),
    Mark.RUNNING: ("●", "running"),
    Mark.UNREAD: ("•", "unread"),
    Mark.UNSAVED: ("!", "unsaved"),
    Mark.READ_ONLY: ("⊘", "read-only"),
}
PIN = "▴"
PRIVATE = "◌"
"""Before the title of a session that is in memory only."""
# A narrower list has no room for them beside the label.
_CELLS_FOR_AGE = 20
_CELLS_FOR_COUNT = 40
_QUESTION = ' Delete "', '"? Enter'
_QUESTION_IN_TRASH = ' Bring back "', '"? Enter'
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


def question_pieces(row: SessionRow, width: int) -> Iterator[Piece]:
    """The question in place of a row; only the title is cut."""
    before, behind = _QUESTION_IN_TRASH if row.group is Group.TRASHED else _QUESTION
    title = cut(called(row), width - len(before) - len(behind))
    yield (fill(before + title + behind, width), "warning")


def called(row: SessionRow) -> str:
    """The title of a session in one line, uncut; a private one is marked."""
    title = one_line(whole_label(row.name, row.label))
    return f"{PRIVATE} {title}" if is_private(row.id) else title


def heading_pieces(heading: GroupHeading, width: int) -> Iterator[Piece]:
    """A fold sign, the name of the group, and the number of folded rows."""
    sign, count = ("▸", f" {heading.count}") if heading.folded else ("▾", "")
    yield (BAR if heading.current else " ", "current")
    yield (fill(f"{sign} {heading.group.value}{count}", width - 1), "heading")
