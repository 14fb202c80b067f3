"""Opening links and pictures: after asking, a picture from a file that only the user can read."""

import hashlib
from functools import partial
from types import SimpleNamespace

import pytest

from tests.attached import PNG, picture
from tests.failing import raiser
from tui.app.desktop import PictureFiles
from tui.commands.viewers import open_link, open_outside, open_picture, opener
from tui.errors import AttachmentNotFound, StorageError

URL = "https://xn--bnk-7cd.example/a?b=c"


class Opened(list):
    """Opens what it is given, or says why not."""

    refusal = ""

    async def __call__(self, target):
        self.append(target)
        return self.refusal


@pytest.fixture
def opened(monkeypatch):
    opened = Opened()
    monkeypatch.setattr("tui.commands.viewers.open_outside", opened)
    return opened


# --- links


def link(commands, target=URL, text=""):
    return commands.do(partial(open_link, target=target, text=text))


async def test_the_question_says_the_whole_target_and_what_the_link_says(commands, opened):
    await link(commands, URL + "\x1b", "my bank")
    assert commands.question == f"Open {URL}\u241b ? (y/n)"
    assert "The link says: my bank" in commands.detail
    assert await commands.answer(yes=False) == ""
    assert opened == []


async def test_a_yes_opens_it_and_says_so(commands, opened):
    await link(commands, text=URL)
    assert "The link says" not in commands.detail
    assert await commands.answer() == f"Opened {URL}"
    assert opened == [URL]


async def test_what_cannot_be_opened_is_copied(commands, opened):
    opened.refusal = "there is no desktop here to open it"
    await link(commands)
    assert URL in await commands.answer()
    assert commands.severity == "warning"
    assert commands.calls[-1] == ("copy", URL)


def test_without_a_desktop_there_is_no_opener(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert opener({"DISPLAY": ":0"}, "linux") == ("xdg-open",)
    assert opener({}, "darwin") == ("open",)
    assert opener({"SSH_CONNECTION": "x"}, "darwin") == ()
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert opener({"DISPLAY": ":0"}, "linux") == ()


async def test_an_opener_that_fails_says_so(monkeypatch):
    monkeypatch.setattr("tui.commands.viewers.opener", lambda environment: ("false",))
    assert await open_outside(URL) == "false failed (1)"
    monkeypatch.setattr("tui.commands.viewers.opener", lambda environment: ("/no/such/opener",))
    assert "No such file" in await open_outside(URL)


# --- pictures


@pytest.fixture
def files(tmp_path):
    found = PictureFiles({"XDG_RUNTIME_DIR": str(tmp_path / "run")})
    (tmp_path / "run").mkdir()
    yield found
    found.remove()


@pytest.fixture
def show(commands, opened, files, monkeypatch):
    """Opens a picture of which the store has these bytes, after a yes; gives what is told."""

    async def show(block, data=PNG, error=None, session_id="tale"):
        def attachment(session_id, sha256):
            if error:
                raise error
            if hashlib.sha256(data).hexdigest() != sha256:
                raise AttachmentNotFound(sha256)
            return data

        monkeypatch.setattr(
            commands, "workspace", SimpleNamespace(reader=SimpleNamespace(attachment=attachment))
        )
        work = partial(open_picture, picture=block, session_id=session_id, keep=files.write)
        told = await commands.do(work)
        assert opened == []
        show.asked = commands.question
        return await commands.answer() if show.asked else told

    return show


async def test_a_yes_opens_a_file_that_is_private_and_gone_at_the_end(
    show, opened, files, tmp_path
):
    assert await show(picture()) == "Opened photo.png"
    assert show.asked == "Open photo.png ? (y/n)"
    (path,) = [p for p in (tmp_path / "run").rglob("*") if p.is_file()]
    assert opened == [str(path)]
    assert path.name == f"image-{picture().sha256[:16]}.png"
    assert path.read_bytes() == PNG
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    files.remove()
    assert list((tmp_path / "run").iterdir()) == []


async def test_the_ending_is_that_of_the_bytes_not_of_the_name(show, opened):
    jpeg = b"\xff\xd8\xff\xe0 and so on"
    await show(picture("a.desktop", jpeg), jpeg)
    assert opened[0].endswith(".jpg")


PAGE = b"<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("block", "store", "words"),
    [
        (picture(), {"data": b"other"}, "Not opened: photo.png is missing or damaged."),
        (picture("page.png", PAGE), {"data": PAGE}, "Not opened: page.png is not a picture."),
        (picture(), {"error": StorageError("I/O error")}, "Not opened: photo.png: I/O error"),
    ],
)
async def test_what_cannot_be_shown_says_why(show, opened, block, store, words):
    assert await show(block, **store) == words
    assert opened == []


async def test_a_full_disk_is_named(show, files, monkeypatch):
    monkeypatch.setattr(PictureFiles, "write", raiser(OSError(28, "No space left on device")))
    assert await show(picture()) == "Not opened: photo.png: No space left on device."


async def test_without_a_desktop_it_names_another_way(show, opened):
    opened.refusal = "there is no desktop here to open it"
    said = await show(picture())
    assert said.startswith("Not opened (there is no desktop here to open it): photo.png.")
    assert "/export" in said


async def test_a_picture_of_a_private_session_reaches_no_disk(show, tmp_path):
    said = await show(picture(), session_id="private-20260111-1")
    assert said.startswith("No viewer for a picture of a private session")
    assert not show.asked
    assert list((tmp_path / "run").iterdir()) == []


async def test_a_hostile_name_is_one_short_line(show):
    await show(picture("\x1b]0;x\n\u202e[red]" + "x" * 4000))
    assert show.asked.startswith("Open \u241b]0;x\u240a<U+202E>[red]xx")
    assert len(show.asked) < 150
    assert show.asked.isprintable()


@pytest.mark.parametrize("room", ["", "relative", "/no/such/directory"])
def test_without_a_directory_of_runtime_files_it_is_among_the_temporary_ones(
    room, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files = PictureFiles({"XDG_RUNTIME_DIR": room})
    assert files.write("a.png", PNG).parent.parent == tmp_path
    files.remove()
    assert list(tmp_path.iterdir()) == []
