"""Models that are not there yet, or not at all, until they are asked."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from tui.errors import ModelUnavailable
from tui.providers.catalog import ModelChoice
from tui.providers.protocol import Model, ModelEvent, ModelRequest
from tui.providers.selection import build


class LazyModel:
    """A model whose library is imported with the first request: that takes a second or more."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self._model: Model | None = None

    @property
    def name(self) -> str:
        return self._choice.name

    @property
    def context_window(self) -> int:
        return self._choice.context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self._model = self._model or build(self._choice)
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                yield event


class UnavailableModel:
    """A model that was asked for and cannot be had: says why when it is asked."""

    context_window = 100_000

    def __init__(self, name: str, reason: ModelUnavailable) -> None:
        self.name = name
        self._reason = reason

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:  # noqa: ARG002 - a Model's
        raise self._reason
        yield  # pragma: no cover - what makes it a generator
