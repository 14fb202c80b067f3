"""Copies of all sessions from one store into another."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.attached import PNG, picture, showing
from tests.builders import appended, at, header, user
from tests.storage.contract import closed, state
from tui.domain.imports import ImportLine
from tui.domain.journal.records import Settings, encode
from tui.engine.copying import copy
from tui.engine.imports import report
from tui.storage.doctor import Doctor
from tui.storage.file_store import FileStore
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import EVERYWHERE, SessionFilter

FIXTURES = Path(__file__).parents[1] / "domain" / "fixtures"
SCOPE = "project:/shop"
ALL = SessionFilter(statuses=EVERYWHERE)
PHOTO = picture()
LONG = 100_000


def silent(_):
    return True


@dataclass
class World:
    files: FileStore
    other: FileStore
    server: PostgresStore


@pytest.fixture
def world(tmp_path, postgres):
    server = PostgresStore(postgres)
    yield World(FileStore(tmp_path / "files"), FileStore(tmp_path / "other"), server)
    server.close()


@pytest.fixture(params=["server", "other"])
def target(world, request):
    """A server, or another data directory."""
    return getattr(world, request.param)


def write(root, session_id, data, folder="sessions"):
    """Put a journal of these bytes into a data directory."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / f"{session_id}.jsonl").write_bytes(data)


def fill(store: Any) -> dict[str, str]:
    """Write a session of each kind; gives their ids."""
    shown = store.create(SCOPE, "/shop", "offline:guide")
    store.add_attachment(shown.session_id, PNG)
    store.append(shown, [user("m1", showing("look", PHOTO)), Settings(pinned=True)])
    store.append(shown, [state("Talk")])
    shown.release()
    archived, trashed, purged = closed(store), closed(store), closed(store)
    store.archive(archived)
    store.delete(trashed)
    store.delete(purged)
    store.purge(purged)
    other = closed(store, scope="project:/farm")
    store.set_active(SCOPE, shown.session_id)
    store.note_imports([ImportLine(at=at(), program="pi", path=f"/\udcff{n}") for n in range(3)])
    return {
        "shown": shown.session_id,
        "archived": archived,
        "trashed": trashed,
        "other": other,
    }


def spoil(root):
    """Write journals that are damaged, newer, torn or of an older form."""
    write(root, "torn", encode(header("torn", scope="project:/t")) + encode(user("m1"))[:20])
    damaged = encode(header("damaged", scope="project:/d")) + b"\x00\xff{\n" + encode(user("m1"))
    write(root, "damaged", damaged)
    write(root, "empty", b"", "archive")
    write(root, "headless", b"\xf0\x28\n\n", "trash")
    write(root, "newer", b'{"type":"session","version":9,"id":"newer"}\n{"a":1}\n')
    for path in FIXTURES.glob("journal-*.jsonl"):
        write(root, path.stem, path.read_bytes(), "archive")


def journals(store: Any) -> dict[str, tuple[str, str, str]]:
    """The place, the number and the bytes of each session."""
    found = {}
    for session_id in store.journals.sizes():
        there = store.journals.find(session_id)
        data = b"".join(store.journals.read(session_id, there.size))
        found[session_id] = there.place, there.header.ordinal, hashlib.sha256(data).hexdigest()
    return found


def test_all_sessions_come_back_as_they_were(world):
    ids = fill(world.files)
    spoil(world.files.root)
    there = copy(world.files, world.server, silent)
    back = copy(world.server, world.other, silent)
    assert (there.is_whole, back.is_whole) == (True, True), (there, back)
    assert there.added == back.added == there.verified == back.verified == there.sessions
    assert journals(world.files) == journals(world.server) == journals(world.other)
    for store in (world.server, world.other):
        assert store.active(SCOPE) == ids["shown"]
        assert store.attachment(ids["shown"], PHOTO.sha256) == PNG
        assert store.resolve("Talk", SCOPE) == ids["shown"]
        assert list(store.imports()) == list(world.files.imports())
        assert store.moves() == world.files.moves()
        pinned = store.list(SessionFilter(SCOPE, order="pinned"), None, 1).entries
        assert [each.id for each in pinned] == [ids["shown"]]
        used = {each.id: each.last_used_at for each in world.files.list(ALL, None, 99).entries}
        assert {each.id: each.last_used_at for each in store.list(ALL, None, 99).entries} == used


