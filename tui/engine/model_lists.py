"""The models of all connected servers: their lists, asked for in the background and cached."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tui.domain.models import ModelFacts, ModelRows, arrange
from tui.domain.providers import GUIDE, OFFLINE, ListedModel
from tui.domain.timestamps import format_utc, parse_utc
from tui.engine.provider_connections import ProviderConnections
from tui.errors import ModelError, ModelUnavailable, StorageError
from tui.providers.catalog import Connection
from tui.providers.source import ModelSource

if TYPE_CHECKING:
    from tui.storage.state_files import CachedList, Lists

_KEPT_FOR = timedelta(days=1)
_GIVE_UP_SECONDS = 30.0


class ModelLists(msgspec.Struct, eq=False):
    """Owns the lists of the servers' models; ``cache_file`` has them between two runs."""

    _connections: ProviderConnections
    _models: ModelSource
    _cache_file: Path | None
    _clock: Callable[[], datetime]
    _lists: "Lists" = {}
    _troubles: dict[str, str] = {}
    _facts: dict[str, ModelFacts] = {}
    _commands: list[Sequence[str]] = []

    async def begin(self) -> None:
        """Read the lists of an earlier run."""
        from tui.storage import state_files

        if self._cache_file:
            earlier = await asyncio.to_thread(state_files.read_lists, self._cache_file)
            # A server may have answered meanwhile.
            self._lists = {**earlier, **self._lists}
            self._share_names()

    # --- one server

    async def listed(self, connection: Connection) -> tuple[str, ...]:
        """Ask a server for its models, and keep the list; gives the names.

        Raises ``ModelError``.
        """

        def ask() -> tuple[ListedModel, ...]:
            # Its library is imported in the thread, too.
            from tui.providers.listed_models import list_models

            return list_models(connection)

        provider = connection.provider
        self._commands.append(provider.key_command)
        try:
            # The look-up of a name has no limit of its own.
            listed = await asyncio.wait_for(asyncio.to_thread(ask), _GIVE_UP_SECONDS)
        except TimeoutError:
            host = connection.host
            raise ModelUnavailable(f"{host} did not answer. Check the address.") from None
        except asyncio.CancelledError:
            self.stop_commands()
            raise
        finally:
            self._commands.remove(provider.key_command)
        from tui.storage import state_files

        cached = state_files.CachedList.of(provider.base_url, format_utc(self._clock()), listed)
        self._lists = {**self._lists, provider.name: cached}
        self._share_names()
        if self._cache_file:
            # A list that is not kept is asked for again.
            with suppress(StorageError):
                changes = {provider.name: cached}
                await asyncio.to_thread(state_files.change_lists, self._cache_file, changes)
        return tuple(each.name for each in listed)

    def stop_commands(self) -> None:
        """End the commands that print keys for lists: nobody looks at those any more."""
        if any(self._commands):
            from tui.providers.secret import stop_key_command

            for command in self._commands:
                stop_key_command(command)

    async def check(self, connection: Connection, model: str) -> None:
        """Ask a model for one token. Raises ``ModelError``."""

        def ask() -> None:
            from tui.providers.listed_models import check

            check(connection, model)

        await asyncio.to_thread(ask)

    async def answers(self, name: str) -> bool:
        """True if the server of a provider lists its models."""
        try:
            connection = await asyncio.to_thread(self._connections.connection, name)
            return bool(await self.listed(connection))
        except ModelError:
            return False

    # --- all servers

    def rows(self, current: str, asking: Sequence[str] = ()) -> ModelRows:
        """The models known now, and the servers in ``asking`` that have not answered yet."""
        names = {name: self._models_of(name) for name in self._shown()}
        facts = dict(self._facts)
        for name in names:
            cached = self._cached(name)
            for model, window in (cached.windows if cached else {}).items():
                priced = facts.get(f"{name}:{model}", ModelFacts())
                facts[f"{name}:{model}"] = replace(priced, window=window)
        rows = arrange({**names, OFFLINE: (GUIDE,)}, self._connections.recent, current, facts)
        troubles = [self._troubles[name] for name in names if name in self._troubles]
        return ModelRows(rows, tuple(troubles), tuple(name for name in asking if name in names))

    def due(self, *, anew: bool) -> list[str]:
        """The servers to ask: those whose lists are old, or all ``anew``."""
        asked = {*self._connections.usable(), *self._connections.local}
        due: list[str] = []
        for name in self._connections.known():
            provider, cached = self._connections.provider(name), self._cached(name)
            if name not in asked or provider is None or provider.lists == "none":
                continue
            asked_at = parse_utc(cached.asked_at) if cached else None
            age = self._clock() - asked_at if asked_at else None
            is_old = age is None or not timedelta(0) <= age < _KEPT_FOR
            # The models of a server of one's own change often, and it is near.
            if anew or is_old or not provider.needs_key:
                due.append(name)
        return due

    async def ask_servers(self, current: str, *, anew: bool) -> AsyncGenerator[ModelRows]:
        """Ask the servers that are due; gives the rows after each."""
        asked = self.due(anew=anew)
        waiting = dict.fromkeys(asked)
        tasks = [asyncio.ensure_future(self._ask(name)) for name in asked]
        try:
            await asyncio.to_thread(self._look_up_facts)
            yield self.rows(current, tuple(waiting))
            for answer in asyncio.as_completed(tasks):
                waiting.pop(await answer)
                await asyncio.to_thread(self._look_up_facts)
                yield self.rows(current, tuple(waiting))
        finally:
            for task in tasks:
                task.cancel()

    # --- within

    def _shown(self) -> list[str]:
        """The names of the servers whose models can be chosen."""
        usable = self._connections.usable()
        # A server may answer without being connected, such as a local Ollama.
        others = (name for name in self._lists if name not in usable)
        found = ((name, self._connections.provider(name)) for name in others)
        return [*usable, *(name for name, row in found if row and not row.needs_key)]

    def _models_of(self, name: str) -> tuple[str, ...]:
        provider, cached = self._connections.provider(name), self._cached(name)
        own = provider.models if provider else ()
        return tuple(dict.fromkeys([*own, *(cached.models if cached else ())]))

    def _cached(self, name: str) -> "CachedList | None":
        """The list of a server, unless its address has changed."""
        cached, provider = self._lists.get(name), self._connections.provider(name)
        return cached if cached and provider and cached.address == provider.base_url else None

    async def _ask(self, name: str) -> str:
        """Ask one server, and record the error if it gives no list; gives its name."""
        self._troubles.pop(name, None)
        try:
            await self.listed(await asyncio.to_thread(self._connections.connection, name))
        except ModelError as error:
            if name in self._connections.usable():
                self._troubles[name] = f"{name}: {error}"
        return name

    def _share_names(self) -> None:
        self._models.know({name: self._models_of(name) for name in self._shown()})

    def _look_up_facts(self) -> None:
        from tui.providers.prices import facts

        for name in self._shown():
            provider = self._connections.provider(name)
            if provider is None or not provider.needs_key:
                continue
            for model in self._models_of(name):
                whole = f"{name}:{model}"
                if whole not in self._facts:
                    self._facts[whole] = facts(name, provider.base_url, model)
