"""``/quit`` and ``/session close``, and the question before sessions are left.

Signals and a closed terminal end the program without it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from tui.commands.shell import Shell, command
from tui.domain.text import cut_to_cells, plural
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import StayedError
from tui.errors import StorageError

_TITLE_CELLS = 60
_TITLES = 5
_UNSAVED = "Unsaved messages go to a rescue file."


def _answers(sessions: Sequence[LoadedSession]) -> Sequence[str]:
    busy = [session for session in sessions if session.activity.running]
    if not busy:
        return ()
    verb = "is" if len(busy) == 1 else "are"
    lines = (f"{plural(len(busy), 'answer')} {verb} still in progress:", *_titles(busy))
    kept = sum(not session.losable for session in busy)
    if kept:
        parts = "part that arrived is" if kept == 1 else "parts that arrived are"
        lines = (*lines, f"The {parts} kept.")
    if any(session.losable for session in sessions):
        return lines
    ends = "the answer ends" if len(busy) == 1 else "the answers end"
    return (*lines, f"Or wait: it is a yes once {ends}.")


def _private(sessions: Iterable[LoadedSession]) -> Sequence[str]:
    lost = [session for session in sessions if session.losable]
    if not lost:
        return ()
    return (*_titles(lost), "It is private: nothing of it is kept. /keep saves it as a session.")


REASONS: tuple[Callable[[Sequence[LoadedSession]], Sequence[str]], ...] = (_answers, _private)
"""Each gives the lines that say why to ask, or none."""


def _titles(sessions: Sequence[LoadedSession]) -> Sequence[str]:
    titles = [f'"{cut_to_cells(each.label(), _TITLE_CELLS)}"' for each in sessions[:_TITLES]]
    more = len(sessions) - len(titles)
    return [*titles, f"and {more} more"] if more else titles


async def confirm_leaving(
    shell: Shell, question: str, sessions: Sequence[LoadedSession], again: str = ""
) -> bool:
    """Ask before these sessions are left; true without a reason to ask."""

    def detail() -> str:
        return "\n".join(line for reason in REASONS for line in reason(sessions))

    if not detail():
        return True
    return await shell.confirm(f"{question} (y/n)", detail, again=again)


@command("quit")
async def leave(shell: Shell, arguments: str) -> None:
    """Save everything and quit; while answers arrive only after asking."""
    if await confirm_leaving(shell, "Quit?", shell.workspace.open, again="quit"):
        shell.exit()


@command("session close …")
async def close(shell: Shell, arguments: str) -> None:
    """Close a session; while an answer arrives, or for a private one, only after asking."""
    workspace = shell.workspace
    loaded = workspace.switcher.find(arguments) if arguments else workspace.current
    if loaded is None:
        return shell.say(f"No open session has the id {arguments}.")
    if not await confirm_leaving(shell, "Close this session?", (loaded,)):
        return None
    await shell.context.stop(loaded)
    try:
        return await _close(shell, loaded, partial(_save_and_close, shell, loaded))
    except StayedError as stayed:
        failed = stayed
    question = f'Could not save "{loaded.label()}": {failed.reason}. Close it anyway?'
    if not await shell.confirm(question, lambda: _UNSAVED if loaded.unsaved else ""):
        return shell.say(str(failed), "error")
    if not loaded.unsaved:
        return await _close(shell, loaded, partial(_save_and_close, shell, loaded))
    lines: list[str] = []

    async def abandon() -> None:
        lines.extend(await asyncio.to_thread(shell.context.rescue, loaded))
        await workspace.pool.abandon(loaded)

    await _close(shell, loaded, abandon)
    return shell.say("\n".join(lines), "warning")


async def _save_and_close(shell: Shell, loaded: LoadedSession) -> None:
    """Save and close a session; a private one is gone. Raises ``StayedError``."""
    pool = shell.workspace.pool
    if loaded.private:
        pool.forget(loaded)
        return
    try:
        await pool.keep_draft(loaded)
        await pool.close(loaded)
    except StorageError as error:
        raise StayedError(loaded.label(), error.short) from error


async def _close(
    shell: Shell, loaded: LoadedSession, give_up: Callable[[], Awaitable[None]]
) -> None:
    """Close a session by ``give_up``, and show another one if it was on screen."""
    label, is_shown = loaded.label(), loaded is shell.workspace.current
    if await shell.workspace.leave(loaded, give_up):
        await shell.show_session()
    elif not is_shown:
        shell.show_moved(loaded.id)
    shell.say(f'Closed "{label}"')
