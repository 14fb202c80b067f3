"""Work in the background, from right behind the first screen on; other programs are followed."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tui.app.appearance import UiStateService
from tui.app.controllers.controller import Controller
from tui.app.controllers.store_server import StoreServer
from tui.app.session_imports import HOUR
from tui.domain.text import listed
from tui.domain.views.notice import Notice
from tui.engine.sessions.external_changes import Follower
from tui.errors import ModelError, ServerUnreachable, StorageError
from tui.widgets.transcript import warm_up

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

SECONDS = 0.9
"""The longest delay until the changes of other programs are shown, besides reading them."""
WATCHED_SECONDS = 3.0
"""The same where the store notifies of changes at once, except of leases that run out."""
LIST_SECONDS = 1.0
"""The shortest interval at which the changes of other programs are put into the list."""
_ROWS_SECONDS = 60.0
"""The interval at which the ages in the list are shown anew."""
IDLE_SECONDS = 2.0
"""The time without a key before servers of tools are started, and sessions imported."""
_FIRST_SESSIONS = 10
"""The number of sessions from which on no import is offered any more."""


class Background(Controller):
    """Fills the list, prunes, follows other programs and loads what the screen needs later."""

    _server: StoreServer
    _follower: Follower
    _ui_state: UiStateService
    _idle: "Timer | None" = None
    _changed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    _listed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    _following: dict[str, "Worker[None]"] = msgspec.field(default_factory=dict[str, "Worker[None]"])

    def note_input(self) -> None:
        """Begin the wait for a time without input anew."""
        if self._idle is not None:
            self._idle.reset()

    def begin(self) -> None:
        """Start all of it."""
        self._idle = self._app.set_timer(IDLE_SECONDS, self._begin_once_idle)
        self._app.run_worker(self._show_list, name="list sessions")
        self._follow()
        self._app.set_interval(_ROWS_SECONDS, self._session_list.show_ages)
        self._app.set_interval(_ROWS_SECONDS, self._follow)

    def _begin_once_idle(self) -> None:
        if self._parts.turn_settings.tools.setup.has_servers:
            self._app.run_worker(self._start_servers, name="start tool servers")
        self._app.run_worker(self._import_by_the_hour, name="import automatically")

    async def _import_by_the_hour(self) -> None:
        """Import from the programs that were chosen for it, and say only what is new or wrong."""
        while imports := self._parts.automatic_imports:
            # While a private session is on screen, nothing is written.
            if not self._workspace.current.private:
                changed, notices = await asyncio.to_thread(imports.run)
                for notice in notices:
                    self._presenter.remark(notice)
                if changed:
                    await self._session_list.show_imported()
            await asyncio.sleep(HOUR)

    def _follow(self) -> None:
        for run in (self._follow_session, self._follow_list):
            worker = self._following.get(run.__name__)
            # A defect may have ended one, and was reported.
            if worker is None or worker.is_finished:
                worker = self._app.run_worker(run, name="follow other windows")
                self._following[run.__name__] = worker

    async def _start_servers(self) -> None:
        """Start the servers of tools once nobody types; a prompt before that starts them, too."""
        settings, session = self._parts.turn_settings, self._workspace.current.session
        if settings.offers_tools(session.settings, session.model):
            started = await settings.tools.setup.servers.start()
            # A late one is told with the answer that goes without it.
            if failed := [f'"{each.name}"' for each in started if each.state == "failed"]:
                words = f"Not started: {listed(failed)}. /tools says why."
                self._presenter.say(words, "warning")

    async def _show_list(self) -> None:
        # First: the active session stays when old and surplus ones are archived.
        await self._workspace.note_opened(self._workspace.current)
        await self._session_list.refresh()
        # Not before: the list would wait for it.
        self._app.run_worker(self._warm_up, name="warm up")
        self._app.run_worker(self._show_window, name="ask for the size of the context")
        await self._session_list.prune(self._parts.retention)
        self._app.run_worker(self._tell_version, name="look for an update")

    async def _tell_version(self) -> None:
        """Say once where to read what a new version has changed, if there are sessions already."""
        version = await asyncio.to_thread(self._parts.version)
        known = self._parts.sessions.entries or self._parts.sessions.others
        if version and await self._ui_state.is_new(version) and known:
            self._presenter.remark(Notice(f"sibyl-tui {version}: /help changes shows what is new"))

    async def _show_window(self) -> None:
        """Show how full the window of the first model is, once that is known."""
        model = self._workspace.current.model
        if model is not None:
            # Whoever asks it is told why it cannot be loaded.
            with suppress(ModelError):
                await model.window()
        self._presenter.show_status()

    async def _warm_up(self) -> None:
        await asyncio.to_thread(warm_up)
        if len(self._parts.sessions.entries) >= _FIRST_SESSIONS:
            return
        # Without a log of imports nothing is offered; an import would say why.
        with suppress(StorageError):
            self._chat.offer_import(await asyncio.to_thread(self._parts.imports.offer))

    # --- other programs

    async def _follow_session(self) -> None:
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
                await self._look()
            except ServerUnreachable as error:
                self._server.note_away(error)
            except StorageError:
                pass  # what cannot be read now is read when it can be; opening it tells why not
            else:
                if follows:
                    self._server.note_back()
            if not watched:
                continue
            from tui.screens.dialog import Dialog

            for screen in self._app.screen_stack:
                if isinstance(screen, Dialog):
                    screen.retry_failed()
            if any(each.unsaved and each.save.failure for each in self._workspace.open):
                await self._server.save_again()

    async def _follow_list(self) -> None:
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

    async def _look(self) -> None:
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
        if not was_held or session.access.read_only:
            return
        # The unsent text of its holder, if the prompt is empty.
        prompts, prompt = self._workspace.prompts, self._chat.prompt
        typed = await asyncio.to_thread(prompts.typed, session)
        has_text = any(draft.text for draft in typed.distinct)
        if session is self._workspace.current and has_text and not prompt.draft:
            prompts.show(session, typed)
            draft = session.prompt
            prompt.set_text(draft.text, draft.pastes, draft.own_words)
