"""What the index names is looked at before it counts."""

import os
import sqlite3
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.failing import raiser
from tests.storage.index.conftest import answers, change
from tests.tables import each_row
from tui.domain.search.query import parse
from tui.domain.search.tokens import cut
from tui.storage import locks
from tui.storage.file_store import FileStore
from tui.storage.folders import Folders
from tui.storage.index import child, database, files, message_rows, search_index
from tui.storage.index.database import Unusable, unusable
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.index.message_rows import FreeRows, as_match, as_row, as_words, row_of
from tui.storage.index.search_index import QueryEffort, from_index, from_journals

_ascii = st.text(st.characters(max_codepoint=127), max_size=120) | st.text("aZ9_ -", max_size=120)
_japanese = st.text(
    "aZ9_ -日本語のカナがぱー한국어、。「」（）！…\u3099\uff76\uff41\u9fff", max_size=120
)


@examples(0.6)
@given(_ascii | _japanese)
def test_sqlite_finds_the_tokens_that_are_ours(text):
    assert tokens_at_sqlite(as_row(text)) == tokens_at_sqlite(as_words(cut(text)))
    if text.isascii():
        assert tokens_at_sqlite(as_row(text)) == cut(text)


@each_row("between", [" ", "\n", "-", "_", "日", "。", " - "])
@each_row("length", [63, 64, 65, 66, 128, 129])
@each_row("before", [0, 1, 30, 63, 64, 65, 200])
def test_long_tokens_are_divided_wherever_they_stand(before, length, between):
    text = "b " * (before // 2) + "c" * (before % 2) + between + "a" * length + between + "end"
    assert tokens_at_sqlite(as_row(text)) == tokens_at_sqlite(as_words(cut(text)))


@pytest.mark.full
def test_each_character_that_is_plain_gives_its_token():
    plain = [each for each in map(chr, range(0x80, 0x10000)) if message_rows.is_plain(each)]
    assert len(plain) > 30_000
    for each in (plain[n : n + 100] for n in range(0, len(plain), 100)):
        text = "".join(f"ab{character}cd {character * 2} 日{character}b\n" for character in each)
        assert tokens_at_sqlite(as_row(text)) == tokens_at_sqlite(as_words(cut(text)))


def tokens_at_sqlite(row):
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create virtual table words using fts5(text, tokenize='unicode61')")
        database.execute("create virtual table tokens using fts5vocab(words, instance)")
        database.execute("insert into words values(?)", (row,))
        found = database.execute("select term from tokens order by offset").fetchall()
    return [term for (term,) in found]


@pytest.fixture
def connection(filled, index):
    filled.search("needle", 1)
    with closing(database.connect(index)) as connection:
        yield connection


@pytest.fixture
def ask(connection, data):
    """Asks the index alone, without looking for what is new first."""

    def ask(query, **effort):
        patience = QueryEffort(**{"deadline": time.monotonic() + 60, **effort})
        found = from_index(connection, Folders(data), parse(query), (), patience)
        return sorted(each.session_id for each in found), patience.late

    return ask


def test_a_session_that_was_moved_meanwhile_is_still_read_and_one_that_is_gone_no_hit(ask, data):
    path = data / "sessions" / "s1.jsonl"
    moved = path.rename(data / "archive" / "s1.jsonl")
    assert len(ask("needle")[0]) == 12
    moved.unlink()
    assert len(ask("needle")[0]) == 11


def test_a_line_that_is_another_one_now_is_no_hit(ask, connection, data):
    path = data / "sessions" / "s1.jsonl"
    path.write_bytes(path.read_bytes().replace(b"needle", b"noodle"))
    assert len(ask("needle")[0]) == 11
    path.write_bytes(path.read_bytes()[:200])
    assert len(ask("needle")[0]) == 11
    connection.execute("update messages set key = key + 1 where session = 2")
    assert len(ask("needle")[0]) == 10, "a row points to another message"


def test_a_session_that_is_called_otherwise_now_is_no_hit(filled, data, name, ask):
    name("s1", "an apple")
    assert filled.search("apple", 1).total == 1
    assert ask("apple")[0] == ["s1"]
    name("s1", "a pear")
    assert ask("apple")[0] == []


def test_no_more_names_are_looked_at_than_can_be_shown_and_one(filled, name, ask, monkeypatch):
    for number in range(4):
        name(f"s{number}", f"apple {number}")
    filled.search("apple", 1)
    looked_at = []
    name_of = files.name_of
    monkeypatch.setattr(
        files, "name_of", lambda file: looked_at.append(name_of(file)) or looked_at[-1]
    )
    assert ask("apple", names=2)[0] == ["s1", "s2", "s3"]
    found = filled.search("apple", 2)
    assert [hit.snippet for hit in found.hits] == ["apple 3", "apple 2"]
    assert (found.total, found.more) == (2, True)
    assert looked_at == ["apple 3", "apple 2", "apple 1"] * 2


def test_only_a_few_files_are_open_at_once(ask, data, monkeypatch):
    monkeypatch.setattr(search_index, "_OPEN_FILES", 2)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert len(ask("needle")[0]) == 12
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_a_query_that_takes_too_long_is_stopped_within_the_database_and_an_error_is_none(
    ask, connection, monkeypatch
):
    monkeypatch.setattr(search_index, "_STEPS", 1)
    assert ask("needle", deadline=0.0) == ([], True)
    assert ask("n*", wanted=lambda: False) == ([], True)
    connection.execute("drop table messages")
    with pytest.raises(sqlite3.OperationalError):
        ask("needle")


def test_a_plain_scan_stops_at_its_deadline_which_is_half_of_the_time(filled, data):
    effort = QueryEffort(deadline=0.0)
    assert from_journals(Folders(data), ["s1"], parse("needle"), effort) == ([], set())
    assert effort.late
    half = QueryEffort(time.monotonic() + 100).half()
    assert 40 < half.deadline - time.monotonic() <= 50


def test_a_plain_scan_stops_within_a_long_journal_and_has_found_what_is_at_its_end(data, say):
    say("long", *(f"needle {number}" for number in range(100)))
    asked = iter([True] * 10)
    effort = QueryEffort(time.monotonic() + 60, lambda: next(asked, False))
    found, read = from_journals(Folders(data), ["long"], parse("needle"), effort)
    assert [each.message.id for each in found] == [f"m{n}" for n in range(99, 90, -1)]
    assert (read, effort.late) == ({"long"}, True)


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("foo", '"foo"'),
        ("foo bar", '"foo" AND "bar"'),
        ('"foo bar" ba*', '"foo bar" AND "ba"*'),
        ("検索", '"検 索"'),
        ("foo_b*", '"foo"'),
        ("n*", '("n" OR "ne"*)'),
        ("foo I* z*", '"foo" AND ("i" OR "i1"* OR "in"* OR "iя"*) AND ("z")'),
        ("я* foo", '"foo"'),
        ("\U0001e922", '"x1e922x"'),
    ],
)
def test_what_the_table_is_asked(connection, query, match):
    connection.execute("insert into words(rowid, text) values(1, 'I1, in: i iяx')")
    assert as_match(parse(query), connection) == match


