"""Answers while they are made: one worker a session, owned by the application."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.message import Message
from textual.worker import Worker, WorkerError

from tui.app.chat_view import ChatView
from tui.app.controllers.activity_line import ActivityLine
from tui.app.controllers.answer_times import AnswerTimes
from tui.app.controllers.send_check import SendCheck
from tui.app.controllers.session_view import SessionPresenter
from tui.domain.journal.message import Message as Answer
from tui.domain.references import words_in
from tui.domain.views.notice import Notice, Severity
from tui.domain.views.usage import AnswerCost
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.events import (
    LEFT_OUT,
    AnswerRestarted,
    AnswerStarted,
    MessageSaved,
    MessagesLeftOut,
    NoticeGiven,
    RequestChanged,
    TextAdded,
    ThinkingAdded,
    TurnEvent,
    TurnStatus,
)
from tui.engine.turns.turn import (
    MakeTurn,
    Turn,
    TurnSettings,
    begin_turn,
    retry_turn,
    version_turn,
)
from tui.errors import CallStopped, SibylError, StorageError, UsageError
from tui.logs import log_of

if TYPE_CHECKING:
    from tui.engine.prompts.attaching import Attached

_log = logging.getLogger(__name__)
_EVENTS_BETWEEN_BREATHS = 16
"""A server that floods may keep a worker busy without end: the screen gets its turn after these."""
_SLOW_SAVE = 1.0
"""In seconds: a save that takes longer is shown in the status bar."""


class PromptAdded(Message):
    """A prompt is in its session: its files were read."""


class TurnFinished(Message):
    """Nothing more comes of a turn."""

    def __init__(self, session: LoadedSession, status: TurnStatus = "complete") -> None:
        super().__init__()
        self.session = session
        self.status = status


class Turns:
    """Starts turns, shows what happens in those on screen, and stops them."""

    def __init__(
        self,
        app: App[None],
        chat: ChatView,
        presenter: SessionPresenter,
        workspace: Workspace,
        settings: TurnSettings,
        activity: ActivityLine,
        price: Callable[[Answer], Awaitable[float | None]],
    ) -> None:
        self._app = app
        self._chat = chat
        self._presenter = presenter
        self._workspace = workspace
        self._pool, self._switcher = workspace.pool, workspace.switcher
        self._settings = settings
        self._unread: dict[LoadedSession, str] = {}
        self._workers: dict[LoadedSession, Worker[None]] = {}
        self._ended_as: dict[LoadedSession, TurnStatus] = {}
        self._asked_again: set[LoadedSession] = set()
        self._send_check = SendCheck()
        self._remarks: set[tuple[str, str]] = set()
        self._pieces = itertools.count(1)
        self._activity = activity
        self._price = price
        self._times = AnswerTimes(chat, activity.stopwatch, self._look_up_price)

    def _look_up_price(self, answer: Answer, seconds: float) -> None:
        self._app.run_worker(self._show_price(answer, seconds), name="look up a price")

    async def _show_price(self, answer: Answer, seconds: float) -> None:
        # The first time, the list of prices is loaded.
        if (dollars := await self._price(answer)) is not None:
            self._chat.conversation.show_cost(answer.id, AnswerCost(seconds, dollars))

    def send(self, session: LoadedSession, prompt: str) -> None:
        """Send a prompt in an open session, after those that wait; it is pending at once."""
        if session.activity.running or session.prompt.queued:
            # Those that wait go first, though the answer before them has just ended.
            session.prompt.enqueue(prompt)
            self._chat.show_queue(session.prompt.queue)
            self._presenter.show_status()
        else:
            self._begin(session, prompt)

    def send_queued(self, session: LoadedSession, prompt: str) -> None:
        """Send a prompt that waits in an open session, unless an answer is still to be ended."""
        if prompt in session.prompt.queued:
            self.send_next(session)

    def send_next(self, session: LoadedSession) -> None:
        """Send the next queued prompt, unless an answer is still to be ended."""
        answering = session.activity.running or session in self._ended_as
        if not answering and not self._pool.given_up(session):  # its draft has the queued prompts
            self._begin(session, session.prompt.next_queued())
            self._chat.settle_draft()
        if session is self._switcher.current:
            self._chat.show_queue(session.prompt.queue)

    def retry(self, session: LoadedSession) -> None:
        """Ask again in an open session."""
        self._start(session, retry_turn)

    def ask_again(self, session: LoadedSession) -> None:
        """Ask for another version of an answer, in an open session where one was begun."""
        self._asked_again.add(session)
        self._start(session, version_turn)

    def made_version(self, session: LoadedSession) -> bool:
        """Tell once whether the ended turn was for another version."""
        if session not in self._asked_again or session.activity.running:
            return False
        self._asked_again.remove(session)
        return True

    @contextmanager
    def going_on(self, session: LoadedSession) -> Generator[None]:
        """On success send the next queued prompt; on failure let the queue wait for the user."""
        try:
            yield
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._ended_as[session] = "failed"
            self._go_on(session)
            raise
        self._go_on(session)

    def _go_on(self, session: LoadedSession) -> None:
        if session.activity.running or session not in self._ended_as:
            # Another answer was begun before the end of this one was told, or has ended, too.
            return
        status = self._ended_as.pop(session)
        if self._pool.given_up(session):
            return  # it was closed while a slow disk saved it; its draft has what waits
        if status == "failed":
            self.hold_queue(session)
        elif session.prompt.queued:
            # After a stop: it was sent since then.
            self._begin(session, session.prompt.next_queued())
            # Else a crash would bring back what was sent.
            self._chat.settle_draft()

    def hold_queue(self, session: LoadedSession) -> bool:
        """Hold the queue for the user, with the next prompt in an empty input.

        A prompt whose files are being read is the first of it. False if nothing waits.
        """
        taken_back = self._take_back(session)
        if not session.prompt.queued:
            return taken_back
        session.prompt.hold_queue()
        self.edit_next(session)
        self._chat.settle_draft()
        return True

    def edit_next(self, session: LoadedSession) -> None:
        """Put the next held prompt into the input, if that is empty."""
        if session is not self._switcher.current:
            session.prompt.edit_next()
            return
        # Typed text may not have arrived here yet: only the prompt has all of it.
        session.prompt.edit(self._chat.prompt.draft)
        if not self._chat.prompt.text and session.prompt.edit_next():
            self._chat.prompt.set_text(session.prompt.text, own=session.prompt.own_words)
        self._chat.show_queue(session.prompt.queue)

    def _take_back(self, session: LoadedSession) -> bool:
        """Put a prompt whose files are being read back into the queue, or where it was edited."""
        prompt = self._unread.pop(session, None)
        if prompt is None:
            return False
        session.prompt.end_leaving(prompt)
        if question := session.edited_question:
            self._edit_again(session, question, prompt)
        else:
            session.prompt.enqueue(prompt, 0)
        return True

    def _give_back(self, session: LoadedSession) -> None:
        """Give a prompt back whose files are not read any more, before those that wait."""
        if session in self._unread and not self._pool.given_up(session):
            self.hold_queue(session)
        self._unread.pop(session, None)  # the draft of one that was given up has it

    def _edit_again(self, session: LoadedSession, question: str, prompt: str) -> None:
        session.drop_version()
        if session is not self._switcher.current:
            session.prompt.begin_edit(question, prompt)
            return
        session.prompt.edit(self._chat.prompt.draft)
        session.prompt.begin_edit(question, prompt)
        self._chat.prompt.set_text(prompt, own=session.prompt.own_words)
        self._presenter.show_session()

    async def stop(self, session: LoadedSession) -> bool:
        """Stop a turn, and wait until it has ended; false if there is none."""
        worker = self._workers.get(session)
        if worker is None:
            return False
        worker.cancel()
        with suppress(WorkerError):
            # Cancelled, as it was to be.
            await worker.wait()
        self._finish(session, "interrupted")
        return True

    def _begin(self, session: LoadedSession, prompt: str) -> None:
        """Start the turn of a prompt; the files that it may refer to are read first."""
        own = session.prompt.references_of(prompt)
        if not own and not (session.edited_question and words_in(prompt)):
            self._start(session, partial(begin_turn, prompt=prompt))
            return
        session.prompt.begin_leaving(prompt)
        self._unread[session] = prompt
        self._activity.begin_reading(session)
        self._work(session, partial(self._read, session, prompt))

    def _start(self, session: LoadedSession, make: MakeTurn) -> None:
        turn = self._made(session, make)
        self._activity.begin(session)
        self._work(session, partial(self._drive, session, turn))

    def _made(self, session: LoadedSession, make: MakeTurn) -> Turn:
        opened, model = session.opened, session.model
        if opened is None or model is None:
            raise ValueError("only an open session can be asked in")
        save = partial(self._save, session)
        turn = make(opened, model=model, settings=self._settings, save=save)
        opened.use_model(model.name)
        return turn

    async def _save(self, session: LoadedSession) -> None:
        """Save, and show it if that takes long. Raises ``StorageError``."""
        slow = asyncio.get_running_loop().call_later(_SLOW_SAVE, self._presenter.show_status)
        try:
            await self._pool.save(session)
        finally:
            slow.cancel()
            self._presenter.show_status()

    def _work(self, session: LoadedSession, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        # Not the coroutine itself: Python complains of one that the end forestalls.
        guarded = partial(self._guarded, session, work)
        self._workers[session] = self._app.run_worker(guarded, group="turns", exit_on_error=False)
        if session is self._switcher.current:
            # It can be stopped from now on, also while a slow disk saves the prompt.
            self._presenter.show_status()

    async def _guarded(
        self, session: LoadedSession, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - a defect in one answer ends no other session
            with log_of(session.id):
                _log.info("unexpected error in a turn", exc_info=error)
            self._say(session, f"Unexpected error: {type(error).__name__}: {error}")

    async def _read(self, session: LoadedSession, prompt: str) -> None:
        """Read the files of a prompt, and send it; on failure it is given back."""
        turn: Turn | None = None
        status: TurnStatus = "failed"
        try:
            # Its message may be long in coming: until then it is on disk as a draft.
            with suppress(StorageError):
                await self._pool.keep_draft(session)
            attached = await self._workspace.attach(session, prompt)
            await self._send_check.check(session, prompt, attached)
            # A stop takes it back at once, and ends this a little later.
            if session in self._unread and not self._pool.given_up(session):
                turn = self._attached(session, prompt, attached)
            else:
                status = "interrupted"
        except (StorageError, UsageError) as error:
            self._say(session, f"Not sent. {error}")
        except asyncio.CancelledError:
            status = "interrupted"
            raise
        finally:
            # Only what needs no await: this may be cancelled a second time.
            if turn is None:
                self._give_back(session)
                self._finish(session, status)
        if turn is not None:
            await self._drive(session, turn)

    def _attached(self, session: LoadedSession, prompt: str, attached: "Attached") -> Turn:
        turn = self._made(session, partial(begin_turn, prompt=attached.content))
        del self._unread[session]
        session.prompt.end_leaving(prompt)
        self._activity.end_reading(session)
        if attached.notice:
            self._say(session, attached.notice, "warning")
        self._chat.settle_draft()
        self._app.post_message(PromptAdded())
        return turn

    async def _drive(self, session: LoadedSession, turn: Turn) -> None:
        status: TurnStatus = "failed"
        try:
            status = (await turn.run(partial(self._take, session))).status
        except CallStopped as error:
            self._say(session, f"{str(error).rstrip('.')}; /retry asks again.")
        except StorageError as error:
            self._say(session, f"Not sent: {str(error).rstrip('.')}; /retry sends it.")
        except SibylError as error:
            status = "interrupted"
            self._say(session, str(error))
        except asyncio.CancelledError:
            status = "interrupted"
            raise
        finally:
            # Only what needs no await: this may be cancelled a second time.
            self._finish(session, status)

    def _say(self, session: LoadedSession, text: str, severity: Severity = "error") -> None:
        shown = session is self._switcher.current
        # The prompt of who looks on has caused that it failed.
        session.say(Notice(text, severity, caused=shown and severity == "error"))
        if shown:
            # A prompt that could not be saved is shown all the same.
            self._chat.show_changes(session.view())
        self._presenter.show_status()

    async def _take(self, session: LoadedSession, event: TurnEvent) -> None:
        """Measure what an event says of a session, and show it if that is on screen."""
        shown = session is self._switcher.current
        self._activity.note(session, event)
        self._times.note(session, event)
        if isinstance(event, TextAdded) and shown:
            self._chat.conversation.add_text(event.message_id, event.text)
        is_piece = isinstance(event, TextAdded | ThinkingAdded)
        if not is_piece:
            self._take_step(session, event, shown=shown)
        if not is_piece or next(self._pieces) % _EVENTS_BETWEEN_BREATHS == 0:
            await asyncio.sleep(0)

    def _take_step(self, session: LoadedSession, event: TurnEvent, *, shown: bool) -> None:
        """Show an event that is no piece of an answer, and its status."""
        match event:
            case MessageSaved(message=message) if shown:
                self._chat.conversation.put(message)
                self._chat.show_prompt(session.view())
            case AnswerStarted() if shown:
                self._show_answer(session, event)
            case AnswerRestarted() if shown:
                self._chat.conversation.put(session.latest[-1])
            case MessagesLeftOut():
                self._remark(session, f"{LEFT_OUT} /compact summarises them.")
            case RequestChanged(text=text):
                self._remark(session, text)
            case NoticeGiven(text=text):
                session.say(Notice(text))
            case _:
                pass
        self._presenter.show_status()

    def _remark(self, session: LoadedSession, text: str) -> None:
        """Say something about requests once for each session."""
        if (session.id, text) not in self._remarks:
            self._remarks.add((session.id, text))
            self._say(session, text, "warning")

    def _show_answer(self, session: LoadedSession, event: AnswerStarted) -> None:
        if event.replaces or event.after is not None:
            self._chat.show_session(session.view())
            return
        model = session.model.name if session.model else ""
        self._chat.conversation.add_text(event.message_id, "", model)

    def _finish(self, session: LoadedSession, status: TurnStatus) -> None:
        if self._workers.pop(session, None) is not None:
            session.activity.end_answer()
            # Of one that got no text: the next prompt follows the conversation as it was.
            session.drop_version()
            self._times.end(session)
            self._ended_as[session] = status
            self._app.post_message(TurnFinished(session, status))
