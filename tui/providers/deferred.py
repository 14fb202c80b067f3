"""Models that are not there yet, or not at all, until they are asked."""

import asyncio
import gc
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING

from tui.errors import ModelError, ModelUnavailable
from tui.providers.catalog import ModelChoice
from tui.providers.protocol import Model, ModelEvent, ModelRequest
from tui.providers.selection import build

if TYPE_CHECKING:
    from tui.providers.guide import Search

_SWITCH_INTERVAL = 0.0005

# What a library of which a part is missing, or of another version, may fail with.
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
    """A model whose library is imported in a thread of its own: that takes a second or more.

    The thread is begun by ``prepare`` or by the first request, and holds up no exit.
    """

    def __init__(
        self,
        choice: ModelChoice,
        search: "Search | None" = None,
        build: Callable[[ModelChoice, "Search | None"], Model] = build,
    ) -> None:
        self._choice = choice
        self._build = lambda: build(choice, search)
        self._building: _Building | None = None

    @property
    def name(self) -> str:
        return self._choice.name

    @property
    def context_window(self) -> int:
        return self._choice.context_window

    def prepare(self) -> None:
        """Begin to load it, unless that has begun; returns at once. What failed is begun anew."""
        self._begun()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As every model's; waits for its library without holding up the event loop."""
        model = await self._begun().model()
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                yield event

    def _begun(self) -> "_Building":
        building = self._building
        if building is None or building.failed:
            building = self._building = _Building(self.name, self._build)
            building.start()
        return building


class UnavailableModel:
    """A model that was asked for and cannot be had: says why when it is asked."""

    context_window = 100_000

    def __init__(self, name: str, reason: ModelUnavailable) -> None:
        self.name = name
        self._reason = reason

    def prepare(self) -> None:
        """There is nothing to load."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:  # noqa: ARG002 - a Model's
        raise self._reason
        yield  # pragma: no cover - what makes it a generator


DeferredModel = LazyModel | UnavailableModel
"""A model that can be prepared before it is asked."""


class _Building:
    """One attempt to build a model, and those who wait for it."""

    def __init__(self, name: str, build: Callable[[], Model]) -> None:
        self._name = name
        self._build = build
        self._model: Model | None = None
        self._error: ModelError | None = None
        self._ended = False
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def failed(self) -> bool:
        return self._ended and self._model is None

    def start(self) -> None:
        """Begin; a daemon, as asyncio joins its own threads before it lets a program end."""
        threading.Thread(target=self._run, daemon=True, name=f"load {self._name}").start()

    async def model(self) -> Model:
        """The model, when it is there. Raises the ``ModelError`` that came instead."""
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
        try:
            with _one_at_a_time, _undisturbed():
                self._model = self._build()
        except ModelError as error:
            self._error = error
        except _UNLOADABLE as error:
            said = f"What {self._name} needs cannot be loaded ({type(error).__name__}: {error})."
            self._error = ModelUnavailable(said)
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._ended = True
            waiting, self._waiting = self._waiting, []
        for loop, ended in waiting:
            # A loop that was closed meanwhile has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Load beside an event loop that goes on without a pause.

    A whole round of the garbage collector takes 40 to 130 ms with a model's library loaded, and
    there are four on the way; nothing that an import makes is garbage, nor is it looked at again.
    A thread that wants to go on waits for the switch interval each time.
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
