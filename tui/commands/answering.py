"""``/retry``, ``/edit``, ``/compact``, ``/stop`` and ``/model``."""

import asyncio
from contextlib import suppress

from tui.commands.shell import Shell, command
from tui.domain.models import refusal
from tui.domain.providers import is_guide
from tui.engine.turns.turn import can_retry
from tui.errors import ConfigError, ModelUnavailable, StorageError


@command("retry")
async def retry(shell: Shell, arguments: str) -> None:
    """Ask again after the last answer; one that failed or was stopped is replaced."""
    loaded = shell.workspace.current
    messages = loaded.session.loaded_messages
    if loaded.activity.running or not messages:
        shell.say("Nothing to ask again.")
    elif can_retry(messages[-1]):
        await shell.retry()
    else:
        await shell.revise(messages[-1].id, "again")


@command("edit")
async def edit(shell: Shell, arguments: str) -> None:
    """Put the last question into the prompt, to be sent in its place."""
    messages = shell.workspace.current.session.loaded_messages
    question = next((each for each in reversed(messages) if each.role == "user"), None)
    if question is None:
        return shell.say("No question to edit yet.")
    return await shell.revise(question.id, "edit")


@command("compact")
async def compact(shell: Shell, arguments: str) -> None:
    """Summarise all but the last turn."""
    loaded = shell.workspace.current
    if loaded.activity.summarising:
        return shell.say("Summarising already.")
    if not loaded.session.message_count:
        return shell.say("Nothing to compact.")
    if loaded.model and is_guide(loaded.model.name):
        return shell.say("The built-in guide writes no summaries. F5 connects a model that does.")
    return await shell.compact()


@command("stop")
async def stop(shell: Shell, arguments: str) -> None:
    """Stop the answer, of which the arrived part is kept, or the summary."""
    if not await shell.context.stop(shell.workspace.current):
        shell.say("Nothing to stop.")


@command("model")
async def choose_model(shell: Shell, arguments: str) -> None:
    """Switch the model, or show those that there are; a name that no list has is asked about."""
    if not arguments:
        return shell.open("models")
    # In a thread, as it reads the files of keys.
    if arguments not in await asyncio.to_thread(shell.context.models.names):
        if unfit := refusal(arguments):
            return shell.say(unfit, "error")
        if ":" in arguments:
            return shell.open("models", arguments)
    try:
        await use_model(shell, arguments)
    except ModelUnavailable:
        return shell.open("models", arguments)
    return await show_model(shell)


async def use_model(shell: Shell, name: str) -> None:
    """Let a model answer in this session. Raises ``ModelUnavailable``, ``StorageError``."""
    loaded = shell.workspace.current
    model = await asyncio.to_thread(shell.context.models.named, name)
    await shell.workspace.use_model(loaded, model)
    # The choice counts; only the next start would not know of it.
    with suppress(ConfigError, StorageError):
        await shell.context.note_model(model.name)


async def show_model(shell: Shell) -> None:
    """Show the model that answers by now."""
    model = shell.workspace.current.model
    shell.say(f"Model: {model.name if model else ''}")
    await shell.show_session()
