"""Files and pictures in the prompt: the clipboard's picture, listings, dropped paths."""

import asyncio
import base64
import threading
from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import shared
from tests.waiting import until
from tui.app.controllers import prompt_files
from tui.app.controllers.prompt_files import SECONDS_KEPT, PromptFiles, read_picture
from tui.domain.journal.message import PICTURE_BYTES
from tui.errors import UsageError
from tui.widgets.prompt import Paste, Prompt

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
GIF = b"GIF89a" + bytes(20)


class Desktop:
    """A directory of tools, and the environment that leads to them."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {"PATH": f"{folder}:/usr/bin:/bin"}

    def has(self, name, script, printed=b""):
        (self.folder / f"{name}.data").write_bytes(printed)
        program = self.folder / name
        program.write_text(f"#!/bin/sh\ndata={self.folder / name}.data\n{script}\n")
        program.chmod(0o700)

    def read(self, platform="linux", **variables):
        return read_picture({**self.environment, **variables}, platform)


@pytest.fixture
def desktop(tmp_path):
    return Desktop(tmp_path)


def test_wayland_and_x11_give_the_kinds_that_they_have(desktop):
    only_gif = 'case "$*" in *image/gif*) cat "$data";; *) exit 1;; esac'
    desktop.has("wl-paste", only_gif, GIF)
    desktop.has("xclip", 'cat "$data"', PNG)
    assert desktop.read(WAYLAND_DISPLAY="wayland-0") == GIF
    assert desktop.read(DISPLAY=":0") == PNG
    # The other one is asked if the first has no picture.
    desktop.has("wl-paste", "echo text")
    assert desktop.read(WAYLAND_DISPLAY="wayland-0", DISPLAY=":0") == PNG


def test_a_mac_has_a_tool_of_its_own_which_prints_digits(desktop):
    printed = b"\xc2\xabdata PNGf" + PNG.hex().upper().encode() + b"\xc2\xbb\n"
    desktop.has("osascript", 'cat "$data"', printed)
    assert desktop.read("darwin") == PNG
    desktop.has("pngpaste", 'cat "$data"', PNG + b"!")
    assert desktop.read("darwin") == PNG + b"!"


def test_windows_is_asked_from_its_subsystem(desktop):
    desktop.has("powershell.exe", 'cat "$data"', base64.b64encode(PNG) + b"\r\n")
    assert desktop.read(WSL_DISTRO_NAME="Debian") == PNG


@pytest.mark.parametrize("script", ["echo text", "exit 1", "exit 0", "printf 'PNG'"])
def test_a_clipboard_without_a_picture_is_said(desktop, script):
    desktop.has("wl-paste", script)
    desktop.has("powershell.exe", script)
    desktop.has("osascript", script)
    for platform in ("linux", "darwin"):
        with pytest.raises(UsageError, match="There is no picture in the clipboard"):
            desktop.read(platform, WAYLAND_DISPLAY="wayland-0", WSL_DISTRO_NAME="Debian")


@pytest.mark.parametrize("zeros", ["head -c 6000000", "cat"])
def test_a_picture_beyond_the_limit_and_endless_output_are_refused(desktop, zeros, monkeypatch):
    monkeypatch.setattr(prompt_files, "READ_BYTES", 7_000_000)
    desktop.has("xclip", f'cat "$data"; {zeros} /dev/zero', PNG)
    with pytest.raises(UsageError, match=r"too large: 5\.0 MB at most"):
        desktop.read(DISPLAY=":0")
    assert PICTURE_BYTES < 6_000_000


def test_a_tool_that_hangs_is_ended_and_no_other_is_asked(desktop, monkeypatch):
    monkeypatch.setattr(prompt_files, "SECONDS", 0.3)
    desktop.has("wl-paste", "exec sleep 600")
    desktop.has("xclip", 'cat "$data"', PNG)
    with pytest.raises(UsageError, match="wl-paste did not answer"):
        desktop.read(WAYLAND_DISPLAY="wayland-0", DISPLAY=":0")


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0"}, "install wl-clipboard"),
        ({"DISPLAY": ":0"}, "install xclip"),
        ({}, "name the picture, as @photo.png"),
    ],
)
def test_without_a_tool_it_is_said_what_to_install(tmp_path, variables, words):
    with pytest.raises(UsageError, match=words):
        read_picture({"PATH": str(tmp_path), **variables}, "linux")


class Chat:
    def __init__(self):
        self.prompt = self.editor = self
        self.shown, self.put = [], []

    def show_files(self, listing):
        self.shown.append((listing.folder, *listing.names.matching("")))

    def replace_paste(self, paste, text):
        self.put.append(text)


def session(project):
    header = SimpleNamespace(project_path=str(project))
    return SimpleNamespace(session=SimpleNamespace(header=header))


@pytest.fixture
def chat():
    return Chat()


@pytest.fixture
def workspace(tmp_path):
    return SimpleNamespace(current=session(tmp_path))


@pytest.fixture
def seconds():
    return [0.0]


@pytest.fixture
def lists(chat, workspace, seconds):
    parts = SimpleNamespace(stopwatch=lambda: seconds[0])
    return PromptFiles(*shared(chat=chat, parts=parts, workspace=workspace))


async def test_a_list_is_kept_for_some_seconds_and_then_made_anew(lists, chat, seconds, tmp_path):
    (tmp_path / "a").write_text("")
    await lists.show_listing("")
    (tmp_path / "b").write_text("")
    await lists.show_listing("")
    assert chat.shown == [("", "a"), ("", "a")]
    seconds[0] += SECONDS_KEPT
    await lists.show_listing("")
    assert chat.shown[-1] == ("", "a", "b")


async def test_a_folder_is_listed_with_the_path_that_was_typed(lists, chat, tmp_path, monkeypatch):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("sub/", "~/sub/", f"{tmp_path}/sub/", "sub/../sub/"):
        await lists.show_listing(folder)
        assert chat.shown[-1] == (folder, f"{folder}deep/")


async def test_a_disk_that_hangs_is_asked_once_and_shown_only_where_it_was_asked_for(
    lists, chat, workspace, monkeypatch
):
    asked, answers = [], threading.Event()

    def hanging(project):
        asked.append(project)
        answers.wait()
        return ["slow"]

    monkeypatch.setattr(prompt_files, "project_files", hanging)
    waiting = [asyncio.create_task(lists.show_listing("")) for _ in range(3)]
    await until(lambda: asked)
    workspace.current = session("/elsewhere")
    answers.set()
    await asyncio.gather(*waiting)
    assert len(asked) == 1
    assert chat.shown == []


@pytest.fixture
def project(tmp_path):
    (tmp_path / "cart.py").write_text("")
    (tmp_path / "bad\nname").write_text("")
    return tmp_path


@pytest.fixture
def drop(chat, workspace):
    async def dropped(*readings):
        chat.put.clear()
        files = PromptFiles(*shared(chat=chat, workspace=workspace))
        await files.replace_dropped(Prompt.FilesDropped(Paste("", (0, 0), (0, 0)), readings))
        return chat.put

    return dropped


async def test_the_reading_whose_files_are_all_there_counts_else_the_paste_stays(drop, project):
    cart, bad, gone = (str(project / name) for name in ("cart.py", "bad\nname", "gone.py"))
    assert await drop([f"{cart} x"], [cart]) == ["@cart.py "]
    # Not all there, nothing that anybody can type, and what no file can be called.
    for paths in ([gone], [cart, gone], [bad], ["/a\0b"]):
        assert await drop(paths) == []
