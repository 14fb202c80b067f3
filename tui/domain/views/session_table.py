"""The table of sessions on the command line and in ``/sessions``."""

from collections.abc import Sequence
from datetime import datetime

from tui.domain.journal.session import SessionEntry
from tui.domain.text.labels import age, cell_width, pad_to_cells
from tui.domain.timestamps import parse_utc

_HEADINGS = ("#", "ID", "Name", "Last used", "Messages")


def session_table(entries: Sequence[SessionEntry], now: datetime, *, numbered: bool) -> str:
    """Format headings and one line per session; ages as of ``now``.

    ``numbered`` from 1, if commands take these numbers.
    """
    rows = session_rows(entries, now, numbered=numbered)
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def session_rows(
    entries: Sequence[SessionEntry], now: datetime, *, numbered: bool
) -> tuple[tuple[str, ...], ...]:
    """The cells of the table, the headings first."""
    numbers = [str(number) if numbered else "-" for number in range(1, len(entries) + 1)]
    return (_HEADINGS, *(_row(*each, now) for each in zip(numbers, entries, strict=True)))


def _row(number: str, entry: SessionEntry, now: datetime) -> tuple[str, ...]:
    mark = f" ({entry.status})" if entry.status in ("archived", "trashed") else ""
    last_used = age(parse_utc(entry.last_used_at), now)
    return number, entry.id, entry.label + mark, last_used, str(entry.message_count)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (pad_to_cells(cell, width) for cell, width in zip(row, widths, strict=True))
    return "  ".join(cells).rstrip()