def test_a_comparison_changes_nothing_and_nothing_is_copied_or_numbered_twice(world, target):
    fill(world.files)
    compared = copy(world.files, target, silent, dry=True)
    assert (compared.added, compared.imports) == (compared.sessions, 3)
    assert compared.copied_bytes == compared.bytes
    assert journals(target) == {}
    assert target.journals.numbers().given == ()
    assert list(target.imports()) == []
    first, again = copy(world.files, target, silent), copy(world.files, target, silent)
    assert (again.added, again.extended, again.present) == (0, 0, first.sessions)
    assert (again.copied_bytes, again.pictures, again.imports, again.moves) == (0, 0, 0, 0)
    assert again.is_whole
    assert len(target.moves()) == len(world.files.moves())
    # The highest number was that of the session that was purged.
    assert target.entry(closed(target)).ordinal == 5


def test_a_session_that_has_grown_is_extended_and_one_that_went_on_at_the_target_is_left(
    world, target
):
    ids = fill(world.files)
    copy(world.files, target, silent)
    appended(world.files, ids["archived"], user("m2", "more"))
    done = copy(world.files, target, silent)
    assert (done.extended, done.added, done.verified) == (1, 0, done.sessions)
    assert journals(target) == journals(world.files)
    assert target.entry(ids["archived"]).status == "closed"
    appended(target, ids["other"], user("m2", "there"))
    before = journals(target)
    done = copy(world.files, target, silent)
    assert (done.present, done.is_whole) == (done.sessions, True)
    assert journals(target) == before


@pytest.mark.parametrize("length", [0, 1, 40, 300])
def test_a_beginning_is_completed_wherever_it_was_cut_off(world, length):
    session_id = closed(world.files, *(user(f"m{n}", "x" * 50) for n in range(5)))
    whole = world.files.path(session_id).read_bytes()
    write(world.other.root, session_id, whole[:length])
    done = copy(world.files, world.other, silent)
    assert done.extended == 1
    assert done.copied_bytes == len(whole) - length
    assert world.other.path(session_id).read_bytes() == whole


def test_a_session_that_differs_or_cannot_be_read_is_told_and_stops_no_other(world, target):
    differs = closed(world.files)
    copy(world.files, target, silent)
    path = world.files.path(differs)
    path.write_bytes(path.read_bytes().replace(b"hello", b"HELLO"))
    before, unreadable, fine = journals(target), closed(world.files), closed(world.files)
    path = world.files.path(unreadable)
    path.unlink()
    os.mkfifo(path)
    done = copy(world.files, target, silent)
    assert done.different == [differs]
    assert [failure.id for failure in done.failures] == [unreadable]
    assert (done.added, done.is_whole) == (1, False)
    after = journals(target)
    del after[fine]
    assert after == before


def test_a_session_that_is_open_is_copied_as_it_is_and_at_the_target_later(world, target):
    lease = world.files.create(SCOPE, "/shop", "offline:guide")
    world.files.append(lease, [user("m1")])
    other = FileStore(world.files.root)
    assert copy(other, target, silent).added == 1
    world.files.append(lease, [user("m2")])
    lease.release()
    held = target.lease(lease.session_id)
    done = copy(other, target, silent)
    held.release()
    assert [failure.id for failure in done.failures] == [lease.session_id]
    assert copy(other, target, silent).extended == 1
    assert journals(target) == journals(other)


def test_a_missing_picture_is_told(world, target):
    ids = fill(world.files)
    (world.files.root / "attachments" / PHOTO.sha256).write_bytes(b"damaged")
    done = copy(world.files, target, silent)
    assert done.missing_pictures == [PHOTO.sha256]
    assert not done.is_whole
    assert ids["shown"] in journals(target)


