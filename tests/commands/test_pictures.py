"""Opening a picture: after asking, from a file that only the user can read."""

import hashlib

import pytest

from tests.attached import PNG, picture
from tui.app.services.picture_files import PictureFiles
from tui.commands.effects import Ask
from tui.commands.pictures import PictureOpener
from tui.errors import AttachmentNotFound, StorageError


class Store:
    """Has one picture, or fails."""

    def __init__(self, data=PNG, error=None):
        self.data, self.error = data, error

    def attachment(self, session_id, sha256):
        if self.error:
            raise self.error
        if hashlib.sha256(self.data).hexdigest() != sha256:
            raise AttachmentNotFound(sha256)
        return self.data


@pytest.fixture
def files(tmp_path):
    found = PictureFiles({"XDG_RUNTIME_DIR": str(tmp_path)})
    yield found
    found.remove()


@pytest.fixture
def opening(files):
    opened = []

    async def open_file(path):
        opened.append(path)
        return ""

    def make(store, open_file=open_file):
        return PictureOpener(store, files, open_file), opened

    return make


async def outcome(opener, block):
    (said,) = await opener.ask_to_open(block, "tale").confirmed()
    return said.notice.text


async def test_a_yes_opens_a_file_that_is_private_and_gone_at_the_end(opening, files, tmp_path):
    opener, opened = opening(Store())
    assert opener.ask_to_open(picture(), "tale").question == "Open photo.png ? (y/n)"
    assert not opened
    assert await outcome(opener, picture()) == "Opened photo.png"
    (path,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert opened == [str(path)]
    assert path.name == f"image-{picture().sha256[:16]}.png"
    assert path.read_bytes() == PNG
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    files.remove()
    assert list(tmp_path.iterdir()) == []


async def test_the_ending_is_that_of_the_bytes_not_of_the_name(opening):
    jpeg = b"\xff\xd8\xff\xe0 and so on"
    opener, opened = opening(Store(jpeg))
    await outcome(opener, picture("a.desktop", jpeg))
    assert opened[0].endswith(".jpg")


async def test_a_picture_that_is_missing_or_damaged_is_named(opening):
    opener, opened = opening(Store(b"other bytes"))
    assert await outcome(opener, picture()) == "Not opened: photo.png is missing or damaged."
    assert not opened


async def test_what_is_no_picture_is_not_opened(opening):
    page = b"<script>alert(1)</script>"
    opener, opened = opening(Store(page))
    assert await outcome(opener, picture("page.png", page)) == "Not opened: page.png is no picture."
    assert not opened


async def test_a_store_that_cannot_be_read_says_why(opening):
    opener, _ = opening(Store(error=StorageError("Cannot read the picture: I/O error")))
    assert "Cannot read the picture: I/O error" in await outcome(opener, picture())


async def test_a_full_disk_is_named(opening, files, monkeypatch):
    def write(name, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write", write)
    opener, _ = opening(Store())
    assert await outcome(opener, picture()) == "Not opened: photo.png: No space left on device."


async def test_without_a_desktop_it_names_another_way(opening):
    async def refuse(path):
        return "there is no desktop here to open it"

    opener, _ = opening(Store(), refuse)
    said = await outcome(opener, picture())
    assert said.startswith("Not opened (there is no desktop here to open it): photo.png.")
    assert "/export" in said


def test_a_picture_of_a_private_session_reaches_no_disk(opening, tmp_path):
    opener, _ = opening(Store())
    said = opener.ask_to_open(picture(), "private-20260111-1")
    assert not isinstance(said, Ask)
    assert said.notice.text.startswith("No viewer for a picture of a private session")
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_name_is_one_short_line(opening):
    opener, _ = opening(Store())
    asked = opener.ask_to_open(picture("\x1b]0;x\n\u202e[red]" + "x" * 4000), "tale").question
    assert asked.startswith("Open \u241b]0;x\u240a<U+202E>[red]xx")
    assert len(asked) < 150
    assert asked.isprintable()


@pytest.mark.parametrize("room", ["", "relative", "/no/such/directory"])
def test_without_a_directory_of_runtime_files_it_is_among_the_temporary_ones(
    room, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files = PictureFiles({"XDG_RUNTIME_DIR": room})
    assert files.write("a.png", PNG).parent.parent == tmp_path
    files.remove()
    assert list(tmp_path.iterdir()) == []
