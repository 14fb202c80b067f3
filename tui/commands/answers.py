"""``/retry``, ``/compact``, ``/stop`` and ``/model``: what answers, and how it is told to."""

from collections.abc import Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Compact, Effect, RetryTurn, ShowSession, say
from tui.engine.turns.turn import can_retry
from tui.errors import ModelUnavailable


async def retry(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Ask again where the last answer failed or was stopped."""
    conversation = context.workspace.current
    messages = conversation.session.messages
    if conversation.activity.running or not messages or not can_retry(messages[-1]):
        return say("Nothing to retry.")
    return (RetryTurn(),)


async def compact(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Let a summary stand for all but the last turn."""
    conversation = context.workspace.current
    if conversation.activity.summarising:
        return say("Summarising already.")
    if not conversation.session.message_count:
        return say("Nothing to compact.")
    return (Compact(),)


async def stop(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Stop the answer and keep what has arrived of it; or the making of a summary."""
    if not await context.stop(context.workspace.current):
        return say("Nothing to stop.")
    return ()


async def choose_model(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Say which model answers, or let another one."""
    conversation = context.workspace.current
    if not arguments:
        model = conversation.model
        return say(f"Model: {model.name if model else conversation.session.model}")
    try:
        model = context.models.named(arguments)
    except ModelUnavailable as error:
        return say(f"Unknown model: {arguments}\n{error}", "error")
    await context.workspace.use_model(conversation, model)
    return (*say(f"Model: {model.name}"), ShowSession())
