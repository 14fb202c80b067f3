"""The palette's own commands, read off the command table."""

from collections.abc import Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.domain.commands import COMMANDS, Command
from tui.screens.chat import ChatScreen
from tui.widgets.intents import CommandInvoked


class TableCommands(Provider):
    """Every command of the table; one that wants something said is put into the prompt."""

    async def discover(self) -> Hits:
        for command in COMMANDS:
            yield DiscoveryHit(command.title, self._invoke(command), help=command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in COMMANDS:
            score = max(matcher.match(command.title), matcher.match(command.line))
            if score > 0:
                title = matcher.highlight(command.title)
                yield Hit(score, title, self._invoke(command), help=command.help)

    def _invoke(self, command: Command) -> Callable[[], None]:
        return partial(self._carry_out, command)

    def _carry_out(self, command: Command) -> None:
        if isinstance(self.screen, ChatScreen) and command.usage.startswith("<"):
            self.screen.begin_command(command)
        else:
            self.screen.post_message(CommandInvoked(command.name))
