"""``sibyl-tui import``."""

import json
import os
import signal
import sys

import msgspec
import pytest

from tests.engine.imports.notebook import SEVERAL, said, told
from tui.cli import console
from tui.domain.journal.message import TEXT_BYTES
from tui.engine.imports.history import imported_session_id
from tui.importers.protocol import Deletion
from tui.importers.stopping import check

FIRST = imported_session_id("notebook", "c1")


pytestmark = pytest.mark.usefixtures("shelf")


@pytest.mark.parametrize("option", ["--all", "--dry-run"])
def test_a_file_is_read_once_where_nothing_is_asked_and_by_a_dry_run_not_imported(
    sibyl, store, shelf, monkeypatch, option
):
    read = []

    def reading(source, ledger):
        read.append(source.path)
        return SEVERAL.read(source, ledger)

    counted = msgspec.structs.replace(SEVERAL, read=reading)
    monkeypatch.setattr("tui.engine.imports.planning.all_readers", lambda: [counted])
    shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))
    shown = sibyl("import", option, "--json")
    assert (shown.code, len(read)) == (0, 1)
    if option == "--dry-run":
        assert shown.json["dry_run"] is True
        (program,) = shown.json["programs"]
        assert program["program"] == "notebook"
        assert (program["sessions"], program["new_sessions"]) == (2, 2)
        assert (program["files"], program["new_files"]) == (1, 1)
        assert not list(store.imports())


def test_all_that_is_found_is_imported(sibyl, store, shelf):
    shelf.put("a.json", told(said("a"), {"kind": "thinking"}, name="Talk"))
    done = sibyl("import", "--all")
    assert done.code == 0
    assert "Notebook  1 file, 1 new, " in done.out
    assert "Notebook: 1 session added, 1 message\n" in done.out
    assert "1 record read, 1 skipped (1 thinking)" in done.out
    assert store.entry(FIRST).name == "Talk"
    where = "sibyl-tui sessions list --archived"
    assert where in done.out
    assert "sibyl-tui sessions search from:notebook WORDS" in done.out
    assert sibyl("sessions", "list").out == f"No saved sessions. 1 archived: {where}\n"
    assert (
        sibyl("import", "--all").out == "Notebook  1 session, nothing new\nNothing new to import.\n"
    )


def test_without_a_terminal_it_must_be_said_what_to_import_unless_nothing_is_found(sibyl, shelf):
    assert sibyl("import").out.startswith("No sessions found of Notebook.\n")
    shelf.put("a.json", told(said("a")))
    told_so = sibyl("import", "--since", "2999-01-01").out
    assert told_so == "No sessions of other programs were changed since then.\n"
    refused = sibyl("import")
    assert refused.code == 2
    assert refused.out.startswith("Notebook  1 session, 1 new")
    assert "--all" in refused.err
    assert not sibyl("sessions", "list", "--archived", "--json").json


def test_a_path_that_cannot_be_read_or_has_no_sessions_keeps_no_other_from_being_imported(
    sibyl, store, tmp_path
):
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    done = sibyl("import", tmp_path / "broken.zip")
    assert (done.code, done.out) == (1, "")
    (tmp_path / "nothing.txt").write_text("nothing")
    (tmp_path / "talk.json").write_text(json.dumps([told(said("a"))]))
    done = sibyl("import", tmp_path / "nothing.txt", tmp_path / "talk.json", "--json")
    assert done.code == 1
    assert [each["added"] for each in done.json["programs"]] == [1]
    assert [each["path"] for each in done.json["unread"]] == [str(tmp_path / "nothing.txt")]


