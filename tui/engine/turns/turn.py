"""One turn: a prompt, and all that answers it."""

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import Any

import msgspec

from tui.domain.journal.message import Message, TokenUsage, ToolCall
from tui.domain.journal.records import Settings
from tui.domain.models import THIS_SESSION, Level, ModelSettings, effort_called
from tui.domain.providers import is_guide
from tui.engine.model_requests import Projection, fits, pictures_of, project, without_pictures
from tui.engine.sessions.answer import Answer
from tui.engine.sessions.open_session import OpenSession
from tui.engine.turns.events import (
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
    ToolCalled,
    ToolReturned,
    ToolServersAwaited,
    TurnEnded,
    TurnEvent,
    TurnStatus,
    UsageCounted,
)
from tui.engine.turns.tools import Ask, Emit, Save, Tools, trouble_words
from tui.errors import CallStopped, ModelError, StorageError, UsageError
from tui.logs import log_of, milliseconds_since
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    Model,
    ModelEvent,
    ModelRequest,
    RequestAdapted,
    TextReceived,
    TextTakenBack,
    ThinkingReceived,
    ToolDefinition,
    TurnMemory,
)

_log = logging.getLogger(__name__)

ROUNDS = 50
"""The number of times that a model may call tools within one turn."""

_TOO_MANY_ROUNDS = f"Stopped: the model called tools {ROUNDS} times in a row."
_OLDER_PICTURES = "The newest pictures are sent; of older ones, only the names."
_BLIND = "{} sees no pictures: only their names are sent."
_MISSING_PICTURE = "{} is missing in the store: only its name is sent."
_NO_ANSWER = "The model gave no answer."
_ONLY_THOUGHT = "The model thought, and gave no answer. Ask again, or lower its effort with /set."
_ENDED_EARLY = "The model reached its limit of tokens before it answered: raise max_tokens by /set."


class TurnSettings(msgspec.Struct, frozen=True):
    """The settings of a turn; ``save_interval`` in seconds, between two pieces of an answer."""

    configured: Callable[[str], Sequence[Level]] = lambda _: ()
    """The settings that the configuration has for a model, by its name."""
    tools: Tools = msgspec.field(default_factory=Tools)
    save_interval: float = 1.0

    def in_force(self, own: Settings, model: str) -> ModelSettings:
        """The settings of a session's requests: its own, then those of the configuration."""
        effort = effort_called(own.effort)
        level = Level(THIS_SESSION, own.system_prompt, own.temperature, own.max_tokens, effort)
        return ModelSettings((level, *self.configured(model)))

    def offers_tools(self, own: Settings, model: str) -> bool:
        """Tell whether a model is offered tools at all; the built-in guide takes none."""
        return self.in_force(own, model).offers_tools and not is_guide(model)

    def offered(self, own: Settings, model: str) -> tuple[ToolDefinition, ...]:
        """The tools that a session's requests to a model offer now."""
        if not self.offers_tools(own, model):
            return ()
        tools = self.tools.offered()
        return tuple(each.definition for name, each in tools.items() if name not in own.tools_off)

    def asking(self, ask: Ask) -> "TurnSettings":
        """The same, with the calls of tools put to whoever ``ask`` asks."""
        tools = Tools(self.tools.setup, ask, self.tools.approvals)
        return msgspec.structs.replace(self, tools=tools)


