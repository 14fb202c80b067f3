"""Shows what another program writes to the session on screen."""

import asyncio
from contextlib import suppress

import msgspec

from tui.app.controllers.controller import Controller
from tui.app.controllers.store_server import StoreServer
from tui.engine.sessions.external_changes import Follower
from tui.errors import ServerUnreachable, StorageError

SECONDS = 0.9
"""The longest delay until the changes of other programs are shown, besides reading them."""
WATCHED_SECONDS = 3.0
"""The same where the store notifies of changes at once, except of leases that run out."""
LIST_SECONDS = 1.0
"""The shortest interval at which the changes of other programs are put into the list."""


class LiveUpdates(Controller):
    """Shows what is written to the session on screen, and who may write."""

    _server: StoreServer
    _follower: Follower
    _changed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    _listed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Look at each notification of the store, and at an interval."""
        loop = asyncio.get_running_loop()

        def notify(session_id: str) -> None:
            # The loop is closed if the program has ended meanwhile.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._note, session_id)

        watched = await asyncio.to_thread(self._workspace.reader.watch, notify)
        seconds = WATCHED_SECONDS if watched else SECONDS
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
            self._changed.clear()
            # A session that is held here is not looked at.
            follows = self._workspace.current.opened is None
            try:
                await self.look()
            except ServerUnreachable as error:
                self._server.note_away(error)
            except StorageError:
                pass  # what cannot be read now is read when it can be; opening it tells why not
            else:
                if follows:
                    self._server.note_back()
            if not watched:
                continue
            self._retry_failed()
            if any(each.unsaved and each.save.failure for each in self._workspace.open):
                await self._server.save_again()

    def _retry_failed(self) -> None:
        """Let open screens ask again what the store's server did not answer."""
        from tui.screens.dialog import Dialog

        for screen in self._app.screen_stack:
            if isinstance(screen, Dialog):
                screen.retry_failed()

    async def run_list(self) -> None:
        """Refresh the list at each notification of the store."""
        while True:
            await self._listed.wait()
            self._listed.clear()
            await self._session_list.refresh()
            await asyncio.sleep(LIST_SECONDS)

    def _note(self, session_id: str) -> None:
        if not session_id:
            # The store's server is there, or there again.
            self._server.note_back()
        if session_id in ("", self._workspace.current.id):
            self._changed.set()
        if session_id not in [each.id for each in self._workspace.open]:
            self._listed.set()

    async def look(self) -> None:
        """Look once. Raises ``StorageError``."""
        session = self._workspace.current
        count = session.session.message_count, session.label(), session.mark
        was_held = session.access.held_elsewhere
        change = await self._follower.look()
        if change is None or session is not self._workspace.current:
            return
        self._presenter.show_followed(change)
        if count != (session.session.message_count, session.label(), session.mark):
            await self._session_list.refresh()
        if not was_held or session.read_only:
            return
        # The unsent text of its holder, if the prompt is empty.
        prompts, prompt = self._workspace.prompts, self._chat.prompt
        typed = await asyncio.to_thread(prompts.typed, session)
        if session is self._workspace.current and typed.text and not prompt.draft:
            prompts.show(session, typed)
            draft = session.prompt
            prompt.set_text(draft.text, draft.pastes, draft.own_words)