def test_a_named_folder_is_searched_and_what_cannot_be_looked_at_told(sibyl, store, tmp_path):
    (tmp_path / "some" / "where").mkdir(parents=True)
    (tmp_path / "some" / "where" / "export.json").write_text(json.dumps([told(said("a"))]))
    (tmp_path / "some" / "photo.jpg").write_bytes(b"\xff")
    (tmp_path / "some" / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    planned = sibyl("import", tmp_path / "some", "--dry-run", "--json")
    done = sibyl("import", tmp_path / "some")
    again = sibyl("import", tmp_path / "some", "--json")
    assert store.entry(FIRST).message_count == 1
    assert "Cannot import " in done.err
    assert "broken.zip: The archive is damaged" in done.err
    assert [each.code for each in (planned, done, again)] == [1, 1, 1]
    for result in (planned, again):
        (unread,) = result.json["unread"]
        assert unread["path"].endswith("broken.zip")
    (tmp_path / "some" / "broken.zip").unlink()
    assert sibyl("import", tmp_path / "some").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--from", "nobody"],
            'There is no program "nobody". sibyl-tui import --help lists the known ones.',
        ),
        (["--since", "yesterday"], '"yesterday" is not a date such as 2026-01-31.'),
        (["nowhere"], "No such file or folder: nowhere"),
        ([""], "No such file or folder: (an empty name)"),
        (["x" * 300], "No such file or folder: xxx"),
        (["empty"], "sibyl-tui import --help lists the programs that are read."),
    ],
)
def test_what_cannot_be_meant_is_refused(sibyl, tmp_path, arguments, words):
    (tmp_path / "empty").mkdir()
    refused = sibyl("import", *arguments)
    assert refused.code == 2
    assert words in refused.err


def test_a_session_of_this_program_is_named_by_a_dry_run_and_then_taken_back(sibyl, store, saved):
    session_id = saved("Hello", "Hi")
    path = store.path(session_id)
    away = path.rename(path.with_suffix(".away"))
    planned = sibyl("import", away, "--dry-run", "--json")
    assert planned.json["sessions"] == [{"path": str(away)}]
    assert sibyl("import", away, "--from", "notebook").code == 2
    assert not path.exists()
    done = sibyl("import", away, "--json")
    assert done.json["sessions"] == [{"path": str(away), "id": session_id, "messages": 2}]
    assert f"Imported session: {session_id} (2 messages)" in done.err
    assert store.entry(session_id).message_count == 2


def test_facts_and_ledger_of_a_foreign_session_are_a_line_each(sibyl, shelf):
    facts = {"project_path": "/shop\n# Owned", "model": "m\n- x", "prompts_only": True}
    shelf.put("a.json", told(said("a"), {"kind": "thinking"}, **facts))
    done = sibyl("import", "--from", "notebook", "--json").json["programs"][0]
    assert (done["added"], done["prompts_only"], done["found_whole"]) == (1, 1, 0)
    shown = sibyl("sessions", "show", FIRST).out
    assert "- project: /shop # Owned\n- model: notebook:m - x\n" in shown
    assert "- imported: 1 record read, 1 skipped (1 thinking)" in shown
    assert "- only the prompts: its program had deleted" in shown
    ledger = sibyl("sessions", "show", FIRST, "--json").json["session"]["imported"]
    assert (ledger["read"], ledger["skipped"]) == (1, {"thinking": 1})
    assert ledger["prompts_only"] is True


def test_what_a_program_deletes_soon_is_told_before(sibyl, shelf, monkeypatch):
    deletion = Deletion(lambda _: 30, "*.json")
    deleting = msgspec.structs.replace(SEVERAL, deletion=deletion)
    monkeypatch.setattr("tui.engine.imports.planning.all_readers", lambda: [deleting])
    os.utime(shelf.put("a.json", told(said("a"))), (0, 0))
    shelf.put("b.json", told(said("b"), source_id="c2"))
    assert "Notebook deletes 1 of these sessions within a week\n" in sibyl("import", "--all").out
    (program,) = sibyl("import", "--dry-run", "--json").json["programs"]
    assert program["deleted_there_within_week"] == 1


