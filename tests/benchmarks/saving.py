"""A save of one message, beside the same bytes by a bare write and sync."""

import os
import statistics

from tests.benchmarks.journals import message, write_session
from tests.benchmarks.table import beside, timed
from tui.domain.journal.records import encode
from tui.storage.file_store import FileStore

BUDGET = 1.5
_TIMES = 400


def rows(directory):
    """At 10 and at 100,000 messages."""
    return [_row(directory / str(count), count) for count in (10, 100_000)]


def _row(root, count):
    store = FileStore(root)
    write_session(root, "session-20260111-153000-000001", count)
    lease = store.lease("session-20260111-153000-000001")
    bare = os.open(root / "beside", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    saves, writes = [], []
    for number in range(_TIMES):
        record = message(count + number)
        line = encode(record)
        writes.append(timed(lambda: _write(bare, line)))  # noqa: B023 - called at once
        # As the program, which encodes a record where it comes up, and not in the save.
        saves.append(timed(lambda: store.append(lease, [record], [line])))  # noqa: B023
    os.close(bare)
    lease.release()
    what = f"save of one message, {count:,} there"
    write = ("write + fdatasync", statistics.median(writes))
    return beside(what, statistics.median(saves), write, BUDGET)


def _write(descriptor, data):
    os.write(descriptor, data)
    os.fdatasync(descriptor)
