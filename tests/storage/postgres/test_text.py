"""Any text that files hold is held by a server, whatever the encoding of its database."""

from contextlib import closing
from itertools import count

import msgspec
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import Clock, answer, header, piece, todos, user
from tests.postgres_server import TestDatabase
from tests.storage.contract import state
from tests.storage.stories import any_text
from tui.domain.imports import ImportLine
from tui.domain.journal.records import Closed, Opened, Reset, Restored, Settings, Summary, encode
from tui.domain.timestamps import format_milliseconds
from tui.errors import SessionNotFound, StorageError
from tui.storage.file_store import FileStore
from tui.storage.postgres import connection_pool
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import EVERYWHERE, SessionFilter

ODD = "\0 \x1b[31m é 检 \ud800 \udcff \U0010ffff \\ ' % %s {}"
LONG = "/a/very/long/path" * 1000
NAMES = count()

EVER = ["", "no time", ODD, "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]

times = st.sampled_from(["", "no time", ODD]) | st.integers(1, 2**42).map(format_milliseconds)
odd_text = st.sampled_from([ODD, LONG]) | any_text
headers = st.fixed_dictionaries(
    {
        "scope": odd_text,
        "project_path": odd_text,
        "model": odd_text,
        "created_at": st.sampled_from(EVER),
        "ordinal": st.integers(0, 10**9 - 1),
        "forked_from": st.none() | odd_text,
        "imported_from": st.none() | odd_text,
        "metadata": st.none() | st.dictionaries(odd_text, odd_text, max_size=2),
    }
)


def said_at(message, time):
    return msgspec.structs.replace(message, timestamp=time)


records = st.lists(
    st.one_of(
        st.builds(lambda text, time: said_at(user(text[:50], text), time), odd_text, times),
        st.builds(lambda text: answer("m2", text, model=text, metadata={text: text}), odd_text),
        st.builds(lambda text: piece("m3", 0, text), odd_text),
        st.builds(state, odd_text),
        st.builds(lambda text: Settings(system_prompt=text, tools_off=(text,)), odd_text),
        st.builds(lambda text: Summary(text, through=text), odd_text),
        st.builds(todos, odd_text),
        st.builds(Opened, times, st.booleans()),
        st.builds(Closed, times),
        st.builds(Restored, times),
        st.builds(Reset, times),
    ),
    max_size=6,
)


@pytest.fixture
def files(data):
    return FileStore(data, Clock())


@pytest.fixture
def server(postgres):
    with closing(PostgresStore(postgres, Clock())) as store:
        yield store


@given(headers, records, records)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_files_take_the_server_takes_and_gives_back(files, server, fields, first, then):
    name = f"session-{next(NAMES)}"
    assert told_by(server, name, fields, first, then) == told_by(files, name, fields, first, then)


def told_by(store, name, fields, first, then):
    """What a store tells of a session that was put into it; the session is gone after that."""
    records = [user("m0"), *first]
    store.add_imported(header(name, **fields), [(each, encode(each)) for each in records])
    lease = store.lease(name)
    store.extend(lease, then)
    lease.release()
    scope, entry = fields["scope"], store.entry(name)
    listed = store.list(SessionFilter(scope, EVERYWHERE), None, 9).entries
    if entry.ordinal:
        assert store.resolve(f"#{entry.ordinal}", scope) == name
    if entry.name:
        assert store.resolve(entry.name, scope) == name
    found = [*store.journal(name).records()], listed, store.journal(name).load().loaded_messages
    store.delete(name)
    store.purge(name)
    return found


@pytest.fixture(scope="module", params=["LATIN1", "SQL_ASCII"])
def odd_database(postgres_url, request):
    database = TestDatabase(postgres_url, request.param)
    yield database.address
    database.remove()


def test_a_database_of_another_encoding_holds_all_text(odd_database):
    with closing(PostgresStore(odd_database, Clock())) as store:
        lease = store.create(
            ODD, ODD, ODD, session_id="tale", created_at=ODD, forked_from=ODD, imported_from=ODD
        )
        said = [user(ODD, ODD), answer("m2", "a reply"), state(ODD)]
        store.append(lease, said)
        lease.release()
        store.set_active(ODD, "tale")
        line = ImportLine("", ODD, ODD)
        store.note_imports([line])
        assert [*store.journal("tale").records()][1:3] == said[:2]
        for _ in range(2):
            # First made, then as it was kept.
            entry = store.entry("tale")
            assert (entry.name, entry.scope, entry.project_path) == (ODD, ODD, ODD)
        assert (
            store.active(ODD) == store.resolve("#1", ODD) == store.resolve(ODD, "other") == "tale"
        )
        assert store.count(SessionFilter(ODD)) == store.search("reply", 9).total == 1
        assert list(store.imports()) == [line]
        store.archive("tale")
        store.delete("tale")
        assert [move.id for move in store.moves()] == ["tale", "tale"]


@pytest.mark.parametrize("time", EVER)
def test_a_session_may_be_of_any_time(server, time):
    records = [said_at(user("m1"), time), Closed(time)]
    server.add_imported(header("tale", created_at=time), [(each, b"") for each in records])
    server.restore("tale")
    assert server.journal("tale").load().loaded_messages == (records[0],)
    assert server.list(SessionFilter(used_before=time or None), None, 9).cursor is None


def test_a_line_may_be_as_long_as_in_a_file_and_has_time_by_its_size(server, monkeypatch):
    said = user("m1", "x\ud800" * 1024 * 1024)
    lease = server.create("s", "/s", "m", session_id="tale")
    with monkeypatch.context() as patch:
        patch.setattr(connection_pool, "SAVE_SECONDS", 0.0)
        server.append(lease, [said])
    assert server.journal("tale").load().loaded_messages == (said,)


def test_a_line_that_is_no_text_hides_no_other(server, postgres):
    damaged = b'\xff\xfe\0{"type":"message"\n'
    lease = server.create("s", "/s", "m", session_id="tale")
    server.append(lease, [user("m1")])
    with psycopg.connect(postgres, options="-c search_path=sibyl") as connection:
        size = connection.execute("select size from sessions").fetchone()[0]
        connection.execute("insert into pieces values ('tale', %s, %s)", (size, damaged))
        connection.execute("update sessions set size = size + %s", (len(damaged),))
    server.append(lease, [answer("m2")])
    session = server.journal("tale").load()
    assert ([each.id for each in session.loaded_messages], session.damaged) == (["m1", "m2"], 1)


@pytest.mark.parametrize("target", [ODD, f"{ODD}#1", "\0", "#\ud800", LONG])
def test_an_odd_target_is_not_found(server, target):
    with pytest.raises(SessionNotFound):
        server.resolve(target, ODD)
    assert server.search(target, 9).hits == ()
    assert server.active(target) is None


def test_a_cursor_with_odd_text_is_refused(server):
    with pytest.raises(StorageError, match="cursor is invalid"):
        server.list(SessionFilter(), '[0, 0, 0, "\\ud800"]', 9)
