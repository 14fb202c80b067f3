"""Providers as configured: the table, overlaid with the settings and the environment."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tui.config import Config, ProviderSettings, is_address
from tui.domain.providers import PROVIDERS, DialectName, Provider
from tui.errors import ConfigError
from tui.providers.secret import Secret, key_from_environment, key_from_file


class Missing(msgspec.Struct, frozen=True):
    """A model that could not be connected."""

    what: str
    """The thing that is missing, as a sentence."""
    remedy: str
    """A command or lines of the configuration."""


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
    missing: tuple[Missing, ...] = ()
    """Of the guide: the models that were looked for before it was chosen."""

    @property
    def name(self) -> str:
        """``PROVIDER:MODEL``, as shown and stored."""
        return f"{self.provider}:{self.model}"


def provider_called(name: str, config: Config, environ: Mapping[str, str]) -> Provider | None:
    """Overlay the row of the table with the settings and the environment.

    ``None`` if neither the table nor the settings have the name. Raises ``ConfigError`` if the
    environment variable is not an address.
    """
    table, settings = PROVIDERS.get(name), config.providers.get(name)
    if table is None and settings is None:
        return None
    table, settings = table or Provider(name), settings or ProviderSettings()
    return Provider(
        name=name,
        dialect=table.dialect,
        base_url=_address(table, environ) or settings.base_url or table.base_url,
        models=settings.models or table.models,
        key_variable=settings.api_key_env or table.key_variable,
        key_file=settings.api_key_file,
        needs_key=table.needs_key or settings.api_key_env is not None,
        url_variable=table.url_variable,
        context_window=settings.context_window or table.context_window,
        answer_tokens=table.answer_tokens,
        timeout=settings.timeout or table.timeout,
        retries=table.retries if settings.retries is None else settings.retries,
    )


def key_of(provider: Provider, file: Path, environ: Mapping[str, str]) -> Secret | None:
    """Read a provider's key: from its environment variable, else from its key file, else none.

    ``file`` is the configuration, for errors. Raises ``ConfigError``, also for a key file that
    others may read.
    """
    if provider.key_variable:
        key = key_from_environment(provider.key_variable, environ)
        if key is not None:
            return key
    if provider.key_file is None:
        return None
    place = f"providers.{provider.name}.api_key_file"
    return key_from_file(Path(provider.key_file), str(file), place)


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
