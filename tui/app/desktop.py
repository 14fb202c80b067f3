"""The desktop around the program: its clipboard, its alerts, and files for its viewers."""

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

from tui.config.settings_schema import NotifySettings
from tui.domain.text import cut_to_cells, make_visible_line, plural, without_controls
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import Switcher
from tui.terminal import environment as attention
from tui.terminal.textual_private import AppBase

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
    _tell: Callable[[Notice], None]
    """Is given the result."""
    _environment: Mapping[str, str] = os.environ
    _turn: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    text: str = ""
    """The text that was copied last."""

    def start(self, text: str, what: str = "") -> None:
        """Copy a text without its control characters, and tell the result.

        A terminal that it is pasted into would obey those. ``what`` names the text.
        """
        self.text = without_controls(text)
        self._app.run_worker(partial(self._copy, self.text, what), name="copy")

    async def _copy(self, text: str, what: str) -> None:
        async with self._turn:
            refusal = terminal_refusal(text, self._environment)
            if not refusal:
                App.copy_to_clipboard(self._app, text)  # pyright: ignore[reportUnknownMemberType]
            tools = [*desktop_tools(self._environment)]
            tried = await asyncio.to_thread(run_tools, tools, text)
        notice = notice_of(text, tried, refusal)
        words = f"{what}: {notice.text}" if what else notice.text
        self._tell(msgspec.structs.replace(notice, text=words))


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


_TITLE_CELLS = 60


class Attention(msgspec.Struct, eq=False):
    """Rings the bell, notifies the desktop and changes the title, as far as each is set.

    A terminal that does not report its focus counts as focused.
    """

    _app: AppBase
    _switcher: Switcher
    _settings: NotifySettings
    _environment: Mapping[str, str] = os.environ
    _is_title_changed: bool = False

    def tell(self, session: LoadedSession, what: str) -> None:
        """Alert the user to an event in a session, unless it is in view."""
        if self._app.app_focus and session is self._switcher.current:
            return
        words = f'"{cut_to_cells(session.label(), _TITLE_CELLS)}" {what}'
        if self._settings.desktop:
            self._app.write_to_terminal(attention.notification(words, self._environment))
        if self._settings.title:
            sequence = attention.title(f"● {words}", self._environment)
            if sequence and not self._is_title_changed:
                self._is_title_changed = True
                sequence = attention.SAVE_TITLE + sequence
            self._app.write_to_terminal(sequence)
        if self._settings.bell:
            self._app.bell()

    def end(self) -> None:
        """Restore the title, as the terminal has the focus again."""
        if self._is_title_changed:
            self._is_title_changed = False
            self._app.write_to_terminal(attention.RESTORE_TITLE)


class PictureFiles(msgspec.Struct, eq=False):
    """Writes each picture to a folder of its own that only the user can enter."""

    _environment: Mapping[str, str] = os.environ
    _folders: list[Path] = []

    def write(self, name: str, data: bytes) -> Path:
        """Write a new file. Raises ``OSError``."""
        # Imported here: most runs open no picture.
        import tempfile

        # The user's directory of runtime files is in memory, and removed at log-out.
        room = self._environment.get("XDG_RUNTIME_DIR", "")
        is_there = Path(room).is_absolute() and os.access(room, os.W_OK | os.X_OK)
        folder = Path(tempfile.mkdtemp(prefix="sibyl-tui-", dir=room if is_there else None))
        self._folders.append(folder)
        path = folder / name
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(data)
        return path

    def remove(self) -> None:
        """Remove all files that were written."""
        while self._folders:
            shutil.rmtree(self._folders.pop(), ignore_errors=True)
