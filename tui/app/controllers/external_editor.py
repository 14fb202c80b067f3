"""The prompt in the user's own editor: ``$VISUAL``, else ``$EDITOR``.

The terminal is the editor's meanwhile; answers go on, and nothing is drawn.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from tui.app.controllers.controller import Controller
from tui.domain.text import make_visible_line
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import StorageError

SECONDS_TO_END = 1.0
"""An editor that does not end when the program has to is killed after these."""

SECONDS_TO_LOOK = 1.0
"""Nobody opens an editor, reads and leaves it in less: it has opened a window and gone on."""

_GONE_ON = (
    "The editor closed at once; the prompt is unchanged. An editor with a window must wait, "
    "as code --wait does."
)
_PRIVATE = "No editor for a private session: it would write the prompt to disk. /keep saves it"
_LEAVE = b"\x1b[?1049l\x1b[?2004l\x1b[?25h"


class ExternalEditor(Controller):
    """Lends the terminal to an editor, and takes back what it wrote."""

    def start(self) -> None:
        """Open the prompt of the session on screen."""
        if self._workspace.current.private:
            self._presenter.say(_PRIVATE, "error")
            return
        command, refusal = editor_command(os.environ)
        if refusal:
            self._presenter.say(refusal, "error")
            return
        # Now: what is typed behind this comes after what the editor writes.
        self._queue.lend()
        session, text = self._workspace.current, self._chat.prompt.text
        self._app.run_worker(partial(self._edit, command, session, text), name="edit outside")

    async def _edit(self, command: Sequence[str], session: LoadedSession, text: str) -> None:
        begun = time.monotonic()
        try:
            failure, written = await self._run(command, session, text)
        except OSError as error:
            failure, written = f"Cannot open the editor: {error.strerror}.", text
        except StorageError as error:
            failure, written = f"Cannot open the editor: {error.short}", text
        finally:
            self._app.call_later(self._queue.take_back)
        if failure:
            self._presenter.say(make_visible_line(failure), "error")
        elif written != text and session is self._workspace.current:
            self._chat.prompt.replace_text(written)
        elif written != text:
            session.prompt.edit(written)
            self._chat.settle_draft()
        elif time.monotonic() - begun < SECONDS_TO_LOOK:
            self._presenter.say(_GONE_ON, "warning")

    async def _run(
        self, command: Sequence[str], session: LoadedSession, text: str
    ) -> tuple[str, str]:
        """Why nothing is taken over, and what the editor wrote."""
        from tui.engine.sessions.draft_keeper import read_edited

        file = self._workspace.prompts.lend(session, text)
        with file as path, self._app.suspend(), _same_attributes():
            terminal = sys.__stderr__
            try:
                process = subprocess.Popen([*command, str(path)], stdout=terminal, stderr=terminal)  # noqa: S603, ASYNC220 - the user's own command
            except OSError as error:
                return f"Cannot start the editor: {error.strerror}.", text
            try:
                code = await asyncio.to_thread(process.wait)
            except asyncio.CancelledError:
                # The program ends: whatever was written by now counts as typed.
                _end(process)
                with suppress(OSError):
                    session.prompt.edit(read_edited(path, text))
                raise
            if code != 0:
                return f"The editor failed with exit code {code}; the prompt is unchanged.", text
            try:
                return "", read_edited(path, text)
            except OSError as error:
                return f"The prompt is unchanged: the editor's file: {error.strerror}.", text


def editor_command(environment: Mapping[str, str]) -> tuple[Sequence[str], str]:
    """The editor's command line, or why there is none."""
    known = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        command = shlex.split(known)
    except ValueError as error:
        return (), make_visible_line(f"Cannot read $VISUAL or $EDITOR: {error}.")
    if not command:
        return (), "No editor: set $VISUAL or $EDITOR."
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        return (), make_visible_line(f"Editor not found: {command[0]}")
    return command, ""


@contextmanager
def _same_attributes() -> Generator[None]:
    """Set the terminal as it was: not every editor lives to do so."""
    terminal: Any = sys.__stdin__
    try:
        attributes = termios.tcgetattr(terminal)
    except (termios.error, ValueError, AttributeError, TypeError):
        yield
        return
    try:
        yield
    finally:
        # If it has gone, nothing is left to be set.
        with suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSADRAIN, attributes)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End an editor; one that does not leave the screen has it left for it."""
    process.terminate()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        if sys.__stderr__ is not None:
            sys.__stderr__.buffer.write(_LEAVE)
            sys.__stderr__.flush()
