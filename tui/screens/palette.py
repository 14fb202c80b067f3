"""What the palette offers: the command table, what has a key, and the sessions in the list."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.domain.commands import COMMANDS, Command
from tui.domain.safe_text import make_visible_line
from tui.screens.chat import ChatScreen
from tui.widgets.intents import CommandInvoked
from tui.widgets.sidebar import Sidebar


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
        asks = command.usage.startswith("<") and not command.screen
        if isinstance(self.screen, ChatScreen) and asks:
            self.screen.begin_command(command)
        else:
            self.screen.post_message(CommandInvoked(command.screen or command.name))


class KeyCommands(Provider):
    """Whatever has a key and is no command of the table: done as if the key were pressed."""

    async def discover(self) -> Hits:
        for binding, do in self._actions():
            yield DiscoveryHit(binding.description, do, help=binding.tooltip)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for binding, do in self._actions():
            # Keys of one kind share what the help says of them.
            words = binding.description
            score = max(matcher.match(words), matcher.match(binding.tooltip))
            if score > 0:
                yield Hit(score, matcher.highlight(words), do, help=binding.tooltip)

    def _actions(self) -> Iterator[tuple[Binding, Callable[[], Awaitable[None]]]]:
        if not isinstance(self.screen, ChatScreen):
            return
        for node in (self.screen, self.screen.transcript):
            for binding in dict.fromkeys(Binding.make_bindings(node.BINDINGS)):
                if binding.tooltip:
                    yield binding, partial(node.run_action, binding.action)


class ThemeCommands(Provider):
    """The themes; among everything else only when asked for."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name in sorted(self.app.available_themes):
            title = f"Theme: {name}"
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._choose, name))

    def _choose(self, name: str) -> None:
        self.screen.post_message(CommandInvoked("theme", name))


class SessionCommands(Provider):
    """The sessions in the list, to be shown."""

    async def search(self, query: str) -> Hits:
        if not isinstance(self.screen, ChatScreen) or self.screen.rows is None:
            return
        matcher = self.matcher(query)
        for row in self.screen.rows.rows:
            label = make_visible_line(row.label)
            score = matcher.match(label)
            if score > 0:
                # Not highlighted: that would read the label as markup.
                yield Hit(score, Content(label), partial(self._show, row.id), help=row.id)

    def _show(self, session_id: str) -> None:
        self.screen.post_message(Sidebar.SessionSelected(session_id))
