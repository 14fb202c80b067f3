"""What the program does while nobody does anything, with a session of messages on screen."""

from tests.benchmarks.journals import last_words, write_session
from tests.benchmarks.programs import Programs
from tests.benchmarks.table import MILLISECONDS, above, within

PROCESSOR_PERCENT = 0.5
_MESSAGES = 1_000
_SECONDS = 10
_SESSION = "session-20260111-153000-000001"


def rows(directory):
    """Both at the same time, so that the machine is the same for both."""
    programs = Programs(directory)
    write_session(programs.root, _SESSION, _MESSAGES)
    with programs.bare() as bare, programs.sibyl("--session", _SESSION) as ours:
        bare.seen("text 0 line")
        ours.seen(last_words(_MESSAGES))
        # Also what it does once, after its start, and when something was typed.
        ours.type("a draft that waits")
        for each in (ours, bare):
            each.rest(4.0)
        before, disk = [each.processor_ms for each in (ours, bare)], ours.disk_bytes
        bare.rest(_SECONDS)
        spent = [each.processor_ms - was for each, was in zip((ours, bare), before, strict=True)]
        written = ours.disk_bytes - disk
    mine, theirs = (100 * each / _SECONDS / MILLISECONDS for each in spent)
    yield above("% of a processor while idle", mine, ("bare", theirs), PROCESSOR_PERCENT, "%")
    yield within("bytes to the disk while idle", written, 0, unit="bytes")
