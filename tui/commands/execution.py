"""Execution of commands: errors become notices, or a question before a private loss."""

from collections.abc import Awaitable, Callable, Sequence

from tui.commands.effects import Effect, LeavePrivate, report, say
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import SibylError

_CANDIDATES = 10


async def carried_out(work: Callable[[], Awaitable[Sequence[Effect]]]) -> Sequence[Effect]:
    """Await ``work``; a ``SibylError`` becomes a notice, or a question before a private loss."""
    try:
        return await work()
    except PrivateSessionLeft as left:
        return (LeavePrivate(left.loaded, work),)
    except SibylError as error:
        return _refusal(*error.lines(_CANDIDATES))


def _refusal(error: str, *more: str) -> Sequence[Effect]:
    # One further line fits into the notice; a list of sessions needs a report.
    if len(more) < 2:
        return say(" ".join((error, *more)), "error")
    return report("Which session?", "\n".join((error, *more)))
