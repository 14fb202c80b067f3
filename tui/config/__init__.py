"""The user's settings: their schema, loading, validation and sources.

``schema`` is the single list of keys: decoding, error messages, ``config example`` and
``config show`` are derived from it.
"""

from collections.abc import Iterator
from pathlib import Path

from tui.config.connections import Connections
from tui.config.loading import (
    Flags,
    Settings,
    is_address,
    load_config,
    load_connections,
    load_settings,
)
from tui.config.schema import (
    Config,
    HookSettings,
    ModelTable,
    NotifySettings,
    ProviderSettings,
    RetentionSettings,
    ToolServerSettings,
    ToolSettings,
)
from tui.domain.model_settings import Level

__all__ = [
    "Config",
    "Connections",
    "Flags",
    "HookSettings",
    "ModelTable",
    "NotifySettings",
    "ProviderSettings",
    "RetentionSettings",
    "Settings",
    "ToolServerSettings",
    "ToolSettings",
    "configured_levels",
    "is_address",
    "load_config",
    "load_connections",
    "load_settings",
]


def configured_levels(settings: Settings, model: str) -> tuple[Level, ...]:
    """The settings of ``PROVIDER:MODEL``: of the model, then its provider, then of all models."""
    return tuple(_levels(settings, model))


def _levels(settings: Settings, model: str) -> Iterator[Level]:
    config, file = settings.config, settings.file
    if table := config.models.get(model):
        yield _level(table, file, f'[models."{model}"]')
    provider = model.partition(":")[0]
    if server := config.providers.get(provider):
        yield _level(server, file, f"[providers.{provider}]")
    if config.system_prompt:
        yield Level(file.name, system_prompt=config.system_prompt)


def _level(table: ModelTable | ProviderSettings, file: Path, name: str) -> Level:
    source = f"{name} in {file.name}"
    return Level(
        source,
        table.system_prompt,
        table.temperature,
        table.max_tokens,
        table.effort,
        table.tools,
    )