class Turn:
    """A prompt, the answers to it, and the tool calls between them.

    ``begin_turn`` makes one of a new prompt. Without a ``prompt`` it asks again where the last
    answer failed or was stopped, and replaces that; or, ``anew``, answers the last message, of a
    version that was begun or of a fork. ``save`` writes the session; without it the turn does so.
    """

    def __init__(
        self,
        session: OpenSession,
        model: Model,
        settings: TurnSettings,
        save: Save | None = None,
        prompt: Message | None = None,
        *,
        anew: bool = False,
    ) -> None:
        self._session = session
        self._model = model
        self._settings = settings
        self._save = save or session.save
        self._prompt = prompt
        self._anew = anew
        self._memory = TurnMemory()
        self._remarks: set[TurnEvent] = set()
        self._sent: tuple[ModelRequest, int] | None = None

    async def run(self, emit: Emit) -> TurnEnded:
        """Ask the model and emit what happens, until the turn has ended; gives the last event.

        The prompt is durable before the model is asked. The text of the answer is in the session
        before it is emitted, and on disk at least every ``save_interval``. A model that fails
        ends the turn as ``failed``; after a cancellation the answer is pending as
        ``interrupted``, and the caller saves it. Raises ``StorageError`` only if the prompt
        itself could not be saved, or ``CallStopped`` a call or its result: that stays pending
        then, and nothing is run or sent. A retry raises ``UsageError`` if there is nothing to
        ask again.
        """
        replaces = await self._replaced() if self._prompt is None else None
        await self._save()
        if self._prompt is not None:
            await emit(MessageSaved(self._session.id, self._prompt))
        await self._emit_notices(emit)
        begun = time.perf_counter()
        with log_of(self._session.id):
            answer = await self._answered(emit, replaces)
            status: TurnStatus = "complete"
            if answer.status in ("failed", "interrupted", "truncated"):
                status = answer.status
            took = milliseconds_since(begun)
            _log.info("turn of %s: %s, %d ms", self._session.id, status, took)
        self._session.note_state()
        await self._store(answer, emit)
        if answer.status != "failed":
            await self._compare_window(emit)
        ended = TurnEnded(self._session.id, answer.id, status, answer.error)
        await emit(ended)
        return ended

    async def _replaced(self) -> str | None:
        if self._anew:
            return None
        last = (await self._session.context(self._model.context_window))[-1:]
        if not last or not can_retry(last[0]):
            raise UsageError("Nothing to retry.")
        # A complete answer called tools: only their results are missing.
        return last[0].id if last[0].role == "assistant" and last[0].status else None

    async def _answered(self, emit: Emit, replaces: str | None) -> Message:
        """Ask until an answer calls no tools; give that answer."""
        session = self._session
        for _ in range(ROUNDS):
            await self._ask(emit, replaces)
            answer = (await session.context(self._model.context_window))[-1]
            if not answer.tool_calls or answer.status:
                return answer
            replaces = None
            await self._run_tools(answer, emit)
        return session.end_answer(
            session.begin_answer(self._model.name), status="failed", error=_TOO_MANY_ROUNDS
        )

    async def _ask(self, emit: Emit, replaces: str | None) -> None:
        """Ask once; at the end the answer is the last message of the session's context."""
        answer = self._session.begin_answer(self._model.name, replaces=replaces)
        with _kept(self._session, answer), self._saved_regularly(answer):
            await self._start_servers(emit)
            await emit(AnswerStarted(answer.message_id, replaces, answer.after))
            window = await self._model.window()
            projection = await self._projection(replaces, window, emit)
            self._sent = projection.request, window
            if projection.left_out:
                await self._emit_remark(MessagesLeftOut(), emit)
            if projection.labelled:
                await self._emit_remark(RequestChanged(_OLDER_PICTURES), emit)
            pictures = {
                each.sha256: each.label for each in pictures_of(projection.request.messages)
            }
            images = await self._session.pictures(pictures) if pictures else {}
            for label in (pictures[each] for each in pictures if each not in images):
                await self._emit_remark(RequestChanged(_MISSING_PICTURE.format(label)), emit)
            # What only this request has: the bytes of its pictures are not kept after it.
            request = msgspec.structs.replace(
                projection.request, memory=self._memory, images=images
            )
            async with aclosing(self._model.stream(request)) as events:
                async for event in events:
                    await self._receive(answer, event, emit)
                    if answer.full or isinstance(event, AnswerEnded):
                        break

    async def _start_servers(self, emit: Emit) -> None:
        """Start the servers of tools, if the model is offered any; returns at once later on."""
        if not self._settings.offers_tools(self._session.session.settings, self._model.name):
            return
        servers = self._settings.tools.setup.servers
        if waiting := [each.name for each in servers.statuses() if each.state == "not started"]:
            await emit(ToolServersAwaited(tuple(waiting)))
        for status in await servers.start():
            if words := trouble_words(status):
                await self._emit_remark(RequestChanged(words), emit)

    async def _compare_window(self, emit: Emit) -> None:
        """Look whether the server has loaded the model with less, and so cut the request itself."""
        if self._sent is None:
            return
        (request, window), now = self._sent, 0
        # The answer is there: nothing that fails here takes it back.
        with suppress(ModelError):
            now = await self._model.window()
        if 0 < now < window and not await asyncio.to_thread(fits, request, now):
            await self._emit_remark(MessagesLeftOut(), emit)

    async def _receive(self, answer: Answer, event: ModelEvent, emit: Emit) -> None:
        """Keep what has come of an answer, and emit it."""
        match event:
            case TextReceived():
                if text := answer.receive(event.text):
                    await emit(TextAdded(answer.message_id, text))
            case TextTakenBack():
                thought = answer.take_back()
                await emit(AnswerRestarted(answer.message_id))
                await emit(ThinkingAdded(answer.message_id, thought))
            case RequestAdapted():
                await self._emit_remark(RequestChanged(event.notice), emit)
            case ThinkingReceived():
                answer.thought = True
                await emit(ThinkingAdded(answer.message_id, event.text))
            case AttemptFailed():
                number = event.attempt + 1
                await emit(AttemptRepeated(answer.message_id, number, event.reason, event.seconds))
            case ToolCall():
                answer.add_call(event)
            case AnswerEnded():
                answer.cut = event.reason == "length"
            case TokenUsage():
                answer.usage = event
                await emit(UsageCounted(answer.message_id, event))

    async def _emit_remark(self, remark: TurnEvent, emit: Emit) -> None:
        """Emit a remark about the requests of a turn, once."""
        if remark not in self._remarks:
            self._remarks.add(remark)
            await emit(remark)

    async def _projection(self, replaces: str | None, window: int, emit: Emit) -> Projection:
        context = await self._session.context(window)
        messages = [message for message in context if message.id != replaces]
        if self._model.sees_images is False and pictures_of(messages):
            await self._emit_remark(RequestChanged(_BLIND.format(self._model.name)), emit)
            messages = without_pictures(messages)
        if is_guide(self._model.name):
            # The guide is sent its own turns, to introduce itself once; a model is not.
            messages = [msgspec.structs.replace(each, model=None) for each in messages]
        settings = self._settings.in_force(self._session.session.settings, self._model.name)
        # A million tokens take a tenth of a second.
        return await asyncio.to_thread(
            project,
            settings.system_prompt,
            self._session.summary,
            messages,
            window,
            self._settings.offered(self._session.session.settings, self._model.name),
            settings.parameters,
        )

    async def _run_tools(self, answer: Message, emit: Emit) -> None:
        """Run the calls of an answer: calls are on disk before, results after.

        Raises ``CallStopped`` where a save fails.
        """
        session = self._session
        session.note_state()
        waiting = list(answer.tool_calls)
        try:
            await self._store(answer, emit, "Not run, the call could not be saved")
            while waiting:
                await emit(ToolCalled(waiting[0]))
                result = await self._settings.tools.run(session, waiting[0], self._save, emit)
                call = waiting.pop(0)
                message = session.add_message("tool", result, tool_call_id=call.id)
                await emit(ToolReturned(call, result))
                await self._store(message, emit, "Not sent, the result could not be saved")
        except BaseException:
            # Stopped, or a bug: every call gets a result, whoever reads on.
            session.interrupt()
            raise

    async def _store(self, message: Message, emit: Emit, without: str = "") -> None:
        """Save, and emit whether the message is on disk.

        ``without`` says what is not done if it is not. Raises ``CallStopped`` then.
        """
        try:
            await self._save()
        except StorageError as error:
            if without:
                raise CallStopped(f"{without}: {error}") from error
            await emit(SaveFailed(str(error), error.short))
        else:
            await emit(MessageSaved(self._session.id, message))
        await self._emit_notices(emit)

    async def _emit_notices(self, emit: Emit) -> None:
        # Those that ``save`` has not given itself.
        for notice in self._session.take_notices():
            await emit(NoticeGiven(notice))

    @contextmanager
    def _saved_regularly(self, answer: Answer) -> Generator[None]:
        """Save the text that has arrived at every interval, also while nothing arrives."""

        async def save_pieces() -> None:
            while True:
                await asyncio.sleep(self._settings.save_interval)
                self._session.add_piece(answer)
                # It stays pending: the next interval tries again, and the end of the turn tells.
                with suppress(StorageError):
                    await self._save()

        task = asyncio.create_task(save_pieces())
        try:
            yield
        finally:
            task.cancel()


