"""Running commands, by the functions that their modules bind to the table."""

from tui.commands import (
    answering,
    archive,
    details,
    interface,
    leaving,
    opening,
    private,
    request_settings,
    saving,
    todo_list,
)
from tui.commands.shell import FUNCTIONS, Shell, Work
from tui.domain.commands import Invocation
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import AmbiguousSession, SibylError

MODULES = (
    answering,
    archive,
    details,
    interface,
    leaving,
    opening,
    private,
    request_settings,
    saving,
    todo_list,
)
"""All that bind functions when they are imported."""

_CANDIDATES = 10


async def carry_out(shell: Shell, work: Work) -> None:
    """Await ``work``; a ``SibylError`` becomes a notice, or a question before a private loss."""
    try:
        await work(shell)
    except PrivateSessionLeft as left:
        lost = left.loaded
    except AmbiguousSession as error:
        shell.say(f'Several sessions match "{error.target}". Choose one')
        # The number of a project is no text of a row.
        text = "" if "#" in error.target else error.target.removesuffix("…")
        shell.open_sessions("all", text=text)
        return
    except SibylError as error:
        first, *more = error.lines(_CANDIDATES)
        # One further line fits into the notice; a list of sessions needs a report.
        if len(more) < 2:
            shell.say(" ".join((first, *more)), "error")
        else:
            shell.report("Which session?", "\n".join((first, *more)))
        return
    else:
        return
    if await leaving.confirm_leaving(shell, "Leave this session?", (lost,)):
        await shell.context.stop(lost)
        with shell.workspace.switcher.letting_go(lost):
            await carry_out(shell, work)


async def run(shell: Shell, invocation: Invocation) -> None:
    """Run a command of the table, by its verb if that has a function of its own."""
    name, arguments = invocation.name, invocation.arguments
    verb, rest = (*arguments.split(maxsplit=1), "", "")[:2]
    if function := FUNCTIONS.get(f"{name} {arguments.lower()}"):
        await function(shell, "")
    elif function := FUNCTIONS.get(f"{name} {verb.lower()} …"):
        await function(shell, rest)
    elif function := FUNCTIONS.get(name):
        await function(shell, arguments)
    else:
        interface.say_unknown(shell, name)
