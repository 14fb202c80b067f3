"""What a model is asked beside its answers: summaries, and titles."""

import asyncio
import logging
from contextlib import suppress
from functools import partial

import msgspec
from textual.worker import Worker, WorkerError

from tui.app.controllers.controller import Controller
from tui.domain.commands import BY_NAME
from tui.domain.providers import is_guide
from tui.domain.timestamps import format_utc
from tui.domain.views.notice import Notice, Severity
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import OpenSession
from tui.engine.turns.own_requests import KEPT, Compaction, TitleRequest, title_request
from tui.errors import SibylError, StorageError
from tui.logs import error_name, log_of
from tui.widgets.sidebar.sidebar import RenameLine

MESSAGES_BETWEEN_TRIES = 6
"""After a summary that failed or was stopped, so many more messages make it due again."""


class Summaries(Controller):
    """Begins summaries, says in their session what came of them, and stops them."""

    _workers: dict[LoadedSession, Worker[None]] = msgspec.field(
        default_factory=dict[LoadedSession, Worker[None]]
    )
    _failed_at: dict[str, int] = msgspec.field(default_factory=dict[str, int])

    async def consider(self, session: LoadedSession) -> None:
        """Begin a summary if one is due."""
        opened, compaction = session.opened, self._compaction(session)
        count = session.session.message_count
        failed_at = self._failed_at.get(session.id, count + 1)
        too_early = failed_at <= count < failed_at + MESSAGES_BETWEEN_TRIES
        if opened is None or compaction is None or too_early:
            return
        with suppress(StorageError):
            if await compaction.is_due(opened):
                self.begin(session, kept=KEPT)

    async def stop(self, session: LoadedSession) -> bool:
        """Stop the summary that is made in a session; false if there is none."""
        worker = self._workers.get(session)
        if worker is None:
            return False
        worker.cancel()
        with suppress(WorkerError):
            # Cancelled, as it was to be.
            await worker.wait()
        self._end(session)
        self._failed_at[session.id] = session.session.message_count
        self._say(session, "Stopped summarising; nothing was changed.")
        return True

    def _compaction(self, session: LoadedSession) -> Compaction | None:
        model = session.model
        if model is None or is_guide(model.name):
            return None
        own, settings = session.session.settings, self._parts.turn_settings
        prompt = settings.in_force(own, model.name).system_prompt
        return Compaction(model, prompt, settings.offered(own, model.name))

    def begin(self, session: LoadedSession, kept: float = 0.0) -> None:
        """Begin a summary; one that the user asked for is of all but the last turn."""
        opened, compaction = session.opened, self._compaction(session)
        if opened is None or compaction is None or session.activity.summarising:
            return
        session.activity.begin_summary(self._parts.stopwatch())
        self._presenter.show_status()
        # Not the coroutine itself: Python complains of one that the end forestalls.
        drive = partial(self._drive, session, opened, compaction, kept)
        worker = self._app.run_worker(drive, group="summaries", exit_on_error=False)
        self._workers[session] = worker

    async def _drive(
        self, session: LoadedSession, opened: OpenSession, compaction: Compaction, kept: float
    ) -> None:
        try:
            compacted = await compaction.run(opened, kept)
        except SibylError as error:
            self._failed_at[session.id] = session.session.message_count
            self._say(session, f"Not summarised: {error}", "warning")
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._say(session, f"Unexpected error: {type(error).__name__}: {error}", "error")
            raise
        else:
            if compacted is not None:
                self._failed_at.pop(session.id, None)
                if session is self._workspace.current:
                    self._chat.conversation.put(compacted.summary)
                await self._workspace.pool.try_save(session)
            if not kept:
                # The user has asked for it.
                self._say(session, compacted.words if compacted else "Nothing to compact.")
        finally:
            # Only what needs no await: this may be cancelled a second time.
            self._end(session)
        if session is not self._workspace.current:
            await self._workspace.switcher.leave(session)

    def _say(self, session: LoadedSession, text: str, severity: Severity = "information") -> None:
        session.say(Notice(text, severity))
        self._presenter.show_status()

    def _end(self, session: LoadedSession) -> None:
        if self._workers.pop(session, None) is not None:
            session.activity.end_summary()
            self._presenter.show_status()


_log = logging.getLogger(__name__)


class TitleController(Controller):
    """Asks the model that answers in a session for its title."""

    def ask(self, line: RenameLine) -> None:
        """Have a title offered in a line; closing the line ends that."""
        session = self._workspace.switcher.find(line.session_id)
        request = title_request(session) if session else None
        if session is None:
            self._presenter.say("Open this session first: its model makes the title.")
        elif request is None:
            self._presenter.say(BY_NAME["name"].usage_error)
        else:
            work = partial(self._offer, line, session.id, request)
            line.run_worker(work, name="ask for a title", group="title", exclusive=True)

    async def _offer(self, line: RenameLine, session_id: str, request: TitleRequest) -> None:
        line.show_asking(f"Asking {request.model.name} for a title…")
        try:
            titled = await request.ask(format_utc(self._workspace.clock()))
        except SibylError as error:
            line.offer("")
            self._presenter.say(f"No title: {error}", "warning")
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

        def put(opened: OpenSession) -> None:
            opened.add(titled)
            if not opened.session.name:
                opened.rename(titled.text)

        await self._session_list.change(session_id, put)
