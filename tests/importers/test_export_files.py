"""Export files: plain JSON, and the members of a zip."""

from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import msgspec
import pytest

from tui.importers.export_files import DAMAGED, OUTSIDE, members, records
from tui.importers.protocol import Ledger, Source


def source_of(path, *names):
    return msgspec.structs.replace(Source.of(path), members=names)


def packed(path, packing=ZIP_DEFLATED, **texts):
    with ZipFile(path, "w", packing) as archive:
        for name, text in texts.items():
            archive.writestr(f"{name}.json", text)
    return path


def test_a_file_is_read_from_its_beginning(tmp_path):
    (tmp_path / "a.json").write_text('[{"n": 1}, {"n": 2}]')
    assert list(records(source_of(tmp_path / "a.json"), Ledger())) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("packing", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_only_the_named_members_of_a_zip_are_read(tmp_path, packing):
    archive = packed(tmp_path / "a.zip", packing, one='[{"n": 1}]', two='[{"n": 2}]', three="[{}]")
    found = records(source_of(archive, "one.json", "two.json"), Ledger())
    assert list(found) == [{"n": 1}, {"n": 2}]


def test_members_show_how_they_begin(tmp_path):
    archive = packed(tmp_path / "a.zip", one="[1]")
    with ZipFile(archive, "a") as file:
        file.writestr("cat.png", b"\x89PNG")
        file.writestr("../two.json", "[2]")
    assert list(members(archive)) == [
        ("one.json", b"[1]", ""),
        ("../two.json", b"", OUTSIDE),
    ]


def test_a_member_that_is_refused_is_not_read(tmp_path):
    archive = packed(tmp_path / "a.zip", one='[{"n": 1}]')
    with ZipFile(archive, "a") as file:
        file.writestr("../two.json", '[{"n": 2}]')
    ledger = Ledger()
    assert list(records(source_of(archive, "one.json", "../two.json"), ledger)) == [{"n": 1}]


@pytest.mark.parametrize("place", [60, 200, -30])
def test_a_damaged_zip_is_counted(tmp_path, place):
    text = "[" + ", ".join(f'{{"n": {n * 7919}}}' for n in range(500)) + "]"
    archive = packed(tmp_path / "a.zip", one=text)
    data = bytearray(archive.read_bytes())
    data[place:] = bytes(len(data[place:]))
    archive.write_bytes(data)
    ledger = Ledger()
    list(records(source_of(archive, "one.json"), ledger))
    assert ledger.skipped == {DAMAGED: 1}
