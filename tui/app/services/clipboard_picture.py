"""Pictures in the clipboard, read by the desktop's own tool: terminals paste text only."""

import binascii
import re
import shutil
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tui.domain.journal.message import PICTURE_BYTES, byte_words, media_type_of
from tui.errors import UsageError
from tui.programs import output_of

READ_BYTES = 32_000_000
"""The size limit of a tool's output."""
SECONDS = 10.0
"""A tool that takes longer is not waited for, and no other is asked."""

_KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;"
    "$p=[Windows.Forms.Clipboard]::GetImage();"
    "if($p){$s=New-Object IO.MemoryStream;"
    "$p.Save($s,[Drawing.Imaging.ImageFormat]::Png);"
    "[Convert]::ToBase64String($s.ToArray())}"
)
_APPLE = "the clipboard as «class PNGf»"


class _Tool(msgspec.Struct, frozen=True):
    """A program that prints the picture; ``decode`` finds it in what is printed."""

    command: Sequence[str]
    decode: Callable[[bytes], bytes] = bytes


def read_picture(environment: Mapping[str, str], platform: str = sys.platform) -> bytes:
    """Read the picture in the clipboard. It blocks; raises ``UsageError`` with the reason."""
    tools = list(_found(_tools(environment, platform), environment))
    if not tools:
        raise UsageError(_advice(environment))
    for tool in tools:
        data = _picture_of(tool, environment)
        if len(data) > PICTURE_BYTES:
            most = byte_words(PICTURE_BYTES)
            raise UsageError(f"The picture in the clipboard is too large: {most} at most.")
        if data:
            return data
    raise UsageError("There is no picture in the clipboard.")


def _picture_of(tool: _Tool, environment: Mapping[str, str]) -> bytes:
    """The picture that a tool prints; nothing if it has none. Raises ``UsageError``."""
    try:
        output = output_of(tool.command, READ_BYTES, SECONDS, environment=environment)
    except OSError:
        return b""
    if output.code is None and len(output.data) <= READ_BYTES:
        raise UsageError(f"{Path(tool.command[0]).name} did not answer.")
    data = b"" if output.code else tool.decode(output.data)
    return data if media_type_of(data) else b""


def _tools(environment: Mapping[str, str], platform: str) -> Iterator[_Tool]:
    if platform == "darwin":
        yield _Tool(("pngpaste", "-"))
        yield _Tool(("osascript", "-e", _APPLE), _from_apple)
    if environment.get("WSL_DISTRO_NAME"):
        script = ("-NoProfile", "-NonInteractive", "-STA", "-Command", _POWERSHELL)
        yield _Tool(("powershell.exe", *script), _from_base64)
    for kind in _KINDS if environment.get("WAYLAND_DISPLAY") else ():
        yield _Tool(("wl-paste", "--no-newline", "--type", kind))
    for kind in _KINDS if environment.get("DISPLAY") else ():
        yield _Tool(("xclip", "-selection", "clipboard", "-t", kind, "-o"))


def _found(tools: Iterator[_Tool], environment: Mapping[str, str]) -> Iterator[_Tool]:
    for tool in tools:
        name, *arguments = tool.command
        if path := shutil.which(name, path=environment.get("PATH")):
            yield _Tool((path, *arguments), tool.decode)


def _advice(environment: Mapping[str, str]) -> str:
    if environment.get("WAYLAND_DISPLAY"):
        return "To paste pictures, install wl-clipboard."
    if environment.get("DISPLAY"):
        return "To paste pictures, install xclip."
    return "There is no desktop whose clipboard can be read here: name the picture, as @photo.png."


def _from_base64(printed: bytes) -> bytes:
    try:
        return b64decode(printed.strip(), validate=True)
    except binascii.Error:
        return b""


def _from_apple(printed: bytes) -> bytes:
    match = re.fullmatch(rb"\s*\xc2\xabdata PNGf([0-9A-Fa-f]*)\xc2\xbb\s*", printed)
    return bytes.fromhex(match[1].decode()) if match and len(match[1]) % 2 == 0 else b""
