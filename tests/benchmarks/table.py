"""Measured values and their table."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MILLISECONDS = 1000


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, in milliseconds, and what it may be."""

    what: str
    measured: float
    beside: str
    compared: float
    budget: str
    kept: bool


def median_of(action: Callable[[], object], times: int) -> float:
    """The median time of an action, in milliseconds."""
    return statistics.median(timed(action) for _ in range(times))


def timed(action: Callable[[], object]) -> float:
    """How long an action takes, in milliseconds."""
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * MILLISECONDS


def as_table(rows: Sequence[Row]) -> str:
    """The rows below their headings, as Markdown."""
    lines = ["| what | ms | beside | ms | ratio | budget | kept |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        ratio = f"{row.measured / row.compared:.2f}" if row.compared else ""
        compared = f"{row.compared:.3f}" if row.compared else ""
        cells = (row.what, f"{row.measured:.3f}", row.beside, compared, ratio, row.budget)
        lines.append(f"| {' | '.join(cells)} | {'yes' if row.kept else 'NO'} |")
    return "\n".join(lines)
