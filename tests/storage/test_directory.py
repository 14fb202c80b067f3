"""Lists of sessions from a scan of the folders and the two ends of each file."""

import os
from pathlib import Path

import pytest

from tests.builders import Story, every_kind, user
from tests.storage.contract import ALL, SCOPE, closed, state
from tests.storage.test_disk import Fails
from tests.tables import each_row
from tui.errors import SessionDamaged, StorageError
from tui.storage import journal_lines, locks
from tui.storage.folders import Folders
from tui.storage.protocol import SessionFilter

UNREADABLE = "(unreadable)"


def found(store, **wanted):
    return {entry.id: entry for entry in store.list(SessionFilter(**wanted), None, 100).entries}


def test_a_journal_larger_than_any_session_is_listed_as_unreadable_and_not_read(store, name):
    os.truncate(store.path(name), 3 * 1024**3)
    (entry,) = store.entries([name])
    assert entry.label == "(unreadable)"
    with pytest.raises(SessionDamaged, match="it is larger than 2 GiB"):
        store.journal(name).load()


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        os.mkfifo,
        *(
            lambda path, target=target: path.symlink_to(target)
            for target in ("/etc/passwd", "nowhere", "odd.jsonl")
        ),
    ],
    ids=["folder", "pipe", "link", "dangling link", "loop"],
)
def test_what_is_no_plain_file_stands_in_the_list_and_hides_no_other(store, make):
    whole = closed(store)
    make(store.root / "sessions" / "odd.jsonl")
    entries = found(store)
    assert set(entries) == {whole, "odd"}
    assert (entries["odd"].label, entries["odd"].damaged) == (UNREADABLE, 1)
    assert entries[whole].label == "hello"
    odd = store.journal("odd")
    for read in (lambda: store.lease("odd"), lambda: odd.tail(5), odd.load):
        with pytest.raises(SessionDamaged, match="not a regular file"):
            read()
    assert store.resolve("odd", SCOPE) == "odd"
    with pytest.raises(StorageError):
        store.resolve("no such name", SCOPE)


def test_a_file_that_cannot_be_opened_stands_in_the_list(store, monkeypatch):
    name, other = closed(store), closed(store)
    path = store.path(name)
    real = os.open

    def refused(target, *arguments, **named):
        if os.fspath(target) == os.fspath(path):
            raise PermissionError(13, "Permission denied")
        return real(target, *arguments, **named)

    monkeypatch.setattr(os, "open", refused)
    entries = found(store, scope=SCOPE)
    assert set(entries) == {name, other}
    assert entries[name].label == UNREADABLE
    assert (entries[name].scope, entries[name].ordinal) == (SCOPE, 1)


@pytest.mark.parametrize("garbage", [b"", b"\0" * 300, b"garbage", b"\n\n\n", b"[" * 5000])
def test_a_file_of_garbage_is_a_session_in_its_scope(store, name, garbage):
    store.path(name).write_bytes(garbage)
    entry = found(store, scope=SCOPE)[name]
    assert (entry.label, entry.ordinal, entry.message_count) == (UNREADABLE, 1, 0)
    assert (entry.project_path, entry.damaged > 0) == ("/shop", True)


def test_a_session_is_called_by_a_message_that_can_be_read_else_unreadable_or_empty(store, name):
    header, *rest = store.path(name).read_bytes().splitlines(keepends=True)
    store.path(name).write_bytes(header + b"".join(b"x" + line for line in rest))
    empty = closed(store, state())
    assert found(store)[name].label == UNREADABLE
    assert found(store)[empty].label == "(empty)"
    store.path(name).write_bytes(b"garbage\n" + Story().user("what?").lines[1] + b"garbage\n")
    assert found(store)[name].label == "what?"


def test_a_damaged_first_line_changes_nothing_in_the_list(store):
    name = closed(store, user("m1", "what?"))
    before = found(store)[name]
    path = store.path(name)
    path.write_bytes(b"x" + path.read_bytes()[1:])
    after = found(store)[name]
    assert (after.scope, after.ordinal, after.label) == (before.scope, before.ordinal, "what?")
    assert after.damaged == 1
    assert store.resolve("#1", SCOPE) == name


def test_other_files_are_not_listed(store, name, put):
    for other in (".hidden.jsonl", ".x.jsonl.0a1b2c3d.tmp", "notes.txt", "a b.jsonl", ".jsonl"):
        (store.root / "sessions" / other).write_bytes(Story().user().data)
    assert set(found(store)) == {name}


def test_an_id_in_two_folders_counts_once_in_sessions_then_archive_then_trash(store, put):
    for place in ("trash", "archive", "sessions"):
        put(Story().user(f"from {place}").data, "tale", place)
        assert [entry.label for entry in store.list(ALL, None, 5).entries] == [f"from {place}"]
        assert store.journal("tale").load().loaded_messages[0].text == f"from {place}"
    assert store.list(SessionFilter(statuses=frozenset({"archived"})), None, 5).entries == ()
    assert store.list(SessionFilter(statuses=frozenset({"trashed"})), None, 5).entries == ()


