"""The search index as commands complete it, and ``sibyl-tui index rebuild``."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.cli.conftest import Terminal
from tests.engine.imports.notebook import said, told
from tui.cli import console
from tui.cli.progress_line import ProgressLine, bar
from tui.errors import StorageError
from tui.storage.file_store import FileStore
from tui.storage.index import ingest, maintenance
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.protocol import Progress

_PART = r"Stopped while indexing: [1-9]\S* \w+ of \S+ \w+ are done\. The next search or import "


@pytest.fixture
def behind(saved, monkeypatch):
    """Several sessions, of which a search leaves more to a build than it does itself."""
    monkeypatch.setattr(maintenance, "FOLLOWED_HERE", 100)
    monkeypatch.setattr(ingest, "BATCH_BYTES", 300)
    return [saved("needle", "in a haystack " * 20) for _ in range(5)]


@pytest.fixture
def interrupt(monkeypatch):
    """Presses Ctrl+C once the index was shown so often; gives how far it was each time."""

    def after(steps):
        show, seen = ProgressLine.show_part, []

        def pressed(line, done, total, title):
            if title == "Search index":
                seen.append(done)
            if len(seen) == steps:
                os.kill(os.getpid(), signal.SIGINT)
            return show(line, done, total, title)

        monkeypatch.setattr(ProgressLine, "show_part", pressed)
        return seen

    return after


def indexed(data):
    with closing(sqlite3.connect(data / "index.sqlite3")) as connection:
        return connection.execute("select count(*) from messages where session != 0").fetchone()[0]


# --- after an import


def test_after_an_import_the_index_has_all_of_it_also_what_it_finds_missing(
    sibyl, shelf, saved, store, data
):
    for number in range(5):
        shelf.put(f"{number}.json", told(said(f"m{number}"), source_id=f"c{number}"))
    assert sibyl("import", "--all").code == 0
    assert indexed(data) == 5
    assert FileStore(data).search("from:notebook", 20).pending == 0
    (data / "index.sqlite3").unlink()
    sibyl("import", "--dry-run")
    assert not (data / "index.sqlite3").exists()
    assert "Nothing new to import." in sibyl("import", "--all").out
    assert indexed(data) == 5
    away = store.path(saved("needle", "hay")).rename(data / "a.away")
    assert sibyl("import", away).code == 0
    assert indexed(data) == 7


def test_ctrl_c_leaves_the_rest_of_the_index_to_the_next_import(
    sibyl, shelf, behind, data, interrupt
):
    shelf.put("a.json", told(said("a")))
    interrupt(3)
    stopped = sibyl("import", "--all")
    assert stopped.code == 130
    assert "Notebook: 1 session added" in stopped.out
    assert re.search(_PART, stopped.err)
    assert 0 < indexed(data) < 11
    assert sibyl("import", "--all").code == 0
    assert indexed(data) == 11


def test_an_index_that_cannot_be_built_is_told_and_fails_no_import(sibyl, shelf, data):
    shelf.put("a.json", told(said("a")))
    (data / "index.sqlite3").mkdir(parents=True)
    done = sibyl("import", "--all")
    assert (done.code, "1 session added" in done.out) == (0, True)
    assert "The search index cannot be built" in done.err


def test_an_import_waits_for_another_builder_and_names_it(sibyl, shelf, data, monkeypatch):
    shelf.put("a.json", told(said("a")))
    data.mkdir()
    other, tell = IndexMaintenance(data).build("an index rebuild"), console.tell
    next(other)

    def end_the_other(text):
        tell(text)
        other.close()

    monkeypatch.setattr(console, "tell", end_the_other)
    done = sibyl("import", "--all")
    assert f"Waiting for an index rebuild (pid {os.getpid()} on " in done.err
    assert done.err.count("Waiting") == 1
    assert (done.code, indexed(data)) == (0, 1)


def test_ctrl_c_ends_the_waiting_for_another_builder(sibyl, shelf, data, monkeypatch):
    shelf.put("a.json", told(said("a")))
    data.mkdir()
    other, tell = IndexMaintenance(data).build("another window"), console.tell
    next(other)

    def interrupt(text):
        tell(text)
        if text.startswith("Waiting"):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(console, "tell", interrupt)
    stopped = sibyl("import", "--all")
    assert stopped.code == 130
    assert "Stopped while indexing: the other builds on. The next search or " in stopped.err
    other.close()


# --- after a search


def test_a_search_completes_an_index_that_lacks_much_or_is_damaged_and_leaves_no_process(
    sibyl, behind, data, monkeypatch
):
    spawned = []
    monkeypatch.setattr(os, "posix_spawn", lambda *each, **_: spawned.append(each))
    monkeypatch.setattr(subprocess, "Popen", lambda *each, **_: spawned.append(each))
    done = sibyl("sessions", "search", "needle")
    assert done.code == 0
    assert done.out.startswith("Found 5 matches:")
    assert indexed(data) == 10
    assert not FileStore(data).search("needle", 20).is_behind
    assert spawned == []
    (data / "index.sqlite3").write_bytes(b"no database")
    damaged = sibyl("sessions", "search", "needle")
    assert "damaged" in damaged.err
    assert damaged.out.startswith("Found 5 matches:")
    assert indexed(data) == 10
    assert sibyl("sessions", "search", "needle").err == ""


def test_the_hits_are_given_before_the_index_is_completed(sibyl, behind, monkeypatch, capsys):
    printed = []

    def build(*_, **__):
        printed.append(capsys.readouterr().out)
        yield Progress(1, 1)

    monkeypatch.setattr(FileStore, "build_index", build)
    sibyl("sessions", "search", "needle", "--json")
    assert len(json.loads(printed[0])) == 5


def test_whoever_reads_the_hits_from_a_pipe_need_not_wait_for_the_index(behind, data):
    # The builder hangs for as long as its standard input is open.
    program = subprocess.Popen(
        [sys.executable, "-c", _HANGING, "--data-dir", str(data), "sessions", "search", "needle"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with program:
        assert program.stdout.read().startswith(b"Found 5 matches:")
        assert program.poll() is None
        program.stdin.close()
    assert program.returncode == 0


_HANGING = """
import sys
from tui.cli import run
from tui.storage.file_store import FileStore
from tui.storage.index import maintenance

