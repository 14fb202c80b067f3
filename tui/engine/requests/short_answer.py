"""Short answers of a model to the program itself, such as a title."""

from contextlib import aclosing

from tui.domain.journal.message import Message, TokenUsage
from tui.providers.protocol import Model, ModelRequest, TextReceived, TextTakenBack

_MOST_CHARACTERS = 2000
"""Of an answer; the rest is not waited for."""


async def short_answer(
    model: Model, instructions: str, asked: Message
) -> tuple[str, TokenUsage | None]:
    """Ask a model for a few words; with the tokens that it reports. Raises ``ModelError``."""
    pieces: list[str] = []
    usage: TokenUsage | None = None
    async with aclosing(model.stream(ModelRequest(instructions, (asked,)))) as events:
        async for event in events:
            if isinstance(event, TokenUsage):
                usage = event
            elif isinstance(event, TextTakenBack):
                pieces.clear()
            elif isinstance(event, TextReceived):
                pieces.append(event.text)
            if sum(map(len, pieces)) > _MOST_CHARACTERS:
                break
    return "".join(pieces), usage
