"""The choice of a model: the table of providers, overlaid with the settings and the environment.

A local Ollama is found where it listens.
"""

import shlex
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec

from tui.config.loading import UserSettings, is_address
from tui.config.settings_schema import ModelTable, ProviderSettings
from tui.domain.providers import (
    EXTRAS,
    GUIDE,
    KNOWN_SERVERS,
    LISTINGS,
    OFFLINE,
    PROVIDERS,
    SHARED_VARIABLES,
    DialectName,
    Provider,
)
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.secret import Secret, key_from_command, key_from_environment, key_from_file
from tui.threads import begin

# --- a local Ollama

DEADLINE = 0.3
"""Limit of the whole request in seconds, as it may delay the start."""

_PORT = 11434
_LARGEST_LIST = 1_000_000


def address_from_host(host: str) -> str:
    """Convert ``OLLAMA_HOST`` to the address of its OpenAI-compatible API.

    It may be a host, ``host:port``, ``:port`` or a URL. 0.0.0.0, where the server listens, becomes
    127.0.0.1.
    """
    whole = host if "://" in host else f"http://{host}"
    scheme, _, rest = whole.partition("://")
    place, _, path = rest.partition("/")
    name, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        # The colons of [::1] do not separate a port.
        name, port = place, ""
    if not port and scheme == "http" and "://" not in host:
        port = str(_PORT)
    if name in {"", "0.0.0.0", "[::]"}:  # noqa: S104 - called, not listened at
        name = "127.0.0.1"
    path = path.strip("/")
    root = f"{scheme}://{name}" + (f":{port}" if port else "") + (f"/{path}" if path else "")
    return root if path.endswith("v1") else f"{root}/v1"


def first_model(base_url: str, deadline: float = DEADLINE) -> str | None:
    """The first chat model; ``None`` without one, or without an answer in time."""
    return next(iter(chat_models(base_url, deadline)), None)


def chat_models(base_url: str, deadline: float = DEADLINE) -> tuple[str, ...]:
    """The chat models in the server's order; none without an answer within ``deadline`` seconds."""
    found: list[str] = []
    # A socket's time-out restarts at each read, and does not cover name resolution.
    wait([begin("ollama", lambda: found.extend(_models(base_url, deadline)))], deadline)
    return tuple(found)


def _models(base_url: str, timeout: float) -> list[str]:
    end = time.monotonic() + timeout
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout).close()
    except (OSError, UnicodeError):
        # The usual case: no server. A plain socket notices at once, without importing a library.
        return []
    import json
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    http = kind(parts.hostname or "", parts.port, timeout=max(end - time.monotonic(), 0.001))
    try:
        http.request("GET", parts.path.removesuffix("/").removesuffix("/v1") + "/api/tags")
        response = http.getresponse()
        listed = json.loads(response.read(_LARGEST_LIST) if response.status == 200 else b"{}")
        return list(_chat_names(listed))
    except (OSError, HTTPException, ValueError, RecursionError):
        return []
    finally:
        http.close()


def _chat_names(listed: Any) -> Iterator[str]:
    """The names in ``{"models": [{"name": ...}]}``, without embedding models."""
    match listed:
        case {"models": [*models]}:
            for model in models:
                match model:
                    case {"details": {"family": str(family)}} if "bert" in family:
                        pass
                    case {"name": str(name)} if "embed" not in name:
                        yield name
                    case _:
                        pass
        case _:
            pass


# --- servers and models

_OPENAI = "api.openai.com"
_KEY_HEADERS: Mapping[DialectName, str] = {"anthropic": "X-Api-Key", "google": "X-Goog-Api-Key"}
_SHARED = sorted({*ProviderSettings.__struct_fields__} & {*Provider.__struct_fields__})
"""The settings of a server that are fields of its row by the same name."""

FindModel = Callable[[str], str | None]
"""Ask the Ollama at an address for its first model."""


