"""``sibyl-tui index rebuild``: rebuild the search index."""

import sys
from argparse import Namespace

from tui.cli import output
from tui.cli.program import Program
from tui.storage.index.child import Progress

_BAR_CELLS = 30


def run(chosen: Namespace) -> int:
    """Rebuild the index, with a progress bar if standard error is a terminal."""
    store = Program.from_arguments(chosen).store
    shown = output.is_terminal(sys.stderr)
    last = Progress(0, 0)
    for last in store.rebuild_index():
        if shown:
            sys.stderr.write("\r" + bar(last))
            sys.stderr.flush()
    if shown:
        sys.stderr.write("\n")
    output.put_line(f"Indexed {_megabytes(last.total)} of sessions.")
    return 0


def bar(progress: Progress) -> str:
    """Format the progress as one line."""
    return filled(progress.done / progress.total if progress.total else 1.0)


def filled(part: float) -> str:
    """Format a part of a whole as a bar."""
    full = int(part * _BAR_CELLS)
    return f"[{'#' * full}{'.' * (_BAR_CELLS - full)}] {part:4.0%}"


def _megabytes(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB"
