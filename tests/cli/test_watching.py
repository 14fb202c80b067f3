"""``sibyl-tui import --watch``."""

import json
import os
import signal

import pytest

from tests.engine.imports.notebook import said, told
from tests.importers.written import write_session
from tests.waiting import SECONDS, wait_for
from tui.cli import imports
from tui.engine.imports.history import imported_session_id
from tui.errors import StorageFull
from tui.storage import locks
from tui.storage.file_store import FileStore
from tui.storage.folders import Folders
from tui.storage.protocol import SessionFilter

ARCHIVED = SessionFilter(statuses=frozenset({"archived"}))


class Clock:
    """The time of the watch, which tests let pass."""

    def __init__(self):
        self.now = 1.0
        self.costs = iter(())
        self.pauses = []
        self._spent = 0.0

    def monotonic(self):
        return self.now

    def process_time(self):
        """Twice in each round; the second time it has cost something."""
        self._spent += next(self.costs, 0.0)
        return self._spent


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(imports, "time", clock)
    return clock


@pytest.fixture
def watched(sibyl, clock, monkeypatch):
    """Watches; between two rounds each does the next of some things, and Ctrl+C comes last."""
    monkeypatch.setattr(imports.os, "nice", lambda _: 0)

    def watch(*between, arguments=()):
        things = iter(between)

        def sleep(seconds):
            clock.pauses.append(seconds)
            for thing in things:
                thing()
                return
            raise KeyboardInterrupt

        clock.sleep = sleep
        return sibyl("import", "--watch", *arguments)

    return watch


@pytest.fixture
def runs(monkeypatch):
    """The imports that were made."""
    made, run = [], imports.run_import
    monkeypatch.setattr(imports, "run_import", lambda *a: made.append(a) or run(*a))
    return made


def nothing():
    """Do nothing between two rounds."""


def test_each_round_that_brings_something_prints_a_line_and_no_other_does(watched, store, shelf):
    shelf.put("a.json", told(said("a")))
    done = watched(
        nothing,
        lambda: shelf.put("a.json", told(said("a"), said("a2", "assistant"))),
        nothing,
        lambda: shelf.put("b.json", told(said("needle"), source_id="c2")),
    )
    assert done.code == 0
    assert [line.partition("  ")[2] for line in done.out.splitlines()] == [
        "Notebook: 1 session added, 1 message",
        "Notebook: 1 extended, 1 message",
        "Notebook: 1 session added, 1 message",
    ]
    assert done.err.startswith("Stopped. Since 2")
    assert done.err.endswith(": 2 sessions added, 1 extended.\n")
    assert store.count(ARCHIVED) == 2
    found = store.search("needle", 5)
    assert (len(found.hits), found.pending) == (1, 0), "what came in is in the index"


def test_looking_takes_a_hundredth_of_a_processor_and_reading_a_tenth_but_no_pause_is_a_minute(
    watched, shelf, clock
):
    clock.costs = iter([0.0, 0.4, 0.0, 0.1, 0.0, 0.01, 0.0, 0.5, 0.0, 9.0])
    watched(nothing, nothing, lambda: shelf.put("a.json", told(said("a"))), nothing)
    assert clock.pauses == pytest.approx([4.0, 10.0, 2.0, 5.0, 60.0])


def test_a_source_that_fails_is_told_once_and_read_again_once_it_has_changed_or_after_an_hour(
    watched, shelf, runs, clock
):
    path = shelf.put("a.json", told(said("a"), {"kind": "crash"}))
    an_hour_later = lambda: setattr(clock, "now", 3602.0)  # noqa: E731
    done = watched(nothing, nothing, lambda: os.utime(path, ns=(1, 1)), nothing, an_hour_later)
    assert done.err.count("Input/output error") == 1
    assert len(runs) == 3


def test_a_full_disk_is_told_once_and_the_import_goes_on_when_there_is_room(
    watched, store, shelf, clock, monkeypatch
):
    shelf.put("a.json", told(said("a")))
    add, room = FileStore.add_imported, []

    def add_imported(*arguments, **options):
        if not room:
            raise StorageFull("Cannot save it: No space left on device")
        return add(*arguments, **options)

    monkeypatch.setattr(FileStore, "add_imported", add_imported)
    done = watched(nothing, lambda: room.append(True), nothing)
    assert done.code == 0
    assert done.err.count("No space left on device\nThe import is tried again every minute.") == 1
    assert clock.pauses[:2] == [60.0, 60.0]
    assert done.out.count("1 session added") == 1
    assert store.count(ARCHIVED) == 1


