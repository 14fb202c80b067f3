"""Search at a server: the same answers as over files, and what a vector cannot hold."""

import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from tests.benchmarks.programs import ROOT
from tests.builders import answer, header, user
from tests.examples import examples
from tests.storage.contract import closed, encoded, new, state
from tests.storage.index.test_same_answers import World, changes, ids, queries, sessions
from tui.storage.postgres import search, words
from tui.storage.postgres.store import PostgresStore

deeds = st.lists(st.one_of(changes, st.tuples(st.just("index"), sessions)), min_size=2, max_size=12)


def found_by(store, query, limit=10):
    """The messages that a query finds, if it has time."""
    return [hit.message_id for hit in store.search(query, limit, seconds=60).hits]


@examples(0.5)
@given(deeds=deeds, asked=st.lists(queries, min_size=1, max_size=4))
def test_the_server_and_files_give_the_same(postgres_database, deeds, asked):
    server = PostgresStore(postgres_database.address)
    with tempfile.TemporaryDirectory() as directory, closing(server):
        world = World(Path(directory), server)
        world.say("one", ["foo bar 検索", "naïve search"])
        for deed in deeds:
            world.play(deed)
        for query in asked:
            of_files, of_server = [
                each.search(query, 300, seconds=60) for each in (world.store, server)
            ]
            assert ids(of_files) == ids(of_server)
            assert of_files.total == of_server.total
    postgres_database.empty()


def test_a_phrase_is_found_where_a_vector_keeps_no_positions(store):
    text = " ".join(["y"] * 300 + [f"w{number}" for number in range(17_000)] + ["red fox"])
    closed(store, user("m1", text), user("m2", "fox red", 1))
    for query, found in (('"red fox"', ["m1"]), ('"w16998 w16999 red"', ["m1"]), ('"y w1"', [])):
        assert found_by(store, query) == found


def test_a_text_with_more_words_than_a_vector_holds_is_found_by_each_of_them(store):
    closed(store, user("m1", " ".join(f"word{number}" for number in range(150_000))))
    for query in ("word149999", "word14999*", '"word7 word8"'):
        assert found_by(store, query) == ["m1"]
    assert found_by(store, "word150000") == []


def test_a_word_longer_than_a_lexeme_is_found(store):
    sign = "\u0901"
    closed(store, user("m1", f"न{sign * 3000}"), user("m2", f"न{sign * 2999}", 1))
    assert found_by(store, f"न{sign * 3000}") == ["m1"]


def test_a_query_of_many_words_is_checked_in_the_text(store):
    long = " ".join(f"w{number}" for number in range(100))
    closed(store, user("m1", long), user("m2", long.removesuffix("w99"), 1))
    for query in (long, f'"{long}"'):
        assert found_by(store, query) == ["m1"]


@pytest.fixture
def narrow(monkeypatch):
    """Walk and collect few rows, so that slices of time are needed."""
    monkeypatch.setattr(search, "_WALKED", 3)
    monkeypatch.setattr(search, "_MOST", 5)


DAY = 86_400


@pytest.mark.usefixtures("narrow")
def test_what_is_old_is_found_behind_all_that_is_new(store):
    closed(store, *(user(f"m{number}", "needle", number * DAY) for number in range(20)))
    closed(store, *(user(f"n{number}", "hay", (30 + number) * DAY) for number in range(20)))
    found = store.search("needle", 30)
    assert [hit.message_id for hit in found.hits] == [f"m{number}" for number in range(19, -1, -1)]
    assert not found.late


@pytest.mark.usefixtures("narrow")
def test_of_too_many_the_newest_are_found(store):
    closed(store, *(user(f"m{number}", "needle", number * 60) for number in range(310)))
    found = store.search("needle", 400)
    assert {hit.message_id for hit in found.hits} == {f"m{number}" for number in range(10, 310)}
    assert found.more


@pytest.mark.usefixtures("narrow")
def test_a_filter_alone_finds_the_newest_of_each_session_however_old(store):
    for day in range(10):
        closed(store, *(user(f"d{day}-{number}", "hay", day * DAY + number) for number in range(9)))
    assert found_by(store, "in:shop", 20) == [f"d{day}-8" for day in range(9, -1, -1)]


