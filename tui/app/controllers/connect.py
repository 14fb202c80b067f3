"""Connecting a model: each step is asked for on the screen, and tested at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.dependencies import Dependencies
from tui.commands.effects import Effect, ShowSession, say, warn
from tui.domain.model_names import refusal
from tui.domain.providers import is_guide
from tui.domain.views.model_rows import OWN_SERVER
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import (
    KeyRefused,
    ModelError,
    ModelUnavailable,
    NoModelList,
    SibylError,
    StorageError,
    UsageError,
)
from tui.providers.protocol import Model
from tui.screens.chat import ChatScreen
from tui.widgets.intents import ConnectIntent

if TYPE_CHECKING:
    from tui.providers.model_lists import Connection

    # Opened seldom: not on the way to the first screen.
    from tui.screens.connect import ConnectScreen


class ConnectController:
    """Owns the connection that is being made; of several answers only the latest counts."""

    def __init__(
        self,
        app: App[None],
        chat: ChatScreen,
        parts: Dependencies,
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        self._app = app
        self._chat = chat
        self._workspace = parts.workspace
        self._models = parts.models
        self._connections = parts.connections()
        self._lists = parts.model_lists()
        self._carry_out = carry_out
        self._screen: ConnectScreen | None = None
        self._draft: Connection | None = None
        self._tested: Connection | None = None
        self._listed: Sequence[str] = ()
        self._answering: list[str] = []
        self._asked = 0

    def open(self) -> None:
        """Show the providers."""
        from tui.screens.connect import ConnectScreen

        if isinstance(self._app.screen, ConnectScreen):
            return
        self._screen = ConnectScreen(self._connections.rows())
        self._app.push_screen(self._screen, self._close)
        self._app.run_worker(self._look_for_servers, name="look for servers")

    def take(self, intent: ConnectIntent) -> None:
        """Answer a step, in the background; an earlier request is dropped."""
        self._asked += 1
        # Not awaited here: a server may be slow, and Esc must stop it.
        self._app.run_worker(partial(self._answer, intent, self._asked), name="connect")

    async def _answer(self, intent: ConnectIntent, asked: int) -> None:
        from tui.screens.connect import ConnectScreen

        match intent:
            case ConnectScreen.ProviderChosen():
                await self._choose(intent.name, asked)
            case ConnectScreen.KeyEntered():
                await self._complete(self._connections.with_key, intent.text, asked)
            case ConnectScreen.AddressEntered():
                await self._complete(self._connections.with_address, intent.text, asked)
            case ConnectScreen.ModelChosen():
                await self._finish(intent.name, asked)
            case ConnectScreen.RemovalConfirmed():
                await self._remove(intent.name)
            case _:
                pass

    def _close(self, _: None) -> None:
        """Forget the unfinished connection, its key too."""
        self._asked += 1
        self._lists.stop_commands()
        self._screen = self._draft = self._tested = None

    async def _look_for_servers(self) -> None:
        self._answering = []
        for name in self._connections.local():
            if await self._lists.answers(name):
                self._answering.append(name)
                self._show_rows()

    def _show_rows(self) -> None:
        if self._screen is not None:
            self._screen.show_rows(self._connections.rows(self._answering))

    async def _choose(self, name: str, asked: int) -> None:
        """Test the chosen provider, or ask for the key or address that is missing."""
        draft, lacking = await asyncio.to_thread(self._look_up, name)
        if asked != self._asked or self._screen is None:
            return
        self._draft = draft
        if lacking:
            self._screen.show_error(lacking)
        else:
            await self._advance(draft, asked)

    def _look_up(self, name: str) -> tuple["Connection", str]:
        """Look up a connection, and say which library it lacks; blocks."""
        from tui.providers.catalog import require_extra

        draft = self._connections.connection(name)
        try:
            require_extra(draft.provider.dialect, name)
        except ModelUnavailable as error:
            return draft, str(error)
        return draft, ""

    async def _complete(
        self, take: Callable[["Connection", str], "Connection"], text: str, asked: int
    ) -> None:
        if self._draft is None or self._screen is None:
            return
        try:
            draft = take(self._draft, text)
        except UsageError as error:
            self._screen.show_error(str(error))
            return
        await self._advance(draft, asked)

    async def _advance(self, draft: "Connection", asked: int) -> None:
        """Ask for the next part of a connection that is missing; test it once it is whole."""
        screen, provider = self._screen, draft.provider
        if screen is None:
            return
        if provider.name == OWN_SERVER or provider.lacks_address:
            self._draft = draft
            screen.ask_address()
        elif provider.needs_key and draft.key is None and not provider.key_command:
            self._draft = draft
            screen.ask_key()
        else:
            await self._test(draft, asked)

    async def _test(self, draft: "Connection", asked: int) -> None:
        """Ask the server for its models; a failure leads back to the step that can mend it."""
        screen = self._screen
        if screen is None:
            return
        screen.show_waiting(f"Asking {draft.host} …")
        try:
            listed = await self._lists.listed(draft)
        except ModelError as error:
            if asked == self._asked:
                self._show_failure(draft, error)
            return
        if asked == self._asked:
            self._tested, self._listed = draft, listed
            screen.show_models(listed)

    def _show_failure(self, draft: "Connection", error: ModelError) -> None:
        screen = self._screen
        if screen is None:
            return
        if isinstance(error, NoModelList):
            self._tested, self._listed = draft, ()
            screen.show_models(())
        elif isinstance(error, KeyRefused):
            # The address was right: the key is for this one.
            self._draft = draft
            screen.ask_key(str(error), error=True)
        elif draft.provider.needs_key:
            screen.ask_key(str(error), error=True)
        else:
            screen.ask_address(str(error), error=True)

    async def _finish(self, model: str, asked: int) -> None:
        """Check a model that no list has, then keep the connection and answer with it."""
        draft, screen = self._tested, self._screen
        if draft is None or screen is None:
            return
        if model not in self._listed and (unfit := refusal(model)):
            screen.show_error(unfit)
            return
        screen.show_waiting(f"Connecting {model} …")
        try:
            if model not in self._listed:
                await self._lists.check(draft, model)
            if asked != self._asked:
                return
            name = await self._connections.keep(draft, model)
            effects = await self._answer_with(name)
        except SibylError as error:
            if asked == self._asked:
                screen.show_error(str(error))
            return
        screen.dismiss(None)
        await self._carry_out(effects)

    async def _answer_with(self, name: str) -> Sequence[Effect]:
        """Let the model answer on screen, and in all sessions that only the guide answers."""
        # Both read files of keys.
        self._chat.prompt.show_models(await asyncio.to_thread(self._models.names))
        model = await asyncio.to_thread(self._models.named, name)
        workspace = self._workspace
        guided = [loaded for loaded in workspace.open if _is_guided(loaded)]
        sessions = {each.id: each for each in (workspace.current, *guided)}.values()
        failures = [await self._use(model, loaded) for loaded in sessions]
        told = say(f"Connected: {name} answers now.")
        return (*told, *warn([*filter(None, failures)]), ShowSession())

    async def _use(self, model: Model, loaded: LoadedSession) -> str:
        """Let a model answer in a session; gives the reason if it cannot."""
        try:
            await self._workspace.use_model(loaded, model)
        except StorageError as error:
            return str(error)
        return ""

    async def _remove(self, name: str) -> None:
        screen = self._screen
        if screen is None:
            return
        try:
            await self._connections.remove(name)
        except SibylError as error:
            screen.show_error(str(error))
            return
        self._show_rows()
        screen.say("Removed.")


def _is_guided(loaded: LoadedSession) -> bool:
    """True for a session in which only the built-in guide answers."""
    return loaded.model is not None and is_guide(loaded.model.name)
