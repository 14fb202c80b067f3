"""The controller of the model picker: servers' lists arrive while it is open."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.dependencies import Dependencies
from tui.commands.effects import Effect
from tui.errors import SibylError
from tui.screens.chat import ChatScreen
from tui.widgets.intents import ModelIntent

if TYPE_CHECKING:
    from textual.worker import Worker

    # Opened seldom: not on the way to the first screen.
    from tui.screens.models import ModelScreen


class ModelPicker:
    """Opens the picker, and shows the servers' lists as they arrive."""

    def __init__(
        self,
        app: App[None],
        chat: ChatScreen,
        parts: Dependencies,
        choose: Callable[[str], Awaitable[Sequence[Effect]]],
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        """``choose`` switches the model."""
        self._app = app
        self._chat = chat
        self._workspace = parts.workspace
        self._models = parts.models
        self._lists = parts.model_lists()
        self._choose = choose
        self._carry_out = carry_out
        self._screen: ModelScreen | None = None
        self._asking: Worker[None] | None = None

    async def begin(self) -> None:
        """Offer the models in the prompt, with the lists of an earlier run."""
        await self._offer_names()
        await self._lists.begin()
        await self._offer_names()

    def open(self, text: str = "") -> None:
        """Show the models; ``text`` is put into the filter."""
        from tui.screens.models import ModelScreen

        if isinstance(self._app.screen, ModelScreen):
            return
        due = self._lists.due(anew=False)
        self._screen = ModelScreen(self._lists.rows(self._current, due), text)
        self._app.push_screen(self._screen, self._close)
        self._ask(anew=False)

    async def take(self, intent: ModelIntent) -> None:
        """Answer an intent of the picker."""
        from tui.screens.models import ModelScreen

        if isinstance(intent, ModelScreen.AskedAnew):
            self._ask(anew=True)
        elif isinstance(intent, ModelScreen.ModelChosen) and self._screen:
            await self._use(intent.name, self._screen)

    async def _use(self, name: str, screen: "ModelScreen") -> None:
        try:
            effects = await self._choose(name)
        except SibylError as error:
            screen.say(str(error), error=True)
            return
        screen.dismiss(None)
        await self._carry_out(effects)

    @property
    def _current(self) -> str:
        model = self._workspace.current.model
        return model.name if model else self._workspace.current.session.model

    def _ask(self, *, anew: bool) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self._asking = self._app.run_worker(
            partial(self._show_lists, anew=anew), name="ask servers for their models"
        )

    async def _show_lists(self, *, anew: bool) -> None:
        async with aclosing(self._lists.ask_servers(self._current, anew=anew)) as answers:
            async for rows in answers:
                if self._screen is not None:
                    self._screen.show(rows)
                await self._offer_names()

    async def _offer_names(self) -> None:
        # In a thread, as it reads the files of keys.
        self._chat.prompt.show_models(await asyncio.to_thread(self._models.names))

    def _close(self, _: None) -> None:
        # Servers may answer after that: the prompt completes their models, too.
        self._screen = None
        self._lists.stop_commands()
