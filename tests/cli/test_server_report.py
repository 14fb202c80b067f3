"""``doctor`` on a store at a server."""

from contextlib import closing

import psycopg

from tests.builders import Clock, user
from tui.storage.postgres.store import PostgresStore


def said(store):
    """Write a session of one message, and give its id."""
    lease = store.create("s", "/s", "m")
    store.append(lease, [user("m1")])
    lease.release()
    return lease.session_id


def test_doctor_describes_the_server(sibyl, postgres):
    done = sibyl("doctor", "--json", "--store", postgres_address(postgres))
    rows = done.json["report"]["server"]
    assert set(rows) == {
        "server",
        "connection",
        "tables",
        "role",
        "sessions",
        "round trip",
        "clocks",
    }
    assert rows["connection"] == "this machine, no TLS"
    assert rows["sessions"] == "0, 0 open"
    assert "store" not in done.json["report"]
    assert done.json["report"]["files of this machine"]["sessions"] == "none"


def test_doctor_reads_the_clock_of_a_database_that_writes_dates_in_another_style(sibyl, postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        database = connection.info.dbname
        connection.execute(f"alter database {database} set datestyle = 'German, DMY'".encode())
    done = sibyl("doctor", "--json", "--store", postgres_address(postgres))
    assert done.code == 0
    assert done.json["report"]["server"]["clocks"].endswith(" s apart")


def test_doctor_says_that_the_server_is_away(sibyl):
    done = sibyl("doctor", "--json", "--store", "postgresql://127.0.0.1:1/sibyl")
    (finding,) = [each for each in done.json["findings"] if each["path"] == "store"]
    assert "cannot be reached" in finding["message"]
    # Nothing is damaged.
    assert (done.code, done.json["status"]) == (1, "findings")


def test_doctor_reads_on_behind_a_session_that_is_gone(sibyl, postgres):
    with closing(PostgresStore(postgres, Clock())) as store:
        first, last = said(store), said(store)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("delete from sibyl.pieces where session = %s", (last,))
        connection.execute("update sibyl.pieces set data = set_byte(data, length(data) - 3, 0)")
    done = sibyl("doctor", "--json", "--store", postgres_address(postgres))
    found = {each["session_id"]: each["kind"] for each in done.json["findings"]}
    assert found == {last: "unreadable", first: "damaged_records"}
    assert done.code == 2
    assert done.json["report"]["server"]["sessions"] == "2, 0 open"


def test_a_verb_without_the_server_names_the_local_files(sibyl):
    done = sibyl("sessions", "list", "--store", "postgresql://127.0.0.1:1/sibyl")
    assert done.code == 1
    assert "The store's server cannot be reached" in done.err
    assert '--store ""' in done.err


def postgres_address(text):
    """Write key words of a connection as an address."""
    from urllib.parse import urlencode

    from psycopg import conninfo

    return f"postgresql:///?{urlencode(conninfo.conninfo_to_dict(text))}"
