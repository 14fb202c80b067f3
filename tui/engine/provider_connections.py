"""The connections of the running program: tested, kept and removed."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from tui.config.loading import UserSettings, is_address
from tui.config.settings_schema import Connections, ProviderSettings, connections_file
from tui.domain.models import OWN_SERVER, ProviderRow
from tui.domain.providers import OFFLINE, PROVIDERS, Provider, is_loopback
from tui.errors import ConfigError, ModelUnavailable, UsageError
from tui.providers.catalog import Catalog, Connection
from tui.providers.secret import key_from_paste
from tui.providers.source import ModelSource

_USUAL = ("anthropic", "openai", "google", "ollama", OWN_SERVER)
"""What most users look for: all others are below, in the order of the table."""

_OWN_SERVER = ProviderRow(OWN_SERVER, "Server of your own", "by its address")

_ODD = re.compile(r"[^A-Za-z0-9_-]+")


class ProviderConnections(msgspec.Struct, eq=False):
    """Owns the settings of providers while the program runs."""

    _models: ModelSource
    _settings: UserSettings
    _environ: Mapping[str, str]
    local: ClassVar[tuple[str, ...]] = ("ollama",)
    """The servers that are asked without being connected, as one may run on this machine.

    The ports of the others are common: anything may answer there.
    """

    # --- known connections

    @property
    def recent(self) -> tuple[str, ...]:
        """The models that the user has chosen, the latest first."""
        return self._settings.connections.recent

    def rows(self, answering: Sequence[str] = ()) -> tuple[ProviderRow, ...]:
        """The providers that can be connected: the found ones first, then the usual ones.

        ``answering`` are servers that have answered without being connected.
        """
        names = dict.fromkeys([*PROVIDERS, *self._settings.providers])
        rows = [row for name in names if (row := self._row(name, name in answering))]

        def rank(row: ProviderRow) -> tuple[bool, int]:
            usual = _USUAL.index(row.name) if row.name in _USUAL else len(_USUAL)
            return not row.found, 0 if row.found else usual

        return tuple(sorted([*rows, _OWN_SERVER], key=rank))

    def usable(self) -> list[str]:
        """The names of the providers that can be asked: their keys or addresses are there."""
        return [name for name in self.known() if self._is_usable(name)]

    def known(self) -> list[str]:
        """The names of all providers of the table, the configuration and the connections."""
        names = dict.fromkeys([*self._settings.providers, *PROVIDERS])
        return [name for name in names if name != OFFLINE]

    def provider(self, name: str) -> Provider | None:
        """Look up a provider as it is configured; ``None`` if nothing has the name."""
        try:
            return self._catalog().provider(name)
        except ConfigError:
            # A wrong variable is reported where the model is asked for.
            return None

    def connection(self, name: str) -> Connection:
        """The connection of a row, as far as it is known. Reads its key file."""
        provider = self.provider(name)
        if provider is None:
            return Connection(Provider(name))
        try:
            return Connection(provider, self._catalog().key(provider))
        except (ConfigError, ModelUnavailable):
            # A new key is asked for.
            return Connection(provider)

    # --- connecting

    def with_key(self, connection: Connection, text: str) -> Connection:
        """Take a pasted key. Raises ``UsageError`` for what cannot be one."""
        from tui.storage.connections import key_path

        place = key_path(self._file, connection.provider.name)
        return replace(connection, key=key_from_paste(text, str(place)))

    def with_address(self, connection: Connection, text: str) -> Connection:
        """Take an address; a server of one's own is named after it. Raises ``UsageError``."""
        provider, address = connection.provider, address_of(text, connection.provider)
        own = provider.name == OWN_SERVER
        name = _name_for(address, self._settings) if own else provider.name
        # A key belongs to the server that it was given for.
        key = connection.key if provider.lacks_address else None
        return replace(connection, provider=replace(provider, name=name, base_url=address), key=key)

    async def keep(self, connection: Connection, model: str) -> str:
        """Keep a connection, and let the program use it; gives the whole name of the model.

        Raises ``StorageError`` and ``ConfigError``: then nothing has changed.
        """
        return (await self._change(partial(self._with, connection, model))).recent[0]

    async def remove(self, name: str) -> None:
        """Remove a connection and its key. Raises ``StorageError`` and ``ConfigError``."""
        from tui.storage.connections import remove_key

        await self._change(lambda kept: kept.without(name))
        await asyncio.to_thread(remove_key, self._file, name)

    async def remember_choice(self, name: str) -> None:
        """Remember that the user has chosen a model. Raises ``StorageError``, ``ConfigError``."""
        if not name.startswith(f"{OFFLINE}:") and name not in self.recent[:1]:
            await self._change(lambda kept: kept.with_chosen(name))

    # --- within

    def _catalog(self) -> Catalog:
        return Catalog(self._settings, self._environ)

    @property
    def _file(self) -> Path:
        return connections_file(self._settings.file)

    def _row(self, name: str, answers: bool) -> ProviderRow | None:  # noqa: FBT001 - a column
        """Make the row of a provider; ``None`` for one that is not offered."""
        provider = self.provider(name)
        if provider is None or name == OFFLINE:
            return None
        connected = name in self._settings.connections.providers
        own = name in self._settings.config.providers
        variable = self._variable(provider)
        found = f"{variable} is set" if variable else "running" if answers else ""
        lacks = ""
        begun = own or self._environ.get(provider.url_variable or "")
        if begun and provider.needs_key and not (found or self._is_usable(name)):
            lacks = f"{provider.key_variable} is not set"
        address = urlsplit(provider.base_url)
        place = address.netloc if is_loopback(address.hostname or "") else ""
        return ProviderRow(
            name,
            provider.title or name,
            "connected" if connected else found or lacks or place,
            connected=connected,
            found=connected or bool(found) or (own and not lacks),
            key_page=provider.key_page,
            address=provider.base_url,
            example_address=provider.example_address,
            wants_key=provider.needs_key or self._catalog().has_pasted_key(name),
        )

    def _variable(self, provider: Provider) -> str:
        """The variable that has the key of a provider; empty without one."""
        variable = provider.key_variable or ""
        return variable if self._environ.get(variable, "").strip() else ""

    def _is_usable(self, name: str) -> bool:
        provider = self.provider(name)
        if provider is None:
            return False
        if provider.needs_key:
            return bool(provider.key_file or provider.key_command or self._variable(provider))
        return name in self._settings.providers

    def _with(self, connection: Connection, model: str, kept: Connections) -> Connections:
        """Add a connection, and write its key."""
        from tui.storage.connections import write_key

        provider, key = connection.provider, connection.key
        other, known = kept.providers.get(provider.name), {*PROVIDERS, *self._settings.providers}
        if other and provider.name not in known and other.base_url != provider.base_url:
            # Another window has connected another server of this name meanwhile.
            now = replace(self._settings, connections=kept)
            provider = replace(provider, name=_name_for(provider.base_url, now))
        own = self._settings.config.providers.get(provider.name, ProviderSettings())
        table = PROVIDERS.get(provider.name, Provider(provider.name))
        # The address of a variable, too: the key was given for that server.
        usual = provider.base_url in {own.base_url, table.base_url}
        elsewhere = {provider.key_variable, own.api_key_file}
        file = None
        if key and key.source not in elsewhere:
            file = str(write_key(self._file, provider.name, key.reveal()))
        settings = ProviderSettings(
            base_url=None if usual else provider.base_url, api_key_file=file
        )
        whole_name = f"{provider.name}:{model}"
        return kept.with_connected(provider.name, settings, whole_name)

    async def _change(self, change: Callable[[Connections], Connections]) -> Connections:
        from tui.storage import connections

        kept = await asyncio.to_thread(connections.change, self._file, change)
        self._settings = self._settings.with_connections(kept)
        self._models.use(self._settings)
        return kept


