"""Running commands, by the functions that their modules bind to the table."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
from collections.abc import Mapping
from functools import partial

# They bind functions when they are imported.
from tui.commands import answering, archive, details, leaving, opening, saving
from tui.commands.shell import FUNCTIONS, Opened, Shell, Work, command
from tui.config.paths import changelog
from tui.domain.commands import BY_NAME, Invocation, command_called, template_command
from tui.domain.text import late_pattern, listed
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import AmbiguousSession, SibylError

_OPENED: Mapping[str, Opened] = {
    "connect": "connect",
    "editor": "editor",
    "notices": "notices",
    "paste": "picture",
    "rename-line": "rename",
    "search-screen": "search",
    "session list": "sessions of this project",
    "sessions": "sessions",
    "theme": "themes",
    "tools": "tools",
}
"""What the commands open that do nothing else."""
_CANDIDATES = 10
_MOST_ALIKE = 3
# The changes are Markdown, which a report shows as it stands.
_RELEASES = late_pattern(r"(?ms)^## \[\d.*")
_MARKS = late_pattern(r"(?m)^#+ (?:\[(.+?)\])?|\*\*|\[([^]]+)\]\([^)\s]+\)|\n (?= \w)")


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
        shell.open("sessions", text)
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
        say_unknown(shell, name)


async def _open(what: Opened, shell: Shell, arguments: str) -> None:
    shell.open(what, arguments)


FUNCTIONS.update({name: partial(_open, what) for name, what in _OPENED.items()})


@command("help")
async def show_help(shell: Shell, arguments: str) -> None:
    """Show the help screen, the usage of one command, or what the last versions have changed."""
    if not arguments:
        return shell.open("help")
    name = arguments.split(maxsplit=1)[0].removeprefix("/").lower()
    if name == "changes":
        releases = "".join(_RELEASES.findall(changelog().read_text("utf-8")))
        return shell.report("Changes", _MARKS.sub(r"\1\2", releases))
    if name in shell.context.prompts:
        return shell.report(f"/{name} sends", shell.context.prompts[name].strip())
    known = command_called(name)
    if known is None:
        return say_unknown(shell, name)
    return shell.say(f"{known.line} - {known.help}")


def say_unknown(shell: Shell, name: str) -> None:
    """Answer an unknown command, or an own one without the text that it sends."""
    prompts = shell.context.prompts
    if name in prompts:
        return shell.say(template_command(name, prompts[name]).usage_error)
    from difflib import get_close_matches

    names = [*BY_NAME, *prompts]
    longer = [each for each in names if each.startswith(name)]
    alike = longer[:_MOST_ALIKE] or get_close_matches(name, names, _MOST_ALIKE)
    hint = f"Did you mean {listed([f'/{each}' for each in alike], 'or')}?"
    return shell.say(f"Unknown command: /{name}. {hint if alike else 'Type /help.'}", "error")


@command("import")
async def import_sessions(shell: Shell, arguments: str) -> None:
    """Import sessions of other programs. A path may be quoted, as in a shell."""
    is_quoted = len(arguments) > 1 and arguments[0] in "\"'" and arguments[0] == arguments[-1]
    shell.open("import", arguments[1:-1] if is_quoted else arguments)
