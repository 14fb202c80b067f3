"""The approval of a tool that outlives one call."""

import msgspec


class ToolApproval(msgspec.Struct, frozen=True):
    """A tool as it was when the user allowed it."""

    server: str
    """Empty for a tool of the program's own."""
    tool: str
    """Its own name at the server."""
    fingerprint: str
    """That of ``OfferedTool``: after a change the user is asked again."""

    def is_of(self, other: "ToolApproval") -> bool:
        """Tell whether both are about the same tool, changed or not."""
        return (self.server, self.tool) == (other.server, other.tool)

    @property
    def title(self) -> str:
        """The tool as the user is told it: ``files: read_file``; foreign text."""
        return f"{self.server}: {self.tool}" if self.server else self.tool
