"""Archive and trash: setting sessions aside, bringing them back, and taking that back."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal

import msgspec

from tui.engine.library.bulk_delete import Cleared, clear_closed
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import SessionNotFound, StorageError, UsageError

Where = Literal["kept", "archived", "trashed"]


class Move(msgspec.Struct, frozen=True):
    """A session was moved; ``shown`` says that it was on screen before."""

    session_id: str
    before: Where
    after: Where
    shown: bool


class SessionMoves:
    """Archives, deletes and restores sessions, also those that this program has open.

    What was done is undone last first, for as long as the program runs. ``stop`` ends the answer
    that is being made in a session and waits until all of it is pending or saved.
    """

    def __init__(
        self, workspace: Workspace, stop: Callable[[LoadedSession], Awaitable[bool]]
    ) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._stop = stop
        self._deeds: list[tuple[Move, ...]] = []
        self._putting_away = asyncio.Lock()

    async def archive(self, session_id: str) -> None:
        """Set a session aside; if it was on screen, another one is.

        Raises ``UsageError`` if it is archived already, and else as ``delete``.
        """
        if await self._where(session_id) == "archived":
            raise UsageError(f"Session {session_id} is archived already.")
        await self._note(session_id, "archived", partial(self._put, session_id, "archived"))

    async def delete(self, session_id: str) -> None:
        """Move a session to the trash, with all that has arrived of an answer.

        If it was on screen, another one is. Raises ``SessionNotFound``, ``SessionBusy``, other
        ``StorageError`` if it cannot be saved before, and ``UsageError`` where no other session
        can be begun.
        """
        if await self._where(session_id) == "trashed":
            raise UsageError(f"Session {session_id} is deleted already.")
        await self._note(session_id, "trashed", partial(self._put, session_id, "trashed"))

    async def restore(self, session_id: str) -> str:
        """Bring a session back from the archive or the trash, and open it.

        Gives why it could not be opened, though it is back. Raises ``UsageError`` if it is in
        neither, and ``StorageError``.
        """
        if await self._where(session_id) == "kept":
            raise UsageError(f"Session {session_id} is neither archived nor deleted.")
        await self._note(session_id, "kept", partial(self._put, session_id, "kept"))
        return await self._open(session_id)

    async def clear(self, ids: Sequence[str]) -> Cleared:
        """Move closed sessions to the trash, but those that were opened or moved meanwhile.

        The next undo takes back all of it at once.
        """
        cleared = await clear_closed(self._workspace, ids)
        if cleared.ids:
            self._deeds.append(
                tuple(Move(each, "kept", "trashed", each == cleared.left) for each in cleared.ids)
            )
        return cleared

    @property
    def has_cleared(self) -> bool:
        """Tell whether an undo would bring back many at once."""
        return bool(self._deeds) and len(self._deeds[-1]) > 1

    async def undo(self) -> tuple[tuple[Move, ...], str]:
        """Take back what was done last; empty if nothing is left to be.

        What has been taken back by other ways is passed over. Gives with it why what was on
        screen could not be opened. Raises ``StorageError``, and then it can be tried again.
        """
        deeds = await self._last_deeds()
        # The last first: what comes back counts as used now, and the order is to stay.
        for count, deed in enumerate(reversed(deeds)):
            try:
                await self._put(deed.session_id, "kept")
                await self._put(deed.session_id, deed.before)
            except StorageError:
                self._deeds.append(deeds[: len(deeds) - count])
                raise
        failure = ""
        for deed in deeds:
            if deed.shown and deed.before == "kept":
                failure = await self._open(deed.session_id)
        return deeds, failure

    # --- within

    async def _open(self, session_id: str) -> str:
        """Show a session that is back; gives why that could not be."""
        try:
            await self._workspace.open_session(session_id)
        except (StorageError, UsageError) as error:
            return str(error)
        return ""

    async def _note(self, session_id: str, after: Where, do: Callable[[], Awaitable[None]]) -> None:
        shown = session_id == self._workspace.current.id
        before = await self._where(session_id)
        await do()
        self._deeds.append((Move(session_id, before, after, shown),))

    async def _last_deeds(self) -> tuple[Move, ...]:
        while self._deeds:
            deeds = self._deeds.pop()
            left = tuple([deed for deed in deeds if await self._stands(deed)])
            if left:
                return left
        return ()

    async def _stands(self, deed: Move) -> bool:
        try:
            return await self._where(deed.session_id) == deed.after
        except SessionNotFound:
            return False  # it was purged

    async def _where(self, session_id: str) -> Where:
        known = self._workspace.switcher.find(session_id)
        if known is not None and not known.published:
            return "kept"  # as soon as it can be saved
        entry = await asyncio.to_thread(self._store.entry, session_id)
        return "kept" if entry.status in ("open", "closed") else entry.status

    async def _put(self, session_id: str, where: Where) -> None:
        """Bring a session to where it shall be, if it is not there."""
        if await self._where(session_id) == where:
            return
        match where:
            case "kept":
                await self._bring_back(session_id)
            case "archived":
                await self._put_away(session_id, self._store.archive)
            case "trashed":
                await self._put_away(session_id, self._store.delete)

    async def _bring_back(self, session_id: str) -> None:
        known = self._workspace.switcher.find(session_id)
        if known is None or known.opened is None or self._workspace.pool.given_up(known):
            await asyncio.to_thread(self._store.restore, session_id)
            return
        # Its first change restores it.
        known.opened.note_state()
        await self._workspace.pool.save(known)

    async def _put_away(self, session_id: str, move: Callable[[str], None]) -> None:
        known = self._workspace.switcher.find(session_id)
        if known is None:
            await asyncio.to_thread(move, session_id)
            return
        if known.activity.running:
            await self._stop(known)
        done = asyncio.Event()
        give_up = partial(self._give_up, known, partial(move, session_id), done)
        # One at a time: two that want to leave one session would pass over each other for ever.
        async with self._putting_away:
            # Another session may be wanted meanwhile: then this one is given up behind it.
            while not done.is_set():
                if known is self._workspace.current:
                    await self._workspace.leave_current(give_up)
                else:
                    await self._workspace.switcher.between_switches(give_up)

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
                raise StorageError(f"Could not save {known.id}: {error.short}") from error
        await asyncio.to_thread(move)
        if is_held:
            self._workspace.pool.abandon(known)
        done.set()