def _name_for(address: str, settings: UserSettings) -> str:
    """The name of a server of one's own: that of its host, unless another has it."""
    for name in settings.providers:
        if settings.provider(name).base_url == address:
            return name
    host = urlsplit(address).hostname or ""
    plain = "local" if is_loopback(host) else _ODD.sub("-", host).strip("-_") or "server"
    taken = {*PROVIDERS, *settings.providers}
    others = (f"{plain}-{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (plain, *others) if name not in taken)


def address_of(text: str, provider: Provider) -> str:
    """Complete an address that was typed: with its scheme, and ``/v1`` where nothing follows.

    Raises ``UsageError`` for what is none.
    """
    address = typed = text.strip().rstrip("/")
    if provider.lists == "ollama":
        from tui.providers.catalog import address_from_host

        address = address_from_host(typed)
    else:
        usual = provider.base_url or provider.example_address
        if "://" not in typed:
            address = ("https://" if usual.startswith("https:") else "http://") + typed
        has_path = "/" in address.partition("://")[2]
        if not has_path and provider.dialect in ("openai", "responses", "mistral"):
            address += provider.path or "/v1"
    odd = not typed or typed.endswith(":") or " " in address or not address.isascii()
    if odd or not is_address(address):
        raise UsageError("This is not an address. Type one like http://127.0.0.1:8080/v1")
    return address
