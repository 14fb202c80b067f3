"""Short answers of a model to the program itself, such as a title or a summary."""

from contextlib import aclosing

from tui.domain.journal.message import TokenUsage
from tui.providers.protocol import Model, ModelRequest, TextReceived, TextTakenBack

_MOST_BYTES = 2000


async def short_answer(
    model: Model, request: ModelRequest, most: int = _MOST_BYTES
) -> tuple[str, TokenUsage | None]:
    """Ask a model for so many bytes at most; with the tokens that it reports.

    The rest of a longer answer is not waited for: an ellipsis stands for it. Raises ``ModelError``.
    """
    pieces: list[str] = []
    left = most
    usage: TokenUsage | None = None
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, TokenUsage):
                usage = event
            elif isinstance(event, TextTakenBack):
                pieces, left = [], most
            elif isinstance(event, TextReceived):
                pieces.append(event.text)
                left -= len(event.text.encode(errors="replace"))
            if left < 0:
                pieces.append("…")
                break
    return "".join(pieces), usage
