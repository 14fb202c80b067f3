"""Following the journals: what is read, what is masked, what is left to another process."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.attached import NOTES, picture, showing
from tests.builders import answer, at, header, user
from tests.storage.index.conftest import answers, hits
from tests.tables import each_row
from tui.domain.journal.records import encode
from tui.storage import locks
from tui.storage.file_store import FileStore
from tui.storage.index import child, ingest, maintenance, message_rows, search_index
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.protocol import Progress

_IN_SMALL_STEPS = """
import sys
from tui.storage.index import ingest
from tui.storage.index.child import main
ingest.BATCH_BYTES = 300
ingest._REPORT_SECONDS = 600
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def read(monkeypatch):
    """The bytes of journals that are read for the index."""
    ranges = []
    read_searchable = ingest.read_searchable

    def reading(descriptor, start, end):
        ranges.append(end - start)
        return read_searchable(descriptor, start, end)

    monkeypatch.setattr(ingest, "read_searchable", reading)
    return ranges


def rows(index, table="messages"):
    with closing(sqlite3.connect(index)) as connection:
        return connection.execute(f"select * from {table} order by 1").fetchall()


def test_nothing_is_read_again_that_was_not_changed_but_for_the_time_that_the_store_sets(
    data, say, read
):
    say("s1", showing("needle", NOTES, picture()), "other")
    answers(data)
    read.clear()
    answers(data)
    assert read == []
    os.utime(data / "sessions" / "s1.jsonl", ns=(1, 1_700_000_000_000_000_000))
    assert answers(data)["needle"]
    assert sum(read) == 0


def test_only_what_was_appended_is_read(filled, data, read, say):
    answers(data)
    path = data / "sessions" / "s1.jsonl"
    before = path.stat().st_size
    say("s1", "another needle")
    read.clear()
    assert ("s1", "another needle") in {(s, text) for s, _, text in hits(filled, "another")}
    assert read == [path.stat().st_size - before]


def test_a_move_between_folders_reads_nothing(filled, data, read):
    answers(data)
    read.clear()
    filled.archive("s1")
    assert len(hits(filled, "needle")) == 12
    filled.delete("s1")
    assert len(hits(filled, "needle")) == 11
    filled.restore("s1")
    assert len(hits(filled, "needle")) == 12
    assert sum(read) < 200


