"""``/retry``, ``/compact``, ``/stop`` and ``/model``."""

from collections.abc import Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Compact, Effect, RetryTurn, ShowSession, say
from tui.engine.turns.turn import can_retry
from tui.errors import ModelUnavailable


async def retry(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Ask again after an answer that failed or was stopped."""
    loaded = context.workspace.current
    messages = loaded.session.loaded_messages
    if loaded.activity.running or not messages or not can_retry(messages[-1]):
        return say("Nothing to retry.")
    return (RetryTurn(),)


async def compact(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Summarise all but the last turn."""
    loaded = context.workspace.current
    if loaded.activity.summarising:
        return say("Summarising already.")
    if not loaded.session.message_count:
        return say("Nothing to compact.")
    return (Compact(),)


async def stop(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Stop the answer, of which the arrived part is kept, or the summary."""
    if not await context.stop(context.workspace.current):
        return say("Nothing to stop.")
    return ()


async def choose_model(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show or switch the model."""
    loaded = context.workspace.current
    if not arguments:
        model = loaded.model
        return say(f"Model: {model.name if model else loaded.session.model}")
    try:
        model = context.models.named(arguments)
    except ModelUnavailable as error:
        return say(f"Unknown model: {arguments}\n{error}", "error")
    await context.workspace.use_model(loaded, model)
    return (*say(f"Model: {model.name}"), ShowSession())
