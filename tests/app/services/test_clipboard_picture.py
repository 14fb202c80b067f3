"""Pictures from the clipboard, by tools that the test puts on the path."""

import base64

import pytest

from tui.app.services import clipboard_picture
from tui.app.services.clipboard_picture import read_picture
from tui.domain.journal.message import PICTURE_BYTES
from tui.errors import UsageError

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


def test_the_other_desktop_is_asked_if_the_first_has_no_picture(desktop):
    desktop.has("wl-paste", "echo text")
    desktop.has("xclip", 'cat "$data"', PNG)
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


def test_a_picture_beyond_the_limit_is_refused(desktop):
    desktop.has("xclip", 'cat "$data"; head -c 6000000 /dev/zero', PNG)
    with pytest.raises(UsageError, match=r"too large: 5\.0 MB at most"):
        desktop.read(DISPLAY=":0")
    assert PICTURE_BYTES < 6_000_000


def test_endless_output_is_refused(desktop, monkeypatch):
    monkeypatch.setattr(clipboard_picture, "READ_BYTES", 7_000_000)
    desktop.has("xclip", 'cat "$data"; cat /dev/zero', PNG)
    with pytest.raises(UsageError, match="too large"):
        desktop.read(DISPLAY=":0")


def test_a_tool_that_hangs_is_ended_and_no_other_is_asked(desktop, monkeypatch):
    monkeypatch.setattr(clipboard_picture, "SECONDS", 0.3)
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