@pytest.mark.parametrize("in_place", [True, False])
def test_a_file_that_was_replaced_or_written_over_is_read_again(filled, data, in_place):
    answers(data)
    path = data / "sessions" / "s1.jsonl"
    other = path if in_place else path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b"needle", b"noodle"))
    if in_place:
        os.utime(path, ns=(1, path.stat().st_mtime_ns // 1_000_000 * 1_000_000 + 7))
    other.replace(path)
    assert {session for session, *_ in hits(FileStore(data), "noodle")} == {"s1"}
    assert "s1" not in {session for session, *_ in hits(FileStore(data), "needle")}


def test_a_file_that_is_gone_is_masked_and_its_rows_stay_taken(filled, data, index):
    answers(data)
    before = {row[0] for row in rows(index)}
    (data / "sessions" / "s1.jsonl").unlink()
    assert len(hits(FileStore(data), "needle")) == 11
    masked = [row for row in rows(index) if row[1] == 0]
    assert len(masked) == 4
    assert {row[0] for row in rows(index)} == before


def test_a_torn_last_line_is_read_once_it_is_whole(filled, data):
    answers(data)
    path = data / "sessions" / "s1.jsonl"
    line = encode(user("torn", "a needle torn", 7))
    with path.open("ab") as file:
        file.write(line[:-20])
    assert len(hits(FileStore(data), "needle")) == 12
    with path.open("ab") as file:
        file.write(line[-20:-1])
    assert len(hits(FileStore(data), "needle")) == 13
    with path.open("ab") as file:
        file.write(b"\n" + encode(user("next", "the next needle", 8)))
    assert len(hits(FileStore(data), "needle")) == 14


def test_messages_of_one_moment_have_rows_of_their_own(data, index, say, monkeypatch):
    monkeypatch.setattr(message_rows, "_SAME_SECOND", 4)
    store = FileStore(data)
    lease = store.create("s", "/", "m", session_id="one")
    store.append(lease, [user(f"m{number}", "needle") for number in range(9)])
    lease.release()
    assert len(hits(store, "needle")) == 9
    say("two", "needle")
    assert len(hits(store, "needle")) == 10


@pytest.mark.parametrize("moment", ["", "nonsense", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_message_of_any_time_is_found(data, moment):
    place = data / "sessions"
    place.mkdir(parents=True)
    message = answer("m1", "needle")
    line = encode(message).replace(at(0).encode(), moment.encode())
    (place / "one.jsonl").write_bytes(encode(header("one")) + line)
    assert [row[:2] for row in hits(FileStore(data), "needle")] == [("one", "m1")]


def test_what_is_much_is_left_to_a_build_and_found_meanwhile(filled, data, index, monkeypatch):
    monkeypatch.setattr(maintenance, "FOLLOWED_HERE", 100)
    store = FileStore(data)
    found = store.search("needle", 300, seconds=60)
    assert (found.total, found.late) == (12, False)
    assert found.pending > 100
    assert found.is_behind
    assert rows(index) == []
    assert [*store.build_index("a test")][-1].done > 0
    found = store.search("needle", 300)
    assert (found.total, found.pending, found.is_behind) == (12, 0, False)


def test_what_a_search_has_no_time_to_bring_into_the_index_is_found_all_the_same(
    filled, data, index, fresh, monkeypatch
):
    monkeypatch.setattr(maintenance, "_FOLLOW_SECONDS", 0.0)
    for _ in range(5):
        found = filled.search("needle", 300, seconds=60)
        assert (found.total, found.late) == (12, False)
    assert found.pending
    assert not found.is_behind
    assert 0 < len(rows(index)) < 48, "a little each time"
    monkeypatch.setattr(maintenance, "_FOLLOW_SECONDS", 60.0)
    assert answers(data) == fresh()


def test_what_was_said_in_one_session_is_added_if_it_is_little_without_a_look_at_the_others(
    filled, data, index, say, read
):
    filled.catch_up_index("s1")
    assert not index.exists(), "where there is no index, none is begun"
    answers(data)
    say("s1", "brand new")
    say("s2", "brand old")
    read.clear()
    filled.catch_up_index("s1")
    assert len(read) == 1
    assert len(rows(index)) == 49
    say("s1", "word " * 300_000)
    filled.catch_up_index("s1")
    assert len(rows(index)) == 49


@pytest.mark.parametrize("harm", [Path.mkdir, lambda path: path.write_bytes(b"no database")])
def test_an_index_that_cannot_be_used_fails_no_addition(filled, data, index, harm):
    harm(index)
    filled.catch_up_index("s1")
    assert len(hits(FileStore(data), "needle")) == 12


def test_a_build_says_for_whom_it_waits_and_goes_on_once_that_is_gone(filled, data, fresh):
    held = locks.take(data / "index.lock")
    assert next(IndexMaintenance(data).build("a test")).builder == "another program"
    held.release()
    other = IndexMaintenance(data).build("an import")
    next(other)
    build = IndexMaintenance(data).build("a search")
    waiting = [next(build), next(build)]
    pid = os.getpid()
    assert all(each.builder.startswith(f"an import (pid {pid} on ") for each in waiting)
    found = FileStore(data).search("needle", 300, seconds=60)
    assert (found.total, found.late) == (12, False)
    other.close()
    assert [*build][-1].builder == ""
    assert answers(data) == fresh()


@pytest.mark.parametrize("batch", [300, 1_000_000])
def test_a_build_that_is_stopped_keeps_what_it_has_read(filled, data, monkeypatch, batch):
    monkeypatch.setattr(ingest, "BATCH_BYTES", batch)
    monkeypatch.setattr(ingest, "_REPORT_SECONDS", 0)
    build = IndexMaintenance(data).build("a test")
    begun, later = next(build), [next(build) for _ in range(5)]
    assert begun.done == 0 < later[-1].done < later[-1].total
    build.close()
    assert next(IndexMaintenance(data).build("a test")).done == later[-1].done


def test_many_files_are_not_looked_at_for_each_key(filled, data, say, monkeypatch):
    monkeypatch.setattr(search_index, "_MANY", 0)
    monkeypatch.setattr(search_index, "_REST", 1_000_000)
    assert filled.search("needle", 300).total == 12
    say("s1", "another needle")
    assert filled.search("needle", 300).total == 12
    lease = filled.lease("s2")
    filled.append(lease, [user("own", "my own needle", 9)])
    lease.release()
    assert filled.search("needle", 300).total == 13, "what was changed here is looked at"


def test_a_search_stops_at_its_deadline_and_says_so(filled):
    filled.search("needle", 10)
    found = filled.search("needle", 10, seconds=0)
    assert found.late
    assert found.total < 12


@pytest.mark.parametrize("what", ["whole", "beside a builder", "killed at its end"])
def test_a_purge_leaves_nothing_in_the_index_at_the_next_search_at_the_latest(
    data, index, say, monkeypatch, what
):
    say("one", "zyzzyvaquark is secret")
    say("two", "needle")
    store = FileStore(data)
    assert store.search("zyzzyvaquark", 10).total == 1
    assert b"zyzzyvaquark" in index.read_bytes()
    store.delete("one")
    with monkeypatch.context() as patch:
        if what == "killed at its end":
            patch.setattr(IndexMaintenance, "forget", lambda _: None)
        patch.setattr(locks, "PATIENCE", 0.0)
        held = locks.take(data / "index.lock") if what == "beside a builder" else None
        store.purge("one")
        if held:
            held.release()
    assert (b"zyzzyvaquark" in index.read_bytes()) == (what != "whole")
    assert FileStore(data).search("needle", 10).total == 1
    assert b"zyzzyvaquark" not in index.read_bytes()


# --- the process that builds


def run_builder(data, folder="/"):
    command, environment = child.command(data), child.environment(os.environ)
    return subprocess.run(command, capture_output=True, env=environment, cwd=folder, timeout=600)


def test_the_builder_says_how_far_it_is_and_takes_no_module_from_where_the_user_is(
    filled, data, fresh, tmp_path
):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    done = run_builder(data, tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    steps = list(map(child.read_line, done.stdout.splitlines()))
    size = sum(path.stat().st_size for path in (data / "sessions").iterdir())
    assert (steps[0], steps[-1]) == (Progress(0, size), Progress(size, size))
    assert answers(data) == fresh()


def test_a_builder_that_cannot_build_says_why(filled, data, index):
    index.mkdir()
    done = run_builder(data)
    assert done.returncode == 1
    assert b"cannot be built" in done.stderr


_HANGING = """
import sys, time
from tui.storage.index import child
from tui.storage.index.maintenance import IndexMaintenance

def hang(self, builder):
    with self._alone(0, builder):
        print("locked", flush=True)
        time.sleep(600)
        yield

IndexMaintenance.build = hang
child.end_after(int(sys.argv[2]))
sys.exit(child.main(sys.argv[1:]))
"""
_PROGRAM = """
import subprocess, sys, time
from pathlib import Path
from tui.storage.index import child

command = child.command(Path(sys.argv[2]))
subprocess.Popen([sys.executable, "-c", sys.argv[1], *command[4:]], process_group=0)
time.sleep(600)
"""


def test_a_builder_that_hangs_ends_with_its_program_and_frees_the_lock(filled, data):
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, _HANGING, str(data)], stdout=subprocess.PIPE
    )
    with program:
        assert program.stdout.readline() == b"locked\n"
        assert locks.holder_of(data / "index.lock") is not None
        program.send_signal(signal.SIGKILL)
        # The builder has the pipe too: its end is that of both.
        assert program.stdout.read() == b""
    assert locks.holder_of(data / "index.lock") is None


@each_row("line", [b"", b"{", b"[]", b'{"done":"x","total":1}', b"null"])
def test_what_is_no_progress_is_none(line):
    assert child.read_line(line) is None


def test_a_builder_killed_after_each_commit_comes_to_its_end(filled, data, fresh):
    killed = 0
    while _killed_after_a_commit(data):
        killed += 1
        # What was committed can be searched, and nothing that is found is wrong.
        assert killed < 500
    # How many commits it gets ahead of its killer hangs on the machine.
    assert killed > 0
    assert answers(data) == fresh()


def test_a_builder_killed_at_any_time_comes_to_its_end(filled, data, index, fresh):
    for number in range(8):
        process = _started(data)
        process.stdout.readline()
        time.sleep(number * 0.002)
        process.kill()
        process.communicate()
    assert sqlite3_is_sound(index)
    assert answers(data) == fresh()


def sqlite3_is_sound(index):
    with closing(sqlite3.connect(index)) as connection:
        return connection.execute("pragma integrity_check").fetchone() == ("ok",)


def _started(data):
    command = [sys.executable, "-c", _IN_SMALL_STEPS, str(data)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, env=child.environment(os.environ), cwd="/"
    )


def _killed_after_a_commit(data):
    process = _started(data)
    begun, committed = process.stdout.readline(), process.stdout.readline()
    process.kill()
    process.communicate()
    return bool(begun and committed) and child.read_line(begun).done < child.read_line(begun).total
