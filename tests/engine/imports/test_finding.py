"""Sources are found below whatever a user names."""

import json
import os
import sqlite3
import zipfile

import msgspec
import pytest

from tests.builders import Story
from tests.engine.imports.notebook import NOTEBOOK, Shelf, said, told
from tui.engine.imports.finding import SourceFailed, found_below, found_in, guarded
from tui.importers.protocol import Places

TALK = json.dumps([told(said("a"))])


def names(path):
    return [source.path.name for _, source in found_below(path, [NOTEBOOK])]


def test_a_file_is_a_source_if_it_is_recognised(tmp_path):
    (tmp_path / "a.json").write_text(TALK)
    (tmp_path / "b.json").write_text("{}")
    assert names(tmp_path / "a.json") == ["a.json"]
    assert names(tmp_path / "b.json") == []


def test_a_folder_is_searched_and_links_are_not_followed(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.json").write_text(TALK)
    (tmp_path / "deep" / "again").symlink_to(tmp_path)
    (tmp_path / "b.json").symlink_to(tmp_path / "deep" / "er" / "a.json")
    os.mkfifo(tmp_path / "c.json")
    assert names(tmp_path) == ["a.json"]


def test_a_copy_of_a_home_is_searched_as_one(tmp_path):
    Shelf(tmp_path).put("a.json", told(said("a")))
    assert names(tmp_path) == ["a.json"]


def test_a_folder_may_be_one_source(tmp_path):
    reader = msgspec.structs.replace(
        NOTEBOOK, recognises=lambda path, head: path.is_dir() and (path / "a.json").exists()
    )
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "a.json").write_text(TALK)
    ((_, source),) = found_below(tmp_path / "talk", [reader])
    assert (source.path, source.size) == (tmp_path / "talk", len(TALK))


def test_a_zip_is_recognised_by_what_it_contains(tmp_path):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("pictures/cat.png", b"\x89PNG")
        archive.writestr("a.json", TALK)
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    assert names(tmp_path) == ["export.zip"]


def test_a_zip_with_a_password_or_in_an_unknown_packing_is_passed_over(tmp_path):
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as archive:
        archive.writestr("a.json", TALK)
    data = (tmp_path / "plain.zip").read_bytes()
    directory = data.index(b"PK\x01\x02")
    (tmp_path / "locked.zip").write_bytes(_changed(data, (6, directory + 8)))
    (tmp_path / "newer.zip").write_bytes(_changed(data, (4, directory + 6), byte=99))
    assert names(tmp_path) == ["plain.zip"]


def test_a_zip_of_damaged_contents_is_passed_over(tmp_path):
    for name, packing in (("deflated.zip", zipfile.ZIP_DEFLATED), ("lzma.zip", zipfile.ZIP_LZMA)):
        with zipfile.ZipFile(tmp_path / name, "w", packing) as archive:
            archive.writestr("a.json", TALK)
        data = bytearray((tmp_path / name).read_bytes())
        begin = data.index(b"a.json") + len("a.json")
        data[begin : begin + 12] = b"\xff" * 12
        (tmp_path / name).write_bytes(data)
    assert names(tmp_path) == []


def _changed(data, places, byte=1):
    changed = bytearray(data)
    for place in places:
        changed[place] = byte
    return bytes(changed)


def test_the_journals_of_this_program_are_nobody_elses(tmp_path):
    reader = msgspec.structs.replace(NOTEBOOK, recognises=lambda *_: True)
    (tmp_path / "own.jsonl").write_bytes(Story().user().data)
    (tmp_path / "other.jsonl").write_bytes(b'{"type":"session","version":3,"id":"x"}\n')
    found = [source.path.name for _, source in found_below(tmp_path / "own.jsonl", [reader])]
    found += [source.path.name for _, source in found_below(tmp_path / "other.jsonl", [reader])]
    assert found == ["other.jsonl"]


def test_a_program_whose_places_cannot_be_read_has_no_sources(tmp_path):
    def broken(_):
        raise PermissionError(13, "Permission denied")
        yield

    reader = msgspec.structs.replace(NOTEBOOK, find=broken)
    assert list(found_in(reader, Places(tmp_path, {}))) == []


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