def test_a_log_that_cannot_be_read_is_told_and_tried_again(watched, data, store, shelf):
    shelf.put("a.json", told(said("a")))
    log = Folders(data).imports
    log.mkdir(parents=True)
    done = watched(log.rmdir)
    assert "The import is tried again every minute." in done.err
    assert store.count(ARCHIVED) == 1


def test_nothing_is_imported_while_another_program_does_and_all_of_it_afterwards(
    watched, store, data, shelf
):
    shelf.put("a.json", told(said("a")))
    held = locks.if_free(Folders(data).imports_lock)
    assert held.__enter__() is True

    def let_go():
        assert store.count(ARCHIVED) == 0
        held.__exit__(None, None, None)

    assert watched(let_go).err.endswith(": 1 session added, 0 extended.\n")


def test_ctrl_c_in_the_middle_of_a_round_ends_it_between_two_records(watched, interrupted, clock):
    done = watched()
    assert (done.code, clock.pauses) == (0, [])
    assert "2 sessions added" in done.out
    assert done.err.endswith(": 2 sessions added, 0 extended.\n")


def test_named_paths_are_watched_like_the_usual_places(watched, store, shelf, tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()

    def arrive():
        (folder / "talk.json").write_text(json.dumps([told(said("a"))]))

    watched(arrive, arguments=[folder])
    assert store.entry(imported_session_id("notebook", "c1")).message_count == 1


@pytest.mark.parametrize("option", ["--again", "--json", "--dry-run"])
def test_what_has_no_sense_with_it_is_refused(sibyl, shelf, option):
    assert sibyl("import", "--watch", option).code == 2


# --- processes


def interrupts(function):
    """Ctrl+C comes when the function has done all that it does, and asks no more."""

    def interrupted(*arguments, **options):
        done = function(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return done

    return interrupted


@pytest.mark.parametrize("step", ["make_plan", "run_import"])
def test_ctrl_c_after_the_last_step_of_a_round_ends_it(watched, shelf, clock, monkeypatch, step):
    if step == "run_import":
        shelf.put("a.json", told(said("a")))
    monkeypatch.setattr(imports, step, interrupts(getattr(imports, step)))
    done = watched(nothing)
    assert (done.code, clock.pauses) == (0, [])
    assert "Stopped. Since 2" in done.err


def test_ctrl_c_at_the_end_of_indexing_ends_it(watched, shelf, clock, monkeypatch):
    build = FileStore.build_index

    def build_and_interrupt(*arguments, **options):
        yield from build(*arguments, **options)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(FileStore, "build_index", build_and_interrupt)
    done = watched(nothing)
    assert (done.code, clock.pauses) == (0, [])


def test_what_a_program_writes_meanwhile_comes_in_and_ctrl_c_says_how_much(
    process, private_home, store
):
    write_session(private_home, 1, "Hello", "Hi")
    watch = process("import", "--watch")
    wait_for(lambda: store.count(ARCHIVED) == 1)
    write_session(private_home, 2, "And then?")
    wait_for(lambda: store.count(ARCHIVED) == 2)
    assert "Claude Code: 1 session added, 2 messages" in watch.stdout.readline()
    assert "Claude Code: 1 session added, 1 message" in watch.stdout.readline()
    watch.send_signal(signal.SIGINT)
    assert watch.wait(SECONDS) == 0
    assert watch.stderr.read().endswith(": 2 sessions added, 0 extended.\n")


@pytest.mark.full
def test_killed_again_and_again_with_another_beside_it_nothing_is_lost_or_doubled(
    process, private_home, store, sibyl
):
    for number in range(120):
        write_session(private_home, number, *["word " * 100] * 30)
    for round_ in range(4):
        wanted = (round_ + 1) * 20
        one, other = process("import", "--watch"), process("import", "--watch")
        wait_for(lambda wanted=wanted: store.count(ARCHIVED) >= wanted)
        one.kill()
        write_session(private_home, round_, "More", "of it")
        for each in (one, other):
            each.kill()
            each.wait()
    assert sibyl("import", "--all").code == 0
    assert sibyl("import", "--all").out.endswith("Nothing new to import.\n")
    entries = store.list(ARCHIVED, None, 200).entries
    assert len(entries) == 120
    counts = []
    for entry in entries:
        ids = [each.id for each in store.journal(entry.id).load().all_messages]
        assert len(ids) == len(set(ids))
        counts.append(len(ids))
    assert sorted(counts) == [30] * 116 + [32] * 4
