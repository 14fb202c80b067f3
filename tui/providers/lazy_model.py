"""Models that are made when they are asked, or that turned out to be unavailable."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from tui.errors import KeyRefused, ModelError, ModelUnavailable
from tui.logs import milliseconds_since
from tui.providers.catalog import ModelChoice, with_key
from tui.providers.model_limits import NO_LISTS, ListCache, ModelLimits
from tui.providers.protocol import Model, ModelEvent, ModelRequest
from tui.providers.selection import build

if TYPE_CHECKING:
    from tui.providers.guide import Search

_log = logging.getLogger(__name__)

# Exceptions of the import of a broken or incompatible library.
_UNLOADABLE = (
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class LazyModel:
    """A model that the first request makes, in a thread.

    A command for its key, its server's word on its window and files of certificates take a while.
    The thread does not delay the program's exit.
    """

    def __init__(
        self,
        choice: ModelChoice,
        search: "Search | None" = None,
        build: Callable[[ModelChoice, "Search | None"], Model] = build,
        lists: ListCache = NO_LISTS,
    ) -> None:
        self._choice = choice
        self._limits = ModelLimits(choice, lists)
        self._build: Callable[[ModelChoice], Model] = lambda completed: build(completed, search)
        self._made: Future[Model] | None = None
        self._making = threading.Lock()

    @property
    def name(self) -> str:
        return self._choice.name

    @property
    def context_window(self) -> int:
        return self._limits.tokens

    @property
    def known_window(self) -> int | None:
        return self._limits.known

    @property
    def sees_images(self) -> bool | None:
        return self._limits.sees_images

    async def window(self) -> int:
        """Wait until the model is made, and give its window. Raises ``ModelError``."""
        await self._model()
        if self._limits.changes:
            await asyncio.to_thread(self._limits.look_again)
        return self._limits.tokens

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request an answer, after waiting for the model without blocking the event loop."""
        model = await self._model()
        try:
            async with aclosing(model.stream(request)) as events:
                async for event in events:
                    yield event
        except KeyRefused:
            self._forget_key()
            raise

    async def _model(self) -> Model:
        """Wait for the model; a command that prints its key ends with the wait."""
        try:
            return await asyncio.wrap_future(self._begun())
        except asyncio.CancelledError:
            if self._choice.key_command:
                from tui.providers.key_command import stop_key_command

                stop_key_command(self._choice.key_command)
            raise

    def _begun(self) -> Future[Model]:
        # Sessions in several threads may need the model at once; after a failure it is made anew.
        with self._making:
            made = self._made
            if made is None or (made.done() and made.exception()):
                made = self._made = Future()
                # Whoever stops waiting takes it from nobody.
                made.set_running_or_notify_cancel()
                # A daemon: the executor's threads would be joined at the program's end.
                name = f"make {self.name}"
                threading.Thread(target=self._make, args=(made,), daemon=True, name=name).start()
            return made

    def _make(self, made: Future[Model]) -> None:
        begun = time.perf_counter()
        error = ModelUnavailable(f"{self.name} could not be loaded.")
        try:
            choice = with_key(self._choice)
            self._limits.look_up(choice)
            model = self._build(msgspec.structs.replace(choice, context_window=self._limits.tokens))
            # Without the model's name, which may be that of a private session.
            _log.info("a model is made: %d ms", milliseconds_since(begun))
            made.set_result(model)
        except ModelError as refused:
            made.set_exception(refused)
        except _UNLOADABLE as broken:
            _log.info("a model's library cannot be loaded", exc_info=broken)
            said = f"A library for {self.name} cannot be loaded"
            error = ModelUnavailable(f"{said} ({type(broken).__name__}: {broken}).")
        finally:
            if not made.done():
                made.set_exception(error)

    def _forget_key(self) -> None:
        """Make the model again for the next request, if a command prints its key."""
        if self._choice.key_command:
            from tui.providers.key_command import forget_key

            forget_key(self._choice.key_command)
            self._made = None


class UnavailableModel:
    """A model that cannot be used; raises the reason when it is asked."""

    context_window = 100_000
    known_window = None
    sees_images = None

    def __init__(self, name: str, reason: ModelUnavailable) -> None:
        self.name = name
        self._reason = reason

    async def window(self) -> int:
        """Raise the reason."""
        raise self._reason

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:  # noqa: ARG002 - a Model's
        raise self._reason
        yield  # pragma: no cover - makes it a generator


ProposedModel = LazyModel | UnavailableModel
"""A model that is proposed for a session."""
