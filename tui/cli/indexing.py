"""The search index as commands complete it, and ``sibyl-tui index rebuild``."""

from argparse import Namespace

from tui.cli import console
from tui.cli.program import Program
from tui.cli.progress_line import STOPPED, ProgressLine
from tui.domain.imports import bytes_words
from tui.errors import StorageError
from tui.storage.protocol import Progress, SessionStore


def run(chosen: Namespace) -> int:
    """Build the index anew, and say how large it is."""
    store = Program.from_arguments(chosen).store
    last, code = _build(store, "an index rebuild", anew=True)
    if not code:
        console.put_line(f"Indexed {last.total / 1_000_000:.1f} MB of sessions.")
    return code


def complete(store: SessionStore, builder: str, *, waits: bool = True) -> int:
    """Bring the index up to date, and give the exit code; ``builder`` is what others wait for.

    Another program that builds it is waited for, or left alone. Ctrl+C leaves the rest to the next
    command. A failure is only told: every search does without an index, too.
    """
    try:
        return _build(store, builder, waits=waits)[1]
    except StorageError as error:
        console.tell(str(error))
        return 0


def _build(
    store: SessionStore, builder: str, *, anew: bool = False, waits: bool = True
) -> tuple[Progress, int]:
    line, last = ProgressLine(), Progress(0, 0)
    with line.stopped_by_keys():
        for at in store.build_index(builder, anew=anew):
            if at.builder and not waits:
                break
            if at.builder and at.builder != last.builder:
                console.tell(f"Waiting for {at.builder}, which is building the search index.")
            last = at
            if not line.show_part(at.done, at.total, "" if at.builder else "Search index"):
                done = f"{bytes_words(at.done)} of {bytes_words(at.total)} are done"
                line.end()
                console.tell(_STOPPED.format("the other builds on" if at.builder else done))
                return at, STOPPED
    line.end()
    return last, 0 if line.is_wanted else STOPPED


_STOPPED = "Stopped while indexing: {}. The next search or import continues."
