"""``/theme``."""

from collections.abc import Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, OpenThemes, say


async def choose_theme(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Switch the theme; without a name let the user pick one."""
    if not arguments:
        return (OpenThemes(),)
    context.themes.choose(arguments)
    return say(f"Theme: {context.themes.current}")
