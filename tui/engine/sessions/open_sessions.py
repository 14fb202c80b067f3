"""Sessions in memory: loaded from the disk, saved, and given up."""

from functools import partial

import msgspec

from tui.domain.journal.records import VERSION
from tui.domain.journal.session import Session, Tail
from tui.domain.text import damage_words, plural
from tui.domain.views.notice import Notice
from tui.domain.views.shown_session import SaveState
from tui.engine.model_requests import answered
from tui.engine.sessions.draft_keeper import DraftKeeper
from tui.engine.sessions.loaded_session import Access, LoadedSession, Outbox
from tui.engine.sessions.open_session import (
    WINDOW,
    Clock,
    OpenSession,
    SessionOrigin,
    new_session,
    take_session,
)
from tui.errors import NewerVersion, SessionBusy, SessionNotFound, StorageError, UsageError
from tui.storage.stores import SessionStores

_COUNTED_AT_ONCE = 5000
"""Messages of a session that may be read to count the versions of some, before it is shown."""


class SessionLoader:
    """Makes conversations of what is on disk."""

    def __init__(self, stores: SessionStores, prompts: DraftKeeper, clock: Clock) -> None:
        self._stores = stores
        self._store = stores.main
        self._prompts = prompts
        self._clock = clock
        self.outbox: Outbox = []

    def new(self, place: SessionOrigin) -> LoadedSession:
        """A new session, which takes up what was typed in one that never came to be."""
        try:
            unclaimed = self._prompts.unclaimed(place.scope)
            if unclaimed is not None:
                return self._reserved(place, unclaimed)
        except StorageError:
            # Another program was quicker, or it lies where nothing can be made.
            pass
        return self._reserved(place, None)

    def private(self, place: SessionOrigin) -> LoadedSession:
        """A new private session, of which nothing reaches a disk."""
        opened = new_session(self._stores.private, place, self._clock)
        return LoadedSession(opened, outbox=self.outbox)

    def looked_at(self, session_id: str) -> LoadedSession:
        """A session for reading. Raises ``SessionNotFound`` and other ``StorageError``."""
        # First: what is written between the two is seen again.
        stamp = self._store.stamp(session_id)
        tail = self._store.journal(session_id).tail(WINDOW)
        try:
            holder, unknown = self._store.holder(session_id), ""
        except StorageError as error:
            # It can be read all the same.
            holder, unknown = None, read_only_words(error)
        if holder is None:
            tail = Tail(answered(tail.session), tail.cursor)
        if tail.session.header.version > VERSION:
            reason = read_only_words(NewerVersion(session_id, tail.session.header.version))
        elif holder is not None:
            reason = read_only_words(SessionBusy(session_id, str(holder)))
        else:
            reason = unknown
        access = Access(
            read_only=reason,
            held_elsewhere=holder is not None,
            archived=stamp.where == "archived",
            stamp=stamp,
        )
        loaded = LoadedSession(
            None, tail, access, self._listed_as(tail.session, tail.cursor), self.outbox
        )
        if reason:
            loaded.say(Notice(reason, "warning", caused=True))
        self._complete(loaded)
        return loaded

    def opened(self, session_id: str) -> LoadedSession:
        """A session for writing, because the user asked for it; else for reading, and why."""
        try:
            opened = take_session(self._store, session_id, self._clock, resumed=True)
        except SessionNotFound:
            raise
        except StorageError as error:
            loaded = self.looked_at(session_id)
            loaded.access.asked_for = True
            if not loaded.access.read_only:
                loaded.access.read_only = read_only_words(error)
                loaded.say(Notice(loaded.access.read_only, "warning", caused=True))
            return loaded
        try:
            access = Access(archived=self._store.stamp(session_id).where == "archived")
            listed_as = self._listed_as(opened.session, opened.cursor)
            loaded = LoadedSession(opened, None, access, listed_as, self.outbox)
            self._complete(loaded)
        except BaseException:
            opened.abandon()
            raise
        return loaded

    def taken(self, loaded: LoadedSession) -> OpenSession:
        """The lease of a session that was looked at. Raises ``StorageError``."""
        opened = take_session(self._store, loaded.id, self._clock)
        try:
            self._prompts.spare(loaded, opened.session)
        except BaseException:
            opened.abandon()
            raise
        return opened

    def _reserved(self, place: SessionOrigin, session_id: str | None) -> LoadedSession:
        opened = new_session(self._store, place, self._clock, session_id=session_id)
        loaded = LoadedSession(opened, outbox=self.outbox)
        if session_id is None:
            return loaded
        try:
            # Only now does nobody else change what was typed there.
            self._prompts.show(loaded, self._prompts.typed(loaded))
        except BaseException:
            opened.abandon()
            raise
        return loaded

    def _listed_as(self, session: Session, cursor: str | None) -> str:
        """The label in a list, where the part that was read may have none."""
        if cursor is None or session.name:
            return ""
        return self._store.entry(session.id).label

    def _complete(self, loaded: LoadedSession) -> None:
        """Put to a session what is not in the part of it that was read, and what was typed."""
        session = loaded.session
        if session.damaged:
            words = damage_words(session.damaged, f'"{loaded.label()}"')
            loaded.say(Notice(words, "warning", caused=True))
        if session.total_count <= _COUNTED_AT_ONCE and loaded.lacks_versions(session.entries):
            loaded.kept_versions = self._store.journal(session.id).versions()
        self._prompts.show(loaded, self._prompts.typed(loaded))


def read_only_words(error: StorageError) -> str:
    """Why a session can only be read, without its id."""
    session = f"Session {getattr(error, 'session_id', '')} "
    reason = str(error).removesuffix(".").removeprefix(session)
    return f"Read-only: {reason.removeprefix('is ').removeprefix('was ')}"


class OpenSessions(msgspec.Struct, eq=False):
    """Saves and closes sessions; nothing said or decided in one goes with its lease.

    ``unread`` are the ids of those closed since something came of them.
    """

    _stores: SessionStores
    prompts: DraftKeeper
    clock: Clock
    _limit: int
    held: list[LoadedSession] = []
    """The sessions whose lease this program holds, in the order in which they were opened."""
    unread: set[str] = set()

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
            if loaded.unsaved_questions or not self.prompts.is_kept(loaded):
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