def test_only_the_messages_with_a_prefix_of_one_letter_are_read(ask, monkeypatch):
    read, message_at = [], files.message_at
    monkeypatch.setattr(
        files, "message_at", lambda *place: read.append(message_at(*place)) or read[-1]
    )
    assert len(ask("n*")[0]) == 12
    assert [each.text for each in read] == ["the needle"] * 12
    # With too many letters behind it, it is looked for in the messages.
    monkeypatch.setattr(message_rows, "MOST_ALTERNATIVES", 1)
    assert len(ask("n*")[0]) == 12


def test_the_table_cuts_nothing_that_it_is_given():
    """Every character that can be in a token, in a word of its own, comes back as it was given."""
    characters = [chr(code) for code in range(0x30, 0x30000) if not 0xD800 <= code < 0xE000]
    spelt = [as_words([f"a{each}b"]) for each in characters if cut(each) == [each]]
    with closing(sqlite3.connect(":memory:")) as connection:
        tokenizer = "tokenize='unicode61 remove_diacritics 2'"
        connection.execute(f"create virtual table given using fts5(text, {tokenizer})")
        connection.execute("create virtual table seen using fts5vocab(given, 'instance')")
        rows = enumerate(spelt, 1)
        connection.executemany("insert into given(rowid, text) values(?, ?)", rows)
        seen = connection.execute("select doc from seen").fetchall()
    assert len(spelt) > 50_000
    assert sorted(doc for (doc,) in seen) == list(range(1, len(spelt) + 1))


# --- errors


