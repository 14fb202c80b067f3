"""``scopes.jsonl``: numbers that are never given twice, and active sessions."""

import errno
import json
import os
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Story, header, user
from tests.examples import examples
from tests.storage.contract import SCOPE, closed, ids, new
from tests.storage.stories import any_text
from tests.storage.test_disk import Fails
from tui.domain.journal.records import encode
from tui.errors import StorageError
from tui.storage import locks
from tui.storage.file_store import FileStore
from tui.storage.protocol import EVERYWHERE, SessionFilter
from tui.storage.scopes import LINES, ScopeLine, ScopeNumber, fold_lines

CREATE = """
import sys
from pathlib import Path
from tests.builders import user
from tui.storage.file_store import FileStore
store = FileStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    lease = store.create("shared", "/", "m")
    print(store.append(lease, [user("m1")]).ordinal)
    lease.release()
"""


def lines_of(store):
    return [json.loads(line) for line in (store.root / "scopes.jsonl").read_bytes().splitlines()]


def ordinal(store, name):
    return store.journal(name).load().header.ordinal


def add_lines(store, *lines):
    """Add lines about the scope of the shop, as another program might."""
    with (store.root / "scopes.jsonl").open("ab") as file:
        for line in lines:
            file.write(json.dumps({"scope": SCOPE, "at": "x", **line}).encode() + b"\n")


# --- what is written


def test_a_new_session_writes_its_number_and_that_it_is_active_and_a_choice_only_if_it_is_new(
    store, name
):
    at = lines_of(store)[0]["at"]
    assert lines_of(store) == [
        {"scope": SCOPE, "at": at, "ordinal": 1, "id": name},
        {"scope": SCOPE, "at": at, "active": name},
    ]
    store.set_active(SCOPE, name)
    assert len(lines_of(store)) == 2
    closed(store)
    store.set_active(SCOPE, name)
    assert [line["active"] for line in lines_of(store)[4:]] == [name]


@examples(0.3)
@given(scope=any_text)
def test_any_scope_has_its_numbers(tmp_path_factory, scope):
    store = FileStore(tmp_path_factory.mktemp("scopes"))
    known = store.journal(closed(store, scope=scope)).load().header.scope
    closed(store, scope=scope)
    assert (store.root / "scopes.jsonl").read_bytes().count(b"\n") == 4
    found = store.list(SessionFilter(scope=known), None, 5).entries
    assert sorted(entry.ordinal for entry in found) == [1, 2]
    assert store.active(known) is not None


def test_a_path_that_is_no_utf8_has_its_numbers(store):
    scope = "project:" + os.fsdecode(b"/home/\xff\xfe")
    names = [closed(store, scope=scope) for _ in range(3)]
    again = FileStore(store.root)
    assert [ordinal(again, name) for name in names] == [1, 2, 3]
    assert again.active(scope) == names[2]


# --- numbers


def test_processes_that_create_at_once_get_every_number_once(store, program):
    programs = [program(CREATE, store.root, 12) for _ in range(3)]
    for each in programs:
        assert each.read() == "ready"
    for each in programs:
        each.tell("go")
    numbers = [int(line) for each in programs for line in each.end().split()]
    found = store.list(SessionFilter(scope="shared"), None, 100).entries
    assert sorted(numbers) == sorted(entry.ordinal for entry in found) == list(range(1, 37))


@pytest.mark.parametrize("lost", ["missing", "empty"])
def test_a_lost_file_is_rebuilt_from_what_is_kept_archived_and_trashed(store, lost):
    kept, archived, trashed = closed(store), closed(store), closed(store)
    store.archive(archived)
    store.delete(trashed)
    path = store.root / "scopes.jsonl"
    path.unlink() if lost == "missing" else path.write_bytes(b"")
    assert store.active(SCOPE) == kept
    assert store.resolve("#3", SCOPE) == trashed
    assert ordinal(store, closed(store)) == 4
    known = {line["id"]: line["ordinal"] for line in lines_of(store) if "ordinal" in line}
    assert {known[kept], known[archived], known[trashed]} == {1, 2, 3}