def begin_turn(
    session: OpenSession,
    prompt: str | list[Any],
    model: Model,
    settings: TurnSettings,
    save: Save | None = None,
    *,
    folded: tuple[tuple[int, int], ...] = (),
) -> Turn:
    """Add a prompt to a session, pending at once, and make the turn that answers it.

    ``folded`` are the places of long pastes in its typed text. ``save`` writes the session; without
    it the turn does so itself.
    """
    # Not in ``run``: a cancellation before that begins would lose the prompt.
    message = session.add_message("user", prompt, folded=folded)
    return Turn(session, model, settings, save, message)


def can_retry(last: Message) -> bool:
    """Tell whether another answer may follow this last message of a session."""
    if last.role != "assistant" or last.tool_calls:
        return True
    return last.status in {"failed", "interrupted"}


@contextmanager
def _kept(session: OpenSession, answer: Answer) -> Generator[None]:
    """However an answer ends, what arrived of it becomes a message."""
    try:
        yield
    except ModelError as error:
        answer.calls.clear()
        session.end_answer(answer, status="failed", error=str(error))
        return
    except BaseException:
        # Stopped, or a defect: either way nothing that arrived is lost. The end of the program
        # may have done it already.
        if session.arriving == answer.message_id:
            session.interrupt()
        raise
    if answer.full or answer.cut:
        answer.calls.clear()
    if not answer.text.strip() and not answer.calls:
        only = _ONLY_THOUGHT if answer.thought else _NO_ANSWER
        session.end_answer(answer, status="failed", error=_ENDED_EARLY if answer.cut else only)
    elif answer.full or answer.cut:
        session.end_answer(answer, status="truncated")
    else:
        session.end_answer(answer)
