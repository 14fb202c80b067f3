"""Measure, print one table, and say which budgets are kept.

Every figure stands beside what it is compared with, measured in turn with it in the same run:
the machines are shared, and only ratios travel. Nothing here is a test; CI does not run it.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import (
    busy,
    idling,
    importing,
    keys,
    listing,
    postgres,
    saving,
    search_screen,
    searching,
    starting,
    streaming,
    switching,
    tail,
    trip,
)
from tests.benchmarks.table import Row, as_table

SUITES = {
    "saving": saving.rows,
    "tail": tail.rows,
    "searching": searching.rows,
    "listing": listing.rows,
    "importing": importing.rows,
    "postgres": postgres.rows,
    "starting": starting.rows,
    "keys": keys.rows,
    "switching": switching.rows,
    "search-screen": search_screen.rows,
    "streaming": streaming.rows,
    "busy": busy.rows,
    "idling": idling.rows,
    "trip": trip.rows,
}
WHEN_NAMED = {"searching-whole": searching.whole, "archive": listing.archive}
"""What takes too long to be run with the others."""

_ALL = SUITES | WHEN_NAMED
_SWITCH_SECONDS = 0.0005  # the thread that stamps what is read must not wait for the other


def main() -> int:
    """Run the suites that were named, else all; exit 1 if a budget is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("suite", nargs="*", metavar="SUITE", help=", ".join(_ALL))
    parser.add_argument("--directory", help="measure on this disk; by default the temporary one")
    chosen = parser.parse_args()
    sys.setswitchinterval(_SWITCH_SECONDS)
    before = _load()
    rows: list[Row] = []
    for name in chosen.suite or SUITES:
        with tempfile.TemporaryDirectory(dir=chosen.directory) as directory:
            rows += _ALL[name](Path(directory))
    print(as_table(rows))
    print(f"\nLoad of {os.cpu_count()} processors: {before:.1f} before, {_load():.1f} after.")
    return 0 if all(row.kept for row in rows) else 1


def _load() -> float:
    """Of the last minute, ours included."""
    return os.getloadavg()[0]


if __name__ == "__main__":
    sys.exit(main())