@pytest.mark.parametrize("seconds", [-(10**11), 10**11, 10**12])
def test_a_file_from_the_end_of_time_spoils_no_list(store, seconds):
    name, other = closed(store, state("Named")), closed(store)
    try:
        os.utime(store.path(name), (seconds, seconds))
    except OSError:
        pytest.skip("the file system does not take such a time")
    assert set(found(store)) == {name, other}


def test_a_lock_that_cannot_be_looked_at_hides_no_session(store):
    name, other = closed(store), closed(store)
    lock = store.root / "locks" / f"{name}.lock"
    lock.unlink()
    lock.symlink_to(lock)
    entries = found(store)
    assert set(entries) == {name, other}
    assert entries[name].status == "closed"
    assert store.journal(name).load().loaded_messages[0].text == "hello"
    with pytest.raises(StorageError):
        store.holder(name)


@pytest.mark.parametrize(("module", "look"), [(locks, "holder_of"), (os, "listdir")])
def test_a_session_that_goes_while_the_list_is_made_is_left_out_and_not_fatal(
    store, monkeypatch, module, look
):
    name, other = closed(store), closed(store)
    path, real = store.path(name), getattr(module, look)

    def gone_meanwhile(place):
        """It goes after its name was read: before the lock or the time of its file is."""
        found = real(place)
        if str(place) == str(path.parent) or name in str(place):
            path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(module, look, gone_meanwhile)
    assert set(found(store)) == {other}


def test_a_session_that_is_archived_while_it_is_looked_up_is_found(store, name, monkeypatch):
    real = Folders.find

    def find(self, session_id):
        found = real(self, session_id)
        monkeypatch.setattr(Folders, "find", real)
        store.archive(session_id)
        return found

    monkeypatch.setattr(Folders, "find", find)
    assert store.entry(name).status == "archived"


def test_a_page_costs_its_sessions_and_not_all(store, put, monkeypatch):
    for number in range(60):
        path = put(Story(f"s{number:02d}", scope=SCOPE).user().state().data, f"s{number:02d}")
        os.utime(path, (number, number))
    closed(store)
    opens = Fails(monkeypatch, "open", first=10**9)
    listing = store.list(SessionFilter(), None, 10)
    assert len(listing.entries) == 10
    first = opens.calls
    store.list(SessionFilter(), listing.cursor, 10)
    assert opens.calls - first <= first < 45


def test_a_list_of_one_scope_looks_at_no_other(store, monkeypatch):
    for _ in range(30):
        closed(store, scope="other")
    name = closed(store)
    stats = Fails(monkeypatch, "stat", first=10**9)
    assert set(found(store, scope=SCOPE)) == {name}
    assert stats.calls < 10


def test_which_session_is_active_is_looked_for_once_for_all_entries(store, monkeypatch):
    scopes = [f"project:/{number}" for number in range(5)]
    kept = [closed(store, scope=scope) for scope in scopes]
    for scope in scopes:
        store.archive(closed(store, scope=scope))
    for _ in range(30):
        closed(store, scope="other")
    listings, stats = (Fails(monkeypatch, name, first=10**9) for name in ("listdir", "stat"))
    assert [entry.active for entry in store.entries(kept)] == [True] * 5
    assert listings.calls == 1
    assert stats.calls < 30


def test_a_long_session_costs_no_more_than_its_ends(store, put, monkeypatch):
    story = Story(scope=SCOPE).user("what is this?")
    filler = b"".join(Story().user("x" * 900).lines[1:])
    line = filler.replace(b'"m0001"', b'"f%07d"')
    story.raw(b"".join(line % number for number in range(5000)))
    story.user("last").state()
    put(story.data)
    read, pread = [], os.pread
    monkeypatch.setattr(os, "pread", lambda *a: (read.append(a[1]), pread(*a))[1])
    assert found(store)["tale"].label == "what is this?"
    assert sum(read) < 6 * journal_lines.FIRST_BLOCK


def test_all_that_a_journal_can_hold_is_listed(store, put):
    put(every_kind().data)
    entry = found(store)["tale"]
    assert (entry.name, entry.damaged, entry.status) == ("A tale", 0, "closed")
    assert entry.message_count == len(store.journal("tale").load().loaded_messages)


# --- what a target means, among real sessions


@each_row("name", ["会話", "two words", " ", "a\nb", "\u2028", "\ud800", "#x", "../x"])
def test_any_name_is_found_exactly(store, name):
    wanted = closed(store, state(name))
    closed(store, state(name + "!"))
    assert store.resolve(name, SCOPE) == wanted


def test_a_damaged_session_is_no_obstacle_to_finding_others(store, put):
    put(b"garbage", "session-a")
    name = closed(store, state("Tale"))
    assert store.resolve("Tale", SCOPE) == name
    assert store.resolve("a", SCOPE) == "session-a"