@each_row(
    "code, kind, words",
    [
        (sqlite3.SQLITE_BUSY, "locked", "another window holds it"),
        (sqlite3.SQLITE_LOCKED, "locked", "another window holds it"),
        (sqlite3.SQLITE_READONLY, "out of reach", "reason"),
        (sqlite3.SQLITE_CANTOPEN, "out of reach", "reason"),
        (sqlite3.SQLITE_FULL, "out of reach", "the disk is full"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, "out of reach", "the disk is full"),
        (sqlite3.SQLITE_IOERR, "out of reach", "reason"),
        *((code, "damaged", "reason") for code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)),
    ],
)
def test_an_error_says_what_is_to_be_done_and_a_full_disk_is_named(code, kind, words):
    error = sqlite3.OperationalError("reason")
    error.sqlite_errorcode = code
    assert (unusable(error).kind, str(unusable(error))) == (kind, words)


def test_an_index_that_cannot_be_made_is_done_without(filled, data, monkeypatch):
    monkeypatch.setattr(database, "open_to_make", raiser(PermissionError(13, "refused")))
    store = FileStore(data)
    found = store.search("needle", 300)
    assert found.total == 12
    assert "Permission denied" in found.notice


def test_an_index_that_can_be_neither_moved_nor_removed_is_done_without(
    filled, data, index, monkeypatch
):
    answers(data)
    change(index, "pragma user_version = 0")
    monkeypatch.setattr(database, "remove", lambda _: os.unlink("/nonexistent/file"))
    assert FileStore(data).search("needle", 300).total == 12
    index.write_bytes(b"no database")
    monkeypatch.setattr(database.os, "replace", raiser(PermissionError(13, "refused")))
    assert FileStore(data).search("needle", 300).total == 12


def test_an_index_that_somebody_else_is_making_is_done_without(filled, data):
    held = locks.take(data / "index.lock")
    found = FileStore(data).search("needle", 300, seconds=60)
    held.release()
    assert (found.total, found.notice) == (12, "")


def test_a_check_of_an_index_that_is_locked_is_refused(filled, data, index):
    assert database.check(index) is None, "there is nothing to check"
    answers(data)
    with closing(sqlite3.connect(index, isolation_level=None)) as holder:
        holder.execute("pragma locking_mode = exclusive")
        holder.execute("begin exclusive")
        with pytest.raises(Unusable):
            database.check(index)


# --- the builder's own process, in this one


def test_a_builder_whose_listener_is_gone_ends(filled, data, monkeypatch):
    def gone(self, builder):
        raise BrokenPipeError
        yield

    monkeypatch.setattr(child.os, "nice", lambda _: 0)
    monkeypatch.setattr(IndexMaintenance, "build", gone)
    assert child.main([str(data)]) == 1


# --- rows of messages in the index, which grow with their times


TIME = 1_790_000_000_000
SECOND = 1000


@pytest.fixture
def messages():
    """A database with a table of rows."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table messages(id integer primary key)")
    return connection


def insert(messages, rows):
    messages.executemany("insert into messages values(?)", [(row,) for row in rows])


def test_rows_grow_with_the_time_and_within_a_second_as_they_are_taken(messages):
    free = FreeRows(messages)
    later = [free.take(TIME + 2 * SECOND) for _ in range(3)]
    rows = [free.take(TIME + each) for each in (1, 0, 999)]
    assert rows == sorted(rows)
    assert rows[-1] < row_of(TIME + SECOND) < later[0] < later[1] < later[2]


def test_a_second_that_is_full_takes_rows_of_those_after_it(messages):
    free = FreeRows(messages)
    rows = [free.take(TIME) for _ in range(10_000)]
    assert rows == sorted(set(rows))
    assert row_of(TIME + 2 * SECOND) <= rows[-1] < row_of(TIME + 3 * SECOND)
    assert free.take(TIME + SECOND) not in rows


def test_rows_that_are_taken_in_the_index_are_not_handed_out(messages):
    free = FreeRows(messages)
    insert(messages, [free.take(TIME) for _ in range(5000)])
    free.clear()
    taken = {row for (row,) in messages.execute("select id from messages")}
    others = [free.take(TIME + each) for each in (0, -SECOND, SECOND, 9 * SECOND)]
    assert len({*taken, *others}) == len(taken) + len(others)
    insert(messages, others)


def test_a_time_before_1970_has_the_first_rows(messages):
    assert FreeRows(messages).take(-1) == row_of(0) == 0
