"""One turn: a prompt, and all that answers it."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager

import msgspec

from tui.domain.journal.message import INTERRUPTED, Message
from tui.domain.views.usage import Usage
from tui.engine.requests.model_request import project
from tui.engine.sessions.answer import Answer
from tui.engine.sessions.open_session import OpenSession
from tui.engine.turns.events import (
    AnswerStarted,
    MessageSaved,
    NoticeGiven,
    SaveFailed,
    TextAdded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnEvent,
    TurnStatus,
    UsageCounted,
)
from tui.engine.turns.tools import Ask, Tools
from tui.errors import ModelError, StorageError, UsageError
from tui.providers.protocol import (
    AnswerEnded,
    Model,
    ModelEvent,
    TextReceived,
    ToolCallReceived,
    UsageReported,
)

ROUNDS = 10
"""How often a model may ask for tools within one turn."""

_TOO_MANY_ROUNDS = f"The model asked for tools {ROUNDS} times in a row; stopped."
_NO_ANSWER = "The model gave no answer."


class TurnSettings(msgspec.Struct, frozen=True):
    """What a turn is run with; ``save_interval`` in seconds, between two pieces of an answer."""

    system_prompt: str = ""
    tools: Tools = msgspec.field(default_factory=Tools)
    save_interval: float = 1.0

    def asking(self, ask: Ask) -> "TurnSettings":
        """The same, with the calls of tools put to whoever ``ask`` asks."""
        return msgspec.structs.replace(self, tools=self.tools.asking(ask))


def run_turn(
    session: OpenSession, prompt: str, model: Model, settings: TurnSettings
) -> AsyncGenerator[TurnEvent]:
    """Put a prompt to a model and give what happens, until the turn has ended.

    The prompt is pending in ``session`` at once, and durable before the model is asked. The text
    of the answer is in ``session`` before anyone is told of it, and on disk at least every
    ``save_interval``. A model that fails ends the turn as ``failed``; cancelling or closing the
    iterator leaves the answer pending as ``interrupted``, to be saved by the caller. The iterator
    raises ``StorageError`` only if the prompt itself could not be saved: it stays pending then,
    and nothing was sent.
    """
    # Not in the iterator: one that is cancelled before it begins would take the prompt with it.
    message = session.add_message("user", prompt)
    return _asked(session, message, model, settings)


async def _asked(
    session: OpenSession, prompt: Message, model: Model, settings: TurnSettings
) -> AsyncGenerator[TurnEvent]:
    await session.save()
    yield MessageSaved(session.id, prompt)
    async with aclosing(_answers(session, model, settings, None)) as events:
        async for event in events:
            yield event


async def retry_turn(
    session: OpenSession, model: Model, settings: TurnSettings
) -> AsyncGenerator[TurnEvent]:
    """Ask again where the last answer failed or was stopped; the new one replaces it.

    Else as ``run_turn``. Raises ``UsageError`` if there is nothing to ask again.
    """
    last = (await session.context(model.context_window))[-1:]
    if not last or not can_retry(last[0]):
        raise UsageError("Nothing to retry.")
    await session.save()
    # An answer that came to its end called tools: what they would have said is missing.
    replaces = last[0].id if last[0].role == "assistant" and last[0].status else None
    async with aclosing(_answers(session, model, settings, replaces)) as events:
        async for event in events:
            yield event


def can_retry(last: Message) -> bool:
    """Whether a conversation that ends in this message waits for another answer."""
    if last.role != "assistant" or last.tool_calls:
        return True
    return last.status in {"failed", "interrupted"}


async def _answers(
    session: OpenSession, model: Model, settings: TurnSettings, replaces: str | None
) -> AsyncGenerator[TurnEvent]:
    """Ask, and go on as long as the answers call tools."""
    # What the prompt has led to is told before it is answered.
    for notice in session.take_notices():
        yield NoticeGiven(notice)
    for _ in range(ROUNDS):
        async with aclosing(_answer(session, model, settings, replaces)) as events:
            async for event in events:
                yield event
        answer = (await session.context(model.context_window))[-1]
        if not answer.tool_calls or answer.status:
            break
        replaces = None
        async with aclosing(_run_tools(session, answer, settings.tools)) as events:
            async for event in events:
                yield event
    else:
        answer = session.end_answer(
            session.begin_answer(model.name), status="failed", error=_TOO_MANY_ROUNDS
        )
    session.note_state()
    yield await _saved_or_not(session, answer)
    for notice in session.take_notices():
        yield NoticeGiven(notice)
    yield TurnEnded(session.id, answer.id, _turn_status(answer.status), answer.error)


async def _answer(
    session: OpenSession, model: Model, settings: TurnSettings, replaces: str | None
) -> AsyncGenerator[TurnEvent]:
    """Ask once; at the end the answer is the last message of the session's context."""
    messages = await session.context(model.context_window)
    request = project(
        settings.system_prompt,
        session.summary,
        [message for message in messages if message.id != replaces],
        model.context_window,
        settings.tools.definitions,
    )
    answer = session.begin_answer(model.name, replaces=replaces)
    with _kept(session, answer), _saved_regularly(session, answer, settings.save_interval):
        yield AnswerStarted(answer.message_id, replaces)
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                for told in _take(answer, event):
                    yield told
                if answer.full or isinstance(event, AnswerEnded):
                    break


