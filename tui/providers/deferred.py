"""Models whose library is loaded in the background, or that turned out to be unavailable."""

import asyncio
import gc
import logging
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
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
_SWITCH_INTERVAL = 0.0005

# Exceptions of the import of a broken or incompatible library.
_UNLOADABLE = (
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)

_one_at_a_time = threading.Lock()


class LazyModel:
    """A model whose library is imported in a thread, which takes a second or more.

    ``prepare`` or the first request starts the thread; it does not delay the program's exit.
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
        self._building: _Building | None = None
        self._beginning = threading.Lock()

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
        """Wait until the model is loaded, and give its window. Raises ``ModelError``."""
        await self._loaded()
        if self._limits.changes:
            await asyncio.to_thread(self._limits.look_again)
        return self._limits.tokens

    def prepare(self) -> None:
        """Start loading in the background, unless started; after a failure start again."""
        self._begun()

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request an answer, after waiting for the library without blocking the event loop."""
        loaded = self._building.loaded if self._building else None
        if loaded and not self._choice.key_command:
            return loaded.stream(request)
        return self._stream_once_loaded(request)

    async def _stream_once_loaded(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        model = await self._loaded()
        try:
            async with aclosing(model.stream(request)) as events:
                async for event in events:
                    yield event
        except KeyRefused:
            self._forget_key()
            raise

    async def _loaded(self) -> Model:
        """Wait for the model; a command that prints its key ends with the wait."""
        try:
            return await self._begun().model()
        except asyncio.CancelledError:
            if self._choice.key_command:
                from tui.providers.key_command import stop_key_command

                stop_key_command(self._choice.key_command)
            raise

    def _forget_key(self) -> None:
        """Load the model again for the next request, if a command prints its key."""
        if self._choice.key_command:
            from tui.providers.key_command import forget_key

            forget_key(self._choice.key_command)
            self._building = None

    def _completed(self) -> ModelChoice:
        """The choice with its key and its window, which a command and the server may tell."""
        choice = with_key(self._choice)
        self._limits.look_up(choice)
        return msgspec.structs.replace(choice, context_window=self._limits.tokens)

    def _begun(self) -> "_Building":
        # Sessions in several threads may need the model at once.
        with self._beginning:
            building = self._building
            if building is None or building.failed:
                building = self._building = _Building(self.name, self._completed, self._build)
                building.start()
            return building


class UnavailableModel:
    """A model that cannot be used; raises the reason when it is asked."""

    context_window = 100_000
    known_window = None
    sees_images = None

    def __init__(self, name: str, reason: ModelUnavailable) -> None:
        self.name = name
        self._reason = reason

    def prepare(self) -> None:
        """Do nothing."""

    async def window(self) -> int:
        """Raise the reason."""
        raise self._reason

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:  # noqa: ARG002 - a Model's
        raise self._reason
        yield  # pragma: no cover - makes it a generator


DeferredModel = LazyModel | UnavailableModel
"""A model that can be prepared before it is asked."""


class _Building:
    """One attempt to build a model, and the requests that wait for it."""

    def __init__(
        self,
        name: str,
        complete: Callable[[], ModelChoice],
        build: Callable[[ModelChoice], Model],
    ) -> None:
        self._name = name
        self._complete = complete
        self._build = build
        self._model: Model | None = None
        self._error: ModelError | None = None
        self._ended = False
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def loaded(self) -> Model | None:
        """The model, once it is there."""
        return self._model if self._ended else None

    @property
    def failed(self) -> bool:
        return self._ended and self._model is None

    def start(self) -> None:
        """Start a daemon thread: the executor's threads would be joined at the program's end."""
        threading.Thread(target=self._run, daemon=True, name=f"load {self._name}").start()

    async def model(self) -> Model:
        """Wait for the model. Raises ``ModelError`` if building it failed."""
        ended = asyncio.Event()
        with self._lock:
            if self._ended:
                ended.set()
            self._waiting.append((asyncio.get_running_loop(), ended))
        await ended.wait()
        if self._model is None:
            raise self._error or ModelUnavailable(f"{self._name} could not be loaded.")
        return self._model

    def _run(self) -> None:
        begun = time.perf_counter()
        try:
            # A command or a server may take seconds, for which no other model has to wait.
            choice = self._complete()
            with _one_at_a_time, _undisturbed():
                self._model = self._build(choice)
            # Without the model's name, which may be that of a private session.
            _log.info("a model's library is loaded: %d ms", milliseconds_since(begun))
        except ModelError as error:
            self._error = error
        except _UNLOADABLE as error:
            _log.info("a model's library cannot be loaded", exc_info=error)
            said = f"A library for {self._name} cannot be loaded ({type(error).__name__}: {error})."
            self._error = ModelUnavailable(said)
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._ended = True
            waiting, self._waiting = self._waiting, []
        for loop, ended in waiting:
            # A closed loop has no waiting requests.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Import without pauses of the event loop.

    A full garbage collection takes 40 to 130 ms with a model's library loaded, and an import
    triggers four; its objects are permanent, so they are frozen instead. The shorter switch
    interval is the time for which the event loop waits for the importing thread.
    """
    interval, collecting = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        sys.setswitchinterval(interval)
        if collecting:
            gc.enable()
