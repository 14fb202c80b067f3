"""Pastes the picture in the clipboard: the store keeps it, the prompt refers to it."""

import asyncio
import os

from tui.app.chat_view import ChatView
from tui.app.controllers.session_view import SessionPresenter
from tui.app.services.clipboard_picture import read_picture
from tui.domain.references import reference_to_picture
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError, UsageError


class PicturePaste:
    """Puts a picture into the session that was on screen when it was asked for."""

    def __init__(self, chat: ChatView, workspace: Workspace, presenter: SessionPresenter) -> None:
        self._chat = chat
        self._workspace = workspace
        self._presenter = presenter

    async def paste(self) -> None:
        """Keep the picture, and refer to it in the prompt; else say why there is none."""
        session = self._workspace.current
        try:
            data = await asyncio.to_thread(read_picture, os.environ)
            sha256 = await self._workspace.keep_picture(session, data)
        except (StorageError, UsageError) as error:
            self._presenter.say(Notice(str(error), "error"))
            return
        self._refer(session, reference_to_picture(sha256))

    def _refer(self, session: LoadedSession, reference: str) -> None:
        if session is self._workspace.current:
            self._chat.prompt.insert_reference(reference)
        else:
            own = session.prompt.own_words | {reference}
            session.prompt.edit(f"{session.prompt.text} {reference} ".lstrip(), own=own)
            self._chat.settle_draft()
