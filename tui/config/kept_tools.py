"""The tools that were set up on the screen: ``tools.toml``, beside ``config.toml``.

The program writes this file, and the user's own settings win over it.
"""

from pathlib import Path

import msgspec

from tui.config.settings_schema import ToolName, ToolServerName, ToolServerSettings

FILE = "tools.toml"


class KeptTools(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of ``tools.toml``."""

    enabled: tuple[ToolName, ...] = ()
    """The tools of the program that are switched on."""
    mcp: dict[ToolServerName, ToolServerSettings] = {}


def tools_file(config_file: Path) -> Path:
    """The path of the tools that belong to a ``config.toml``."""
    return config_file.with_name(FILE)
