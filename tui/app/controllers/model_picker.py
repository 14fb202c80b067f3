"""The models: those that can be chosen, and the steps that connect another."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from tui.app.controllers.controller import Controller
from tui.domain.models import OWN_SERVER
from tui.domain.providers import is_guide
from tui.errors import (
    KeyRefused,
    ModelError,
    ModelUnavailable,
    NoModelList,
    SibylError,
    StorageError,
    UsageError,
)

if TYPE_CHECKING:
    from tui.engine.model_lists import ModelLists
    from tui.engine.provider_connections import ProviderConnections
    from tui.providers.catalog import Connection
    from tui.screens.models import ConnectScreen, ModelScreen, Step


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
        current, due = self._workspace.current.model_name, self._lists.due(anew=False)
        choose = partial(self._app.call_later, self._use)
        ask_anew = partial(self._ask, anew=True)
        screen = ModelScreen(self._lists.rows(current, due), choose, ask_anew, text)
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

    def _ask(self, screen: "ModelScreen", *, anew: bool) -> None:
        async def show_lists() -> None:
            current = self._workspace.current.model_name
            async with aclosing(self._lists.ask_servers(current, anew=anew)) as answers:
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


class ConnectController(Controller):
    """Leads through the steps of a connection, which is forgotten with the screen."""

    _connections: "ProviderConnections"
    _lists: "ModelLists"
    _answering: Sequence[str] = ()

    def open(self) -> None:
        """Show the providers."""
        from tui.screens.models import ConnectScreen

        if isinstance(self._app.screen, ConnectScreen):
            return
        screen = ConnectScreen(self._connections.rows(), self._connect, self._remove)
        self._app.push_screen(screen)
        screen.run_worker(partial(self._look_for_servers, screen), name="look for servers")

    async def _look_for_servers(self, screen: "ConnectScreen") -> None:
        self._answering = ()
        for name in self._connections.local:
            if await self._lists.answers(name):
                self._answering = [*self._answering, name]
                screen.show_rows(self._connections.rows(self._answering))

    async def _connect(self, screen: "ConnectScreen", name: str) -> None:
        """Ask for what a connection lacks, test it, and keep it with one of its models."""
        from tui.providers.catalog import require_extra
        from tui.screens.models import WentToStep

        # In a thread, as it reads the files of keys.
        draft = await asyncio.to_thread(self._connections.connection, name)
        try:
            await asyncio.to_thread(require_extra, draft.provider.dialect, name)
        except ModelUnavailable as error:
            screen.say(str(error), error=True)
            return
        tested, listed = draft, ()
        step, error = _lacking(draft), ""
        while step != "provider":
            try:
                if step == "model":
                    model = await screen.ask_model(listed, error)
                    error = await self._finish(screen, tested, model, listed)
                    continue
                if step == "key":
                    tested = self._connections.with_key(draft, await screen.ask_key(error))
                elif step == "address":
                    tested = self._connections.with_address(draft, await screen.ask_address(error))
                if lacking := _lacking(tested):
                    draft, step, error = tested, lacking, ""
                    continue
                asking = self._lists.listed(tested)
                listed = await screen.wait_for(asking, f"Asking {tested.host} …")
                step, error = "model", ""
            except WentToStep as other:
                step, error = other.step, str(other)
            except NoModelList:
                step, listed, error = "model", (), ""
            except KeyRefused as refused:
                # The address was right: the key is for this one.
                draft, step, error = tested, "key", str(refused)
            except ModelError as failed:
                step, error = "key" if tested.provider.needs_key else "address", str(failed)
            except UsageError as odd:
                error = str(odd)
        screen.show_providers()

    async def _finish(
        self, screen: "ConnectScreen", draft: "Connection", model: str, listed: Sequence[str]
    ) -> str:
        """Check a model that no list has, then keep the connection; gives the reason if not."""
        words = f"Connecting {model} …"
        try:
            if model not in listed:
                await screen.wait_for(self._lists.check(draft, model), words)
        except SibylError as error:
            return str(error)
        # What is being written is not stopped: it would be on disk and not here.
        keeping = self._app.run_worker(partial(self._keep, screen, draft, model), name="connect")
        return await screen.wait_for(asyncio.shield(keeping.wait()), words)

    async def _keep(self, screen: "ConnectScreen", draft: "Connection", model: str) -> str:
        """Keep a connection and answer with it; gives the reason if that fails."""
        try:
            name = await self._connections.keep(draft, model)
            failures = await self._use(name)
        except SibylError as error:
            return str(error)
        screen.dismiss(None)
        shell = self._shell()
        shell.say(f"Connected: {name} answers now.")
        for failure in failures:
            shell.say(failure, "warning")
        await shell.show_session()
        return ""

    async def _use(self, name: str) -> Sequence[str]:
        """Let a model answer on screen, and in all sessions that only the guide answers.

        Gives why it cannot in some.
        """
        # Both read files of keys.
        self._chat.prompt.offers.models = await asyncio.to_thread(self._parts.models.names)
        model = await asyncio.to_thread(self._parts.models.named, name)
        workspace = self._workspace
        guided = [each for each in workspace.open if each.model and is_guide(each.model.name)]
        failures: list[str] = []
        for loaded in {each.id: each for each in (workspace.current, *guided)}.values():
            try:
                await workspace.use_model(loaded, model)
            except StorageError as error:
                failures.append(str(error))
        return failures

    async def _remove(self, screen: "ConnectScreen", name: str) -> None:
        try:
            await self._connections.remove(name)
        except SibylError as error:
            screen.say(str(error), error=True)
            return
        screen.show_rows(self._connections.rows(self._answering))
        screen.say("Removed.")


def _lacking(draft: "Connection") -> "Step | None":
    """The first part that a connection lacks."""
    provider = draft.provider
    if provider.name == OWN_SERVER or provider.lacks_address:
        return "address"
    lacks_key = provider.needs_key and draft.key is None and not provider.key_command
    return "key" if lacks_key else None
