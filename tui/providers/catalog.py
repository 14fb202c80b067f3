"""Providers as configured: the table, overlaid with the settings and the environment."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tui.config import Settings, is_address
from tui.domain.providers import PROVIDERS, DialectName, Provider
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.secret import Secret, key_from_environment, key_from_file


class ModelChoice(msgspec.Struct, frozen=True):
    """A model and everything that is needed to ask it; the fields are those of ``Provider``."""

    provider: str
    model: str
    base_url: str = ""
    key: Secret | None = None
    dialect: DialectName = "openai"
    context_window: int = 32_768
    answer_tokens: int = 32_000
    timeout: float = 60
    retries: int = 0

    @property
    def name(self) -> str:
        """``PROVIDER:MODEL``, as shown and stored."""
        return f"{self.provider}:{self.model}"


def provider_called(name: str, settings: Settings, environ: Mapping[str, str]) -> Provider | None:
    """Overlay the row of the table with the connections, the settings and the environment.

    ``None`` if neither the table nor the settings have the name. Raises ``ConfigError`` if the
    environment variable is not an address.
    """
    if name not in PROVIDERS and name not in settings.providers:
        return None
    table, own = PROVIDERS.get(name) or Provider(name), settings.provider(name)
    # A key that was pasted on the screen was asked for in spite of the usual variable.
    variable = None if has_pasted_key(name, settings) else table.key_variable
    chosen = settings.connections.chosen_of(name)
    return msgspec.structs.replace(
        table,
        base_url=_address(table, environ) or own.base_url or table.base_url,
        models=tuple(dict.fromkeys([*own.models, *chosen, *(() if own.models else table.models)])),
        key_variable=own.api_key_env or variable,
        key_file=own.api_key_file,
        needs_key=table.needs_key or own.api_key_env is not None,
        context_window=own.context_window or table.context_window,
        timeout=own.timeout or table.timeout,
        retries=table.retries if own.retries is None else own.retries,
    )


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
    return said
