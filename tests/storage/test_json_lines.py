"""Files of JSON lines survive what may be done to them."""

import os

import pytest

from tests.builders import Clock
from tests.domain.journal_lines import FIXTURES
from tui.domain.imports import ImportLine
from tui.domain.moves import Move, last_batch
from tui.storage import json_lines
from tui.storage.file_store import FileStore
from tui.storage.json_lines import IMPORTS, MoveLog, damaged_moves, new_batch

LINE = ImportLine("2026-01-11T14:30:22.500Z", "pi", "/a", whole=True)


@pytest.mark.parametrize("durably", [True, False])
def test_a_torn_last_line_is_closed_and_damage_hides_nothing(tmp_path, durably):
    path, store = tmp_path / "imports.jsonl", FileStore(tmp_path, Clock())
    assert list(store.imports()) == []
    IMPORTS.append(path, [LINE], durably=durably)
    with path.open("ab") as file:
        file.write(b"\xff\n" + b"[" * 999 + b'\n[]\n{"at":1}\n{"at":"2026')
    IMPORTS.append(path, [LINE], durably=durably)
    assert list(store.imports()) == [LINE, LINE]
    assert list(IMPORTS.decoded_whole(path.read_bytes())) == [LINE, LINE]
    assert IMPORTS.damaged(path.read_bytes()) == 5
    assert path.stat().st_mode & 0o777 == 0o600


def test_lines_that_find_no_room_leave_nothing(tmp_path, monkeypatch):
    path = tmp_path / "imports.jsonl"
    IMPORTS.append(path, [LINE])
    before, write = path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:5]))
    with pytest.raises(OSError, match="short write"):
        IMPORTS.append(path, [LINE])
    assert path.read_bytes() == before


# --- ``moves.jsonl``: what it has, what damage leaves of it, and what a failure leaves undone


ONE = Move("s1", "sessions", "archive", "2026-01-12T08:00:00.000Z", "user", "b1")
TWO = Move("s2", "sessions", "trash", "2026-01-12T08:01:00.000Z", "clear", "b2")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "moves.jsonl"


@pytest.fixture
def log(path):
    return MoveLog(path)


def test_moves_are_read_in_their_order_by_any_program_and_a_torn_line_is_closed(log, path):
    assert log.read() == ()
    log.add(ONE)
    with path.open("ab") as file:
        file.write(b'{"id":"s9","fr')
    log.add(TWO)
    assert log.read() == MoveLog(path).read() == (ONE, TWO)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_lines_of_version_1_are_read_for_ever():
    read = MoveLog(FIXTURES / "moves-v1.jsonl").read()
    reasons = "user undo clear clear backlog age user"
    assert [move.reason for move in read] == reasons.split()
    at = "2026-01-12T08:00:00.000Z"
    first = "session-20260111-153022-000001"
    assert read[0] == Move(first, "sessions", "archive", at, "user", "b1")
    assert [move.batch for move in last_batch(read)] == ["b5"]
    but = {move.key for move in read if move.batch in ("b5", "b4", "b3")}
    assert [move.id[-1] for move in last_batch(read, but)] == ["2", "3"]


@pytest.mark.parametrize(
    "damage",
    [
        b"no json",
        b'{"id":"../s","from":"sessions","to":"trash","at":"","reason":"user","batch":"b"}',
        b'{"id":"s","from":"elsewhere","to":"trash","at":"","reason":"user","batch":"b"}',
        b'{"id":"\xff"}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_line_hides_no_other(log, path, damage):
    log.add(ONE)
    with path.open("ab") as file:
        file.write(damage + b"\n")
    log.add(TWO)
    assert log.read() == (ONE, TWO)
    assert damaged_moves(path) == 1


def test_only_the_end_of_a_large_file_is_read(log, path, monkeypatch):
    log.add(ONE)
    log.add(TWO)
    monkeypatch.setattr(json_lines, "MOVES_BYTES", path.stat().st_size - 10)
    assert log.read() == (TWO,)
    assert damaged_moves(path) == 0


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_plain_file_stops_nothing(log, path, make):
    make(path)
    log.add(ONE)
    assert log.read() == (ONE,)


def test_a_line_that_could_not_be_written_goes_out_with_the_next(log, path):
    path.mkdir()
    log.add(ONE)
    path.rmdir()
    log.add(TWO)
    assert MoveLog(path).read() == (ONE, TWO)
    assert log.read() == (ONE, TWO)


def test_batches_differ():
    assert new_batch("user") != new_batch("user")
