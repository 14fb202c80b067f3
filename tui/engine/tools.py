"""The tools that a model may call. All are off in this release: it has none to offer."""

from tui.domain.message import ToolCall
from tui.providers.protocol import ToolDefinition

INTERRUPTED = "interrupted"
"""What a call whose result never came is answered with."""


class Tools:
    """What the model is offered, and what its calls come to."""

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools that are switched on."""
        return ()

    async def run(self, call: ToolCall) -> str:
        """Carry a call out; a model may ask for what it was never offered."""
        return f"Tool {call.name} is not available."
