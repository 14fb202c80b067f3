"""Summaries while they are made: one worker a session, owned by the application."""

import asyncio
from contextlib import suppress
from functools import partial

from textual.app import App
from textual.worker import Worker, WorkerError

from tui.app.controllers.session_view import SessionPresenter
from tui.domain.views.notice import Notice, Severity
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import OpenSession
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.compaction import KEPT, Compacted, Compaction
from tui.errors import SibylError, StorageError

MESSAGES_BETWEEN_TRIES = 6
"""After a summary that failed or was stopped, so many more messages make it due again."""


class Summaries:
    """Begins summaries, says in their session what came of them, and stops them."""

    def __init__(
        self, app: App[None], display: SessionPresenter, workspace: Workspace, system_prompt: str
    ) -> None:
        self._app = app
        self._display = display
        self._workspace = workspace
        self._system_prompt = system_prompt
        self._workers: dict[LoadedSession, Worker[None]] = {}
        self._failed_at: dict[str, int] = {}

    async def consider(self, conversation: LoadedSession) -> None:
        """Begin a summary if one is due."""
        opened, compaction = conversation.opened, self._compaction(conversation)
        if opened is None or compaction is None or not self._may_try(conversation):
            return
        with suppress(StorageError):
            if await compaction.is_due(opened):
                self._begin(conversation, kept=KEPT)

    def begin(self, conversation: LoadedSession) -> None:
        """Begin a summary that the user asked for, of all but the last turn."""
        self._begin(conversation, kept=0.0)

    async def stop(self, conversation: LoadedSession) -> bool:
        """Stop the summary that is made in a session; false if there is none."""
        worker = self._workers.get(conversation)
        if worker is None:
            return False
        worker.cancel()
        with suppress(WorkerError):
            # Cancelled, as it was to be.
            await worker.wait()
        self._end(conversation)
        self._note_failure(conversation)
        self._say(conversation, "Stopped summarising; nothing was changed.")
        return True

    def _compaction(self, conversation: LoadedSession) -> Compaction | None:
        model = conversation.model
        return Compaction(model, self._system_prompt) if model is not None else None

    def _may_try(self, conversation: LoadedSession) -> bool:
        count = conversation.session.message_count
        failed_at = self._failed_at.get(conversation.id, count + 1)
        return count < failed_at or count >= failed_at + MESSAGES_BETWEEN_TRIES

    def _note_failure(self, conversation: LoadedSession) -> None:
        self._failed_at[conversation.id] = conversation.session.message_count

    def _begin(self, conversation: LoadedSession, kept: float) -> None:
        opened, compaction = conversation.opened, self._compaction(conversation)
        if opened is None or compaction is None or conversation.activity.summarising:
            return
        conversation.activity.begin_summary()
        self._display.show_status()
        # Not the coroutine itself: Python complains of one that the end forestalls.
        drive = partial(self._drive, conversation, opened, compaction, kept)
        worker = self._app.run_worker(drive, group="summaries", exit_on_error=False)
        self._workers[conversation] = worker

    async def _drive(
        self, conversation: LoadedSession, opened: OpenSession, compaction: Compaction, kept: float
    ) -> None:
        try:
            compacted = await compaction.run(opened, kept)
        except SibylError as error:
            self._note_failure(conversation)
            self._say(conversation, f"Not compacted: {error}", "warning")
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._say(conversation, f"Unexpected error: {type(error).__name__}: {error}", "error")
            raise
        else:
            await self._keep(conversation, compacted, asked=not kept)
        finally:
            # Only what needs no await: this may be cancelled a second time.
            self._end(conversation)
        if conversation is not self._workspace.current:
            await self._workspace.leave(conversation)

    async def _keep(
        self, conversation: LoadedSession, compacted: Compacted | None, *, asked: bool
    ) -> None:
        if compacted is None:
            if asked:
                self._say(conversation, "Nothing to compact.")
            return
        self._failed_at.pop(conversation.id, None)
        if conversation is self._workspace.current:
            self._display.show_entry(compacted.summary)
        await self._workspace.try_save(conversation)
        if asked:
            self._say(conversation, compacted.words)

    def _say(
        self, conversation: LoadedSession, text: str, severity: Severity = "information"
    ) -> None:
        if conversation is self._workspace.current:
            self._display.say(Notice(text, severity))
        else:
            conversation.say(Notice(text, severity))

    def _end(self, conversation: LoadedSession) -> None:
        if self._workers.pop(conversation, None) is not None:
            conversation.activity.end_summary()
            self._display.show_status()