@contextmanager
def _kept(session: OpenSession, answer: Answer) -> Generator[None]:
    """However an answer ends, what arrived of it becomes a message."""
    try:
        yield
    except ModelError as error:
        answer.calls.clear()
        session.end_answer(answer, status="failed", error=str(error))
    except BaseException:
        # Stopped, or a defect: either way nothing that arrived is lost. The end of the program
        # may have done it already.
        if session.arriving == answer.message_id:
            session.interrupt()
        raise
    else:
        _end_normally(session, answer)


def _end_normally(session: OpenSession, answer: Answer) -> None:
    if answer.full or answer.cut:
        answer.calls.clear()
        session.end_answer(answer, status="truncated")
    elif not answer.text.strip() and not answer.calls:
        session.end_answer(answer, status="failed", error=_NO_ANSWER)
    else:
        session.end_answer(answer)


@contextmanager
def _saved_regularly(session: OpenSession, answer: Answer, interval: float) -> Generator[None]:
    """Save what has arrived at every interval, also while nothing arrives."""
    task = asyncio.create_task(_save_pieces(session, answer, interval))
    try:
        yield
    finally:
        task.cancel()


async def _save_pieces(session: OpenSession, answer: Answer, interval: float) -> None:
    while True:
        await asyncio.sleep(interval)
        session.add_piece(answer)
        try:
            await session.save()
        except StorageError:
            # It stays pending: the next interval tries again, and the end of the turn tells.
            continue


def _take(answer: Answer, event: ModelEvent) -> list[TurnEvent]:
    match event:
        case TextReceived():
            text = answer.receive(event.text)
            return [TextAdded(answer.message_id, text)] if text else []
        case ToolCallReceived():
            answer.add_call(event.call)
        case AnswerEnded():
            answer.cut = event.reason == "length"
        case UsageReported():
            usage = Usage(event.input_tokens, event.output_tokens, event.dollars)
            return [UsageCounted(answer.message_id, usage)]
    return []


async def _run_tools(
    session: OpenSession, answer: Message, tools: Tools
) -> AsyncGenerator[TurnEvent]:
    """Carry out the calls of an answer; calls are on disk before, results after."""
    session.note_state()
    waiting = list(answer.tool_calls)
    try:
        yield await _saved_or_not(session, answer)
        while waiting:
            yield ToolCalled(waiting[0])
            result = await tools.run(session, waiting[0])
            call = waiting.pop(0)
            message = session.add_message("tool", result, tool_call_id=call.id)
            yield ToolReturned(call, result)
            yield await _saved_or_not(session, message)
    except BaseException:
        # Stopped, or a defect: each call has its answer, whoever reads on.
        for call in waiting:
            session.add_message("tool", INTERRUPTED, tool_call_id=call.id)
        raise


async def _saved_or_not(session: OpenSession, message: Message) -> MessageSaved | SaveFailed:
    try:
        await session.save()
    except StorageError as error:
        return SaveFailed(str(error), error.short)
    return MessageSaved(session.id, message)


def _turn_status(status: str | None) -> TurnStatus:
    match status:
        case "failed" | "interrupted" | "truncated":
            return status
        case _:
            return "complete"