def test_a_picture_that_is_sent_during_the_copy_is_copied(world, target):
    first, last = closed(world.files), closed(world.files)

    def send(_):
        if world.files.stamp(last).length < LONG:
            world.files.add_attachment(last, PNG)
            appended(world.files, last, user("m2", showing("x" * LONG, PHOTO)))
        return True

    assert copy(world.files, target, send).pictures == 1
    assert target.attachment(last, PHOTO.sha256) == PNG
    assert journals(target).keys() == {first, last}


def test_a_picture_that_the_target_lacks_is_copied_by_the_next_run(world, postgres):
    ids = fill(world.files)
    copy(world.files, world.server, silent)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("delete from sibyl.pictures")
    assert copy(world.files, world.server, silent).pictures == 1
    assert world.server.attachment(ids["shown"], PHOTO.sha256) == PNG


def test_moves_of_the_target_stay_the_last(world, target):
    session_id = closed(target)
    target.archive(session_id)
    world.files.archive(closed(world.files))
    copy(world.files, target, silent)
    assert [move.id for move in target.moves()] == [session_id]


def test_a_stopped_copy_is_continued(world, target, monkeypatch):
    monkeypatch.setattr(report, "_REPORT_SECONDS", 0)
    for number in range(4):
        closed(world.files, *(user(f"m{number}-{n}", "x" * 300_000) for n in range(9)))
    answers = iter([True, True, False])
    done = copy(world.files, target, lambda _: next(answers, False))
    assert done.stopped
    assert len(journals(target)) < 4
    assert copy(world.files, target, silent).is_whole
    assert journals(target) == journals(world.files)


def test_a_target_that_fails_ends_the_copy(world, tmp_path):
    fill(world.files)
    gone = PostgresStore(f"postgresql:///nowhere?host={tmp_path}")
    done = copy(world.files, gone, silent)
    assert done.error
    assert (done.added, done.failures) == (0, [])


@pytest.mark.full
def test_a_journal_of_many_lines_is_copied_both_ways(world):
    lines = [encode(header("long")), *(encode(user(f"m{n}", f"line {n}")) for n in range(LONG))]
    write(world.files.root, "long", b"".join(lines))
    assert copy(world.files, world.server, silent).verified == 1
    assert copy(world.server, world.other, silent).verified == 1
    assert world.other.path("long").read_bytes() == b"".join(lines)
    assert world.server.journal("long").load().message_count == LONG


def test_a_session_whose_bytes_change_on_their_way_is_told(world, postgres):
    """A server that keeps other bytes than it was sent."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        copy(world.files, world.server, silent)
        connection.execute(
            "create function sibyl.spoil() returns trigger language plpgsql as"
            " $$ begin new.data = set_byte(new.data, 3, 33); return new; end $$"
        )
        connection.execute(
            "create trigger spoil before insert on sibyl.pieces"
            " for each row execute function sibyl.spoil()"
        )
        try:
            session_id = closed(world.files)
            done = copy(world.files, world.server, silent)
        finally:
            connection.execute("drop function sibyl.spoil cascade")
    assert [failure.id for failure in done.failures] == [session_id]
    assert (done.verified, done.is_whole) == (0, False)


@pytest.fixture
def second(postgres_url):
    """Another database."""
    name = f"sibyl_second_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
        yield psycopg.conninfo.make_conninfo(postgres_url, dbname=name)
        connection.execute(f"drop database {name} with (force)".encode())


def test_a_server_is_copied_to_another_one(world, second):
    ids = fill(world.server)
    other = PostgresStore(second)
    done = copy(world.server, other, silent)
    assert done.is_whole
    assert done.added == done.verified == 4
    assert journals(other) == journals(world.server)
    assert other.attachment(ids["shown"], PHOTO.sha256) == PNG
    assert other.moves() == world.server.moves()
    other.close()


def test_a_repair_finds_nothing_to_do_after_a_copy(world):
    closed(world.other)
    fill(world.files)
    copy(world.files, world.server, silent)
    copy(world.server, world.other, silent)
    assert list(Doctor(world.other.root).examine()) == []
