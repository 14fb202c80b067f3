"""Plans of imports: the sources that are found, told apart and counted."""

import json
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime

import msgspec
import pytest

from tests.builders import Story
from tests.engine.imports.notebook import NOTEBOOK, SEVERAL, Shelf, said, told
from tests.importers.samples import SOURCES, laid_out
from tests.tables import each_row
from tui.engine.imports import planning
from tui.engine.imports.planning import (
    SourceFailed,
    Wanted,
    found_below,
    found_in,
    guarded,
    make_plan,
)
from tui.engine.imports.report import Failure
from tui.engine.imports.running import run
from tui.importers import archives, databases
from tui.importers.protocol import Places
from tui.importers.readers import reader, readers

TALK = json.dumps([told(said("a"))])
CHATGPT = json.dumps([{"mapping": {"n": {"message": {"author": {"role": "user"}}}}}])
CLAUDE_AI = json.dumps([{"uuid": "c", "chat_messages": []}])
CLAUDE_CODE = '{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user"}}\n'


def find(path, *readers):
    """What is found below a path, and what could not be looked at."""
    unread = []
    return list(found_below(path, readers or [NOTEBOOK], unread)), unread


def names(path, *readers):
    return [source.path.name for _, source in find(path, *readers)[0]]


def reasons(path, *readers):
    return [(each.path.name, each.reason) for each in find(path, *readers)[1]]


def test_a_folder_is_searched_for_what_is_recognised_and_links_to_folders_are_not_followed(
    tmp_path,
):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.json").write_text(TALK)
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "deep" / "again").symlink_to(tmp_path)
    (tmp_path / "b.json").symlink_to(tmp_path / "deep" / "er" / "a.json")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    os.mkfifo(tmp_path / "c.json")
    assert names(tmp_path) == ["b.json", "a.json"]
    assert reasons(tmp_path) == []
    assert names(tmp_path / "b.json") == ["b.json"]
    assert names(tmp_path / "other.json") == []
    # A copy of a home is searched as one.
    Shelf(tmp_path / "home").put("a.json", told(said("a")))
    assert names(tmp_path / "home") == ["a.json"]


def test_a_folder_may_be_one_source(tmp_path):
    reader = msgspec.structs.replace(
        NOTEBOOK,
        recognises=lambda path, head: path.is_dir() and (path / "a.json").exists(),
        parts=lambda path: (path / "a.json", path / "gone"),
    )
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "a.json").write_text(TALK)
    (((_, source),), _) = find(tmp_path / "talk", reader)
    assert (source.path, source.size) == (tmp_path / "talk", len(TALK))


