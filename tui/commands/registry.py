"""The functions of the command table."""

from collections.abc import Sequence
from functools import partial

from tui.commands import (
    answers,
    archive,
    export,
    private,
    program,
    resume,
    search,
    session,
    sessions,
    settings,
    todo,
    usage,
)
from tui.commands.context import CommandContext, CommandFunction
from tui.commands.effects import Effect, carried_out
from tui.domain.commands import Invocation

FUNCTIONS: dict[str, CommandFunction] = {
    "help": program.show_help,
    "sessions": sessions.list_all,
    "save": sessions.save,
    "load": sessions.load,
    "new": sessions.begin,
    "private": private.begin,
    "keep": private.keep,
    "reset": sessions.reset,
    "session": session.session,
    "resume": resume.resume,
    "name": sessions.rename,
    "search": search.search,
    "archive": archive.archive,
    "restore": archive.restore,
    "delete": archive.delete,
    "fork": archive.fork,
    "undo": archive.undo,
    "todo": todo.change,
    "retry": answers.retry,
    "edit": answers.edit,
    "compact": answers.compact,
    "stop": answers.stop,
    "copy": export.copy,
    "paste": program.paste_picture,
    "export": export.export,
    "import": program.import_sessions,
    "usage": usage.usage,
    "notices": program.list_notices,
    "editor": program.open_editor,
    "connect": program.connect,
    "model": answers.choose_model,
    "tools": program.show_tools,
    "set": settings.change_parameter,
    "system": settings.change_system_prompt,
    "theme": program.choose_theme,
    "quit": program.leave,
}
"""By the names of the command table."""

SCREENS: dict[str, CommandFunction] = {"search-screen": search.open_screen}
"""By ``Command.screen``: invoked by keys and the palette, not typed."""


async def run(invocation: Invocation, context: CommandContext) -> Sequence[Effect]:
    """Run a command; a ``SibylError`` becomes a notice."""
    function = FUNCTIONS.get(invocation.name) or SCREENS.get(invocation.name)
    if function is None:
        return program.unknown(invocation.name, context.prompts)
    return await carried_out(partial(function, context, invocation.arguments))
