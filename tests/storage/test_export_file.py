"""Files that a user asks for: whole or not at all."""

import errno
import os

import pytest

from tests.failing import raiser
from tui.errors import SessionDamaged
from tui.storage.export_file import create, create_or_replace

BOTH = pytest.mark.parametrize("write", [create, create_or_replace])


@BOTH
def test_a_file_is_written_piece_by_piece_and_is_private(tmp_path, write):
    path = tmp_path / "talk.md"
    write(path, iter(["one ", "日本\ud800"]))
    assert path.read_text("utf-8") == "one 日本\ufffd"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["talk.md"]


def test_only_replacing_goes_over_another_file(tmp_path):
    path = tmp_path / "talk.md"
    path.write_text("mine")
    with pytest.raises(FileExistsError) as error:
        create(path, ["new"])
    assert (path.read_text(), error.value.filename) == ("mine", str(path))
    create_or_replace(path, ["new"])
    assert path.read_text() == "new"


def test_a_file_that_comes_meanwhile_stays(tmp_path):
    path = tmp_path / "talk.md"

    def pieces():
        path.write_text("mine")
        yield "new"

    with pytest.raises(FileExistsError) as error:
        create(path, pieces())
    assert (path.read_text(), error.value.filename) == ("mine", str(path))
    assert os.listdir(tmp_path) == ["talk.md"]


def test_where_no_link_can_be_made_the_file_is_renamed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", raiser(OSError(errno.EPERM, "no links here")))
    create(tmp_path / "talk.md", ["text"])
    assert os.listdir(tmp_path) == ["talk.md"]


def test_replacing_goes_through_a_link_to_its_file_and_over_no_device(tmp_path):
    (tmp_path / "link.md").symlink_to(tmp_path / "there.md")
    create_or_replace(tmp_path / "link.md", ["text"])
    assert (tmp_path / "there.md").read_text() == "text"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        create_or_replace(tmp_path / "pipe", ["text"])


@BOTH
@pytest.mark.parametrize(
    "failure", [SessionDamaged("tale", "gone"), KeyboardInterrupt(), OSError(errno.EIO, "torn")]
)
def test_nothing_stays_of_a_file_whose_session_cannot_be_read(tmp_path, write, failure):
    def pieces():
        yield "half"
        raise failure

    with pytest.raises(type(failure)):
        write(tmp_path / "talk.md", pieces())
    assert os.listdir(tmp_path) == []


@BOTH
def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path, write):
    with pytest.raises(OSError, match="No such file") as error:
        write(tmp_path / "no" / "talk.md", ["text"])
    assert error.value.filename == str(tmp_path / "no" / "talk.md")
