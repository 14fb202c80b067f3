"""Navigation: to another session, to a found message, and to the pages around it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from tui.app.controllers.controller import Controller
from tui.domain.journal.session import Surroundings
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import SessionNotFound, StorageError
from tui.widgets import intents
from tui.widgets.transcript import ScrollPosition

if TYPE_CHECKING:
    from tui.commands.shell import Shell
    from tui.storage.protocol import SessionReader

_AROUND = 50


class Navigation(Controller):
    """Shows sessions and messages wherever they stand, and the pages around what is shown."""

    def switch(self, session_id: str) -> None:
        """Show the session that the user selected, behind the tasks that came before.

        Later keys wait, as they are meant for it.
        """
        work = partial(self._switch, session_id, self._queue.hold())
        self._app.run_worker(work, name="open the session")

    async def _switch(self, session_id: str, release_keys: Callable[[], None]) -> None:
        switcher = self._workspace.switcher

        async def leave_for(shell: "Shell") -> None:
            left = switcher.current
            if await switcher.look_at(session_id):
                await shell.show_session()
                shell.show_moved(left.id)

        try:
            await self._queue.settle()
            left = switcher.current
            if not await switcher.look_at(session_id) or self._presenter.is_current:
                return
            await self.show_session()
        except PrivateSessionLeft:
            self._presenter.stay()
            # Again as a command, which asks whether it may be lost.
            self._do(leave_for)
            return
        except StorageError as error:
            self._presenter.say(str(error), "error")
            self._presenter.stay()
            return
        finally:
            release_keys()
        self._session_list.show()
        await switcher.settle()
        # A session that is new is in no page that was read.
        if left.published and not self._parts.sessions.knows(left.id):
            await self._session_list.refresh()
        else:
            self._session_list.show()

    async def go_to(self, session_id: str, message_id: str | None, text: str = "") -> None:
        """Look at a session where one of its messages has a text, or without one at its end.

        Raises ``StorageError``, and then stays.
        """
        workspace, conversation = self._workspace, self._chat.conversation
        around = await asyncio.to_thread(_around, workspace.reader, session_id, message_id)
        if not await workspace.switcher.look_at(session_id):
            return
        if message_id is None or around is None:
            workspace.current.pages.show_end()
            self._presenter.show_session()
            conversation.go_to(ScrollPosition(None, 0, following=True))
        else:
            workspace.current.pages.show(message_id, around)
            self._presenter.show_session()
            conversation.show_message(message_id)
            self._chat.transcript.finder.point_at(message_id, text)
        self._chat.go_to_prompt()
        self._session_list.show()

    async def handle(self, event: intents.PageWanted) -> None:
        """Show what a reader wants of the session on screen."""
        session, conversation = self._workspace.current, self._chat.conversation
        pages, journal = session.pages, self._workspace.reader.journal
        try:
            match event.which:
                case "earlier":
                    far = pages.excerpt is not None
                    entries = await self._workspace.read_earlier(session)
                    # Another session, excerpt or version may be on screen by now.
                    now = session.pages
                    if session is self._workspace.current and far == (now.excerpt is not None):
                        conversation.prepend(entries, earlier=now.before is not None)
                        self._presenter.price_later()
                case "later":
                    has_read = await pages.read_later(journal(session.id))
                    # The reader may be at the end by now, which needs no later page.
                    is_shown = has_read and session is self._workspace.current
                    if is_shown and conversation.ends.later:
                        view = session.view()
                        arriving = (view.arriving,) if view.arriving else ()
                        conversation.append(view.entries, later=view.later, arriving=arriving)
                        conversation.show_queued(view.queue.prompts)
                case "beginning":
                    await pages.show_beginning(journal(session.id))
                    if session is self._workspace.current:
                        cursor = conversation.cursor.message is not None
                        self._presenter.show_session()
                        self._chat.transcript.show_beginning(cursor=cursor)
                case "end":
                    self._presenter.show_end()
        except StorageError as error:
            self._presenter.say(str(error), "error")

    async def show_session(self) -> None:
        """Show the workspace's current session; another one from where its reader left it."""
        session, conversation = self._workspace.current, self._chat.conversation
        # Later calls leave its reader in place.
        place = None if self._presenter.is_current else self._chat.places.pop(session.id)
        self._presenter.show_session()
        if place is None:
            return
        conversation.go_to(place)
        if not place.key or place.following or session.pages.has(place.key):
            return
        # Far from the end: unless its reader has moved meanwhile.
        reader, around = self._workspace.reader, None
        # It was none of its messages, or is one no more.
        with suppress(StorageError):
            around = await asyncio.to_thread(_around, reader, session.id, place.key)
        if around and session is self._workspace.current and conversation.following:
            session.pages.show(place.key, around)
            self._presenter.show_session()
            conversation.go_to(place)


def _around(store: "SessionReader", session_id: str, message_id: str | None) -> Surroundings | None:
    if store.entry(session_id).status == "trashed":
        raise SessionNotFound(session_id, where="It is in the trash.")
    journal = store.journal(session_id)
    return journal.around(message_id, _AROUND, _AROUND) if message_id is not None else None
