"""The lines of the picker as pieces of text, each with the part that it plays."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from rich.cells import cell_len

from tui.domain.text.labels import whole_label
from tui.domain.timestamps import parse_utc
from tui.domain.views.session_picker import PickerRow, State
from tui.domain.views.sidebar_rows import Mark, short_age
from tui.widgets.cells import cut, fill, one_line

Part = Literal["text", "number", "sign", "aside", "set-aside"]
Piece = tuple[str, Part]

_MARKS: dict[Mark, str] = {
    Mark.ASKING: "?",
    Mark.RUNNING: "●",
    Mark.UNREAD: "•",
    Mark.UNSAVED: "!",
    Mark.READ_ONLY: "⊘",
}
_STATES: dict[State, str] = {
    "open here": "○",
    "open elsewhere": "⊘",
    "unreadable": "!",
}
_PIN = "▴"
_AGE_CELLS = 6
_SIGN_CELLS = 3
_PROJECT_CELLS = 16
_PROJECT_FROM_CELLS = 56
_STATE_CELLS = 15
_STATE_FROM_CELLS = 76
_COUNT_FROM_CELLS = 110


def row_pieces(row: PickerRow, number: str, now: datetime, width: int) -> Iterator[Piece]:
    """Number, signs and title; then project, state, count and age where there is room."""
    aside = "".join(_asides(row, now, width))
    yield f"{number} ", "number"
    yield _signs(row), "sign"
    room = max(1, width - len(number) - 1 - _SIGN_CELLS - cell_len(aside))
    yield fill(one_line(whole_label(row.name, row.label)), room), _title_part(row)
    yield aside, "aside"


def _signs(row: PickerRow) -> str:
    pin = _PIN if row.pinned else " "
    return f"{pin}{_MARKS.get(row.mark) or _STATES.get(row.state, ' ')}".ljust(_SIGN_CELLS)


def _title_part(row: PickerRow) -> Part:
    return "text" if row.is_kept else "set-aside"


def _asides(row: PickerRow, now: datetime, width: int) -> Iterator[str]:
    if width >= _PROJECT_FROM_CELLS:
        yield "  " + fill(cut(one_line(row.scope), _PROJECT_CELLS), _PROJECT_CELLS)
    if width >= _STATE_FROM_CELLS:
        yield f"{'' if row.state == 'closed' else row.state:<{_STATE_CELLS}}"
    if width >= _COUNT_FROM_CELLS:
        yield f"{row.message_count:>6} msgs"
    yield f"{short_age(parse_utc(row.last_used_at), now):>{_AGE_CELLS}}"
