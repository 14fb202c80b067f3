"""``/copy``."""

import asyncio
from collections.abc import Iterator, Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import CopyText, Effect, say
from tui.domain.commands import BY_NAME
from tui.domain.journal.message import Message
from tui.domain.text.fences import codes
from tui.engine.sessions.loaded_session import LoadedSession


async def copy(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Copy the last answer, the last code block of any answer, or the id of the session."""
    answers = _answers(context.workspace.current)
    match arguments.lower():
        case "":
            text = next(answers, "")
        case "code":
            text = await asyncio.to_thread(_last_code, answers)
        case "id":
            text = context.workspace.current.id
        case _:
            return say(BY_NAME["copy"].usage_error)
    return (CopyText(text),) if text else say("Nothing to copy.")


def _answers(loaded: LoadedSession) -> Iterator[str]:
    """The answers, newest first, including the arriving one."""
    for entry in reversed(loaded.entries):
        if isinstance(entry, Message) and entry.role == "assistant" and entry.text.strip():
            yield entry.text


def _last_code(answers: Iterator[str]) -> str:
    found = (block for text in answers for block in reversed(codes(text)) if block.strip())
    return next(found, "")
