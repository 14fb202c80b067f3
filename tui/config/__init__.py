"""The user's settings: which there are, what each may be, and where the one that counts came from.

``schema`` is the one list of keys; decoding, the sentences about wrong values, ``config example``
and ``config show`` are all made from it.
"""

from tui.config.loading import Flags, Settings, is_address, load_config, load_settings
from tui.config.schema import (
    Config,
    HookSettings,
    ProviderSettings,
    RetentionSettings,
    ToolSettings,
)

__all__ = [
    "Config",
    "Flags",
    "HookSettings",
    "ProviderSettings",
    "RetentionSettings",
    "Settings",
    "ToolSettings",
    "is_address",
    "load_config",
    "load_settings",
]
