"""Titles by the model: offered in the line in which a session is renamed, or given by itself."""

import logging
from functools import partial

from tui.app.controllers.controller import Controller
from tui.domain.commands import BY_NAME
from tui.domain.journal.records import Titled
from tui.domain.timestamps import format_utc
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import OpenSession
from tui.engine.turns.own_requests import TitleRequest, title_request
from tui.errors import SibylError
from tui.logs import error_name, log_of
from tui.widgets.sidebar.sidebar import RenameLine

_log = logging.getLogger(__name__)


class TitleController(Controller):
    """Asks the model that answers in a session for its title."""

    def propose(self) -> None:
        """Begin to rename the session on screen, and ask for a title."""
        self._chat.action_rename()
        self._chat.sidebar.rename_line.action_ask_title()

    def ask(self, line: RenameLine) -> None:
        """Have a title offered in a line; closing the line ends that."""
        session = self._workspace.switcher.find(line.session_id)
        request = title_request(session) if session else None
        if session is None:
            self._presenter.say(Notice("Open this session first: its model makes the title."))
        elif request is None:
            self._presenter.say(Notice(BY_NAME["name"].usage_error))
        else:
            work = partial(self._offer, line, session.id, request)
            line.run_worker(work, name="ask for a title", group="title", exclusive=True)

    async def _offer(self, line: RenameLine, session_id: str, request: TitleRequest) -> None:
        line.show_asking(f"Asking {request.model.name} for a title…")
        try:
            titled = await request.ask(format_utc(self._workspace.clock()))
        except SibylError as error:
            line.offer("")
            self._presenter.say(Notice(f"No title: {error}", "warning"))
            return
        line.offer(titled.text)
        # Not by the line: it may be closed before that is saved.
        count = partial(self._session_list.change, session_id, lambda opened: opened.add(titled))
        self._app.run_worker(count, name="keep the tokens of the title")

    def consider(self, session: LoadedSession) -> None:
        """Give a session without a name a title after its first answer, unless more runs there."""
        is_idle = not (session.activity.running or session.prompt.queued)
        is_new = not session.session.name and session.session.prompt_count == 1
        request = title_request(session) if is_idle and is_new and not session.private else None
        if request is not None:
            name = partial(self._name, session.id, request)
            self._app.run_worker(name, name="ask for a title")

    async def _name(self, session_id: str, request: TitleRequest) -> None:
        try:
            titled = await request.ask(format_utc(self._workspace.clock()))
        except SibylError as error:
            with log_of(session_id):
                _log.info("no title: %s", error_name(error))
            return
        await self._session_list.change(session_id, partial(_put, titled))


def _put(titled: Titled, opened: OpenSession) -> None:
    opened.add(titled)
    if not opened.session.name:
        opened.rename(titled.text)
