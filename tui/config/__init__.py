"""The user's settings: their schema, loading, validation and sources.

``schema`` is the single list of keys: decoding, error messages, ``config example`` and
``config show`` are derived from it.
"""

from tui.config.connections import Connections
from tui.config.loading import (
    TOOLS_FILE,
    Flags,
    Settings,
    is_address,
    load_connections,
    load_settings,
    load_tools,
    tool_server,
)
from tui.config.settings_schema import (
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
    "TOOLS_FILE",
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
    "load_connections",
    "load_settings",
    "load_tools",
    "tool_server",
]


def configured_levels(settings: Settings, model: str) -> tuple[Level, ...]:
    """The settings of ``PROVIDER:MODEL``: of the model, then its provider, then of all models."""
    config, file = settings.config, settings.file.name
    provider = model.partition(":")[0]
    tables: tuple[tuple[ModelTable | ProviderSettings | None, str], ...] = (
        (config.models.get(model), f'[models."{model}"]'),
        (config.providers.get(provider), f"[providers.{provider}]"),
    )
    levels = [
        Level(
            f"{name} in {file}",
            table.system_prompt,
            table.temperature,
            table.max_tokens,
            table.effort,
            table.tools,
        )
        for table, name in tables
        if table
    ]
    if config.system_prompt:
        levels.append(Level(file, system_prompt=config.system_prompt))
    return tuple(levels)
