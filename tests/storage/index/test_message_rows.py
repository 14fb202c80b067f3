"""Rows of messages in the index, which grow with their times."""

import sqlite3

import pytest

from tui.storage.index.message_rows import FreeRows, row_of

TIME = 1_790_000_000_000
SECOND = 1000


@pytest.fixture
def connection():
    """A database with a table of rows."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table messages(id integer primary key)")
    return connection


def insert(connection, rows):
    connection.executemany("insert into messages values(?)", [(row,) for row in rows])


def test_rows_grow_with_the_time_and_within_a_second_as_they_are_taken(connection):
    free = FreeRows(connection)
    later = [free.take(TIME + 2 * SECOND) for _ in range(3)]
    rows = [free.take(TIME + each) for each in (1, 0, 999)]
    assert rows == sorted(rows)
    assert rows[-1] < row_of(TIME + SECOND) < later[0] < later[1] < later[2]


def test_a_second_that_is_full_takes_rows_of_those_after_it(connection):
    free = FreeRows(connection)
    rows = [free.take(TIME) for _ in range(10_000)]
    assert rows == sorted(set(rows))
    assert row_of(TIME + 2 * SECOND) <= rows[-1] < row_of(TIME + 3 * SECOND)
    assert free.take(TIME + SECOND) not in rows


def test_rows_that_are_taken_in_the_index_are_not_handed_out(connection):
    free = FreeRows(connection)
    insert(connection, [free.take(TIME) for _ in range(5000)])
    free.clear()
    taken = {row for (row,) in connection.execute("select id from messages")}
    others = [free.take(TIME + each) for each in (0, -SECOND, SECOND, 9 * SECOND)]
    assert len({*taken, *others}) == len(taken) + len(others)
    insert(connection, others)


def test_a_time_before_1970_has_the_first_rows(connection):
    assert FreeRows(connection).take(-1) == row_of(0) == 0