def test_a_source_that_fails_is_told_and_the_rest_imported(sibyl, shelf):
    shelf.put("a.json", told(said("a"), {"kind": "crash"}))
    shelf.put("b.json", told(said("b"), source_id="c2"))
    done = sibyl("import", "--all", "--json")
    assert done.code == 1
    (program,) = done.json["programs"]
    assert program["added"] == 1
    assert program["failures"][0]["reason"] == "Input/output error"


def test_an_interrupt_stops_between_two_records_and_the_next_run_goes_on(sibyl, interrupted):
    stopped = sibyl("import", "--all")
    assert stopped.code == 130
    assert "Stopped after 2 sessions. The same command continues" in stopped.err
    interrupted.undo()
    assert "3 sessions added" in sibyl("import", "--all").out


def test_ctrl_c_ends_it_also_while_sessions_are_looked_for(sibyl, shelf, monkeypatch):
    def find(places):
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            check()

    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
    reader = msgspec.structs.replace(SEVERAL, find=find)
    monkeypatch.setattr("tui.engine.imports.planning.all_readers", lambda: [reader])
    stopped = sibyl("import", "--all")
    assert (stopped.code, stopped.err) == (130, "Nothing imported.\n")


@pytest.mark.parametrize(("answer", "imported"), [("y", True), ("n", False)])
def test_on_a_terminal_it_asks(sibyl, store, shelf, monkeypatch, answer, imported):
    shelf.put("a.json", told(said("a")))
    monkeypatch.setattr(console, "is_terminal", lambda _: True)
    done = sibyl("import", stdin=answer.encode() + b"\n")
    assert done.code == 0
    assert "Import from 1 file? (y/n) " in done.err
    assert bool([*store.imports()]) == imported
    assert ("Nothing imported." in done.err) != imported


def test_what_was_cut_continued_and_deleted_is_told(sibyl, store, shelf):
    shelf.put("a.json", told(said("a"), name="Talk"), told(said("b"), source_id="c2"))
    sibyl("import", "--all")
    sibyl("ask", "--session", FIRST, "and then?")
    store.delete(imported_session_id("notebook", "c2"))
    long = said("c", content="x" * (TEXT_BYTES + 1))
    shelf.put("a.json", told(said("a"), long, name="Talk"), told(said("b"), source_id="c2"))
    said_so = sibyl("import", "--all").out
    assert "1 message cut at the limits of a message" in said_so
    assert '"Talk" was continued here: new messages are in its fork notebook-' in said_so
    assert "1 session left out: deleted here. To import also deleted ones:" in said_so


def test_an_imported_session_is_continued_with_the_model_that_is_there(
    sibyl, store, shelf, monkeypatch
):
    shelf.put("a.json", told(said("a"), model="dear"))
    sibyl("import", "--all")
    monkeypatch.setattr(console, "is_terminal", lambda stream: stream is sys.stdout)
    asked = sibyl("ask", "--session", FIRST, "and then?")
    assert asked.code == 0
    assert "notebook:dear is not in your settings. offline:guide answers instead." in asked.err
    entry = store.entry(FIRST)
    assert (entry.status, entry.ordinal, entry.model) == ("closed", 1, "offline:guide")


def test_a_program_is_chosen_by_the_beginning_of_its_name(sibyl, shelf, monkeypatch):
    names = {"note-book": "", "note-pad": "", "note": ""}
    monkeypatch.setattr("tui.cli.imports.PROGRAMS", names)
    rename = lambda name: msgspec.structs.replace(SEVERAL, program=name, title=name)  # noqa: E731
    monkeypatch.setattr("tui.engine.imports.planning.all_readers", lambda: [*map(rename, names)])
    shelf.put("a.json", told(said("a")))

    def chosen(name):
        found = sibyl("import", "--dry-run", "--json", "--from", name)
        return [each["program"] for each in found.json["programs"]]

    assert chosen("note-") == ["note-book", "note-pad"]
    assert chosen("note") == ["note"]
    assert sibyl("import", "--from", "other").code == 2