class Connection(msgspec.Struct, frozen=True):
    """A server, and the key for it."""

    provider: Provider
    key: Secret | None = None

    @property
    def host(self) -> str:
        """The name and the port of the server."""
        return urlsplit(self.provider.base_url).netloc or self.provider.title

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The key and the values of the headers, none of which is ever shown."""
        headers = (Secret(text, "headers") for text in self.provider.headers.values())
        return (*([self.key] if self.key else []), *headers)

    @property
    def headers(self) -> Iterator[tuple[str, str]]:
        """The configured headers, then the one with the key."""
        yield from self.provider.headers.items()
        if self.key:
            usual = _KEY_HEADERS.get(self.provider.dialect, "Authorization")
            name, key = self.provider.key_header or usual, self.key.reveal()
            yield name, f"Bearer {key}" if name.lower() == "authorization" else key

    def keyed(self) -> Self:
        """Run the command for the key, if there is none; blocks. Raises ``ModelUnavailable``."""
        if self.key or not self.provider.key_command:
            return self
        key = key_from_command(self.provider.key_command, self.provider.name)
        return msgspec.structs.replace(self, key=key)


class ModelChoice(Connection, frozen=True):
    """A model, and everything that is needed to ask it."""

    model: str = ""
    context_window: int = 32_768
    """The configured one, else what is assumed until more is known."""
    configured_window: int | None = None
    configured_images: bool | None = None
    """True for a model that sees pictures by the configuration."""

    @property
    def name(self) -> str:
        """``PROVIDER:MODEL``, as shown and stored."""
        return f"{self.provider.name}:{self.model}"

    @property
    def place(self) -> str:
        """The server in messages: its address; AWS's client knows that by itself."""
        return self.provider.base_url or self.provider.name


