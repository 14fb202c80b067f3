"""Closed sessions, archive and trash: moving sessions there, bringing them back, and undo."""

import asyncio
import stat
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from tui.domain.journal.session import SessionEntry, Status
from tui.domain.moves import Batch, Move, MoveKey, Place, last_batch
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.engine.sessions.workspace import Workspace
from tui.errors import NewerVersion, SessionBusy, SessionNotFound, StorageError, UsageError
from tui.storage.json_lines import new_batch
from tui.storage.protocol import SessionFilter, SessionReader, SessionStore

_ALL = 1_000_000
_CLOSED: frozenset[Status] = frozenset({"closed"})
_OPEN: frozenset[Status] = frozenset({"open"})


def read_closed(reader: SessionReader) -> Sequence[SessionEntry]:
    """Read the closed sessions of every scope, latest closed first.

    Blocks on the disk. Raises ``StorageError``.
    """
    return reader.list(SessionFilter(statuses=_CLOSED, order="closed"), None, _ALL).entries


def read_open_projects(reader: SessionReader, opened: Iterable[SessionEntry]) -> dict[str, str]:
    """Map open sessions to their projects; ``opened`` are those that are open in this program.

    Blocks on the disk. Raises ``StorageError``.
    """
    elsewhere = reader.list(SessionFilter(statuses=_OPEN), None, _ALL).entries
    return {each.id: each.project_path for each in (*elsewhere, *opened) if each.project_path}


def opened_here(workspace: Workspace) -> tuple[SessionEntry, ...]:
    """The sessions that this program has open, without those in which nothing was done."""
    touched = {each.id for each in workspace.open if not each.untouched}
    return tuple(row for row in workspace.rows() if row.id in touched)