def test_a_folder_that_is_one_conversation_has_still_files_of_others(tmp_path):
    is_talk = lambda path, _: (path / "talk.txt").exists()  # noqa: E731
    talk = msgspec.structs.replace(NOTEBOOK, program="talk", recognises=is_talk)
    talk = msgspec.structs.replace(talk, parts=lambda path: (path / "deep" / "part.json",))
    for name in ("talk.txt", "deep/other.json", "deep/part.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TALK)
    assert names(tmp_path, talk, NOTEBOOK) == [tmp_path.name, "other.json"]


def test_a_database_grows_with_its_log(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("PRAGMA journal_mode=wal")
        database.execute("CREATE TABLE words (word)")
        database.commit()
        reader = msgspec.structs.replace(NOTEBOOK, recognises=lambda path, _: path.suffix == ".db")
        sizes = []
        for _ in range(2):
            sizes += [source.size for _, source in find(tmp_path / "a.db", reader)[0]]
            database.execute("INSERT INTO words VALUES ('more')")
            database.commit()
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("raised", [False, True])
def test_a_usual_place_without_rights_is_told(tmp_path, raised):
    error = PermissionError(13, "Permission denied", str(tmp_path / "notes"))

    def look(places):
        if raised:
            raise error
        places.unread.append(error)
        yield from ()

    reader = msgspec.structs.replace(NOTEBOOK, find=look)
    unread = []
    for _ in range(2):
        assert list(found_in(reader, Places(tmp_path, {}), unread)) == []
    assert unread == [Failure(tmp_path / "notes", "Permission denied")] * 2


def test_exports_of_several_programs_below_one_folder_are_all_found(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "conversations.json").write_text(CHATGPT)
    (tmp_path / "later.json").write_text(CLAUDE_AI)
    (tmp_path / "code" / "session.jsonl").write_text(CLAUDE_CODE)
    found, unread = find(tmp_path, *readers())
    assert [(each.program, source.path.name) for each, source in found] == [
        ("chatgpt", "conversations.json"),
        ("claude-ai", "later.json"),
        ("claude-code", "session.jsonl"),
    ]
    assert not unread


@pytest.mark.parametrize("blank", ["", " "])
def test_a_log_of_vs_code_is_no_file_of_claude_code(tmp_path, blank):
    request = {"message": {"text": "Hi"}, "response": [{"value": "Hello"}]}
    state = {"version": 3, "sessionId": "s", "customTitle": "Talk", "requests": [request]}
    log = json.dumps({"kind": 0, "v": state}, separators=(f",{blank}", f":{blank}"))
    (tmp_path / "s.jsonl").write_text(log + "\n")
    ((reader, _),), unread = find(tmp_path, *readers())
    assert (reader.program, unread) == ("vscode", [])


def test_a_file_of_qwen_code_is_its_own_and_not_one_of_claude_code(tmp_path):
    line = {"parentUuid": None, "sessionId": "s", "type": "user", "message": {"role": "user"}}
    line["message"]["parts"] = [{"text": "Hi"}]
    told = {"parentUuid": None, "sessionId": "t", "type": "system", "systemPayload": {}}
    (tmp_path / "s.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "t.jsonl").write_text(json.dumps(told) + "\n")
    for order in (readers(), reversed(readers())):
        found, unread = find(tmp_path, *order)
        assert ({each.program for each, _ in found}, unread) == ({"qwen-code"}, [])


def zipped(path, files, packing=zipfile.ZIP_STORED):
    """Write an archive of these files; gives its bytes."""
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path.read_bytes()


def test_a_zip_has_the_sources_of_a_folder(tmp_path):
    files = {
        "pictures/cat.png": b"\x89PNG",
        "a/conversations-10.json": CHATGPT,
        "b/conversations.json": CLAUDE_AI,
        "a/user.json": '{"id": "me"}',
        "projects/a.jsonl": CLAUDE_CODE,
        "shop/.aider.chat.history.md": "# aider chat started at 2026-01-02",
        "../conversations.json": CHATGPT,
    }
    zipped(tmp_path / "exports.zip", files)
    found, unread = find(tmp_path / "exports.zip", *readers())
    assert {each.program: str(source.shown.relative_to(tmp_path)) for each, source in found} == {
        "chatgpt": "exports.zip/a/conversations-10.json",
        "claude-ai": "exports.zip/b/conversations.json",
        "claude-code": "exports.zip/projects/a.jsonl",
        "aider": "exports.zip/shop/.aider.chat.history.md",
    }
    refused = tmp_path / "exports.zip/../conversations.json"
    assert unread == [Failure(refused, "Its path leads out of the archive.")]


@pytest.mark.parametrize("name", ["a.db", "a.json", "a.jsonl"])
def test_a_database_is_known_before_what_is_seen_of_its_texts(tmp_path, name):
    with closing(sqlite3.connect(tmp_path / name)) as database:
        database.execute("CREATE TABLE words (word)")
        database.executemany("INSERT INTO words VALUES (?)", [(CHATGPT,), (CLAUDE_CODE,)])
        database.commit()
    assert find(tmp_path, *readers()) == ([], [])


def test_a_zip_that_cannot_be_read_is_told(tmp_path):
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    data = zipped(tmp_path / "plain.zip", {"a.json": TALK})
    directory = data.index(b"PK\x01\x02")
    (tmp_path / "locked.zip").write_bytes(_changed(data, (6, directory + 8)))
    (tmp_path / "newer.zip").write_bytes(_changed(data, (4, directory + 6), byte=99))
    # One without anything of a program is passed over.
    zipped(tmp_path / "photos.zip", {"album.json": '{"photos": []}'})
    assert names(tmp_path) == ["a.json"]
    assert reasons(tmp_path) == [
        ("broken.zip", "The archive is damaged, or packed in an unknown way."),
        ("a.json", "It has a password."),
        ("newer.zip", "The archive is damaged, or packed in an unknown way."),
    ]


def test_a_zip_with_too_large_a_list_of_files_is_not_read(tmp_path, monkeypatch):
    zipped(tmp_path / "many.zip", {f"{n}.txt": "" for n in range(100)})
    assert reasons(tmp_path) == []
    monkeypatch.setattr(archives, "_LIST_BYTES", 1000)
    assert [name for name, _ in reasons(tmp_path)] == ["many.zip"]


def test_a_zip_of_damaged_contents_is_told(tmp_path):
    for name, packing in (("deflated.zip", zipfile.ZIP_DEFLATED), ("lzma.zip", zipfile.ZIP_LZMA)):
        data = bytearray(zipped(tmp_path / name, {"a.json": TALK}, packing))
        begin = data.index(b"a.json") + len("a.json")
        data[begin : begin + 12] = b"\xff" * 12
        (tmp_path / name).write_bytes(data)
    assert reasons(tmp_path) == [("a.json", "It is damaged.")] * 2


def test_a_folder_that_vanishes_meanwhile_ends_nothing(tmp_path):
    def recognises(path, _):
        # Of the folder that is looked at, before its files are.
        if path.name == "a":
            shutil.rmtree(path)
        return path.suffix == ".json"

    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(TALK)
    reader = msgspec.structs.replace(NOTEBOOK, recognises=recognises)
    found, unread = find(tmp_path, reader)
    assert [source.path.name for _, source in found] == ["b.json"]
    assert [each.path.name for each in unread] == ["a"]


def test_what_cannot_be_looked_at_ends_nothing(tmp_path):
    def recognises(path, _):
        if path.name == "shut.json":
            raise PermissionError(13, "Permission denied")
        return path.suffix == ".json"

    for name in ("a.json", "shut.json", "z.json"):
        (tmp_path / name).write_text(TALK)
    reader = msgspec.structs.replace(NOTEBOOK, recognises=recognises)
    assert names(tmp_path, reader) == ["a.json", "z.json"]
    assert reasons(tmp_path, reader) == [("shut.json", "Permission denied")]


def test_files_and_folders_without_rights_are_told(tmp_path):
    (tmp_path / "good.json").write_text(TALK)
    (tmp_path / "secret.json").write_text(TALK)
    (tmp_path / "secret.json").chmod(0)
    if os.access(tmp_path / "secret.json", os.R_OK):
        pytest.skip("root may read everything")
    for name, mode in (("closed", 0), ("named", 0o444)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.json").write_text(TALK)
        (tmp_path / name).chmod(mode)
    found, unread = find(tmp_path, *readers(), NOTEBOOK)
    assert [source.path.name for _, source in found] == ["good.json"]
    assert reasons(tmp_path / "closed", *readers()) == [("closed", "Permission denied")]
    assert {each.path.relative_to(tmp_path).as_posix() for each in unread} == {
        "secret.json",
        "closed",
        "named/a.json",
    }
    assert {each.reason for each in unread} == {"Permission denied"}


def _changed(data, places, byte=1):
    changed = bytearray(data)
    for place in places:
        changed[place] = byte
    return bytes(changed)


def test_the_journals_of_this_program_are_nobody_elses(tmp_path):
    reader = msgspec.structs.replace(NOTEBOOK, recognises=lambda path, _: path.is_file())
    (tmp_path / "own.jsonl").write_bytes(Story().user().data)
    (tmp_path / "other.jsonl").write_bytes(b'{"type":"session","version":3,"id":"x"}\n')
    assert names(tmp_path / "own.jsonl", reader) == []
    assert names(tmp_path / "other.jsonl", reader) == ["other.jsonl"]
    assert names(tmp_path, reader) == ["other.jsonl"]
    assert reasons(tmp_path, reader) == [
        ("own.jsonl", "It is a session of sibyl-tui. Name the file itself to import it.")
    ]


@each_row(
    "error, reason",
    [
        (OSError(5, "Input/output error"), "Input/output error"),
        (sqlite3.DatabaseError("file is not a database"), "file is not a database"),
        (RecursionError(), "RecursionError"),
        (ValueError("odd"), "odd"),
    ],
)
def test_the_error_of_a_source_is_told_from_others(error, reason):
    def items():
        yield 1
        raise error

    with pytest.raises(SourceFailed, match=reason):
        list(guarded(items()))


def test_a_program_that_names_the_keys_of_an_export_is_none(tmp_path):
    for number, export in enumerate((CHATGPT, CLAUDE_AI, TALK)):
        (tmp_path / f"{number}.py").write_text(f"import json\njson.dump({export}, open('x', 'w'))")
        (tmp_path / f"{number}.js").write_text(f"{{ const x = {export} }}")
    assert names(tmp_path, *readers()) == []


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


def test_files_of_one_session_are_counted_as_files_and_changed_ones_told_from_new_ones(
    shelf, counts, imported
):
    shelf.put("a.json", told(said("a"), root="r"))
    shelf.put("b.json", told(said("a"), said("b"), source_id="c2", root="r"))
    assert counts() == "2 files, 2 new"
    assert imported().added == 1
    assert counts() == "2 files, nothing new"
    shelf.put("b.json", told(said("a"), said("b"), said("b2"), source_id="c2", root="r"))
    shelf.put("c.json", told(said("c"), source_id="c3"))
    assert counts() == "3 files, 1 new, 1 changed"


def test_sessions_of_overlapping_exports_are_counted_once(shelf, counts, imported, monkeypatch):
    old = told(said("b"), source_id="c2", updated_at="2020-01-01T00:00:00.000Z")
    shelf.put("a.json", told(said("a")), old)
    assert counts(SEVERAL, since=datetime(2025, 1, 1, tzinfo=UTC)) == "1 session, 1 new"
    shelf.put("b.json", told(said("b"), source_id="c2"), told(said("c"), source_id="c3"))
    with monkeypatch.context() as patch:
        # Too large to be read twice.
        patch.setattr(planning, "_COUNTED_BYTES", 10)
        assert counts(SEVERAL) == "2 files, 2 new"
    assert counts(SEVERAL) == "3 sessions, 3 new"
    assert imported(SEVERAL).added == 3
    assert counts(SEVERAL) == "3 sessions, nothing new"
    shelf.put("a.json", told(said("a"), said("a2")), told(said("b"), source_id="c2"))
    assert counts(SEVERAL) == "3 sessions, changed"


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


def test_tasks_elsewhere_are_those_of_the_chosen_of_the_programs_that_keep_them_alike(
    store, tmp_path
):
    case = SOURCES / "roo-code" / "a-summary-stands-for-the-messages-that-name-it.jsonl"
    _, (task,) = laid_out(case, tmp_path / "home")

    def programs(path, chosen=None):
        plan = make_plan(store, Wanted(paths=(path,), programs=chosen))
        return [each.program for each in plan.programs]

    # In the folder of an extension they are those of that one.
    assert programs(task) == ["roo-code"]
    copy = task.rename(tmp_path / "copy")
    for program in ("cline", "roo-code", "kilo-code"):
        assert programs(copy, frozenset([program])) == [program]


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
    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
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
