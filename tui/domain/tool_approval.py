"""The approval of a tool that outlives one call."""

import msgspec

from tui.domain.text.safe_text import make_visible_name


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
        """The tool as the user is told it, in one line: ``files: read_file``; sanitised."""
        tool = make_visible_name(self.tool)
        return f"{self.server}: {tool}" if self.server else tool
