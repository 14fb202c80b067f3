"""The user's settings: their schema, loading, validation and sources.

``schema`` is the single list of keys: decoding, error messages, ``config example`` and
``config show`` are derived from it.
"""

from tui.config.connections import Connections
from tui.config.loading import (
    Flags,
    Settings,
    is_address,
    load_config,
    load_connections,
    load_settings,
)
from tui.config.model_levels import configured_levels
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
