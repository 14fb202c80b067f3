"""The model picker: servers' lists arrive while it is open."""

import asyncio
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from tui.app.controllers.controller import Controller
from tui.errors import SibylError

if TYPE_CHECKING:
    from tui.engine.model_lists import ModelLists

    # Opened seldom: not on the way to the first screen.
    from tui.screens.models import ModelScreen


class ModelPicker(Controller):
    """Opens the picker, and shows the servers' lists as they arrive."""

    _lists: "ModelLists"

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
        choose = partial(self._app.call_later, self._use)
        ask_anew = partial(self._ask, anew=True)
        screen = ModelScreen(self._lists.rows(self._current, due), choose, ask_anew, text)
        self._app.push_screen(screen, lambda _: self._lists.stop_commands())
        self._ask(screen, anew=False)

    async def _use(self, screen: "ModelScreen", name: str) -> None:
        from tui.commands.answering import show_model, use_model

        shell = self._shell()
        try:
            await use_model(shell, name)
        except SibylError as error:
            screen.say(str(error), error=True)
            return
        screen.dismiss(None)
        await show_model(shell)

    @property
    def _current(self) -> str:
        model = self._workspace.current.model
        return model.name if model else self._workspace.current.session.model

    def _ask(self, screen: "ModelScreen", *, anew: bool) -> None:
        async def show_lists() -> None:
            async with aclosing(self._lists.ask_servers(self._current, anew=anew)) as answers:
                async for rows in answers:
                    screen.show(rows)
                    await self._offer_names()

        # Servers may answer once it is closed: the prompt completes their models, too.
        self._app.run_worker(
            show_lists, name="ask servers for their models", group="models", exclusive=True
        )

    async def _offer_names(self) -> None:
        # In a thread, as it reads the files of keys.
        self._chat.prompt.offers.models = await asyncio.to_thread(self._parts.models.names)
