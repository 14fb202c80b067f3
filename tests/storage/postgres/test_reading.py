"""Sessions at a server, read slowly."""

import psycopg
import pytest

from tests.builders import user
from tests.storage.contract import closed
from tui.errors import SessionDamaged
from tui.storage.postgres.connection_pool import CONNECTIONS
from tui.storage.protocol import SessionFilter

LONG = "x" * 1_000_000


def talk(store, count=8):
    said = [user(f"m{number}", LONG) for number in range(count)]
    return closed(store, *said), said


def test_whoever_takes_records_slowly_keeps_no_connection(store):
    name, said = talk(store)
    slow = [store.journal(name).records() for _ in range(CONNECTIONS + 1)]
    for each in slow:
        next(each)
    assert store.count(SessionFilter()) == 1
    assert [list(each) for each in slow] == [said] * len(slow)


def test_records_that_are_purged_while_they_are_read_do_not_just_end(store):
    name, _ = talk(store)
    reading = store.journal(name).records()
    next(reading)
    store.delete(name)
    store.purge(name)
    with pytest.raises(SessionDamaged, match="records are gone"):
        list(reading)


def test_a_move_of_a_newer_version_is_passed_over(store, postgres):
    name = closed(store)
    store.archive(name)
    moves = store.moves()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("insert into sibyl.moves (line) values (%s)", (b'{"newer": 1}',))
    assert [each.id for each in moves] == [name]
    assert store.moves() == moves
