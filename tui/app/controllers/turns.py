"""Answers while they are made: one running turn a session, owned by the application."""

import asyncio
import itertools
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from textual.message import Message
from textual.worker import Worker, WorkerError

from tui.app.controllers.controller import Controller
from tui.domain.journal.message import Content, ImageBlock, attachments_of, typed_text
from tui.domain.journal.message import Message as Answer
from tui.domain.references import words_in
from tui.domain.views.costs import AnswerCost
from tui.domain.views.notice import Notice, Severity
from tui.domain.views.shown_session import listed
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.turns.events import (
    LEFT_OUT,
    AnswerRestarted,
    AnswerStarted,
    AttemptRepeated,
    MessageSaved,
    MessagesLeftOut,
    NoticeGiven,
    RequestChanged,
    SaveFailed,
    TextAdded,
    ThinkingAdded,
    ToolReturned,
    ToolServersAwaited,
    ToolStarted,
    TurnEvent,
    TurnStatus,
)
from tui.engine.turns.turn import Turn, TurnSettings, begin_turn
from tui.errors import CallStopped, ModelError, SibylError, StorageError, UsageError
from tui.logs import log_of

if TYPE_CHECKING:
    from tui.engine.attachments import Attached

_NAMES_SAID = 3
SECONDS_TO_READ = 0.5
"""An Enter that comes sooner is no answer about secrets: it was on its way, or is held down."""


class SendCheck(msgspec.Struct, eq=False):
    """Refuses a prompt once for each question; the same one sent again means yes."""

    _asked: dict[str, tuple[str, dict[str, float]]] = {}

    async def check(self, session: LoadedSession, prompt: str, attached: "Attached") -> None:
        """Raise ``UsageError`` with the next question that the user has not answered."""
        missing = listed(attached.missing, _NAMES_SAID)
        model = session.model.name if session.model else "the model"
        # One at a time: a list could be cut at the edge of the screen.
        secrets = [
            f"{name} may hold secrets. Enter sends it to {model}." for name in attached.secrets
        ]
        questions = {
            f"No such file: {missing}. Enter sends it as text." if missing else "": 0.0,
            **dict.fromkeys(secrets, SECONDS_TO_READ),
            await _about_pictures(session, attached.content): 0.0,
        }
        asked_for, asked_at = self._asked.pop(session.id, ("", {}))
        asked_at = asked_at if asked_for == prompt else {}
        for question, seconds in questions.items():
            if question and monotonic() < asked_at.get(question, math.inf) + seconds:
                self._asked[session.id] = prompt, {question: monotonic(), **asked_at}
                raise UsageError(question)


async def _about_pictures(session: LoadedSession, content: Content) -> str:
    model = session.model
    if model is None or not any(isinstance(b, ImageBlock) for b in attachments_of(content)):
        return ""
    # A model that cannot be loaded says so when it is asked.
    with suppress(ModelError):
        await model.window()
    if model.sees_images is not False:
        return ""
    return f"{model.name} sees no pictures. Enter sends only their names; /model chooses another."


_log = logging.getLogger(__name__)
_EVENTS_BETWEEN_BREATHS = 16
"""A server that floods may keep a worker busy without end: the screen gets its turn after these."""
_SLOW_SAVE = 1.0
"""In seconds: a save that takes longer is shown in the status bar."""
_UNSEEN = "The model sees no files: /tools lets it read them, @NAME attaches one."


@dataclass(eq=False, repr=False)
class TurnFinished(Message):
    """Nothing more comes of a turn."""

    session: LoadedSession
    status: TurnStatus


class RunningTurn(msgspec.Struct, eq=False):
    """A turn of a session, from its first work until what follows its end was done.

    Only ``Turns`` changes it. Times are in seconds of the application's clock.
    """

    session: LoadedSession
    for_version: bool
    """True if it is to add another version; also true of one begun before that was shown."""
    prompt: str = ""
    """The prompt whose files are being read."""
    worker: Worker[None] | None = None
    answer: tuple[str, float] | None = None
    """The id of the answer that is arriving, and when it was begun."""
    thinking: tuple[str, float] | None = None
    """The id of the answer, and when the thinking before it began."""
    status: TurnStatus | None = None
    """How it has ended; none while it runs."""


