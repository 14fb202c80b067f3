"""The table of sessions on the command line."""

from collections.abc import Sequence
from datetime import datetime

from tui.domain.journal.session import SessionEntry
from tui.domain.text.labels import age, cell_width, cut_to_cells, pad_to_cells
from tui.domain.timestamps import parse_utc

_HEADINGS = ("#", "ID", "Name", "Last used", "Messages")
_NAME = _HEADINGS.index("Name")
_SHORTEST_NAME = 10
_GAP = "  "


def session_table(
    entries: Sequence[SessionEntry], now: datetime, *, numbered: bool, columns: int | None = None
) -> str:
    """Format headings and one line per session; ages as of ``now``.

    ``numbered`` from 1, if commands take these numbers. Names are cut to fit into ``columns``.
    """
    numbers = [str(number) if numbered else "-" for number in range(1, len(entries) + 1)]
    rows = [_HEADINGS, *(_row(*each, now) for each in zip(numbers, entries, strict=True))]
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    if columns is not None:
        excess = max(0, sum(widths) + len(_GAP) * (len(widths) - 1) - columns)
        widths[_NAME] = max(_SHORTEST_NAME, widths[_NAME] - excess)
    return "\n".join(_line(row, widths) for row in rows)


def _row(number: str, entry: SessionEntry, now: datetime) -> tuple[str, ...]:
    mark = f" ({entry.status})" if entry.status in ("archived", "trashed") else ""
    last_used = age(parse_utc(entry.last_used_at), now)
    return number, entry.id, entry.label + mark, last_used, str(entry.message_count)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        pad_to_cells(cut_to_cells(cell, width), width)
        for cell, width in zip(row, widths, strict=True)
    )
    return _GAP.join(cells).rstrip()
