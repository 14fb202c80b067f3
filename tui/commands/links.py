"""Opening a link in the browser by the desktop's opener, after asking."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from tui.commands.effects import Ask, CopyText, Effect, Say
from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.notice import Notice
from tui.files import system_text

SECONDS = 5.0
"""An opener that is still running after this time has started the browser."""

_DETAIL = "It opens in your browser, outside this program."


def ask_to_open(
    target: str, text: str, open_link: Callable[[str], Awaitable[str]] | None = None
) -> Ask:
    """Ask before opening a link; ``open_link`` returns the reason of a failure, or nothing."""
    shown, words = make_visible_line(target), make_visible_line(text)
    differs = f"The link says: {words}\n" if words and words != shown else ""
    confirmed = partial(_open, target, open_link or open_outside)
    return Ask(f"Open {shown} ? (y/n)", confirmed, detail=differs + _DETAIL)


async def _open(target: str, open_link: Callable[[str], Awaitable[str]]) -> Sequence[Effect]:
    refusal = await open_link(target)
    shown = make_visible_line(target)
    if not refusal:
        return (Say(Notice(f"Opened {shown}")),)
    return (
        Say(Notice(f"Not opened ({refusal}); copied instead: {shown}", "warning")),
        CopyText(target),
    )


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
