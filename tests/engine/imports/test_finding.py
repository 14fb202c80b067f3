"""Sources are found below whatever a user names."""

import json
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing

import msgspec
import pytest

from tests.builders import Story
from tests.engine.imports.notebook import NOTEBOOK, Shelf, said, told
from tui.engine.imports.finding import SourceFailed, found_below, found_in, guarded
from tui.engine.imports.outcome import Failure
from tui.importers import archives
from tui.importers.protocol import Places
from tui.importers.readers import readers

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


def test_a_file_is_a_source_if_it_is_recognised(tmp_path):
    (tmp_path / "a.json").write_text(TALK)
    (tmp_path / "b.json").write_text("{}")
    assert names(tmp_path / "a.json") == ["a.json"]
    assert names(tmp_path / "b.json") == []


def test_a_folder_is_searched_and_links_to_folders_are_not_followed(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.json").write_text(TALK)
    (tmp_path / "deep" / "again").symlink_to(tmp_path)
    (tmp_path / "b.json").symlink_to(tmp_path / "deep" / "er" / "a.json")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "c.json")
    assert names(tmp_path) == ["b.json", "a.json"]


def test_a_link_that_leads_to_itself_drops_only_itself(tmp_path):
    (tmp_path / "a.json").write_text(TALK)
    (tmp_path / "b.json").symlink_to(tmp_path / "b.json")
    assert names(tmp_path) == ["a.json"]
    assert reasons(tmp_path) == []


def test_a_copy_of_a_home_is_searched_as_one(tmp_path):
    Shelf(tmp_path).put("a.json", told(said("a")))
    assert names(tmp_path) == ["a.json"]


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


def test_a_usual_place_without_rights_is_told(tmp_path):
    (tmp_path / "notes").write_text("no folder")
    error = PermissionError(13, "Permission denied", str(tmp_path / "notes"))
    reader = msgspec.structs.replace(
        NOTEBOOK, find=lambda places: places.unread.append(error) or []
    )
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


def test_a_zip_has_the_sources_of_a_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "exports.zip", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("pictures/cat.png", b"\x89PNG")
        archive.writestr("a/conversations-10.json", CHATGPT)
        archive.writestr("b/conversations.json", CLAUDE_AI)
        archive.writestr("a/user.json", '{"id": "me"}')
        archive.writestr("projects/a.jsonl", CLAUDE_CODE)
        archive.writestr("shop/.aider.chat.history.md", "# aider chat started at 2026-01-02")
        archive.writestr("../conversations.json", CHATGPT)
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


def test_a_zip_without_anything_of_a_program_is_passed_over(tmp_path):
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("album.json", '{"photos": []}')
    assert find(tmp_path, *readers()) == ([], [])


def test_a_zip_that_cannot_be_read_is_told(tmp_path):
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as archive:
        archive.writestr("a.json", TALK)
    data = (tmp_path / "plain.zip").read_bytes()
    directory = data.index(b"PK\x01\x02")
    (tmp_path / "locked.zip").write_bytes(_changed(data, (6, directory + 8)))
    (tmp_path / "newer.zip").write_bytes(_changed(data, (4, directory + 6), byte=99))
    assert names(tmp_path) == ["a.json"]
    assert reasons(tmp_path) == [
        ("broken.zip", "The archive is damaged, or packed in an unknown way."),
        ("a.json", "It has a password."),
        ("newer.zip", "The archive is damaged, or packed in an unknown way."),
    ]


def test_a_zip_with_too_large_a_list_of_files_is_not_read(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for n in range(100):
            archive.writestr(f"{n}.txt", "")
    assert reasons(tmp_path) == []
    monkeypatch.setattr(archives, "_LIST_BYTES", 1000)
    assert [name for name, _ in reasons(tmp_path)] == ["many.zip"]


def test_a_zip_of_damaged_contents_is_told(tmp_path):
    for name, packing in (("deflated.zip", zipfile.ZIP_DEFLATED), ("lzma.zip", zipfile.ZIP_LZMA)):
        with zipfile.ZipFile(tmp_path / name, "w", packing) as archive:
            archive.writestr("a.json", TALK)
        data = bytearray((tmp_path / name).read_bytes())
        begin = data.index(b"a.json") + len("a.json")
        data[begin : begin + 12] = b"\xff" * 12
        (tmp_path / name).write_bytes(data)
    assert reasons(tmp_path) == [
        ("a.json", "It is damaged."),
        ("a.json", "It is damaged."),
    ]


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


def test_places_of_a_program_that_cannot_be_read_are_told(tmp_path):
    def broken(_):
        raise PermissionError(13, "Permission denied", str(tmp_path / "notes"))
        yield

    reader = msgspec.structs.replace(NOTEBOOK, find=broken)
    unread = []
    assert list(found_in(reader, Places(tmp_path, {}), unread)) == []
    assert unread == [Failure(tmp_path / "notes", "Permission denied")]


@pytest.mark.parametrize(
    ("error", "reason"),
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
