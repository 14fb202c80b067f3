"""The clipboard: the desktop's own tool, and a request to the terminal.

A tool reports failures; a terminal never does, so a request to it counts as a copy.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from textual.app import App

from tui.domain.text import make_visible_line, plural, without_controls
from tui.domain.views.notice import Notice

OSC52_BYTES = 100_000
"""The longest request that terminals in use take, as it is written: in base64."""
SECONDS = 2.0
"""A tool that takes longer is not waited for."""

_REASON_CHARACTERS = 200


class Tried(msgspec.Struct, frozen=True):
    """The result of trying tools in order: the one that copied, and why others failed."""

    copied_with: str = ""
    failures: tuple[str, ...] = ()


class Clipboard(msgspec.Struct, eq=False):
    """Copies in the order in which it is asked to, without holding up anything else."""

    _app: App[Any]
    _environment: Mapping[str, str] = os.environ
    _turn: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    text: str = ""
    """The text that was copied last."""

    def start(self, text: str, tell: Callable[[Notice], None], what: str = "") -> None:
        """Copy a text without its control characters, and tell the result.

        A terminal that it is pasted into would obey those. ``what`` names the text.
        """
        self.text = without_controls(text)
        self._app.run_worker(partial(self._copy, self.text, tell, what), name="copy")

    async def _copy(self, text: str, tell: Callable[[Notice], None], what: str) -> None:
        async with self._turn:
            refusal = terminal_refusal(text, self._environment)
            if not refusal:
                App.copy_to_clipboard(self._app, text)  # pyright: ignore[reportUnknownMemberType]
            tools = [*desktop_tools(self._environment)]
            tried = await asyncio.to_thread(run_tools, tools, text)
        notice = notice_of(text, tried, refusal)
        words = f"{what}: {notice.text}" if what else notice.text
        tell(msgspec.structs.replace(notice, text=words))


def desktop_tools(
    environment: Mapping[str, str], platform: str = sys.platform
) -> Iterator[Sequence[str]]:
    """The command lines that copy to the clipboard of the desktop which the user sits at.

    The last is for the buffer of the tmux that the program runs in: that asks the terminal by
    itself, also where it would not pass on what a program asks.
    """
    known: list[Sequence[str]] = []
    if platform == "darwin" and "SSH_CONNECTION" not in environment:
        known.append(("pbcopy",))
    if environment.get("WAYLAND_DISPLAY"):
        known.append(("wl-copy",))
    if environment.get("DISPLAY"):
        known += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if environment.get("TMUX"):
        known.append(("tmux", "load-buffer", "-w", "-"))
    for name, *arguments in known:
        if path := shutil.which(name, path=environment.get("PATH")):
            yield path, *arguments


def terminal_refusal(text: str, environment: Mapping[str, str]) -> str:
    """Why the terminal cannot be asked; empty if it can."""
    size = -(-len(text.encode()) // 3) * 4
    if environment.get("TERM") == "linux":
        return "the console has no clipboard"
    if size > OSC52_BYTES:
        return f"{size // 1000} KB exceed the limit of terminals (100 KB)"
    return ""


def run_tools(tools: Sequence[Sequence[str]], text: str) -> Tried:
    """Give a text to each tool until one takes it. It blocks, for ``SECONDS`` a tool at most."""
    failures: list[str] = []
    for tool in tools:
        name = Path(tool[0]).name
        failure = _run(tool, text.encode())
        if failure is None:
            return Tried(name, tuple(failures))
        failures.append(f"{name}: {failure}")
    return Tried(failures=tuple(failures))


def notice_of(text: str, tried: Tried, refusal: str) -> Notice:
    """Word the result; ``refusal`` says why the terminal was not asked."""
    if tried.copied_with == "tmux" and refusal:
        return Notice(f"Copied to tmux only: {refusal}.", "warning")
    copied = f"Copied {plural(len(text.splitlines()), 'line')}"
    if tried.copied_with or not (refusal or tried.failures):
        return Notice(copied)
    failures = "; ".join(tried.failures)
    if not refusal:
        return Notice(f"{copied} through the terminal ({failures})", "warning")
    return Notice(f"Could not copy: {'; '.join([*tried.failures, refusal])}.", "error")


def _run(tool: Sequence[str], data: bytes) -> str | None:
    """Why a tool failed; ``None`` if it did not."""
    import tempfile

    # A file and no pipe: what stays to serve the clipboard keeps it open, and would be waited for.
    with tempfile.TemporaryFile() as complaints:
        try:
            done = subprocess.run(  # noqa: S603 - found by name where the user's PATH leads
                tool,
                input=data,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                timeout=SECONDS,
                check=False,
                # What serves the clipboard outlives us and the terminal.
                start_new_session=True,
                cwd="/",
            )
        except subprocess.TimeoutExpired:
            return "no answer"
        except OSError as error:
            return error.strerror or "cannot be run"
        if done.returncode == 0:
            return None
        complaints.seek(0)
        first = complaints.read(4 * _REASON_CHARACTERS).decode("utf-8", "replace").strip()
    reason = make_visible_line(first.partition("\n")[0])[:_REASON_CHARACTERS]
    return reason.rstrip(".") or f"exit code {done.returncode}"
