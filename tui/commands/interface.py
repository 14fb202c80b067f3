"""``/help``, ``/import``, ``/theme``, and the commands that only open something."""

from tui.commands.shell import Opened, Shell, command
from tui.domain.commands import BY_NAME, command_called, template_command
from tui.domain.text.labels import listed

_MOST_ALIKE = 3


def _opening(name: str, what: Opened) -> None:
    @command(name)
    async def function(shell: Shell, arguments: str) -> None:  # pyright: ignore[reportUnusedFunction]
        shell.open(what)


_opening("connect", "connect")
_opening("editor", "editor")
_opening("notices", "notices")
_opening("paste", "picture")
_opening("search-screen", "search")
_opening("rename-line", "rename")
_opening("tools", "tools")


@command("help")
async def show_help(shell: Shell, arguments: str) -> None:
    """Show the help screen, or the usage of one command."""
    if not arguments:
        return shell.open("help")
    name = arguments.split(maxsplit=1)[0].removeprefix("/").lower()
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


@command("theme")
async def choose_theme(shell: Shell, arguments: str) -> None:
    """Switch the theme; without a name let the user pick one."""
    if not arguments:
        return shell.open("themes")
    shell.context.themes.choose(arguments)
    return shell.say(f"Theme: {shell.context.themes.current}")
