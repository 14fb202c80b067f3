"""``/help``, ``/paste``, ``/editor``, ``/connect``, ``/import``, ``/theme`` and ``/quit``."""

from collections.abc import Mapping, Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import (
    EditPrompt,
    Effect,
    Exit,
    OpenConnect,
    OpenHelp,
    OpenImport,
    OpenNotices,
    OpenThemes,
    OpenTools,
    PastePicture,
    report,
    say,
)
from tui.commands.leaving import ask_before
from tui.domain.commands import BY_NAME, command_called, template_command
from tui.domain.text.labels import listed

_MOST_ALIKE = 3


async def show_help(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the help screen, or the usage of one command."""
    if not arguments:
        return (OpenHelp(),)
    name = arguments.split(maxsplit=1)[0].removeprefix("/").lower()
    if name in context.prompts:
        return report(f"/{name} sends", context.prompts[name].strip())
    command = command_called(name)
    if command is None:
        return unknown(name)
    return say(f"{command.line} - {command.help}")


def unknown(name: str, prompts: Mapping[str, str] | None = None) -> tuple[Effect, ...]:
    """Make the error for an unknown command, or for an own one without the text that it sends."""
    if prompts and name in prompts:
        return say(template_command(name, prompts[name]).usage_error)
    alike = [f"/{each}" for each in _alike(name, prompts or {})]
    hint = f"Did you mean {listed(alike, 'or')}?" if alike else "Type /help."
    return say(f"Unknown command: /{name}. {hint}", "error")


def _alike(name: str, prompts: Mapping[str, str]) -> Sequence[str]:
    """The commands that begin with an unknown name, else those that are spelled alike."""
    from difflib import get_close_matches

    names = [*BY_NAME, *prompts]
    longer = [each for each in names if each.startswith(name)]
    return longer[:_MOST_ALIKE] or get_close_matches(name, names, _MOST_ALIKE)


async def list_notices(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Open the list of notices, or close it."""
    return (OpenNotices(),)


async def paste_picture(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Refer to the picture in the clipboard."""
    return (PastePicture(),)


async def open_editor(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Edit the prompt in ``$VISUAL`` or ``$EDITOR``."""
    return (EditPrompt(),)


async def connect(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Connect a model."""
    return (OpenConnect(),)


async def show_tools(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the tools, and what is allowed."""
    return (OpenTools(),)


async def import_sessions(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Import sessions of other programs. A path may be quoted, as in a shell."""
    is_quoted = len(arguments) > 1 and arguments[0] in "\"'" and arguments[0] == arguments[-1]
    return (OpenImport(arguments[1:-1] if is_quoted else arguments),)


async def choose_theme(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Switch the theme; without a name let the user pick one."""
    if not arguments:
        return (OpenThemes(),)
    context.themes.choose(arguments)
    return say(f"Theme: {context.themes.current}")


async def leave(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save everything and quit; while answers arrive only after asking."""

    async def exit_now() -> Sequence[Effect]:
        return (Exit(),)

    question = ask_before("Quit?", context.workspace.open, exit_now, again="quit")
    return (question or Exit(),)