class Turns(Controller):
    """Starts turns, shows what happens in those on screen, and stops them."""

    _settings: TurnSettings
    _prices: Callable[[Sequence[Answer]], Awaitable[Mapping[str, float]]]
    _turns: dict[LoadedSession, RunningTurn] = msgspec.field(
        default_factory=dict[LoadedSession, RunningTurn]
    )
    _send_check: SendCheck = msgspec.field(default_factory=SendCheck)
    _remarks: set[tuple[str, str]] = msgspec.field(default_factory=set[tuple[str, str]])
    _pieces: "itertools.count[int]" = msgspec.field(default_factory=lambda: itertools.count(1))

    def send(self, session: LoadedSession, prompt: str) -> None:
        """Send a prompt in an open session, after those that wait; it is pending at once."""
        if session.activity.running or session.prompt.queued:
            # Those that wait go first, though the answer before them has just ended.
            session.prompt.enqueue(prompt)
            self._chat.show_queue(session.prompt.queue)
            self._presenter.show_status()
        else:
            self._begin(session, prompt)

    def send_next(self, session: LoadedSession) -> None:
        """Send the next queued prompt, unless an answer is still to be ended."""
        # The draft of one that was given up has the queued prompts.
        if session not in self._turns and not self._workspace.pool.given_up(session):
            self._begin(session, session.prompt.next_queued())
            self._chat.settle_draft()
        if session is self._workspace.current:
            self._chat.show_queue(session.prompt.queue)

    def ask_again(self, session: LoadedSession, *, for_version: bool = False) -> None:
        """Ask again in an open session, for another version where one was begun."""
        self._work(session, self._made(session, anew=for_version), for_version=for_version)

    def go_on(self, session: LoadedSession, *, failed: bool) -> bool:
        """Send the next queued prompt after a turn; true if it was for another version.

        If the turn or what followed its end has ``failed``, the queue waits for the user.
        """
        turn = self._turns.get(session)
        if turn is None or turn.status is None:
            # Another answer was begun before the end of this one was handled, or has ended, too.
            return False
        # Closed while a slow disk saved: a draft has all.
        given_up = self._workspace.pool.given_up(session)
        if not given_up and (failed or turn.status == "failed"):
            self.hold_queue(session)
        elif not given_up and session.prompt.queued:
            # After a stop: it was sent since then.
            self._begin(session, session.prompt.next_queued())
            # Else a crash would bring back what was sent.
            self._chat.settle_draft()
            return False
        del self._turns[session]
        return turn.for_version

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
        if session is not self._workspace.current:
            session.prompt.edit_next()
            return
        # Typed text may not have arrived here yet: only the prompt has all of it.
        session.prompt.edit(self._chat.prompt.draft)
        if not self._chat.prompt.text and session.prompt.edit_next():
            self._chat.prompt.set_text(session.prompt.text, own=session.prompt.own_words)
        self._chat.show_queue(session.prompt.queue)

    def _take_back(self, session: LoadedSession) -> bool:
        """Put a prompt whose files are being read back into the queue, or where it was edited."""
        turn = self._turns.get(session)
        if turn is None or not turn.prompt:
            return False
        prompt, turn.prompt = turn.prompt, ""
        session.prompt.end_leaving(prompt)
        question = session.opened.edited_question if session.opened else ""
        if not question:
            session.prompt.enqueue(prompt, 0)
            return True
        session.drop_version()
        shown = session is self._workspace.current
        if shown:
            session.prompt.edit(self._chat.prompt.draft)
        session.prompt.begin_edit(question, prompt)
        if shown:
            self._chat.prompt.set_text(prompt, own=session.prompt.own_words)
            self._presenter.show_session()
        return True

    async def stop(self, session: LoadedSession) -> bool:
        """Stop a turn, and wait until it has ended; false if there is none."""
        turn = self._turns.get(session)
        if turn is None or turn.worker is None or turn.status is not None:
            return False
        turn.worker.cancel()
        with suppress(WorkerError):
            # Cancelled, as it was to be.
            await turn.worker.wait()
        self._finish(turn, "interrupted")
        return True

    def _begin(self, session: LoadedSession, prompt: str) -> None:
        """Start the turn of a prompt; the files that it may refer to are read first."""
        own, opened = session.prompt.references_of(prompt), session.opened
        edits = opened is not None and opened.edited_question
        if not own and not (edits and words_in(prompt)):
            self._work(session, self._made(session, prompt))
            tell = partial(self._tell_of_files, session, prompt)
            self._app.run_worker(tell, name="look for a file that the prompt names")
            return
        session.prompt.begin_leaving(prompt)
        self._work(session, prompt=prompt)

    async def _tell_of_files(self, session: LoadedSession, prompt: str) -> None:
        """Say once, below the answer, how the model can see files where a prompt names one."""
        turn = self._turns.get(session)
        if turn is not None and turn.worker is not None:
            with suppress(WorkerError):
                await turn.worker.wait()
        own, project = session.session.settings, Path(session.session.header.project_path)
        model, settings = session.session.model, self._settings
        reads = any(tool.name.endswith("read_file") for tool in settings.offered(own, model))
        if settings.offers_tools(own, model) and not reads:
            from tui.engine.project_folder import names_file

            if await asyncio.to_thread(names_file, prompt, project):
                self._remark(session, _UNSEEN)

    def _made(
        self, session: LoadedSession, prompt: str | list[Any] | None = None, *, anew: bool = False
    ) -> Turn:
        opened, model = session.opened, session.model
        if opened is None or model is None:
            raise ValueError("only an open session can be asked in")
        save = partial(self._save, session)
        if prompt is None:
            turn = Turn(opened, model, self._settings, save, anew=anew)
        else:
            folded = session.prompt.folded_in(typed_text(prompt))
            turn = begin_turn(opened, prompt, model, self._settings, save, folded=folded)
        opened.use_model(model.name)
        return turn

    async def _save(self, session: LoadedSession) -> None:
        """Save, and show it if that takes long. Raises ``StorageError``."""
        slow = asyncio.get_running_loop().call_later(_SLOW_SAVE, self._presenter.show_status)
        try:
            await self._workspace.pool.save(session)
        finally:
            slow.cancel()
            self._presenter.show_status()

    def _work(
        self,
        session: LoadedSession,
        made: Turn | None = None,
        *,
        prompt: str = "",
        for_version: bool = False,
    ) -> None:
        """Run a turn, or first read the files of a ``prompt`` that makes one."""
        before = self._turns.get(session)
        for_version = for_version or (before is not None and before.for_version)
        turn = self._turns[session] = RunningTurn(session, for_version, prompt)
        model = session.model.name if session.model else ""
        session.activity.begin_answer(model, self._parts.stopwatch())
        if prompt:
            session.activity.enter("reading", self._parts.stopwatch())
        # Not the coroutine itself: Python complains of one that the end forestalls.
        run = partial(self._run, turn, made)
        turn.worker = self._app.run_worker(run, group="turns", exit_on_error=False)
        if session is self._workspace.current:
            # It can be stopped from now on, also while a slow disk saves the prompt.
            self._presenter.show_status()

    async def _run(self, turn: RunningTurn, made: Turn | None) -> None:
        session = turn.session
        status: TurnStatus = "failed"
        try:
            made = made or await self._read(turn)
            if made is not None:
                status = (await made.run(partial(self._handle, turn))).status
            elif not turn.prompt:
                status = "interrupted"
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
        except Exception as error:  # noqa: BLE001 - a defect in one answer ends no other session
            with log_of(session.id):
                _log.info("unexpected error in a turn", exc_info=error)
            self._say(session, f"Unexpected error: {type(error).__name__}: {error}")
        finally:
            # Only what needs no await: this may be cancelled a second time.
            if turn.prompt and not self._workspace.pool.given_up(session):
                # Before those that wait.
                self.hold_queue(session)
            self._finish(turn, status)

    async def _read(self, turn: RunningTurn) -> Turn | None:
        """Read the files of a prompt, and make its turn; none if it is not sent."""
        session, prompt = turn.session, turn.prompt
        try:
            # Its message may be long in coming: until then it is on disk as a draft.
            with suppress(StorageError):
                await self._workspace.pool.keep_draft(session)
            attached = await self._workspace.attach(session, prompt)
            await self._send_check.check(session, prompt, attached)
        except (StorageError, UsageError) as error:
            self._say(session, f"Not sent. {error}")
            return None
        if self._workspace.pool.given_up(session):
            turn.prompt = ""  # its draft has it
        if not turn.prompt:
            return None  # a stop takes it back at once, and ends this a little later
        made = self._made(session, attached.content)
        session.prompt.end_leaving(turn.prompt)
        turn.prompt = ""
        session.activity.enter("saving", self._parts.stopwatch())
        if attached.notice:
            self._say(session, attached.notice, "warning")
        self._chat.settle_draft()
        self._session_list.show()
        return made

    def _say(self, session: LoadedSession, text: str, severity: Severity = "error") -> None:
        shown = session is self._workspace.current
        # The prompt of who looks on has caused that it failed.
        session.say(Notice(text, severity, caused=shown and severity == "error"))
        if shown:
            # A prompt that could not be saved is shown all the same.
            self._chat.show_changes(session.view())
        self._presenter.show_status()

    async def _handle(self, turn: RunningTurn, event: TurnEvent) -> None:  # noqa: C901, PLR0912 - one table of events
        """Keep what an event says of a turn, and show it if its session is on screen."""
        session, activity, now = turn.session, turn.session.activity, self._parts.stopwatch()
        conversation, shown = self._chat.conversation, session is self._workspace.current
        phase = activity.phase
        if not isinstance(event, ThinkingAdded):
            self._end_thinking(turn)
        match event:
            case TextAdded():
                activity.receive("answering", event.text, now)
                if shown:
                    conversation.add_text(event.message_id, event.text)
            case ThinkingAdded():
                activity.receive("thinking", event.text, now)
                turn.thinking = turn.thinking or (event.message_id, now)
                conversation.add_thinking(event.message_id, event.text)
            case AnswerStarted():
                activity.enter("waiting", now)
                turn.answer = event.message_id, now
                if shown and (event.replaces or event.after is not None):
                    self._chat.show_session(session.view())
                elif shown:
                    model = session.model.name if session.model else ""
                    conversation.add_text(event.message_id, "", model)
            case AnswerRestarted() if shown:
                conversation.put(session.latest[-1])
            case AttemptRepeated():
                activity.repeat(event.attempt, event.reason, now + event.seconds, now)
            case ToolServersAwaited():
                activity.enter("starting", now, ", ".join(event.names))
            case ToolStarted():
                activity.enter("tool", now, event.title)
            case ToolReturned():
                activity.enter("saving", now)
            case MessageSaved(message=message):
                if message.role == "assistant":
                    self._end_answer(turn, message)
                if shown:
                    conversation.put(message)
                    self._chat.show_prompt(session.view())
            case SaveFailed():
                self._end_answer(turn)
            case MessagesLeftOut():
                self._remark(session, f"{LEFT_OUT} /compact summarises them.")
            case RequestChanged():
                self._remark(session, event.text)
            case NoticeGiven():
                session.say(Notice(event.text))
            case _:
                pass
        is_piece = isinstance(event, TextAdded | ThinkingAdded)
        if not is_piece or activity.phase != phase:
            self._presenter.show_status()
        if not is_piece or next(self._pieces) % _EVENTS_BETWEEN_BREATHS == 0:
            await asyncio.sleep(0)

    def _remark(self, session: LoadedSession, text: str) -> None:
        """Say something about requests once for each session."""
        if (session.id, text) not in self._remarks:
            self._remarks.add((session.id, text))
            self._say(session, text, "warning")

    def _end_thinking(self, turn: RunningTurn) -> None:
        """Show how long a model thought; anything but thinking ends it."""
        if turn.thinking is not None:
            (message_id, begun), turn.thinking = turn.thinking, None
            self._chat.conversation.end_thinking(message_id, self._parts.stopwatch() - begun)

    def _end_answer(self, turn: RunningTurn, answer: Answer | None = None) -> None:
        """Show how long the answer took, if one was begun, and look up the price of a saved one."""
        if turn.answer is None:
            return
        (message_id, begun), turn.answer = turn.answer, None
        seconds = self._parts.stopwatch() - begun
        self._chat.conversation.show_cost(message_id, AnswerCost(seconds))
        if answer is not None and answer.usage:

            async def show_price() -> None:
                # The first time, the list of prices is loaded.
                for dollars in (await self._prices([answer])).values():
                    self._chat.conversation.show_cost(answer.id, AnswerCost(seconds, dollars))

            self._app.run_worker(show_price, name="look up a price")

    def _finish(self, turn: RunningTurn, status: TurnStatus) -> None:
        if turn.status is None:
            turn.status = status
            turn.session.activity.end_answer()
            # Of one that got no text: the next prompt follows the conversation as it was.
            turn.session.drop_version()
            self._end_thinking(turn)
            self._end_answer(turn)
            self._app.post_message(TurnFinished(turn.session, status))
