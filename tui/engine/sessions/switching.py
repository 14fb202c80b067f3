"""The switch from one session on screen to another."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_sessions import OpenSessions, SessionLoader
from tui.errors import SibylError, StorageError, UsageError
from tui.logs import log_of, milliseconds_since
from tui.providers.protocol import Model

_log = logging.getLogger(__name__)

Load = Callable[[], Awaitable[LoadedSession]]
"""Reads the session that is to be shown, or makes it."""
ModelFor = Callable[[str | None], tuple[Model, Sequence[str]]]
"""The model for a session that was held with the one named, and what to say of the choice."""


class StayedError(StorageError):
    """The session on screen could not be saved, and was not left."""

    def __init__(self, title: str, reason: str) -> None:
        super().__init__(f'Stayed in "{title}": could not save ({reason})')
        self.reason = reason


class PrivateSessionLeft(SibylError):
    """The private session on screen would be lost, and was not left.

    It is left once the user has agreed: ``Switcher.letting_go``.
    """

    def __init__(self, loaded: LoadedSession) -> None:
        super().__init__("Stayed in the private session: nothing of it is saved. /keep saves it")
        self.loaded = loaded


class Switcher:
    """Shows one session after another: saves the current one, then loads the other.

    Switches run one after another; of those that wait, only the latest is carried out. The session
    that was left is closed after the switch: the screen shows the other one before the next key.
    ``moves`` is held while a session is entered or left.
    """

    def __init__(self, pool: OpenSessions, loader: SessionLoader, model_for: ModelFor) -> None:
        self._pool = pool
        self._loader = loader
        self._model_for = model_for
        self._current: LoadedSession | None = None
        self.moves = asyncio.Lock()
        self._let_go: LoadedSession | None = None
        self._wanted = 0
        # The loop itself keeps only a weak reference.
        self._behind: set[asyncio.Task[object]] = set()

    @property
    def current(self) -> LoadedSession:
        """The session on screen."""
        if self._current is None:
            raise ValueError("the workspace has not been started")
        return self._current

    def find(self, session_id: str) -> LoadedSession | None:
        """A session that is open or on screen."""
        known = [self.current, *self._pool.held]
        return next((each for each in known if each.id == session_id), None)

    async def settle(self) -> None:
        """Wait until the sessions that were left are closed, and what was opened is noted."""
        # Cancelling a bare gather would also cancel the closings.
        await asyncio.shield(asyncio.gather(*self._behind))

    async def leave(self, loaded: LoadedSession) -> None:
        """Close sessions without work in progress, unless they are on screen: this one first."""
        async with self.moves:
            await self._leave(loaded)
            await self.leave_idle()

    def enter(self, loaded: LoadedSession, *, show: bool = True) -> None:
        if loaded.opened is not None and loaded not in self._pool.held:
            self._pool.held.append(loaded)
            proposed = loaded.session.model if loaded.published else None
            loaded.model, notices = self._model_for(proposed)
            for notice in notices:
                loaded.say(Notice(notice, "warning", caused=True))
        if show:
            loaded.unread = False
            self._pool.unread.discard(loaded.id)
            self._current = loaded

    async def look_at(self, session_id: str) -> bool:
        """Show a session; nothing of it is changed.

        False if another one was wanted meanwhile. Raises ``StorageError``, also ``StayedError``,
        and then the session on screen stays.
        """
        current = self.current
        if current.id == session_id and not current.access.read_only:
            return await self.switch(self._stay)
        return await self.select(partial(self.found_or_looked_at, session_id))

    async def open_session(self, session_id: str) -> bool:
        """Show a session and open it. Raises ``UsageError`` at the limit; else as ``look_at``."""
        if self.current.id == session_id and self.current.opened is not None:
            return await self.switch(self._stay)
        return await self.select(partial(self._found_or_opened, session_id))

    async def _stay(self) -> LoadedSession:
        return self.current

    async def found_or_looked_at(self, session_id: str) -> LoadedSession:
        """Give a session as it is known, else read it. Raises ``StorageError``."""
        known = self.find(session_id)
        if known is not None and not known.access.read_only:
            return known
        return await asyncio.to_thread(self._loader.looked_at, session_id)

    async def _found_or_opened(self, session_id: str) -> LoadedSession:
        known = self.find(session_id)
        if known is not None and known.opened is not None:
            return known
        self._pool.check_limit()
        return await asyncio.to_thread(self._loader.opened, session_id)

    async def select(self, load: Load) -> bool:
        """Save the session on screen, then load and show another.

        False if another switch is wanted meanwhile. Raises ``StayedError``, ``PrivateSessionLeft``
        and what ``load`` raises; then the session on screen stays.
        """
        return await self.switch(partial(self._save_then_load, load))

    async def _save_then_load(self, load: Load) -> LoadedSession | None:
        """Give the other session, or nothing if another switch was wanted during the save."""
        wanted, leaving = self._wanted, self.current
        await self.ready_to_leave(leaving)
        if wanted != self._wanted:
            return None
        other = await load()
        try:
            # Again: something may have been said in it while the other one was read.
            self._require_agreement(leaving)
        except PrivateSessionLeft:
            await self._pool.drop(other)
            raise
        if other is not leaving and other.id == leaving.id:
            other.prompt.take_over(leaving.prompt)
        return other

    async def switch(self, find: Callable[[], Awaitable[LoadedSession | None]]) -> bool:
        """Show the session that ``find`` gives; false if another switch is wanted by then.

        What ``find`` raises is raised, and then the session on screen stays.
        """
        self._wanted += 1
        wanted, begun = self._wanted, time.perf_counter()
        async with self.moves:
            if wanted != self._wanted:
                return False
            leaving = self.current
            try:
                other = await find()
            except (StorageError, UsageError):
                if wanted != self._wanted:
                    return False
                raise
            if other is None:
                return False
            if wanted != self._wanted and not self._pool.given_up(leaving):
                await self._pool.drop(other)
                return False
            self.enter(other)
        with log_of(other.id):
            _log.info("switch to %s: %d ms", other.id, milliseconds_since(begun))
        # No await until the caller shows it: keys belong to what is on screen.
        if leaving is not other:
            self.do_behind(self.leave(leaving))
        return True

    async def ready_to_leave(self, loaded: LoadedSession) -> None:
        """Save a session and its draft; a private one that is lost only if the user agreed.

        Raises ``StayedError`` and ``PrivateSessionLeft``.
        """
        if self._pool.given_up(loaded):
            return
        if loaded.private:
            self._require_agreement(loaded)
            return
        # What is written anyway says that the session is closed, in the same write.
        closes = bool(loaded.pending) and not loaded.at_work
        try:
            await (self._pool.end(loaded) if closes else self._pool.save(loaded))
            await self._pool.keep_draft(loaded)
        except StorageError as error:
            raise StayedError(loaded.label(), error.short) from error

    def _require_agreement(self, loaded: LoadedSession) -> None:
        if loaded.losable and loaded is not self._let_go and not self._pool.given_up(loaded):
            raise PrivateSessionLeft(loaded)

    @contextmanager
    def letting_go(self, loaded: LoadedSession) -> Generator[None]:
        """Let switches within leave a private session, as the user agreed to."""
        self._let_go = loaded
        try:
            yield
        finally:
            self._let_go = None

    def do_behind(self, work: Coroutine[Any, Any, object]) -> None:
        """Do what a slow disk may hold up, once the screen shows what is current."""
        task = asyncio.create_task(work)
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)

    async def leave_idle(self) -> None:
        for loaded in tuple(self._pool.held):
            await self._leave(loaded)

    async def _leave(self, loaded: LoadedSession) -> None:
        if loaded is self.current or self.read_anew(loaded):
            return
        if self._pool.given_up(loaded):
            with suppress(StorageError):
                await self._pool.prompts.put_aside(loaded)
            return
        if loaded.private:
            self._pool.forget(loaded)
            return
        if loaded.unsaved and not loaded.activity.running:
            await self._pool.try_save(loaded)
        if loaded.busy:
            return
        try:
            await self._pool.keep_draft(loaded)
            if loaded in self._pool.held:
                await self._pool.close(loaded)
        except StorageError as error:
            # It stays open, and in the list as unsaved: the next save tries again.
            loaded.end_saving(error.short)

    def read_anew(self, loaded: LoadedSession) -> bool:
        """Tell whether another reading of the same session has taken the place of this one."""
        known = self.find(loaded.id)
        return known is not None and known is not loaded
