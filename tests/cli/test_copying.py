"""``sibyl-tui sessions copy``."""

import os
import signal
import subprocess
import time

import psycopg
import pytest

from tests.builders import header, user
from tests.waiting import SECONDS
from tui.cli import copying
from tui.domain.journal.records import encode
from tui.storage.file_store import FileStore
from tui.storage.postgres.store import PostgresStore


def write(root, session_id, lines, size=10):
    """Put a journal into a data directory."""
    (root / "sessions").mkdir(parents=True, exist_ok=True)
    records = [header(session_id, scope="project:/shop", ordinal=0)]
    records += [user(f"{session_id}-{number}", "x" * size) for number in range(lines)]
    data = b"".join(map(encode, records))
    (root / "sessions" / f"{session_id}.jsonl").write_bytes(data)
    return data


def journals(root):
    return {path.stem: path.read_bytes() for path in (root / "sessions").glob("*.jsonl")}


def test_sessions_go_to_a_server_and_back(sibyl, saved, data, server, tmp_path):
    session_id = saved("hello", name="Talk")
    there = sibyl("sessions", "copy", "--from", "files", "--to", server)
    assert (there.code, there.err) == (0, "")
    assert there.out.startswith("Copied 1 session, extended 0, ")
    assert "Verified by SHA-256: 1 session." in there.out
    back = sibyl("sessions", "copy", "--from", server, "--to", tmp_path / "back", "--json")
    assert back.code == 0
    assert (back.json["added"], back.json["verified"], back.json["sessions"]) == (1, 1, 1)
    assert journals(tmp_path / "back") == journals(data)
    assert FileStore(tmp_path / "back").entry(session_id).name == "Talk"


def test_a_dry_run_only_compares_and_a_second_run_says_that_all_is_there(sibyl, saved, tmp_path):
    saved("hello")
    place = tmp_path / "other"
    told = sibyl("sessions", "copy", "--from", "files", "--to", place, "--dry-run")
    assert told.code == 0
    assert told.out.startswith("Would copy 1 session and extend 0, ")
    assert not place.exists()
    sibyl("sessions", "copy", "--from", "files", "--to", place)
    again = sibyl("sessions", "copy", "--from", "files", "--to", place)
    assert again.code == 0
    assert "Copied 0 sessions, extended 0, 0 bytes; 1 of 1 were there already." in again.out


def test_what_is_not_copied_is_told_in_the_exit_code(sibyl, saved, data, tmp_path):
    session_id, unreadable = saved("hello"), saved("there")
    sibyl("sessions", "copy", "--from", "files", "--to", tmp_path / "other")
    path = data / "sessions" / f"{session_id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"hello", b"other"))
    (data / "sessions" / f"{unreadable}.jsonl").unlink()
    (data / "sessions" / f"{unreadable}.jsonl").mkdir()
    done = sibyl("sessions", "copy", "--from", "files", "--to", tmp_path / "other")
    assert done.code == 1
    assert f"Not copied: {session_id} is another session there. Both are unchanged." in done.err
    assert f"Not copied: {unreadable}: " in done.err


_ADDRESS = "postgresql://me:secret@db.example.org/sibyl"


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("files", "{data}", "are the same store"),
        ("{data}", "files", "are the same store"),
        ("/nowhere/at/all", "files", "No such data directory: /nowhere/at/all"),
        ("~nobody-here/x", "files", "No such data directory: "),
        ("nothing", "files", "an address begins with postgresql://"),
        ("files", "backup", "A new folder is written as ./NAME."),
        ("files", "{data}/file", "Not a directory: "),
        (_ADDRESS, "files", "--from"),
        ("files", _ADDRESS, "--to"),
        *((text, "files", "") for text in ("", "x" * 300, f"shelf:{'x' * 5000}")),
        *(("files", text, "") for text in ("", "x" * 300, f"shelf:{'x' * 5000}")),
    ],
)
def test_stores_that_cannot_be_copied_are_refused(
    sibyl, saved, data, tmp_path, source, target, words
):
    saved("hello")
    (data / "file").touch()
    before = list(tmp_path.iterdir())
    places = [place.format(data=data) for place in (source, target)]
    refused = sibyl("sessions", "copy", "--from", places[0], "--to", places[1])
    assert refused.code == 2
    assert words in refused.err
    assert "secret" not in refused.err + refused.out
    assert list(tmp_path.iterdir()) == before


