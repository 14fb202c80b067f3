"""Measured values and their table."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MILLISECONDS = 1000
Compared = tuple[str, float]
"""What a figure stands beside, and its figure."""


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, in milliseconds unless it says what else, and its limit."""

    what: str
    measured: float
    beside: str
    compared: float
    budget: str
    kept: bool


def beside(what: str, measured: float, compared: Compared, limit: float) -> Row:
    """A figure that may be so many times another one."""
    name, other = compared
    return Row(what, measured, name, other, f"{limit:g} ×", measured <= limit * other)


def within(
    what: str, measured: float, limit: float, compared: Compared = ("", 0), unit: str = "ms"
) -> Row:
    """A figure that may not be more than so much, whatever stands beside it."""
    return Row(what, measured, *compared, f"{limit:g} {unit}", measured <= limit)


def above(what: str, measured: float, compared: Compared, limit: float, unit: str = "ms") -> Row:
    """A figure that may be so much more than another one."""
    return Row(what, measured, *compared, f"+ {limit:g} {unit}", measured <= compared[1] + limit)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many of a hundred do not go beyond."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(percent / 100 * (len(ordered) - 1)))]


def quietest(values: Sequence[float], percent: float, parts: int = 3) -> float:
    """A percentile of that part of a run where it is least: what else the machine does only adds.

    What a program does to itself again and again is in every part.
    """
    size = len(values) // parts
    return min(percentile(values[at * size :][:size], percent) for at in range(parts))


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
        compared = _figure(row.compared) if row.compared else ""
        cells = (row.what, _figure(row.measured), row.beside, compared, ratio, row.budget)
        lines.append(f"| {' | '.join(cells)} | {'yes' if row.kept else 'NO'} |")
    return "\n".join(lines)


def _figure(value: float) -> str:
    """With three digits that count, and all that stand before the point."""
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
