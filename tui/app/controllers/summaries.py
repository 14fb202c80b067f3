"""Summaries while they are made: one worker a session, owned by the application."""

import asyncio
from contextlib import suppress
from functools import partial

import msgspec
from textual.worker import Worker, WorkerError

from tui.app.controllers.controller import Controller
from tui.domain.providers import is_guide
from tui.domain.views.notice import Notice, Severity
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import OpenSession
from tui.engine.turns.own_requests import KEPT, Compacted, Compaction
from tui.errors import SibylError, StorageError

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
            await self._keep(session, compacted, asked=not kept)
        finally:
            # Only what needs no await: this may be cancelled a second time.
            self._end(session)
        if session is not self._workspace.current:
            await self._workspace.switcher.leave(session)

    async def _keep(
        self, session: LoadedSession, compacted: Compacted | None, *, asked: bool
    ) -> None:
        if compacted is None:
            if asked:
                self._say(session, "Nothing to compact.")
            return
        self._failed_at.pop(session.id, None)
        if session is self._workspace.current:
            self._chat.conversation.put(compacted.summary)
        await self._workspace.pool.try_save(session)
        if asked:
            self._say(session, compacted.words)

    def _say(self, session: LoadedSession, text: str, severity: Severity = "information") -> None:
        session.say(Notice(text, severity))
        self._presenter.show_status()

    def _end(self, session: LoadedSession) -> None:
        if self._workers.pop(session, None) is not None:
            session.activity.end_summary()
            self._presenter.show_status()