def test_a_rebuilt_file_knows_a_session_with_a_damaged_beginning_no_more(store, put):
    put(b"damaged\n" + encode(user("m1")), "broken")
    name = closed(store)
    os.unlink(store.root / "scopes.jsonl")
    closed(store)
    assert {line.get("id") for line in lines_of(store)} >= {name}
    assert store.journal("broken").load().header.scope == ""


def test_numbers_stay_used_when_their_sessions_are_gone_without_a_trace(store, put):
    closed(store)
    shutil.rmtree(store.root / "sessions")
    assert ordinal(store, closed(store)) == 2
    # One that was put there by hand is found in the scope that it names.
    put(Story("by-hand", scope=SCOPE, ordinal=40).user().data, "by-hand")
    assert "by-hand" in ids(store.list(SessionFilter(scope=SCOPE), None, 5))


def test_a_list_of_numbers_has_none_for_an_imported_session_also_made_anew(store):
    imported = header("theirs", ordinal=0, imported_from="peer:1")
    store.add_imported(imported, [(user("m1"), b"")])
    assert (store.root / "scopes.jsonl").read_bytes() == b'{"scope":"","at":""}\n'
    assert store.active("") is None
    assert ordinal(store, closed(store)) == 1
    os.unlink(store.root / "scopes.jsonl")
    second = closed(store)
    assert (ordinal(store, second), store.entry("theirs").ordinal) == (2, 0)
    assert LINES.damaged((store.root / "scopes.jsonl").read_bytes()) == 0


@pytest.mark.parametrize("torn", [b'{"scope":"project:/shop","at":"x","ordi', b"\xff\xfe\0", b"{"])
def test_a_torn_last_line_is_closed_and_costs_nothing_else_and_a_whole_one_counts(store, torn):
    first = closed(store)
    path = store.root / "scopes.jsonl"
    with path.open("ab") as file:
        file.write(torn)
    assert store.active(SCOPE) == first
    second = closed(store)
    assert (ordinal(store, first), ordinal(store, second)) == (1, 2)
    assert path.read_bytes().split(b"\n")[2] == torn
    assert FileStore(store.root).resolve("#2", SCOPE) == second
    with path.open("ab") as file:
        file.write(b'{"scope":"project:/shop","at":"x","ordinal":7,"id":"gone"}')
    assert ordinal(store, closed(store)) == 8


def test_a_line_without_its_session_is_ignored_but_its_number_is_used(store):
    closed(store)
    add_lines(store, {"ordinal": 5, "id": "lost"}, {"active": "lost"})
    name = closed(store)
    assert ordinal(store, name) == 6
    store.delete(name)
    assert store.active(SCOPE) != "lost"
    assert len(store.list(SessionFilter(), None, 5).entries) == 1


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "..", "a\n"])
def test_hostile_ids_in_the_file_lead_nowhere(store, name):
    kept = closed(store)
    add_lines(store, {"ordinal": 9, "id": name}, {"active": name})
    assert store.active(SCOPE) == kept
    with pytest.raises(StorageError):
        store.resolve("#9", SCOPE)
    assert ids(store.list(SessionFilter(statuses=EVERYWHERE), None, 5)) == [kept]


@examples(0.5)
@given(garbage=st.lists(st.binary(max_size=30), max_size=5))
def test_garbage_in_the_file_hides_no_session(tmp_path_factory, garbage):
    store = FileStore(tmp_path_factory.mktemp("scopes"))
    first = closed(store)
    with (store.root / "scopes.jsonl").open("ab") as file:
        file.write(b"\n".join([b"", *garbage]))
    second = closed(store)
    assert ordinal(store, second) == 2
    assert sorted(ids(store.list(SessionFilter(SCOPE), None, 5))) == sorted([first, second])


def test_the_last_line_about_a_thing_counts():
    table = fold_lines(
        [
            ScopeLine("s", "x", ordinal=1, id="a"),
            ScopeLine("s", "x", ordinal=2, id="b"),
            ScopeLine("s", "x", active="a"),
            ScopeLine("t", "x", ordinal=1, id="a"),
            ScopeLine("s", "x", active="b"),
            ScopeLine("s", "x"),
        ]
    )
    assert table.places == {"a": ScopeNumber("t", 1), "b": ScopeNumber("s", 2)}
    assert table.highest == {"s": 2, "t": 1}
    assert table.chosen("s") == "b"
    assert table.chosen("t") is None
    assert table.with_ordinal("s", 2) == ["b"]


