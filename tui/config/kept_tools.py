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

    def with_tool(self, name: ToolName, *, on: bool) -> "KeptTools":
        """Switch a tool of the program on or off."""
        others = [each for each in self.enabled if each != name]
        return msgspec.structs.replace(self, enabled=(*others, *((name,) if on else ())))

    def with_server(self, name: str, server: ToolServerSettings) -> "KeptTools":
        """Add a server, or replace it."""
        return msgspec.structs.replace(self, mcp={**self.mcp, name: server})

    def without_server(self, name: str) -> "KeptTools":
        """Remove a server."""
        rest = {each: server for each, server in self.mcp.items() if each != name}
        return msgspec.structs.replace(self, mcp=rest)


def tools_file(config_file: Path) -> Path:
    """The path of the tools that belong to a ``config.toml``."""
    return config_file.with_name(FILE)
