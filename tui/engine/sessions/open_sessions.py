"""The sessions whose lease this program holds: saving them, and giving them up."""

from functools import partial

import msgspec

from tui.domain.text.labels import plural
from tui.domain.views.notice import Notice
from tui.domain.views.status_line import SaveState
from tui.engine.sessions.draft_keeper import DraftKeeper
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import Clock, OpenSession
from tui.errors import StorageError, UsageError
from tui.storage.stores import SessionStores


class OpenSessions(msgspec.Struct, eq=False):
    """Saves and closes sessions; nothing said or decided in one goes with its lease.

    ``unread`` are the ids of those closed since something came of them.
    """

    _stores: SessionStores
    prompts: DraftKeeper
    clock: Clock
    _limit: int
    held: list[LoadedSession] = []
    unread: set[str] = set()

    @property
    def open(self) -> tuple[LoadedSession, ...]:
        """The sessions whose lease this program holds, in the order in which they were opened."""
        return tuple(self.held)

    def check_limit(self) -> None:
        """Raise ``UsageError`` if no more sessions can be open."""
        if sum(each.busy for each in self.held) >= self._limit:
            raise UsageError(
                f"The limit is {plural(self._limit, 'open session')}. Close one first."
            )

    def given_up(self, loaded: LoadedSession) -> bool:
        """Tell whether a session was open, and is not any more: nothing is written there."""
        return loaded.opened is not None and loaded not in self.held

    async def save(self, loaded: LoadedSession) -> None:
        """Write what is pending in a session, and give the notices that this leads to.

        Raises ``StorageError``; then everything stays pending.
        """
        opened = loaded.opened
        if opened is None or not opened.pending:
            return
        unsaved = opened.unsaved
        if loaded.access.archived and not unsaved:
            # To open it is no change: only a change restores it.
            return
        await self._write(loaded, opened, unsaved=unsaved)

    async def _write(self, loaded: LoadedSession, opened: OpenSession, *, unsaved: bool) -> None:
        loaded.save = msgspec.structs.replace(loaded.save, saving=True)
        try:
            await opened.save()
        except StorageError as error:
            loaded.end_saving(error.short)
            raise
        if unsaved:
            self._note_saved(loaded)
        else:
            loaded.end_saving()
        for notice in opened.take_notices():
            loaded.say(Notice(notice))

    async def try_save(self, loaded: LoadedSession) -> bool:
        """Save; false if that failed. The status shows the failure until a save succeeds."""
        try:
            await self.save(loaded)
        except StorageError:
            return False
        return True

    def save_at_once(self, loaded: LoadedSession) -> None:
        """Save without an event loop, where none is left. Raises ``StorageError``."""
        opened = loaded.opened
        if opened is None:
            return
        opened.interrupt()
        if opened.unsaved:
            opened.save_at_once()
            self._note_saved(loaded)

    def _note_saved(self, loaded: LoadedSession) -> None:
        """Something that was said or decided has reached the disk."""
        loaded.access.archived = False
        loaded.save = SaveState(saved_at=self.clock())

    async def keep_draft(self, loaded: LoadedSession) -> None:
        """Write its draft, unless that is on disk. Raises ``StorageError``.

        The prompt of a private session is written nowhere.
        """
        if loaded.private:
            return
        try:
            if loaded.unsaved_prompts or not self.prompts.is_kept(loaded):
                # One write of a draft waits for another: the newer one is the last.
                try_save = partial(self.try_save, loaded)
                await loaded.prompt.writes.run(partial(self.prompts.keep, loaded, try_save))
        except StorageError as error:
            loaded.end_saving(error.short)
            raise
        if loaded.save.failure and not loaded.unsaved:
            loaded.end_saving()

    async def close(self, loaded: LoadedSession) -> None:
        """Interrupt a session's answer, save it, and release its lease.

        Raises ``StorageError`` and then keeps the lease: ``abandon`` releases it nevertheless.
        """
        if loaded.opened is not None:
            await self.end(loaded)
            await self.abandon(loaded)

    async def end(self, loaded: LoadedSession) -> None:
        """Interrupt a session's answer, and save it with a ``closed`` record.

        It is still held: nobody else has it before it is given up. Raises ``StorageError``.
        """
        opened = loaded.opened
        if opened is None:
            return
        opened.interrupt()
        unsaved = opened.unsaved
        if loaded.access.archived and not unsaved:
            return
        opened.note_closed()
        if not opened.pending:
            return
        try:
            await self._write(loaded, opened, unsaved=unsaved)
        except StorageError:
            # Nobody misses a lone ``closed`` record: it keeps the session from nobody.
            if opened.unsaved:
                raise
            loaded.end_saving()

    async def keep(self, loaded: LoadedSession) -> None:
        """Save a private session as a new one, under a new id, and continue it there.

        Raises ``StorageError``, and then it stays private.
        """
        if loaded.opened is None:
            return
        await loaded.opened.keep(self._stores)
        self._note_saved(loaded)

    def forget(self, loaded: LoadedSession) -> None:
        """Destroy a private session."""
        if loaded.opened is not None:
            loaded.opened.interrupt()
            loaded.opened.forget(self._stores)
        if loaded in self.held:
            self.held.remove(loaded)

    async def abandon(self, loaded: LoadedSession) -> None:
        """Give a session up, whatever is pending in it."""
        if loaded in self.held:
            self.held.remove(loaded)
        if loaded.unread:
            self.unread.add(loaded.id)
        if loaded.opened is not None:
            await loaded.opened.give_up()

    async def drop(self, loaded: LoadedSession) -> None:
        """Give up what was opened to be shown and is not."""
        if loaded.opened is not None and loaded not in self.held:
            await loaded.opened.give_up()
