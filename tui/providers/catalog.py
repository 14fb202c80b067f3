"""The providers there are: one table, what the user's settings make of it, and a choice from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tui.config import Config, ProviderSettings, is_address
from tui.errors import ConfigError
from tui.providers.secret import Secret, key_from_environment, key_from_file

OFFLINE = "offline"
"""The guide, which is asked without a server, as ``offline:guide``."""

GUIDE = "guide"

DialectName = Literal["openai", "anthropic"]
"""What a server speaks: chat completions, or Anthropic's messages."""


class Provider(msgspec.Struct, frozen=True):
    """A server that answers, and how it is asked.

    ``context_window`` is in tokens: the smallest of the models that are in use there, as the
    settings can raise it and a request that is too long is refused. ``timeout`` is how many
    seconds the server may be silent, before its answer and within it; to connect it has 10.
    ``retries`` is how often a request is sent again that failed before anything of its answer
    came: no connection, or the status 408, 409, 429 or 5xx. The wait between is what the server
    asks for, else it doubles from half a second. Silence is not tried again, nor is anything
    once an answer has begun. This is the only place that says so: the libraries below repeat
    nothing by themselves.

    ``answer_tokens`` is how long an answer may become where the server wants to be told, as
    Anthropic's does: never more than the quarter of the window that is kept free for it, nor than
    the model is known to give. 32,000 is what the least of Anthropic's models in use can give;
    thinking counts.
    """

    name: str
    dialect: DialectName = "openai"
    base_url: str = ""
    models: tuple[str, ...] = ()
    key_variable: str | None = None
    key_file: str | None = None
    needs_key: bool = False
    url_variable: str | None = None
    context_window: int = 32_768
    answer_tokens: int = 32_000
    timeout: float = 60
    retries: int = 2


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider(
            "anthropic",
            dialect="anthropic",
            base_url="https://api.anthropic.com",
            models=("claude-sonnet-5-5",),
            key_variable="ANTHROPIC_API_KEY",
            needs_key=True,
            url_variable="ANTHROPIC_BASE_URL",
            context_window=200_000,
        ),
        Provider(
            "openai",
            base_url="https://api.openai.com/v1",
            models=("gpt-6-luna",),
            key_variable="OPENAI_API_KEY",
            needs_key=True,
            url_variable="OPENAI_BASE_URL",
            context_window=128_000,
        ),
        # Its models are those that the user has put there; 4,096 tokens is what it gives a model
        # unless told otherwise, and it cuts what is longer without a word. It is silent while it
        # loads a model, which may take minutes.
        Provider(
            "ollama",
            base_url="http://127.0.0.1:11434/v1",
            url_variable="OLLAMA_HOST",
            context_window=4_096,
            timeout=300,
        ),
        Provider(OFFLINE, models=(GUIDE,)),
    )
}


class Missing(msgspec.Struct, frozen=True):
    """What was looked for and not there, and the line that would change it."""

    what: str
    remedy: str


class ModelChoice(msgspec.Struct, frozen=True):
    """A model, and all that is needed to ask it.

    ``missing`` tells, where the guide was all that was found, what had been looked for.
    """

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

    @property
    def name(self) -> str:
        """``PROVIDER:MODEL``, as it is shown and kept."""
        return f"{self.provider}:{self.model}"


def provider_called(name: str, config: Config, environ: Mapping[str, str]) -> Provider | None:
    """A provider as the table, the settings and the environment make it together.

    ``None`` if neither the table nor the settings know it. Raises ``ConfigError`` for a variable
    that holds no address.
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
    """The key for a provider: from its variable, else from its file, else none.

    ``file`` is the settings' own. Raises ``ConfigError`` for a key file that others may read.
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