def check_project(entry: SessionEntry) -> None:
    """Make sure that a session's project is still there. Raises ``UsageError``."""
    if not entry.project_path:
        return
    read = f"Read it with /load {entry.id}."
    try:
        mode = Path(entry.project_path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UsageError(f"The project's directory no longer exists. {read}") from error
    except OSError:
        # Whether it is there cannot be told: no reason to keep its conversation from the user.
        return
    if not stat.S_ISDIR(mode):
        raise UsageError(f"The project's path is not a directory. {read}")


Stop = Callable[[LoadedSession], Awaitable[bool]]
"""Ends the answer that is being made in a session; false if there is none."""
Obstacle = Literal["purged", "open in another window", "moved since"]
_PLACES: dict[str, Place] = {
    "open": "sessions",
    "closed": "sessions",
    "archived": "archive",
    "trashed": "trash",
}


class Undone(msgspec.Struct, frozen=True):
    """The moves that were taken back, and those that could not be.

    ``failure`` is the reason why the session that was on screen could not be opened.
    """

    taken_back: tuple[Move, ...]
    left: tuple[tuple[Move, Obstacle], ...] = ()
    failure: str = ""


class Cleared(msgspec.Struct, frozen=True):
    """The sessions that went to the trash, and the failure that kept others from it."""

    ids: tuple[str, ...]
    failure: str = ""


class SessionMoves:
    """Archives, deletes and restores sessions, also those that this program has open.

    The store keeps all moves, so undo works after a restart, too. ``stop`` ends the answer that
    is being made in a session and waits until all of it is pending or saved.
    """

    def __init__(self, workspace: Workspace, store: SessionStore, stop: Stop) -> None:
        self._workspace = workspace
        self._store = store
        self._stop = stop
        self._shown: set[MoveKey] = set()  # sessions that were on screen
        self._tried: set[MoveKey] = set()  # by an undo of this program
        self._putting_away = asyncio.Lock()

    async def archive(self, session_id: str) -> None:
        """Set a session aside; if it was on screen, another one is.

        Raises ``UsageError`` if it is archived already, and else as ``delete``.
        """
        if await self._where(session_id) == "archive":
            raise UsageError(f"Session {session_id} is already archived.")
        await self._move(session_id, "archive")

    async def delete(self, session_id: str) -> None:
        """Move a session to the trash, with all that has arrived of an answer.

        If it was on screen, another one is. Raises ``SessionNotFound``, ``SessionBusy``, other
        ``StorageError`` if it cannot be saved before, and ``UsageError`` where no other session
        can be begun.
        """
        if await self._where(session_id) == "trash":
            raise UsageError(f"Session {session_id} is already in the trash.")
        await self._move(session_id, "trash")

    async def restore(self, session_id: str) -> str:
        """Bring a session back from the archive or the trash, and open it.

        Gives why it could not be opened, though it is back. Raises ``UsageError`` if it is in
        neither, and ``StorageError``.
        """
        if await self._where(session_id) == "sessions":
            raise UsageError(f"Session {session_id} is neither archived nor in the trash.")
        await self._move(session_id, "sessions")
        return await self._shown_by(self._workspace.open_session, session_id)

    async def clear(self, ids: Sequence[str]) -> Cleared:
        """Move closed sessions to the trash, but those that were opened or moved meanwhile.

        The next undo takes back all of it at once.
        """
        workspace, batch = self._workspace, new_batch("clear")
        shown = workspace.current
        viewed = shown.id
        others = [session_id for session_id in ids if session_id != viewed]
        cleared = await asyncio.to_thread(_clear, self._store, others, batch)
        if viewed not in ids:
            return cleared

        async def delete() -> None:
            await asyncio.to_thread(self._store.delete, viewed, batch)

        try:
            check_closed_here(workspace, viewed)
            await workspace.leave(shown, delete)
        except (SessionBusy, SessionNotFound, UsageError):
            return cleared
        except StorageError as error:
            return Cleared(cleared.ids, cleared.failure or str(error))
        self._shown.add((batch.id, viewed))
        return Cleared((*cleared.ids, viewed), cleared.failure)

    async def take_last_batch(self) -> tuple[Move, ...]:
        """Take the moves that are to be undone; the next call takes those before.

        Empty if none is left.
        """
        moves = await asyncio.to_thread(self._store.moves)
        batch = last_batch(moves, self._tried)
        self._tried.update(move.key for move in batch)
        return batch

    async def undo(self, batch: Sequence[Move]) -> Undone:
        """Undo a batch.

        Those that were purged or moved since are left out, also by later undos of this program;
        one that is open in another window can be tried again. Raises other ``StorageError``, and
        then the rest can be tried again.
        """
        taken_back: list[Move] = []
        left: list[tuple[Move, Obstacle]] = []
        for count, move in enumerate(reversed(batch)):
            try:
                obstacle = await self._take_back(move)
            except StorageError:
                self._tried.difference_update(each.key for each in batch[: len(batch) - count])
                raise
            if obstacle is None:
                taken_back.append(move)
                continue
            left.append((move, obstacle))
            if obstacle == "open in another window":
                self._tried.discard(move.key)
        # The session that was on screen before is shown again.
        shown = [each for each in taken_back if each.key in self._shown]
        ids = [each.id for each in shown if each.source == "sessions"]
        failure = await self._shown_by(self._workspace.switcher.look_at, ids[0]) if ids else ""
        return Undone(tuple(taken_back), tuple(left), failure)

    # --- within

    async def _take_back(self, move: Move) -> Obstacle | None:
        batch = Batch(move.batch, "undo")
        try:
            if await self._where(move.id) != move.target:
                return "moved since"
            await self._put(move.id, "sessions", batch)
            await self._put(move.id, move.source, batch)
        except SessionNotFound:
            return "purged"
        except SessionBusy:
            return "open in another window"
        return None

    async def _shown_by(self, show: Callable[[str], Awaitable[bool]], session_id: str) -> str:
        """Show a session that is back; gives why that could not be."""
        try:
            await show(session_id)
        except (StorageError, UsageError, PrivateSessionLeft) as error:
            return str(error)
        return ""

    async def _move(self, session_id: str, place: Place) -> None:
        batch = new_batch("user")
        shown = session_id == self._workspace.current.id
        await self._put(session_id, place, batch)
        if shown:
            self._shown.add((batch.id, session_id))

    async def _where(self, session_id: str) -> Place:
        known = self._workspace.switcher.find(session_id)
        if known is not None and not known.published:
            return "sessions"  # as soon as it can be saved
        entry = await asyncio.to_thread(self._store.entry, session_id)
        return _PLACES[entry.status]

    async def _put(self, session_id: str, place: Place, batch: Batch) -> None:
        """Move a session to a place, if it is not there."""
        if await self._where(session_id) == place:
            return
        match place:
            case "sessions":
                known = self._workspace.switcher.find(session_id)
                if known is None or known.opened is None or self._workspace.pool.given_up(known):
                    await asyncio.to_thread(self._store.restore, session_id, batch)
                    return
                # Its first change restores it.
                known.opened.note_state()
                await self._workspace.pool.save(known)
            case "archive":
                await self._put_away(session_id, self._store.archive, batch)
            case "trash":
                await self._put_away(session_id, self._store.delete, batch)

    async def _put_away(
        self, session_id: str, move: Callable[[str, Batch], None], batch: Batch
    ) -> None:
        known = self._workspace.switcher.find(session_id)
        if known is None:
            await asyncio.to_thread(move, session_id, batch)
            return
        if known.activity.running:
            await self._stop(known)
        done = asyncio.Event()
        give_up = partial(self._give_up, known, partial(move, session_id, batch), done)
        # One at a time: two that want to leave one session would pass over each other for ever.
        async with self._putting_away:
            # Another session may be wanted meanwhile: then this one is given up behind it.
            while not done.is_set():
                await self._workspace.leave(known, give_up)

    async def _give_up(
        self, known: LoadedSession, move: Callable[[], None], done: asyncio.Event
    ) -> None:
        """Close a session and move it before anybody else can have it."""
        is_held = known.opened is not None and not self._workspace.pool.given_up(known)
        if is_held:
            try:
                await self._workspace.pool.keep_draft(known)
                await self._workspace.pool.end(known)
            except StorageError as error:
                raise StorageError(f'Could not save "{known.label()}": {error.short}') from error
        await asyncio.to_thread(move)
        if is_held:
            await self._workspace.pool.abandon(known)
        done.set()


def check_closed_here(workspace: Workspace, session_id: str) -> None:
    """Raise ``UsageError`` if this program has a session open."""
    known = workspace.switcher.find(session_id)
    if known is not None and known.opened is not None:
        raise UsageError(f"Session {session_id} is open here. Close it first.")


def _clear(store: SessionStore, ids: Sequence[str], batch: Batch) -> Cleared:
    gone: list[str] = []
    failures: list[str] = []
    for session_id in ids:
        try:
            lease = None
            with suppress(NewerVersion):
                # A lease of its own: one that was opened here since it was asked for stays.
                lease = store.lease(session_id)
            try:
                store.delete(session_id, batch)
            finally:
                if lease is not None:
                    lease.release()
        except (SessionBusy, SessionNotFound):
            continue
        except StorageError as error:
            # One that cannot be moved keeps no other in the list.
            failures.append(str(error))
            continue
        gone.append(session_id)
    return Cleared(tuple(gone), failures[0] if failures else "")
