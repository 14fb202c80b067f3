"""Links of the conversation: which is meant, and whether to open it."""

from collections.abc import Awaitable, Callable, Sequence

from textual.app import App

from tui.commands.effects import Effect, say
from tui.widgets.transcript.messages import LinksWanted


class LinkController:
    """Asks which link, if there are several, and then whether to open it."""

    def __init__(
        self, app: App[None], carry_out: Callable[[Sequence[Effect]], Awaitable[None]]
    ) -> None:
        self._app = app
        self._carry_out = carry_out

    async def take(self, event: LinksWanted) -> None:
        """Begin with what a reader wants opened."""
        links = event.links
        if not links:
            await self._carry_out(say("No link in this message.", "warning"))
        elif len(links) == 1:
            await self._ask(*links[0])
        else:
            self._let_choose(links)

    def _let_choose(self, links: Sequence[tuple[str, str]]) -> None:
        from tui.screens.list_dialog import ListDialog

        async def ask(place: int | None) -> None:
            if place is not None:
                await self._ask(*links[place])

        targets = [target for target, _ in links]
        self._app.push_screen(ListDialog("Open which link?", targets), ask)

    async def _ask(self, target: str, text: str) -> None:
        from tui.commands.links import ask_to_open

        await self._carry_out((ask_to_open(target, text),))
