"""All sessions that this program has open, and the one on screen."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.records import Settings
from tui.domain.journal.session import Entry, SessionEntry
from tui.domain.text import damage_words
from tui.domain.timestamps import format_utc
from tui.domain.views.notice import Notice
from tui.domain.views.session_rows import Mark
from tui.engine.sessions.draft_keeper import DraftKeeper
from tui.engine.sessions.fork import write_fork
from tui.engine.sessions.loaded_pages import PAGE
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import Clock, OpenSession, SessionOrigin
from tui.engine.sessions.open_sessions import OpenSessions, SessionLoader, read_only_words
from tui.engine.sessions.switching import ModelFor, Switcher
from tui.engine.sessions.write_queue import save_errors
from tui.errors import ReadOnly, SessionBusy, StorageError, UsageError
from tui.providers.protocol import Model
from tui.storage.drafts import Drafts
from tui.storage.protocol import SessionFilter, SessionReader, SessionStore
from tui.storage.stores import SessionStores

if TYPE_CHECKING:
    from tui.domain.journal.message import Attachment
    from tui.domain.views.shown_session import AttachedView
    from tui.engine.attachments import Attached, PromptPlace

_OTHERS_TRIED = 5


class Workspace:
    """The sessions of this program: a ``pool`` saves and closes them, a ``switcher`` shows them.

    One of them is ``current``. Others stay while an answer is being made in them, while prompts
    wait, or while something could not be saved.
    """

    def __init__(
        self,
        store: SessionStore,
        drafts: Drafts,
        place: SessionOrigin,
        clock: Clock,
        model_for: ModelFor,
        limit: int = 10,
    ) -> None:
        prompts = DraftKeeper(drafts)
        self._stores = stores = SessionStores(store, clock)
        self.reader: SessionReader = stores
        self.place = place
        self.clock = clock
        self.prompts = prompts
        self.loader = SessionLoader(stores, prompts, clock)
        self.pool = OpenSessions(stores, prompts, clock, limit)
        self.switcher = Switcher(self.pool, self.loader, model_for)
        self._model_for = model_for

    # --- what is known

    @property
    def current(self) -> LoadedSession:
        """The session on screen."""
        return self.switcher.current

    @property
    def open(self) -> tuple[LoadedSession, ...]:
        """The sessions whose lease this program holds, in the order in which they were opened."""
        return tuple(self.pool.held)

    def take_notices(self) -> Sequence[tuple[LoadedSession, Notice]]:
        """Return the notices since the last call, with the sessions that they are about."""
        notices = tuple(self.loader.outbox)
        self.loader.outbox.clear()
        return notices

    @property
    def scope(self) -> str:
        """The scope that names and numbers are looked for in first."""
        return self.current.session.header.scope or self.place.scope

    def rows(self) -> tuple[SessionEntry, ...]:
        """The rows of the open sessions in the list."""
        now = format_utc(self.clock())
        return tuple(each.row(now, active=each is self.current) for each in self.pool.held)

    def marks(self) -> dict[str, Mark]:
        """The marks of open sessions, and of closed ones with an unread answer."""
        unread = dict.fromkeys(self.pool.unread, Mark.UNREAD)
        return unread | {each.id: each.mark for each in (*self.pool.held, self.current)}

    # --- the start, before there is an event loop

    def start(self, session_id: str | None = None) -> None:
        """Begin in a session that is there, or in a new one. Raises ``StorageError``."""
        self.prompts.recover_edits()
        is_new = session_id is None
        self.switcher.enter(
            self.loader.new(self.place) if is_new else self.loader.opened(session_id)
        )

    def start_private(self) -> None:
        """Begin in a private session."""
        self.switcher.enter(self.loader.private(self.place))

    # --- switching

    async def open_session(self, session_id: str) -> bool:
        """Show a session and open it, as the scope's active one; else as ``Switcher.look_at``.

        Raises ``UsageError`` at the limit, too.
        """
        switched = await self.switcher.open_session(session_id)
        if switched:
            self.switcher.do_behind(self.note_opened(self.current))
        return switched

    async def begin(self, name: str = "") -> bool:
        """Show a new session of the scope; false if the current one is new.

        Raises ``StorageError``, also ``StayedError``, and ``UsageError`` at the limit.
        """
        if not self.current.untouched or self.current.private:
            if not await self.switcher.select(self._make_new):
                return False
        elif not name:
            return False
        loaded = self.current
        if name and loaded.opened is not None:
            loaded.opened.rename(name)
            self.switcher.do_behind(self.pool.try_save(loaded))
        return True

    async def begin_private(self) -> bool:
        """Show a new private session; false if the current one is one, or another was wanted.

        Raises ``StayedError`` and ``PrivateSessionLeft``.
        """
        if self.current.private and self.current.untouched:
            return False
        return await self.switcher.select(self._make_private)

    async def keep(self) -> None:
        """Save the private session on screen as a new one, under a new id, and continue it there.

        Raises ``UsageError`` if it is kept or empty, and ``StorageError``: then it stays private.
        """
        loaded = self.current
        if not loaded.private:
            raise UsageError("This session is already saved.")
        if loaded.empty:
            raise UsageError("Nothing to keep yet.")
        async with self.switcher.moves:
            await self.pool.keep(loaded)
        self.switcher.do_behind(self.note_opened(loaded))

    async def leave(self, loaded: LoadedSession, give_up: Callable[[], Awaitable[None]]) -> bool:
        """Close or move a session by ``give_up``; tell whether another one is to be shown for it.

        For the current one that is the scope's most recently used other session, or a new one. It
        is there to be shown before ``give_up`` runs; if that raises, the current one stays. False
        if another session was wanted meanwhile. Raises what ``give_up`` raises, other
        ``StorageError``, and ``UsageError`` at the limit.
        """
        if loaded is self.current:
            return await self.switcher.switch(partial(self._find_other, give_up))
        async with self.switcher.moves:
            await give_up()
        return False

    async def take(self, loaded: LoadedSession) -> None:
        """Open a session that is looked at, for a first change.

        Raises ``ReadOnly`` if it was opened for reading, ``UsageError`` at the limit, and other
        ``StorageError``: then it is read-only from now on.
        """
        if loaded.opened is not None:
            return
        if not await asyncio.to_thread(self.reader.holder, loaded.id):
            # Nobody holds it, or not any more: it can be asked for.
            loaded.access.read_only = ""
        async with self.switcher.moves:
            await self._take(loaded)
        if loaded is not self.current:
            self.switcher.do_behind(self.switcher.leave(loaded))

    async def follow(self, loaded: LoadedSession, take: Callable[[], None]) -> bool:
        """Let a reading of a session count that is not held here; false if it is by now."""
        async with self.switcher.moves:
            if loaded.opened is not None or loaded is not self.current:
                return False
            take()
            return True

    # --- saving

    async def save_all(self) -> bool:
        """Write what is pending anywhere; whether all of it could be.

        A session that stayed open only because it could not be saved is closed then.
        """
        results = [await self.pool.try_save(loaded) for loaded in self.open]
        async with self.switcher.moves:
            await self.switcher.leave_idle()
        return all(results)

    # --- changes

    async def change(self, loaded: LoadedSession, make: Callable[[OpenSession], None]) -> None:
        """Open a session, let a change be made in it, and save that.

        Raises what ``take`` and ``make`` raise, and ``StorageError`` if it could not be saved: the
        change counts here all the same, and is in the next save.
        """
        await self.take(loaded)
        if loaded.opened is None:
            raise ReadOnly(loaded.id)
        make(loaded.opened)
        await self.pool.save(loaded)
        if loaded is not self.current:
            self.switcher.do_behind(self.switcher.leave(loaded))

    async def find_to_change(self, session_id: str) -> LoadedSession:
        """Find or read a session that may be neither on screen nor open, for a change.

        Raises ``SessionBusy`` if another program holds it, and other ``StorageError``.
        """
        loaded = self.switcher.find(session_id)
        if loaded is not None:
            return loaded
        holder = await asyncio.to_thread(self.reader.holder, session_id)
        if holder is not None:
            raise SessionBusy(session_id, str(holder))
        return await asyncio.to_thread(self.loader.looked_at, session_id)

    async def change_settings(
        self, loaded: LoadedSession, change: Callable[[Settings], Settings]
    ) -> None:
        """Change the settings of a session. Raises as ``change``.

        ``change`` is given those that apply once the session is open.
        """

        def put(opened: OpenSession) -> None:
            opened.change_settings(change(opened.session.settings))

        await self.change(loaded, put)

    async def reset(self, loaded: LoadedSession) -> None:
        """Save a session that is open, then let it begin anew; not if it cannot be saved.

        Raises ``StorageError``.
        """
        async with self.switcher.moves:
            if loaded.opened is None or loaded not in self.pool.held:
                raise ReadOnly(loaded.id)
            await self.pool.save(loaded)
            loaded.opened.reset()
            # What was said is safe: it begins anew here, and on disk as soon as that can be.
            await self.pool.try_save(loaded)

    async def use_model(self, loaded: LoadedSession, model: Model) -> None:
        """Let another model answer in a session. Raises ``StorageError``."""

        def use(opened: OpenSession) -> None:
            loaded.model = model
            opened.use_model(model.name)
            if opened.published:
                opened.note_state()

        await self.change(loaded, use)

    # --- copies

    async def fork(self, session_id: str, last: str | None = None) -> str:
        """Write a copy of what is saved of a session, and give its id; nothing is opened.

        With ``last``, up to that message of any version. Raises ``UsageError`` at the limit or if
        there is nothing to copy, and ``StorageError``.
        """
        self.pool.check_limit()
        return await asyncio.to_thread(
            write_fork, self._stores.main, session_id, format_utc(self.clock()), last
        )

    # --- prompts

    async def attach(self, loaded: LoadedSession, text: str) -> "Attached":
        """Read the files and pictures that a prompt refers to, in a thread.

        Raises ``UsageError`` and ``StorageError`` as ``attachments.attach``.
        """

        def work() -> "Attached":
            # Imported with the first reference: the first screen needs none of it.
            from tui.engine.attachments import attach

            own = loaded.prompt.references_of(text)
            earlier: Sequence[Attachment] = ()
            if loaded.opened and (question := loaded.opened.edited_question):
                # The prompt is another version of it.
                earlier = self.reader.journal(loaded.id).message(question).attachments
            return attach(text, own, self._place_of(loaded), earlier=earlier)

        return await asyncio.to_thread(work)

    async def keep_picture(self, loaded: LoadedSession, data: bytes) -> str:
        """Keep a picture for a prompt of a session; gives its SHA-256. Raises ``StorageError``."""
        store = self._stores.of(loaded.id)
        return await asyncio.to_thread(store.add_attachment, loaded.id, data)

    async def preview(
        self, loaded: LoadedSession, text: str, own: frozenset[str]
    ) -> "AttachedView":
        """Describe what the user's own references in a prompt will attach."""

        def work() -> "AttachedView":
            from tui.engine.attachments import preview

            return preview(text, own, self._place_of(loaded))

        return await asyncio.to_thread(work)

    def _place_of(self, loaded: LoadedSession) -> "PromptPlace":
        from tui.engine.attachments import PromptPlace

        folder = Path(loaded.session.header.project_path)
        return PromptPlace(self._stores.of(loaded.id), loaded.id, [folder])

    async def keep_drafts(self) -> None:
        """Write what was typed and not sent. Raises ``StorageError`` after all were tried."""
        failures: list[StorageError] = []
        for loaded in dict.fromkeys((*self.pool.held, self.current)):
            try:
                await self.pool.keep_draft(loaded)
            except StorageError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    # --- pages

    async def read_earlier(self, loaded: LoadedSession, count: int = PAGE) -> Sequence[Entry]:
        """Read the page before what is at hand. Raises ``StorageError``."""
        page = await loaded.pages.read_earlier(self.reader.journal(loaded.id), count)
        if page is None:
            return ()
        if loaded.pages.excerpt is None and loaded.lacks_versions(page.entries):
            await self.read_versions(loaded)
        if page.damaged and loaded.pages.excerpt is None:
            words = damage_words(page.damaged, f'"{loaded.label()}"')
            loaded.say(Notice(words, "warning", caused=True))
        return page.entries

    async def read_versions(self, loaded: LoadedSession) -> None:
        """Read which messages of a session have other versions. Raises ``StorageError``."""
        loaded.kept_versions = await asyncio.to_thread(self.reader.journal(loaded.id).versions)

    # --- within

    async def _find_other(self, give_up: Callable[[], Awaitable[None]]) -> LoadedSession:
        other = await self._most_recent_other() or await self._make_new()
        try:
            await give_up()
            # A session that was only looked at has a draft as well.
            await self.switcher.ready_to_leave(self.current)
        except BaseException:
            await self.pool.drop(other)
            raise
        return other

    async def _most_recent_other(self) -> LoadedSession | None:
        listing = await asyncio.to_thread(
            self.reader.list, SessionFilter(self.scope), None, _OTHERS_TRIED + 1
        )
        for entry in listing.entries:
            if entry.id == self.current.id:
                continue
            # One that is gone by now, or cannot be read, is no place to go to.
            with suppress(StorageError):
                return await self.switcher.found_or_looked_at(entry.id)
        return None

    async def _make_new(self) -> LoadedSession:
        self.pool.check_limit()
        return await asyncio.to_thread(self.loader.new, await self._origin())

    async def _make_private(self) -> LoadedSession:
        self.pool.check_limit()
        return self.loader.private(await self._origin())

    async def _origin(self) -> SessionOrigin:
        """The project of the open session, else the one that the program was started in.

        Looking at a session leads nobody elsewhere; nor does one from another machine.
        """
        header, model = self.current.session.header, self._model_for(None)[0].name
        folder = header.project_path or self.place.project_path
        if self.current.opened is None or not await asyncio.to_thread(os.path.isdir, folder):
            return msgspec.structs.replace(self.place, model=model)
        return SessionOrigin(header.scope or self.place.scope, folder, model)

    async def _take(self, loaded: LoadedSession) -> None:
        if loaded.opened is not None or self.switcher.read_anew(loaded):
            return
        if loaded.access.read_only:
            raise ReadOnly(loaded.id)
        self.pool.check_limit()
        try:
            opened = await asyncio.to_thread(self.loader.taken, loaded)
        except StorageError as error:
            loaded.access.read_only = read_only_words(error)
            loaded.access.held_elsewhere = isinstance(error, SessionBusy)
            raise
        loaded.hold(opened)
        self.switcher.enter(loaded, show=False)
        # One that is renamed or pinned in a list is not what --continue opens next.
        if loaded is self.current:
            await self._make_active(loaded)

    async def note_opened(self, loaded: LoadedSession) -> None:
        """Say on disk that a session was opened; at the start, not before the screen is there."""
        if loaded.opened is not None and loaded.published:
            await self._make_active(loaded)
            await self.pool.try_save(loaded)

    async def _make_active(self, loaded: LoadedSession) -> None:
        if loaded.private:
            return
        # What --continue picks next time is worth less than what is to be done now.
        with suppress(StorageError), save_errors():
            scope = loaded.session.header.scope
            await asyncio.to_thread(self._stores.main.set_active, scope, loaded.id)
