"""``/theme``."""

from collections.abc import Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, say


async def choose_theme(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show or switch the theme."""
    themes = context.themes
    if not arguments:
        return say(f"Theme: {themes.current}\nThere are: {', '.join(themes.names())}")
    themes.choose(arguments)
    return say(f"Theme: {themes.current}")
