"""Files and pictures in the prompt: listed, dropped or pasted, and what it will attach."""

import asyncio
import binascii
import os
import re
import shutil
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from tui.app.controllers.controller import Controller
from tui.domain.completion import FileListing, FileNames
from tui.domain.journal.message import PICTURE_BYTES, byte_words, media_type_of
from tui.domain.references import reference_to, reference_to_picture
from tui.engine.project_folder import folder_entries, project_files
from tui.errors import StorageError, UsageError
from tui.files import system_text, user_path
from tui.programs import output_of
from tui.widgets.prompt import Prompt

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


SECONDS_KEPT = 10.0

_Key = tuple[str, str]


class _KeptListing(msgspec.Struct, frozen=True):
    listing: FileListing
    until: float


class PromptFiles(Controller):
    """Looks for files off the event loop, for the session that was on screen when it was asked.

    Each listing is made once within some seconds.
    """

    _kept: dict[_Key, _KeptListing] = msgspec.field(default_factory=dict[_Key, _KeptListing])
    _running: dict[_Key, asyncio.Task[FileListing]] = msgspec.field(
        default_factory=dict[_Key, asyncio.Task[FileListing]]
    )

    async def show_listing(self, folder: str) -> None:
        """Show the files of a folder, or of the project without one."""
        session = self._workspace.current
        listing = await self._listing((session.session.header.project_path, folder))
        if session is self._workspace.current:
            self._chat.prompt.show_files(listing)

    async def show_attached(self, text: str, own: frozenset[str]) -> None:
        """Show what a text refers to; another text in the prompt makes it void."""
        session = self._workspace.current
        attached = await self._workspace.preview(session, text, own)
        if session is self._workspace.current and text == self._chat.prompt.text:
            self._chat.prompt.show_attached(attached)

    async def replace_dropped(self, event: Prompt.FilesDropped) -> None:
        """Replace pasted paths by references; they stay if one is not there."""
        session = self._workspace.current
        project = Path(session.session.header.project_path)
        text = await asyncio.to_thread(_references_to, event.readings, project)
        if text and session is self._workspace.current:
            self._chat.prompt.editor.replace_paste(event.paste, text)

    async def paste_picture(self) -> None:
        """Keep the picture in the clipboard, and refer to it; else say why there is none."""
        session = self._workspace.current
        try:
            data = await asyncio.to_thread(read_picture, os.environ)
            sha256 = await self._workspace.keep_picture(session, data)
        except (StorageError, UsageError) as error:
            self._presenter.say(str(error), "error")
            return
        reference = reference_to_picture(sha256)
        if session is self._workspace.current:
            self._chat.prompt.editor.insert_reference(reference)
        else:
            own = session.prompt.own_words | {reference}
            session.prompt.edit(f"{session.prompt.text} {reference} ".lstrip(), own=own)
            self._chat.settle_draft()

    async def _listing(self, key: _Key) -> FileListing:
        kept = self._kept.get(key)
        if kept is not None and self._parts.stopwatch() < kept.until:
            return kept.listing
        if key not in self._running:
            self._running[key] = asyncio.create_task(self._make(key))
        # A disk that hangs is asked once, whoever else wants to know.
        return await asyncio.shield(self._running[key])

    async def _make(self, key: _Key) -> FileListing:
        try:
            listing = await asyncio.to_thread(partial(_listing_of, *key))
        finally:
            del self._running[key]
        now = self._parts.stopwatch()
        self._kept = {each: kept for each, kept in self._kept.items() if now < kept.until}
        self._kept[key] = _KeptListing(listing, now + SECONDS_KEPT)
        return listing


def _listing_of(project: str, folder: str) -> FileListing:
    paths: Sequence[str] = ()
    with suppress(OSError):
        root = Path(system_text(project))
        if folder:
            paths = [folder + name for name in folder_entries(root / user_path(folder))]
        else:
            paths = project_files(root)
    return FileListing(folder, FileNames(paths))


def _references_to(readings: Sequence[Sequence[str]], project: Path) -> str:
    """The references to the first reading whose files are all there; empty without one."""
    for paths in readings:
        if all(map(os.path.exists, paths)):
            written = [reference_to(_from_project(path, project)) for path in paths]
            known = [each for each in written if each]
            return f"{' '.join(known)} " if len(known) == len(written) else ""
    return ""


def _from_project(path: str, project: Path) -> str:
    """A path as short as it can be, with a slash behind a folder."""
    place = Path(path)
    end = "/" if place.is_dir() else ""
    is_inside = place != project and place.is_relative_to(project)
    return f"{place.relative_to(project) if is_inside else place}{end}"
