"""Answers while they are made: one worker a session, owned by the application."""

import asyncio
import itertools
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial

from textual.app import App
from textual.message import Message
from textual.worker import Worker, WorkerError

from tui.app.controllers.session_view import SessionPresenter
from tui.app.controllers.turn_timer import TurnTimer
from tui.app.controllers.usage_meter import UsageMeter
from tui.domain.journal.message import Message as SessionMessage
from tui.domain.views.notice import Notice, Severity
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.events import (
    AnswerStarted,
    MessageSaved,
    NoticeGiven,
    SaveFailed,
    TextAdded,
    TurnEvent,
    TurnStatus,
    UsageCounted,
)
from tui.engine.turns.turn import Turn, TurnSettings, begin_turn, retry_turn
from tui.errors import SibylError, StorageError
from tui.screens.chat import ChatScreen

_EVENTS_BETWEEN_BREATHS = 16
"""A server that floods may keep a worker busy without end: the screen gets its turn after these."""


class TurnFinished(Message):
    """Nothing more comes of a turn."""

    def __init__(self, conversation: LoadedSession) -> None:
        super().__init__()
        self.conversation = conversation


class Turns:
    """Starts turns, shows what happens in those on screen, and stops them."""

    def __init__(
        self,
        app: App[None],
        chat: ChatScreen,
        display: SessionPresenter,
        workspace: Workspace,
        settings: TurnSettings,
        stopwatch: Callable[[], float],
    ) -> None:
        self._app = app
        self._chat = chat
        self._display = display
        self._workspace = workspace
        self._settings = settings
        self._workers: dict[LoadedSession, Worker[None]] = {}
        self._ended_as: dict[LoadedSession, TurnStatus] = {}
        self._taken_back: set[LoadedSession] = set()
        self._lasting = TurnTimer(app, chat, display, workspace, stopwatch)
        self.measuring = UsageMeter(chat, workspace.clock, stopwatch)

    def send(self, conversation: LoadedSession, prompt: str) -> None:
        """Send a prompt in an open session, after those that wait; it is pending at once."""
        if conversation.activity.running or conversation.prompt.queued:
            # Those that wait go first, though the answer before them has just ended.
            conversation.prompt.enqueue(prompt)
            self._chat.show_queued(conversation.prompt.queued)
            self._display.show_status()
        else:
            self._start(conversation, prompt)

    def send_queued(self, conversation: LoadedSession, prompt: str) -> None:
        """Send a prompt that waits in an open session, unless an answer is still to be ended."""
        answering = conversation.activity.running or conversation in self._ended_as
        if answering or prompt not in conversation.prompt.queued:
            return
        if self._workspace.given_up(conversation):
            return  # its draft has what waits
        self._start(conversation, conversation.prompt.next_queued())
        self._chat.settle_draft()
        if conversation is self._workspace.current:
            self._chat.show_queued(conversation.prompt.queued)

    def retry(self, conversation: LoadedSession) -> None:
        """Ask again in an open session."""
        if conversation.opened is None or conversation.model is None:
            raise ValueError("only an open session can be asked in")
        opened, model = conversation.opened, conversation.model
        save = partial(self._workspace.save, conversation)
        self._launch(conversation, retry_turn(opened, model, self._settings, save))

    @contextmanager
    def going_on(self, conversation: LoadedSession) -> Generator[None]:
        """Send what waits, once this is left; after an answer that failed the user decides.

        So he does where this is left by an error.
        """
        try:
            yield
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._ended_as[conversation] = "failed"
            self._go_on(conversation)
            raise
        self._go_on(conversation)

    def _go_on(self, conversation: LoadedSession) -> None:
        if conversation.activity.running or conversation not in self._ended_as:
            # Another answer was begun before the end of this one was told, or has ended, too.
            return
        status = self._ended_as.pop(conversation)
        if self._workspace.given_up(conversation):
            return  # it was closed while a slow disk saved it; its draft has what waits
        taken_back = conversation in self._taken_back
        self._taken_back.discard(conversation)
        if conversation.prompt.queued and (taken_back or status in ("complete", "truncated")):
            self._start(conversation, conversation.prompt.next_queued())
            # Else a crash would bring back what was sent.
            self._chat.settle_draft()
            return
        self._put_back(conversation)

    def _put_back(self, conversation: LoadedSession) -> None:
        """Put what waits into the prompt."""
        if conversation is not self._workspace.current:
            conversation.prompt.take_back_queue()
        elif conversation.prompt.queued:
            # What was typed may be on its way here still: the prompt knows it all.
            self._chat.prompt.put_before(conversation.prompt.queued)
            conversation.prompt.clear_queue()
            conversation.prompt.edit(self._chat.prompt.draft)
            self._chat.show_queued(())

    def take_back(self, conversation: LoadedSession) -> bool:
        """Let all that waits wait no more, but stand in the prompt; false if nothing waits.

        What is sent from now on is sent also after an answer that was stopped.
        """
        if conversation in self._workers or conversation in self._ended_as:
            self._taken_back.add(conversation)
        if not conversation.prompt.queued:
            return False
        self._put_back(conversation)
        self._chat.settle_draft()
        return True

    async def stop(self, conversation: LoadedSession) -> bool:
        """Stop a turn, and wait until it has ended; false if there is none."""
        worker = self._workers.get(conversation)
        if worker is None:
            return False
        worker.cancel()
        with suppress(WorkerError):
            # Cancelled, as it was to be.
            await worker.wait()
        self._finish(conversation, "interrupted")
        return True

    def _start(self, conversation: LoadedSession, prompt: str) -> None:
        if conversation.opened is None or conversation.model is None:
            raise ValueError("only an open session can be asked in")
        opened, model = conversation.opened, conversation.model
        save = partial(self._workspace.save, conversation)
        self._launch(conversation, begin_turn(opened, prompt, model, self._settings, save))

    def _launch(self, conversation: LoadedSession, turn: Turn) -> None:
        conversation.activity.begin_answer()
        self._taken_back.discard(conversation)
        self._lasting.begin(conversation)
        if conversation.opened is not None and conversation.model is not None:
            conversation.opened.use_model(conversation.model.name)
        # Not the coroutine itself: Python complains of one that the end forestalls.
        self._workers[conversation] = self._app.run_worker(
            partial(self._drive, conversation, turn), group="turns", exit_on_error=False
        )
        if conversation is self._workspace.current:
            # It can be stopped from now on, also while a slow disk saves the prompt.
            self._display.show_status()

    async def _drive(self, conversation: LoadedSession, turn: Turn) -> None:
        status: TurnStatus = "interrupted"
        try:
            status = await self._follow(conversation, turn)
        except StorageError as error:
            status = "failed"
            self._say(conversation, f"Not sent: {str(error).rstrip('.')}; /retry sends it.")
        except SibylError as error:
            self._say(conversation, str(error))
        except Exception as error:  # noqa: BLE001 - a defect in one answer ends no other session
            status = "failed"
            self._say(conversation, f"Unexpected error: {type(error).__name__}: {error}")
        finally:
            # Only what needs no await: this may be cancelled a second time.
            self._finish(conversation, status)

    async def _follow(self, conversation: LoadedSession, turn: Turn) -> TurnStatus:
        count = itertools.count(1)

        async def take(event: TurnEvent) -> None:
            self._take(conversation, event)
            if not isinstance(event, TextAdded) or next(count) % _EVENTS_BETWEEN_BREATHS == 0:
                await asyncio.sleep(0)

        return (await turn.run(take)).status

    def _say(self, conversation: LoadedSession, text: str, severity: Severity = "error") -> None:
        self._show_notice(conversation, Notice(text, severity))
        conversation.say(Notice(text, severity))

    def _show_notice(self, conversation: LoadedSession, notice: Notice) -> None:
        # What was said before it has to be there, too: a prompt that could not be saved.
        if conversation is self._workspace.current:
            self._chat.show_changes(conversation.view())
            self._chat.show_entry(notice)

    def _take(self, conversation: LoadedSession, event: TurnEvent) -> None:
        """Measure what an event says of a session, and show it if that is on screen."""
        shown = conversation is self._workspace.current
        match event:
            case TextAdded(message_id=message_id, text=text):
                if shown:
                    self._chat.add_text(message_id, text)
                return
            case MessageSaved(message=message):
                self._take_saved(conversation, message, shown=shown)
            case AnswerStarted():
                self._begin_answer(conversation, event, shown=shown)
            case UsageCounted(usage=usage):
                self.measuring.count(conversation, usage)
            case SaveFailed():
                self.measuring.end(conversation)
            case NoticeGiven(text=text):
                self._show_notice(conversation, Notice(text))
            case _:
                pass
        if shown:
            self._display.show_status()

    def _take_saved(
        self, conversation: LoadedSession, message: SessionMessage, *, shown: bool
    ) -> None:
        if message.role == "assistant":
            self.measuring.end(conversation)
        if shown:
            self._chat.show_entry(message)
            self._chat.show_prompt(conversation.view())

    def _begin_answer(
        self, conversation: LoadedSession, event: AnswerStarted, *, shown: bool
    ) -> None:
        self.measuring.begin(conversation, event.message_id)
        if not shown:
            return
        if event.replaces:
            self._chat.show_session(conversation.view())
            return
        model = conversation.model.name if conversation.model else ""
        self._chat.begin_answer(event.message_id, model)

    def _finish(self, conversation: LoadedSession, status: TurnStatus) -> None:
        if self._workers.pop(conversation, None) is not None:
            conversation.activity.end_answer()
            self._lasting.end(conversation)
            self.measuring.end(conversation)
            self._ended_as[conversation] = status
            self._app.post_message(TurnFinished(conversation))
