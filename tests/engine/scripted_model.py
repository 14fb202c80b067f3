"""A model that gives what it was told to give."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from tui.domain.journal.message import ToolCall
from tui.providers.protocol import (
    AnswerEnded,
    ModelEvent,
    ModelRequest,
    TextReceived,
)

Step = str | ToolCall | ModelEvent | Exception | asyncio.Event
"""Text, a call, any event, an error to raise, or something to wait for."""


class ScriptedModel:
    """Plays one list of steps a request, and keeps the requests it was sent."""

    def __init__(self, *answers: Sequence[Step], context_window: int = 100_000) -> None:
        self.name = "scripted:model"
        self.context_window = context_window
        self.sees_images: bool | None = True
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self._answers = list(answers)

    @property
    def known_window(self) -> int:
        return self.context_window

    async def window(self) -> int:
        return self.context_window

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        steps = self._answers.pop(0)
        try:
            for step in steps:
                match step:
                    case Exception():
                        raise step
                    case asyncio.Event():
                        await step.wait()
                    case str():
                        yield TextReceived(step)
                    case ToolCall():
                        yield step
                    case _:
                        yield step
            calls = any(isinstance(step, ToolCall) for step in steps)
            yield AnswerEnded("tool_calls" if calls else "stop")
        finally:
            self.closed += 1
