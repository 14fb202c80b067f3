"""Zips are read like the folders that they hold, and harm nothing."""

import gc
import os
import stat
import subprocess
import sys
from zipfile import ZipFile, ZipInfo

import pytest

from tests.importers.samples import SOURCES, files_in, laid_out
from tests.tables import each_row
from tui.engine.imports.planning import found_below
from tui.importers import archives
from tui.importers.archives import Archive
from tui.importers.protocol import ForeignMessage, Ledger
from tui.importers.readers import readers

LARGEST = [
    max(folder.glob("*.jsonl"), key=lambda case: len(files_in(case.with_suffix(""))))
    for folder in sorted(SOURCES.iterdir())
]


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    """A directory of its own for what is unpacked."""
    (tmp_path / "room").mkdir()
    monkeypatch.setattr(archives, "_ROOM", tmp_path / "room")
    return tmp_path / "room"


def packed(path, *folders):
    with ZipFile(path, "w") as archive:
        for folder in folders:
            for file in files_in(folder):
                archive.write(file, file.relative_to(folder.parent))
    return path


def read_below(path):
    """What is below a path: programs and paths, with the ids and texts of each conversation."""
    found = []
    unread = []
    for program, source in found_below(path, readers(), unread):
        for conversation in program.read(source, Ledger()):
            heading = conversation.heading
            ids = heading.source_id, heading.root, heading.beginning, heading.name
            said = [
                (item.id, item.content)
                for item in conversation.items()
                if isinstance(item, ForeignMessage)
            ]
            shown = source.shown.relative_to(path)
            found.append((program.program, str(shown), ids, said))
    return sorted(found), unread


@each_row("case", LARGEST)
def test_a_zip_gives_what_its_folder_gives(case, tmp_path):
    folder = tmp_path / case.parent.name
    laid_out(case, folder / "home" / "me")
    zipped = packed(folder / "me.zip", *(folder / "home").iterdir())
    found = read_below(folder / "home")
    assert read_below(zipped) == found


def test_a_zip_within_a_zip_is_read_and_no_deeper_one(tmp_path):
    (tmp_path / "a.json").write_text('[{"role": "user", "content": "Why?"}]')
    inner = packed(tmp_path / "a.zip", tmp_path / "a.json")
    for name in ("b", "c"):
        inner = packed(tmp_path / f"{name}.zip", inner)
    (found, unread) = read_below(tmp_path / "b.zip")
    assert [shown for _, shown, _, _ in found] == ["a.zip/a.json"]
    assert unread == []
    found, unread = read_below(tmp_path / "c.zip")
    assert found == []
    assert [str(each.path.relative_to(tmp_path)) for each in unread] == ["c.zip/b.zip/a.zip"]


def test_what_is_unpacked_is_private_and_deleted(tmp_path, room):
    (tmp_path / "a.json").write_text("[]")
    archive = Archive(packed(tmp_path / "a.zip", tmp_path / "a.json"))
    assert archive.folder.parent == room
    assert stat.S_IMODE(archive.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((archive.folder / "a.json").stat().st_mode) == 0o600
    del archive
    gc.collect()
    assert list(room.iterdir()) == []


def test_what_a_killed_program_has_left_is_deleted(tmp_path, room):
    (tmp_path / "a.json").write_text("[]")
    packed(tmp_path / "a.zip", tmp_path / "a.json")
    code = (
        "import os, pathlib; from tui.importers import archives\n"
        f"archives._ROOM = pathlib.Path({str(room)!r})\n"
        f"kept = archives.Archive(pathlib.Path({str(tmp_path / 'a.zip')!r})); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(list(room.iterdir())) == 1
    archive = Archive(tmp_path / "a.zip")
    archives.remove_left_behind()
    assert list(room.iterdir()) == [archive.folder]


def test_nothing_leaves_the_folder_and_no_link_is_made(tmp_path, room):
    with ZipFile(tmp_path / "a.zip", "w") as zipped:
        for name in ("../a.json", "/etc/a.json", "b/../../a.json", "..\\a.json", "C:/a.json"):
            zipped.writestr(name, "[]")
        link = ZipInfo("link.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(link, "/etc/passwd")
        zipped.writestr("node_modules/a/package.json", "{}")
        zipped.writestr("cat.png", b"\x89PNG")
        zipped.writestr("talk.txt", "[{}]")
    archive = Archive(tmp_path / "a.zip")
    assert [each.name for each in files_in(archive.folder)] == ["talk.txt"]
    assert set(archive.refused.values()) == {archives.OUTSIDE}
    assert len(archive.refused) == 5
    assert list(room.iterdir()) == [archive.folder]


def test_no_more_is_unpacked_than_there_is_room_for(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "BYTES", 1024 * 1024)
    with ZipFile(tmp_path / "a.zip", "w") as zipped:
        for name in ("a.json", "b.json", "c.json"):
            zipped.writestr(name, " " * 800_000)
    archive = Archive(tmp_path / "a.zip")
    assert archive.refused == {"b.json": archives.TOO_LARGE}
    assert sum(os.path.getsize(each) for each in files_in(archive.folder)) < 3_000_000


def test_of_a_name_that_is_there_twice_the_last_counts(tmp_path):
    with ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("a.json", "[1]")
        with pytest.warns(UserWarning, match="Duplicate"):
            zipped.writestr("a.json", "[2]")
    archive = Archive(tmp_path / "a.zip")
    assert (archive.folder / "a.json").read_text() == "[2]"
