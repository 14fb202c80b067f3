"""Providers as configured: the table, overlaid with the settings and the environment."""

import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tui.config import ModelTable, ProviderSettings, Settings, is_address
from tui.domain.providers import (
    EXTRAS,
    LISTINGS,
    PROVIDERS,
    DialectName,
    ListingName,
    MaxTokensName,
    Provider,
    form_of_key,
)
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.secret import Secret, key_from_environment, key_from_file

_OPENAI = "api.openai.com"


class ModelChoice(msgspec.Struct, frozen=True):
    """A model and everything that is needed to ask it; the fields are those of ``Provider``."""

    provider: str
    model: str
    base_url: str = ""
    key: Secret | None = None
    dialect: DialectName = "openai"
    lists: ListingName = "openai"
    needs_key: bool = False
    context_window: int = 32_768
    """The configured one, else what is assumed until more is known."""
    configured_window: int | None = None
    configured_images: bool | None = None
    """True for a model that sees pictures by the configuration."""
    answer_tokens: int = 32_000
    timeout: float = 60
    retries: int = 0
    key_command: tuple[str, ...] = ()
    """Run by ``with_key`` before the model is built, if there is no key."""
    key_header: str = ""
    headers: dict[str, Secret] = {}
    query: dict[str, str] = {}
    extra_body: dict[str, Any] = {}
    stream_options: bool = True
    max_tokens_name: MaxTokensName = "max_tokens"
    proxy: Secret | None = None
    """Its address may have a password."""
    client_certificate: str | None = None
    client_key: str | None = None

    @property
    def name(self) -> str:
        """``PROVIDER:MODEL``, as shown and stored."""
        return f"{self.provider}:{self.model}"

    @property
    def key_form(self) -> str:
        """The value of ``key_header``, if that is set, with the key for ``{}``."""
        return form_of_key(self.key_header)

    @property
    def place(self) -> str:
        """The server in messages: its address; a vendor's client may know that by itself."""
        return self.base_url or self.provider

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The key and the values of the headers, none of which is ever shown."""
        return (*([self.key] if self.key else []), *self.headers.values())


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


_SHARED = tuple(
    name for name in ModelChoice.__struct_fields__ if name in Provider.__struct_fields__
)


def choice_of(provider: Provider, model: str, key: Secret | None) -> ModelChoice:
    """Choose a model of a provider."""
    place = f"providers.{provider.name}.headers"
    fields: dict[str, Any] = {name: getattr(provider, name) for name in _SHARED}
    fields["headers"] = {name: Secret(text, place) for name, text in provider.headers.items()}
    fields["proxy"] = None if provider.proxy is None else Secret(provider.proxy, "proxy")
    return ModelChoice(provider=provider.name, model=model, key=key, **fields)


def provider_of(choice: ModelChoice) -> Provider:
    """The provider of a choice, as far as asking its server needs it."""
    fields: dict[str, Any] = {name: getattr(choice, name) for name in _SHARED}
    fields["headers"] = {name: secret.reveal() for name, secret in choice.headers.items()}
    fields["proxy"] = choice.proxy.reveal() if choice.proxy else None
    return Provider(choice.provider, **fields)


def with_limits(choice: ModelChoice, settings: Settings) -> ModelChoice:
    """Put in what is configured of the model, else of its provider: the window, and pictures."""
    own = settings.config.models.get(choice.name, ModelTable())
    shared = settings.provider(choice.provider)
    window = own.context_window or shared.context_window
    return msgspec.structs.replace(
        choice,
        context_window=window or choice.context_window,
        configured_window=window,
        configured_images=shared.images if own.images is None else own.images,
    )


def with_key(choice: ModelChoice) -> ModelChoice:
    """Run the command that prints the key, if there is none. Raises ``ModelUnavailable``.

    It may take seconds: call it in a thread.
    """
    if choice.key or not choice.key_command:
        return choice
    from tui.providers.key_command import key_from_command

    key = key_from_command(choice.key_command, choice.provider)
    return msgspec.structs.replace(choice, key=key)


def provider_called(name: str, settings: Settings, environ: Mapping[str, str]) -> Provider | None:
    """Overlay the row of the table with the connections, the settings and the environment.

    ``None`` if neither the table nor the settings have the name. Raises ``ConfigError`` if the
    environment variable is not an address.
    """
    if name not in PROVIDERS and name not in settings.providers:
        return None
    table, own = PROVIDERS.get(name) or Provider(name), settings.provider(name)
    # A key that was pasted on the screen was asked for in spite of the usual variable.
    variable = None if has_pasted_key(name, settings) else _key_variable(table, environ)
    chosen = settings.connections.chosen_of(name)
    address = _address(table, environ) or own.base_url or table.base_url
    return msgspec.structs.replace(
        table,
        base_url=address,
        models=tuple(dict.fromkeys([*own.models, *chosen, *(() if own.models else table.models)])),
        key_variable=own.api_key_env or variable,
        key_file=own.api_key_file,
        needs_key=table.needs_key or own.api_key_env is not None,
        proxy=settings.config.proxy if own.proxy is None else own.proxy,
        **_spoken(own, table.dialect, address),
        **_replaced(own),
        **_added(table, own),
    )


_REPLACED = (
    "context_window",
    "timeout",
    "retries",
    "key_command",
    "key_header",
    "stream_options",
    "max_tokens_name",
    "client_certificate",
    "client_key",
)
_ADDED = ("headers", "query", "extra_body")


def _replaced(own: ProviderSettings) -> dict[str, Any]:
    """The settings that replace a field of the table."""
    said = {name: getattr(own, name) for name in _REPLACED}
    return {name: value for name, value in said.items() if value not in (None, ())}


def _added(table: Provider, own: ProviderSettings) -> dict[str, Any]:
    """The settings that are added to those of the table."""
    return {name: {**getattr(table, name), **(getattr(own, name) or {})} for name in _ADDED}


def _key_variable(table: Provider, environ: Mapping[str, str]) -> str | None:
    """The first usual variable that is set, else the first."""
    usual = (table.key_variable, *table.other_key_variables)
    return next((each for each in usual if each and environ.get(each, "").strip()), usual[0])


def _spoken(own: ProviderSettings, usual: DialectName, address: str) -> dict[str, Any]:
    """The configured dialect, with its form of the list of models; else the one of the address.

    OpenAI's own speaks Responses: it refuses tools in chat completions to models that reason.
    """
    if own.dialect is not None:
        return {"dialect": own.dialect, "lists": LISTINGS.get(own.dialect, "openai")}
    is_openai = urlsplit(address).hostname == _OPENAI
    return {"dialect": "responses"} if usual == "openai" and is_openai else {}


def has_pasted_key(name: str, settings: Settings) -> bool:
    """True if the key of a provider is one that was pasted on the screen."""
    kept = settings.connections.providers.get(name)
    pasted = kept.api_key_file if kept else None
    return pasted is not None and pasted == settings.provider(name).api_key_file


def key_of(provider: Provider, settings: Settings, environ: Mapping[str, str]) -> Secret | None:
    """Read a provider's key: from its environment variable, else from its key file, else none.

    Raises ``ConfigError``, also for a key file that others may read; ``ModelUnavailable`` if a
    key that was pasted on the screen cannot be read, which a new one mends.
    """
    if provider.key_variable:
        key = key_from_environment(provider.key_variable, environ)
        if key is not None:
            return key
    if provider.key_file is None:
        return None
    place = f"providers.{provider.name}.api_key_file"
    try:
        return key_from_file(Path(provider.key_file), str(settings.file), place)
    except ConfigError as error:
        if not has_pasted_key(provider.name, settings):
            raise
        raise ModelUnavailable(
            f"The key of {provider.name} cannot be used: {error.expected}. F5 takes a new one."
        ) from None


def _address(provider: Provider, environ: Mapping[str, str]) -> str | None:
    variable = provider.url_variable
    said = environ.get(variable, "").strip() if variable else ""
    if not said or variable is None:
        return None
    if provider.name == "ollama":
        from tui.providers.ollama import address_from_host

        said = address_from_host(said)
    if not is_address(said):
        raise ConfigError("environment", variable, "expected the address of a server")
    return said if urlsplit(said).path.strip("/") else said.rstrip("/") + provider.path


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