@pytest.mark.usefixtures("narrow")
def test_messages_without_a_time_are_found_last(store):
    unknown = [
        msgspec.structs.replace(user(f"u{number}", "needle"), timestamp="") for number in range(9)
    ]
    closed(store, *unknown, user("m1", "needle"))
    found = found_by(store, "needle", 20)
    assert (found[0], len(found)) == ("m1", 10)


def test_the_names_of_a_project_are_found_among_many_of_others(store, monkeypatch):
    monkeypatch.setattr(search, "_NAMED", 2)
    wanted = set()
    for _ in range(3):
        wanted.add(closed(store, user("m1"), state("A needle"), scope="project:/farm"))
        closed(store, user("m1"), state("A needle"))
    assert {hit.session_id for hit in store.search("needle in:farm", 9).hits} == wanted


def test_no_more_names_are_read_than_can_be_shown_and_one(store, monkeypatch):
    for _ in range(9):
        closed(store, user("m1"), state("A needle"))
    read, fetchall = [], psycopg.Cursor.fetchall
    monkeypatch.setattr(
        psycopg.Cursor, "fetchall", lambda self: read.append(fetchall(self)) or read[-1]
    )
    found = store.search("needle", 4)
    assert (len(found.hits), found.total, found.more) == (4, 4, True)
    assert max(map(len, read)) == 5


def test_a_statement_that_takes_too_long_ends_the_search(store, monkeypatch):
    closed(store, user("m1", "needle"), state("A needle"))
    assert store.search("needle", 10, seconds=0).late
    slow = "select pg_sleep(60), 1 where %(query)s <> '' or %(before)s + %(since)s = 0"
    monkeypatch.setattr(search, "_ROWS", slow)
    found = store.search("needle", 10, seconds=0.5)
    assert found.late
    assert [hit.message_id for hit in found.hits] == [None]


def test_one_of_hundreds_of_messages_of_the_same_time_is_found(store):
    # Too long for the places of their words: the server finds all, and their texts are read.
    long = "alpha " * 300
    texts = [f"{long} beta gamma"] * 700
    texts[350] = f"{long} gamma"
    closed(store, user("first"), *(answer(f"m{n}", text) for n, text in enumerate(texts)))
    assert found_by(store, '"alpha gamma"') == ["m350"]


def test_an_import_is_found_in_all_its_blocks(store):
    said = [user(f"m{number}", f"needle {number} " + "hay " * 5_000) for number in range(120)]
    store.add_imported(header("theirs"), encoded(*said, state("A name")))
    assert store.search("needle", 10).total == 120
    assert store.search("name", 10).total == 1
    for number in (0, 57, 119):
        assert found_by(store, f'"needle {number}"') == [f"m{number}"]


def test_what_is_taken_back_is_found_no_more_and_what_it_replaced_is_again(store, postgres):
    lease = new(store, user("m1"), answer("m2", "needle"))
    before = lease.size
    store.append(lease, [answer("m3", "other", 1, replaces="m2")])
    assert store.search("needle", 10).total == 0
    with psycopg.connect(postgres, options="-c search_path=sibyl") as connection:
        connection.execute("delete from pieces where at >= %s", (before,))
        connection.execute("update sessions set size = %s", (before,))
        words.index_session(connection, lease.session_id)
    assert store.search("needle", 10).total == 1
    assert store.search("other", 10).total == 0


def test_the_index_of_a_server_is_built_anew_beside_damaged_sessions(store, postgres, monkeypatch):
    closed(store, user("m1", "needle"))
    store.archive(closed(store, user("m2", "needle"), state("A needle")))
    gone, headless = closed(store, user("m3", "needle")), closed(store, user("m4", "needle"))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("delete from sibyl.words; delete from sibyl.origins")
        connection.execute("update sibyl.sessions set name_words = ''")
        connection.execute("delete from sibyl.pieces where session = %s", (gone,))
        connection.execute("update sibyl.sessions set header = 'x' where id = %s", (headless,))
    assert store.search("needle", 10).total == 0
    monkeypatch.setenv("SIBYL_STORE", f"postgresql:///?{urlencode(conninfo_to_dict(postgres))}")
    command = [sys.executable, "-m", "tui", "index", "rebuild"]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    assert done.stdout == b"Indexed 0.0 MB of sessions.\n"
    assert sorted(filter(None, found_by(store, "needle in:shop"))) == ["m1", "m2"]
    assert store.search("needle in:shop", 10).total == 3
