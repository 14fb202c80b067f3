"""The plan of an import: what is counted before anything is imported."""

from datetime import UTC, datetime

import msgspec
import pytest

from tests.engine.imports.notebook import NOTEBOOK, SEVERAL, said, told
from tests.importers.samples import SOURCES, laid_out
from tui.engine.imports import planning
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.importers import databases
from tui.importers.readers import reader


@pytest.fixture
def counts(store, shelf):
    """Counts in words what a reader finds on the shelf."""

    def counted(reader=NOTEBOOK, **wanted):
        (program,) = make_plan(store, Wanted(shelf.places, **wanted), readers=[reader]).programs
        words = program.counts.words
        return words.removesuffix(words.split(", ")[-1]).rstrip(", ") if program.bytes else words

    return counted


@pytest.fixture
def imported(store, shelf):
    def done(reader=NOTEBOOK):
        (program,) = run(store, make_plan(store, Wanted(shelf.places), readers=[reader])).programs
        return program

    return done


def test_files_of_one_session_are_counted_as_files(shelf, counts, imported):
    shelf.put("a.json", told(said("a"), root="r"))
    shelf.put("b.json", told(said("a"), said("b"), source_id="c2", root="r"))
    assert counts() == "2 files, 2 new"
    assert imported().added == 1
    assert counts() == "2 files, nothing new"


def test_files_that_have_changed_are_told_from_new_ones(shelf, counts, imported):
    shelf.put("a.json", told(said("a")))
    shelf.put("b.json", told(said("b"), source_id="c2"))
    imported()
    shelf.put("b.json", told(said("b"), said("b2"), source_id="c2"))
    shelf.put("c.json", told(said("c"), source_id="c3"))
    assert counts() == "3 files, 1 new, 1 changed"


def test_sessions_of_overlapping_exports_are_counted_once(shelf, counts, imported):
    shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))
    shelf.put("b.json", told(said("b"), source_id="c2"), told(said("c"), source_id="c3"))
    assert counts(SEVERAL) == "3 sessions, 3 new"
    assert imported(SEVERAL).added == 3
    assert counts(SEVERAL) == "3 sessions, nothing new"


def test_conversations_that_ended_before_are_not_counted(shelf, counts):
    old = told(said("a"), updated_at="2020-01-01T00:00:00.000Z")
    shelf.put("a.json", old, told(said("b"), source_id="c2"))
    assert counts(SEVERAL, since=datetime(2025, 1, 1, tzinfo=UTC)) == "1 session, 1 new"


def test_files_of_other_programs_are_not_taken_for_those_of_the_chosen_one(store, shelf):
    shelf.put("a.json", told(said("a")))
    anything = msgspec.structs.replace(
        NOTEBOOK, program="any", recognises=lambda path, _: path.is_file(), find=lambda _: iter(())
    )
    alike = msgspec.structs.replace(NOTEBOOK, program="alike")
    readers = [NOTEBOOK, alike, anything]

    def found(program):
        wanted = Wanted(paths=(shelf.home,), programs=frozenset([program]))
        plan = make_plan(store, wanted, readers=readers)
        return [each.program for each in plan.programs], plan.unknown

    assert found("notebook") == (["notebook"], ())
    assert found("alike") == (["alike"], ())
    assert found("any") == ([], (shelf.home,))


@pytest.mark.parametrize("program", ["cline", "roo-code", "kilo-code"])
def test_tasks_elsewhere_are_those_of_the_chosen_of_the_programs_that_keep_them_alike(
    program, store, tmp_path
):
    case = SOURCES / "roo-code" / "a-summary-stands-for-the-messages-that-name-it.jsonl"
    _, (task,) = laid_out(case, tmp_path / "home")
    copy = task.rename(tmp_path / "copy")
    wanted = Wanted(paths=(copy,), programs=frozenset([program]))
    plan = make_plan(store, wanted)
    assert [each.program for each in plan.programs] == [program]


def test_tasks_in_the_folder_of_an_extension_are_those_of_that_one(store, tmp_path):
    case = SOURCES / "roo-code" / "a-summary-stands-for-the-messages-that-name-it.jsonl"
    _, (task,) = laid_out(case, tmp_path / "home")
    plan = make_plan(store, Wanted(paths=(task,)))
    assert [each.program for each in plan.programs] == ["roo-code"]


def test_a_file_with_several_sessions_that_has_changed_is_told(shelf, counts, imported):
    shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))
    imported(SEVERAL)
    shelf.put("a.json", told(said("a"), said("a2")), told(said("b"), source_id="c2"))
    assert counts(SEVERAL) == "2 sessions, changed"


def test_an_export_too_large_to_be_read_twice_is_counted_as_a_file(shelf, counts, monkeypatch):
    monkeypatch.setattr(planning, "_COUNTED_BYTES", 10)
    shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))
    assert counts(SEVERAL) == "1 file, 1 new"


def test_deleted_sessions_are_counted_apart(store, shelf, counts, imported):
    shelf.put("a.json", told(said("a")))
    shelf.put("b.json", told(said("b"), source_id="c2"))
    imported()
    for line in [*store.imports()]:
        if line.source_id == "c2":
            store.delete(line.id)
    assert counts() == "2 files, 1 session deleted here, nothing new"
    assert counts(again=True) == "2 files, 1 new"


def test_files_found_so_far_are_reported(store, shelf, monkeypatch):
    monkeypatch.setattr("tui.engine.imports.progress._REPORT_SECONDS", 0)
    for number in range(3):
        shelf.put(f"{number}.json", told(said(f"m{number}"), source_id=f"c{number}"))
    seen = []
    make_plan(store, Wanted(shelf.places), lambda at: not seen.append(at.files), [NOTEBOOK])
    assert seen == [1, 2, 3]


def test_a_large_database_is_copied_only_if_that_is_wanted(store, shelf):
    path = shelf.put("a.json")
    with path.open("wb") as file:
        file.write(databases.MAGIC)
        file.truncate(databases.COPIED_BYTES + 1)
    refused = make_plan(store, Wanted(shelf.places), readers=[NOTEBOOK])
    assert [each.path for each in refused.unread] == [path]
    assert "sibyl-tui import --large PATH" in refused.unread[0].reason
    assert (refused.sources, refused.unknown) == (0, ())
    assert make_plan(store, Wanted(shelf.places, large=True), readers=[NOTEBOOK]).sources == 1


def test_a_program_is_looked_for_in_the_projects_of_sessions(store, shelf, tmp_path):
    project = tmp_path / "work" / "deep" / "shop"
    project.mkdir(parents=True)
    (project / ".aider.chat.history.md").write_text("# aider chat started at 2026-01-02 03:04:05\n")
    wanted = Wanted(shelf.places)
    assert make_plan(store, wanted, readers=[reader("aider")]).sources == 0
    shelf.put("a.json", told(said("a"), project_path=str(project)))
    run(store, make_plan(store, wanted, readers=[NOTEBOOK]))
    assert make_plan(store, wanted, readers=[reader("aider")]).sources == 1
