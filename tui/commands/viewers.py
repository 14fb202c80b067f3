"""Opening links and pictures of a message in the desktop's programs, after asking."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tui.commands.shell import Shell
from tui.domain.journal.message import ImageBlock, file_ending, media_type_of
from tui.domain.journal.records import is_private
from tui.domain.text import cut_middle, make_visible_line, make_visible_name
from tui.errors import AttachmentNotFound, StorageError
from tui.files import system_text

SECONDS = 5.0
"""An opener that is still running after this time has started the browser."""

_PRIVATE = (
    "No viewer for a picture of a private session: it would be written to disk. /keep saves it"
)
_SHOWN = 120
"""The limit of a name in a question or a notice, in characters."""
_DIGITS = 16


async def open_link(shell: Shell, target: str, text: str) -> None:
    """Open a link in the browser."""
    shown, words = make_visible_line(target), make_visible_line(text)
    differs = f"The link says: {words}\n" if words and words != shown else ""
    detail = f"{differs}It opens in your browser, outside this program."
    if not await shell.confirm(f"Open {shown} ? (y/n)", detail):
        return
    if refusal := await open_outside(target):
        shell.say(f"Not opened ({refusal}); copied instead: {shown}", "warning")
        shell.copy(target)
    else:
        shell.say(f"Opened {shown}")


async def open_picture(
    shell: Shell, picture: ImageBlock, session_id: str, keep: Callable[[str, bytes], Path]
) -> None:
    """Open a picture in a viewer, from a file that ``keep`` writes; refuse a private session's."""
    if is_private(session_id):
        return shell.say(_PRIVATE, "error")
    name = cut_middle(make_visible_name(picture.name), _SHOWN)
    detail = "It opens in your picture viewer, outside this program."
    if not await shell.confirm(f"Open {name} ? (y/n)", detail):
        return None

    def write() -> Path | None:
        data = shell.workspace.reader.attachment(session_id, picture.sha256)
        if media_type_of(data) is None:
            return None
        return keep(f"image-{picture.sha256[:_DIGITS]}{file_ending(data)}", data)

    try:
        path = await asyncio.to_thread(write)
    except AttachmentNotFound:
        return shell.say(f"Not opened: {name} is missing or damaged.", "error")
    except StorageError as error:
        return shell.say(f"Not opened: {name}: {error.short}", "error")
    except OSError as error:
        return shell.say(f"Not opened: {name}: {error.strerror}.", "error")
    if path is None:
        return shell.say(f"Not opened: {name} is not a picture.", "error")
    if refusal := await open_outside(str(path)):
        said = f"Not opened ({refusal}): {name}. /export writes pictures to files"
        return shell.say(said, "warning")
    return shell.say(f"Opened {name}")


async def open_outside(target: str) -> str:
    """Open a link by the desktop's opener; returns the reason of a failure."""
    return await asyncio.to_thread(_run, opener(os.environ), target)


def opener(environment: Mapping[str, str], platform: str = sys.platform) -> Sequence[str]:
    """The command of the user's desktop that opens links; empty without one."""
    if platform == "darwin":
        return () if "SSH_CONNECTION" in environment else ("open",)
    if "DISPLAY" not in environment and "WAYLAND_DISPLAY" not in environment:
        return ("wslview",) if shutil.which("wslview") else ()
    return ("xdg-open",) if shutil.which("xdg-open") else ()


def _run(command: Sequence[str], target: str) -> str:
    if not command:
        return "there is no desktop here to open it"
    try:
        # In its own process session: it may outlive this program, and must not use its terminal.
        process = subprocess.Popen(  # noqa: S603 - no shell, an http(s) address that was said yes to
            [*command, system_text(target)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        code = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return f"{command[0]} failed ({code})" if code else ""
