"""``/retry``, ``/edit``, ``/compact``, ``/stop`` and ``/model``."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from tui.commands.context import CommandContext
from tui.commands.effects import (
    AskAgain,
    Compact,
    EditQuestion,
    Effect,
    OpenModels,
    RetryTurn,
    ShowSession,
    say,
)
from tui.domain.model_names import refusal
from tui.domain.providers import is_guide
from tui.engine.turns.turn import can_retry
from tui.errors import ConfigError, ModelUnavailable, StorageError


async def retry(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Ask again after the last answer; one that failed or was stopped is replaced."""
    loaded = context.workspace.current
    messages = loaded.session.loaded_messages
    if loaded.activity.running or not messages:
        return say("Nothing to ask again.")
    last = messages[-1]
    return (RetryTurn() if can_retry(last) else AskAgain(last.id),)


async def edit(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Put the last question into the prompt, to be sent in its place."""
    messages = context.workspace.current.session.loaded_messages
    question = next((each for each in reversed(messages) if each.role == "user"), None)
    return (EditQuestion(question.id),) if question else say("No question to edit yet.")


async def compact(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Summarise all but the last turn."""
    loaded = context.workspace.current
    if loaded.activity.summarising:
        return say("Summarising already.")
    if not loaded.session.message_count:
        return say("Nothing to compact.")
    if loaded.model and is_guide(loaded.model.name):
        return say("The built-in guide writes no summaries. F5 connects a model that does.")
    return (Compact(),)


async def stop(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Stop the answer, of which the arrived part is kept, or the summary."""
    if not await context.stop(context.workspace.current):
        return say("Nothing to stop.")
    return ()


async def choose_model(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Switch the model, or show those that there are; a name that no list has is asked about."""
    # In a thread, as it reads the files of keys.
    if arguments and arguments not in await asyncio.to_thread(context.models.names):
        if unfit := refusal(arguments):
            return say(unfit, "error")
        if ":" in arguments:
            return (OpenModels(arguments),)
    try:
        return await use_model(context, arguments) if arguments else (OpenModels(),)
    except ModelUnavailable:
        return (OpenModels(arguments),)


async def use_model(context: CommandContext, name: str) -> Sequence[Effect]:
    """Let a model answer in this session. Raises ``ModelUnavailable``, ``StorageError``."""
    loaded = context.workspace.current
    model = await asyncio.to_thread(context.models.named, name)
    await context.workspace.use_model(loaded, model)
    # The choice counts; only the next start would not know of it.
    with suppress(ConfigError, StorageError):
        await context.note_model(model.name)
    return (*say(f"Model: {model.name}"), ShowSession())