# A representation would show the keys of the environment.
@dataclass(eq=False, repr=False)
class Catalog:
    """The providers and models as configured. Every method may raise ``ConfigError``.

    May ask a local Ollama for its models, by default for at most 300 ms.
    """

    _settings: UserSettings
    _environ: Mapping[str, str]
    _find_ollama: FindModel = first_model

    # --- models

    def choose(
        self, proposed: str | None = None, local: Collection[str] = ()
    ) -> tuple[ModelChoice, tuple[str, ...]]:
        """Select the model, with notices about those that were skipped.

        In order: the flag or environment variable; the model that a session ``proposed``, if the
        settings know it or it is a ``local`` one, which costs nothing; the configured model; the
        first available one. Raises ``ModelUnavailable`` if the requested model cannot be used.
        """
        asked, insisted = self._settings.model, self._settings.insists
        if proposed and not insisted and (proposed in local or self.is_known(proposed)):
            asked = proposed
        choice, notices = (self.named(asked), ()) if asked else self._first()
        if proposed and not insisted and proposed not in {choice.name, f"{OFFLINE}:{GUIDE}"}:
            said = f"{proposed} is not in your settings. {choice.name} answers instead."
            notices = (*notices, said)
        return choice, notices

    def is_known(self, name: str) -> bool:
        """True if the user's settings know the model that a session's file names.

        That is the configured model, one listed for its provider, or the provider's default, if its
        key is set. So a foreign file cannot choose a model that costs money.
        """
        provider_name, _, model = name.partition(":")
        provider = self.provider(provider_name)
        if provider is None or provider_name == OFFLINE or not model:
            return False
        if name != self._settings.model and model not in provider.models:
            return False
        try:
            return bool(self.named(name))
        except ModelUnavailable:
            return False

    def named(self, asked: str) -> ModelChoice:
        """Look up ``PROVIDER:MODEL``, or ``PROVIDER``'s default. Raises ``ModelUnavailable``."""
        name, _, model = asked.partition(":")
        provider = self.provider(name)
        if provider is None:
            known = ", ".join(dict.fromkeys([*PROVIDERS, *self._settings.providers]))
            raise ModelUnavailable(
                f'There is no provider "{name}". Known are {known}. A model is named'
                f" PROVIDER:MODEL; your own server is [providers.NAME] in {self._settings.file}."
            )
        if name == OFFLINE and model not in {"", GUIDE}:
            raise ModelUnavailable(
                f"There is no model {asked}. The built-in guide is {OFFLINE}:{GUIDE}."
            )
        return self._choice(provider, model or self._default_model(provider))

    def names(self) -> tuple[str, ...]:
        """List every configured or default model whose key is set; the guide's is the last."""
        asked = [self._settings.model] if self._settings.model else []
        for name in dict.fromkeys([*self._settings.providers, *PROVIDERS]):
            # A wrong variable or key file is reported when the model is requested.
            with suppress(ConfigError):
                provider = self.provider(name)
                asked += [f"{name}:{model}" for model in provider.models] if provider else []
        found: dict[str, None] = {}
        for each in asked:
            with suppress(ConfigError, ModelUnavailable):
                found[self.named(each).name] = None
        return tuple(found)

    def _first(self) -> tuple[ModelChoice, tuple[str, ...]]:
        """Select the first available model, else the guide, with what was passed over."""
        vendors = [name for name in PROVIDERS if PROVIDERS[name].needs_key]
        own = [name for name in self._settings.providers if name not in KNOWN_SERVERS]
        # Vendors of which only a variable is known that serves for much else.
        last = [
            name
            for name in vendors
            if (provider := self.provider(name))
            and provider.key_variable in SHARED_VARIABLES
            and name not in self._settings.providers
        ]
        passed_over: list[str] = []
        for name in [*(each for each in vendors if each not in last), *own, "ollama", *last]:
            provider = self.provider(name)
            if provider is None:
                continue
            if name in vendors and not (self.key(provider) or provider.key_command):
                variable, address = provider.key_variable, provider.url_variable
                if address and self._environ.get(address):
                    passed_over.append(f"{address} is set, but {variable} is not.")
                continue
            found = self._find_ollama(provider.base_url) if name == "ollama" else ""
            if found is None:
                continue
            try:
                model = (*provider.models, found)[0] if found else self._default_model(provider)
                return self._choice(provider, model), tuple(passed_over)
            except ModelUnavailable as error:
                passed_over.append(str(error))
        return ModelChoice(PROVIDERS[OFFLINE], model=GUIDE), tuple(passed_over)

    def _default_model(self, provider: Provider) -> str:
        if provider.models:
            return provider.models[0]
        if provider.name == "ollama":
            found = self._find_ollama(provider.base_url)
            if found:
                return found
            raise ModelUnavailable(
                f"No Ollama with a model answers at {provider.base_url}. Start it, or set"
                " OLLAMA_HOST to its address."
            )
        raise ModelUnavailable(
            f"{provider.name}: no models listed. Choose one with /model, or add"
            f' models = ["MODEL"] to [providers.{provider.name}] in {self._settings.file}.'
        )

    def _choice(self, provider: Provider, model: str) -> ModelChoice:
        name, settings = provider.name, self._settings
        if provider.lacks_address:
            raise ModelUnavailable(
                f"{name} requires an address. Press F5 to enter it, set {provider.url_variable},"
                f' or add base_url = "https://…" to [providers.{name}] in {settings.file}.'
            )
        key = self.key(provider)
        if key is None and provider.needs_key and not provider.key_command:
            raise ModelUnavailable(
                f"{name} requires a key. Press F5 to enter it, set {provider.key_variable}, or add"
                f' api_key_file = "{name}.key" to [providers.{name}] in {settings.file}.'
            )
        own = settings.config.models.get(f"{name}:{model}", ModelTable())
        shared = settings.provider(name)
        window = own.context_window or shared.context_window
        return ModelChoice(
            provider,
            key,
            model,
            context_window=window or provider.context_window,
            configured_window=window,
            configured_images=shared.images if own.images is None else own.images,
        )

    # --- providers

    def provider(self, name: str) -> Provider | None:
        """Overlay the row of the table with the connections, the settings and the environment.

        ``None`` if neither the table nor the settings have the name.
        """
        settings = self._settings
        if name not in PROVIDERS and name not in settings.providers:
            return None
        table, own = PROVIDERS.get(name) or Provider(name), settings.provider(name)
        usual = (table.key_variable, *table.other_key_variables)
        is_set = (each for each in usual if each and self._environ.get(each, "").strip())
        # A key that was pasted on the screen was asked for in spite of the usual variable.
        variable = None if self.has_pasted_key(name) else next(is_set, table.key_variable)
        chosen = settings.connections.chosen_of(name)
        usual_models = () if own.models else table.models
        address = self._address(table) or own.base_url or table.base_url
        dialect, lists = table.dialect, table.lists
        if own.dialect is not None:
            dialect, lists = own.dialect, LISTINGS.get(own.dialect, "openai")
        elif dialect == "openai" and urlsplit(address).hostname == _OPENAI:
            # It refuses tools in chat completions to models that reason.
            dialect = "responses"
        said = {each: getattr(own, each) for each in _SHARED}
        fields: dict[str, Any] = {
            each: getattr(table, each) | value if isinstance(value, dict) else value
            for each, value in said.items()
            if value not in (None, ())
        }
        fields |= {
            "base_url": address,
            "dialect": dialect,
            "lists": lists,
            "models": tuple(dict.fromkeys([*own.models, *chosen, *usual_models])),
            "key_variable": own.api_key_env or variable,
            "key_file": own.api_key_file,
            "needs_key": table.needs_key or own.api_key_env is not None,
            "proxy": settings.config.proxy if own.proxy is None else own.proxy,
        }
        return msgspec.structs.replace(table, **fields)

    def _address(self, table: Provider) -> str | None:
        """The address in the environment; raises ``ConfigError`` if it is none."""
        variable = table.url_variable
        said = self._environ.get(variable, "").strip() if variable else ""
        if not said or variable is None:
            return None
        if table.name == "ollama":
            said = address_from_host(said)
        if not is_address(said):
            raise ConfigError("environment", variable, "expected the address of a server")
        return said if urlsplit(said).path.strip("/") else said.rstrip("/") + table.path

    def has_pasted_key(self, name: str) -> bool:
        """True if the key of a provider is one that was pasted on the screen."""
        kept = self._settings.connections.providers.get(name)
        pasted = kept.api_key_file if kept else None
        return pasted is not None and pasted == self._settings.provider(name).api_key_file

    def key(self, provider: Provider) -> Secret | None:
        """Read a provider's key: from its environment variable, else from its key file, else none.

        Raises ``ConfigError``, also for a key file that others may read; ``ModelUnavailable`` if a
        key that was pasted on the screen cannot be read, which a new one mends.
        """
        variable = provider.key_variable
        if variable and (key := key_from_environment(variable, self._environ)):
            return key
        if provider.key_file is None:
            return None
        place = f"providers.{provider.name}.api_key_file"
        try:
            return key_from_file(Path(provider.key_file), str(self._settings.file), place)
        except ConfigError as error:
            if not self.has_pasted_key(provider.name):
                raise
            raise ModelUnavailable(
                f"The key of {provider.name} cannot be used: {error.expected}. F5 takes a new one."
            ) from None


# --- libraries that are installed by name


def require_extra(dialect: DialectName, provider: str) -> None:
    """Raise ``ModelUnavailable`` with the command that installs it, if an extra is missing."""
    module = EXTRAS.get(dialect)
    if module is not None and find_spec(module) is None:
        raise ModelUnavailable(
            f"The library for {provider} is not installed. Run: {install_command(dialect)}"
        )


def install_command(extra: str) -> str:
    """The command that installs an extra beside the running program, whose venv may have no pip."""
    python = shlex.quote(sys.executable)
    return f'python3 -m pip --python {python} install "sibyl-tui[{extra}]"'