# --- several programs


def test_a_session_of_a_program_that_lost_the_race_for_the_lock_is_refused_and_stays_pending(
    store, name, monkeypatch
):
    monkeypatch.setattr(locks, "_LONG_PATIENCE", 0)
    store.active(SCOPE)
    lock = locks.take(store.root / "scopes.lock")
    lease = store.create(SCOPE, "/shop", "m")
    with pytest.raises(StorageError, match="locked"):
        store.append(lease, [user("m1")])
    with pytest.raises(StorageError, match="locked"):
        store.set_active(SCOPE, lease.session_id)
    # Reading needs no lock.
    assert FileStore(store.root).active(SCOPE) == name
    assert ids(store.list(SessionFilter(scope=SCOPE), None, 5)) == [name]
    lock.release()
    assert store.append(lease, [user("m1")]).ordinal == 2


# --- failures


@pytest.mark.parametrize("name", ["open", "write", "fdatasync", "fsync", "link"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_a_session_whose_birth_failed_gets_its_number_the_next_time(store, monkeypatch, name, code):
    closed(store)
    lease = store.create(SCOPE, "/shop", "m")
    for first in range(1, 9):
        with monkeypatch.context() as patch:
            fails = Fails(patch, name, code, first)
            try:
                number = store.append(lease, [user("m1")]).ordinal
            except StorageError:
                assert len(store.list(SessionFilter(statuses=EVERYWHERE), None, 5).entries) <= 2
                continue
        assert fails.calls < first or name == "open"
        break
    assert number == 2
    assert [line["ordinal"] for line in lines_of(store) if "ordinal" in line] == [1, 2]
    assert ordinal(store, closed(store)) == 3


def test_a_file_that_cannot_be_read_hides_no_session_and_is_told_when_it_is_needed(store, name):
    path = store.root / "scopes.jsonl"
    path.unlink()
    path.mkdir()
    assert [each.id for each in store.list(SessionFilter(), None, 5).entries] == [name]
    assert store.active(SCOPE) == name
    with pytest.raises(StorageError):
        new(store)


@pytest.mark.parametrize("number", ["9" * 4300, "9" * 4000, "[" * 1000 + "]" * 1000, "0", "-1"])
def test_a_line_beyond_the_limits_is_skipped(store, name, number):
    path = store.root / "scopes.jsonl"
    line = b'{"scope":"%s","at":"t","ordinal":%s,"id":"x"}\n' % (SCOPE.encode(), number.encode())
    path.write_bytes(line + path.read_bytes())
    fresh = FileStore(store.root)
    assert fresh.active(SCOPE) == name
    assert ordinal(fresh, closed(fresh)) == 2
    assert LINES.damaged(path.read_bytes()) == 1


def test_a_pipe_in_the_place_of_the_file_is_replaced_and_a_link_not_written_through(
    store, name, tmp_path
):
    path = store.root / "scopes.jsonl"
    path.unlink()
    os.mkfifo(path)
    assert store.active(SCOPE) == name
    assert ordinal(store, closed(store)) == 2
    assert path.is_file()
    path.rename(tmp_path / "victim")
    precious = (tmp_path / "victim").read_bytes()
    path.symlink_to(tmp_path / "victim")
    with pytest.raises(StorageError):
        new(store)
    assert (tmp_path / "victim").read_bytes() == precious


def test_the_order_is_number_active_journal(store, monkeypatch):
    """A power cut may leave a number without its session, never a session without its number."""
    lease = store.create(SCOPE, "/shop", "m")
    seen = []
    real = os.link

    def link(*arguments, **named):
        seen.append([line.get("active") for line in lines_of(store)])
        real(*arguments, **named)

    monkeypatch.setattr(os, "link", link)
    store.append(lease, [user("m1")])
    assert seen == [[None, lease.session_id]]