def build(self, builder):
    sys.stdin.read()
    yield from ()

maintenance.FOLLOWED_HERE = 100
FileStore.build_index = lambda self, builder, anew: build(self, builder)
sys.exit(run(sys.argv[1:]))
"""


def test_what_a_search_began_is_finished_and_not_begun_again(sibyl, behind, data, interrupt):
    seen = interrupt(3)
    stopped = sibyl("sessions", "search", "needle")
    assert (stopped.code, stopped.out[:16]) == (130, "Found 5 matches:")
    assert re.search(_PART, stopped.err)
    assert 0 < indexed(data) < 10
    assert sibyl("sessions", "search", "needle").code == 0
    assert indexed(data) == 10
    assert 0 == seen[0] < seen[2] == seen[3]


def test_a_search_waits_for_no_other_builder(sibyl, behind, data):
    other = IndexMaintenance(data).build("an import")
    next(other)
    done = sibyl("sessions", "search", "needle")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Found 5 matches:")
    other.close()


def test_an_index_that_cannot_be_completed_fails_no_search(sibyl, behind, monkeypatch):
    def build(*_, **__):
        raise StorageError("The search index cannot be built: database or disk is full")
        yield

    monkeypatch.setattr(FileStore, "build_index", build)
    done = sibyl("sessions", "search", "needle")
    assert done.code == 0
    assert done.out.startswith("Found 5 matches:")
    assert done.err == "The search index cannot be built: database or disk is full\n"


# --- index rebuild


def test_the_index_is_built_anew(sibyl, saved, data):
    saved("needle")
    sibyl("sessions", "search", "needle")
    with closing(sqlite3.connect(data / "index.sqlite3")) as connection, connection:
        connection.execute("delete from messages")
    assert sibyl("sessions", "search", "needle", "--json").json == []
    done = sibyl("index", "rebuild")
    assert (done.code, done.out, done.err) == (0, "Indexed 0.0 MB of sessions.\n", "")
    assert len(sibyl("sessions", "search", "needle", "--json").json) == 1


def test_a_bar_is_drawn_on_a_terminal(sibyl, saved, monkeypatch):
    saved("needle")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert sibyl("index", "rebuild").code == 0
    first, *_, last, end = terminal.getvalue().split("\r\x1b[K")[1:]
    assert first.startswith(f"[{'.' * 30}]   0%  0 bytes of ")
    assert last.startswith(f"[{'#' * 30}] 100%  ")
    assert end == ""
    assert bar(0, 0) == f"[{'#' * 30}] 100%"
    assert bar(1, 2) == f"[{'#' * 15}{'.' * 15}]  50%"


def test_ctrl_c_stops_a_rebuild(sibyl, behind, data, interrupt):
    interrupt(3)
    stopped = sibyl("index", "rebuild")
    assert (stopped.code, stopped.out) == (130, "")
    assert re.search(_PART, stopped.err)


def test_an_index_that_cannot_be_built_fails_and_without_a_data_directory_there_is_none(
    sibyl, saved, data
):
    done = sibyl("index", "rebuild")
    assert (done.code, done.out) == (0, "Indexed 0.0 MB of sessions.\n")
    assert not data.exists()
    assert sibyl("index").code == 2
    saved("needle")
    (data / "index.sqlite3").mkdir()
    done = sibyl("index", "rebuild")
    assert (done.code, done.out) == (1, "")
    assert "cannot be built" in done.err
