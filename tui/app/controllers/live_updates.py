"""Shows what another program writes to the session on screen."""

import asyncio
from contextlib import suppress

from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.engine.sessions.external_changes import Follower
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError

SECONDS = 0.9
"""The longest delay until the changes of other programs are shown, besides reading them."""


class LiveUpdates:
    """Shows what is written to the session on screen, and who may write."""

    def __init__(
        self, workspace: Workspace, presenter: SessionPresenter, session_list: SessionListController
    ) -> None:
        self._workspace = workspace
        self._presenter = presenter
        self._session_list = session_list
        self._follower = Follower(workspace)

    async def run(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(SECONDS)
            with suppress(StorageError):
                # What cannot be read now is read when it can be; opening it tells why not.
                await self.look()

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
        if was_held and not session.read_only:
            await self._offer_draft(session)

    async def _offer_draft(self, session: LoadedSession) -> None:
        """Show the unsent text of its holder, if the prompt is empty."""
        prompts = self._workspace.prompts
        typed = await asyncio.to_thread(prompts.typed, session)
        if session is self._workspace.current and typed.text and not self._presenter.typed:
            prompts.show(session, typed)
            self._presenter.show_draft()