def test_the_configured_store_is_a_word(
    sibyl, saved, data, postgres, server, monkeypatch, tmp_path
):
    session_id = saved("hello")
    monkeypatch.setenv("SIBYL_STORE", "")
    done = sibyl("sessions", "copy", "--from", "configured", "--to", tmp_path / "other")
    assert done.code == 0
    assert journals(tmp_path / "other") == journals(data)
    monkeypatch.setenv("SIBYL_STORE", server)
    assert sibyl("sessions", "copy", "--from", "files", "--to", "configured").code == 0
    store = PostgresStore(postgres)
    assert [*store.journals.sizes()] == [session_id]
    store.close()


def test_failures_beyond_twenty_are_counted(sibyl, data, tmp_path):
    other = tmp_path / "other"
    for number in range(23):
        write(data, f"s{number}", 1)
        write(other, f"s{number}", 1, 11)
    done = sibyl("sessions", "copy", "--from", "files", "--to", other)
    assert done.err.count("is another session there") == 20
    assert "and 3 more. --json names all." in done.err


def test_a_server_that_is_not_there_is_all_that_is_told(sibyl, saved, tmp_path):
    saved("hello")
    done = sibyl("sessions", "copy", "--from", "files", "--to", f"postgresql:///x?host={tmp_path}")
    assert (done.code, done.out) == (1, "")
    (line,) = done.err.splitlines()
    assert line.startswith("The store's server cannot be reached: ")


def test_ctrl_c_stops_between_two_blocks(sibyl, data, tmp_path, monkeypatch):
    for number in range(3):
        write(data, f"s{number}", 5)

    def stopped(source, target, report, *, dry):
        os.kill(os.getpid(), signal.SIGINT)
        return copying_all(source, target, report, dry=dry)

    copying_all = copying.copy
    monkeypatch.setattr(copying, "copy", stopped)
    done = sibyl("sessions", "copy", "--from", "files", "--to", tmp_path / "other")
    assert done.code == 130
    assert "Stopped after 0 sessions. The same command continues" in done.err
    monkeypatch.setattr(copying, "copy", copying_all)
    assert sibyl("sessions", "copy", "--from", "files", "--to", tmp_path / "other").code == 0
    assert journals(tmp_path / "other") == journals(data)


@pytest.fixture
def copying_process(process):
    """Copies in a process of its own: to its end, or killed when it is time."""

    def run(source, target, is_time=None):
        arguments = ("sessions", "copy", "--from", str(source), "--to", str(target))
        started = process(*arguments, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + SECONDS
        while is_time and not is_time() and started.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        if is_time:
            started.kill()
        said, _ = started.communicate(timeout=SECONDS)
        assert is_time or started.returncode == 0, said

    return run


def test_a_copy_that_is_killed_again_and_again_is_whole_in_the_end(data, tmp_path, copying_process):
    for number in range(30):
        write(data, f"s{number}", 20)
    write(data, "large", 30, 1_000_000)
    target = tmp_path / "other"
    for count in (1, 9, 20):
        copying_process(data, target, lambda count=count: len(journals(target)) >= count)
    # In the middle of a file.
    copying_process(data, target, lambda: any((target / "sessions").glob(".large*")))
    whole = journals(data)
    assert all(whole[name] == there for name, there in journals(target).items())
    copying_process(data, target)
    assert journals(target) == whole


@pytest.mark.full
def test_a_copy_to_a_server_that_is_killed_is_whole_in_the_end(
    data, postgres, server, copying_process, tmp_path
):
    for number in range(30):
        write(data, f"s{number}", 20)
    write(data, "large", 30, 1_000_000)
    with psycopg.connect(postgres, autocommit=True) as connection:

        def there():
            if connection.execute("select to_regclass('sibyl.sessions')").fetchone() == (None,):
                return 0
            return connection.execute("select count(*) from sibyl.sessions").fetchone()[0]

        def writing():
            query = "select query like 'copy pieces%' from pg_stat_activity where state = 'active'"
            return (True,) in connection.execute(query).fetchall()

        for is_time in (lambda: there() >= 3, writing, lambda: there() >= 20):
            copying_process(data, server, is_time)
        store = PostgresStore(postgres)
        whole = journals(data)
        for session_id, size in store.journals.sizes().items():
            assert b"".join(store.journals.read(session_id, size)) == whole[session_id]
        store.close()
    copying_process(data, server)
    copying_process(server, tmp_path / "back")
    assert journals(tmp_path / "back") == whole
