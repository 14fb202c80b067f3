"""The end of a session, whatever its size."""

from tests.benchmarks.journals import write_session
from tests.benchmarks.table import Row, median_of
from tui.storage.file_store import FileStore

BUDGET = 1.5
_SHOWN = 50
_TIMES = 50


def rows(directory):
    """The last messages of 100,000 beside those of 10, and a page above them."""
    store = FileStore(directory)
    small, large = "session-20260111-153000-000001", "session-20260111-153000-000002"
    write_session(directory, small, 10)
    write_session(directory, large, 100_000, ordinal=2)
    few = median_of(lambda: store.journal(small).tail(_SHOWN), _TIMES)
    many = median_of(lambda: store.journal(large).tail(_SHOWN), _TIMES)
    cursor = store.journal(large).tail(_SHOWN).cursor
    page = median_of(lambda: store.journal(large).page(cursor, _SHOWN), _TIMES)
    whole = median_of(lambda: store.journal(large).load(), 3)
    return [
        Row("last 50 of 100,000 messages", many, "of 10 messages", few, "100 ms", many <= 100),
        Row("50 messages above them", page, "", 0, "50 ms", page <= 50),
        Row("all of 100,000 messages", whole, "", 0, "none", kept=True),
    ]
