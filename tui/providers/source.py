"""The models of a run: selected by the settings, and made when they are asked."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tui.config import Settings
from tui.errors import KeyRefused, ModelError, ModelUnavailable
from tui.logs import milliseconds_since
from tui.providers.catalog import ModelChoice, with_key
from tui.providers.model_limits import ListCache, ModelLimits
from tui.providers.protocol import Model, ModelEvent, ModelRequest
from tui.providers.selection import build, choose, known_names, named, ollama_models
from tui.threads import begin

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
    """

    def __init__(
        self,
        choice: ModelChoice,
        search: "Search | None" = None,
        build: Callable[[ModelChoice, "Search | None"], Model] = build,
        lists: ListCache | None = None,
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
                begin(f"make {self.name}", partial(self._make, made))
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


FindModels = Callable[[str], Sequence[str]]
"""Ask the Ollama at an address for its models."""


class ModelSource:
    """The models by the user's settings and environment.

    Nothing blocks: ``look_for_ollama`` asks a local Ollama in a thread, and its models count once
    it has answered. Every method may raise ``ConfigError``.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        search: "Search | None" = None,
        find_ollama: FindModels = ollama_models,
        lists: ListCache | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._search = search
        self._lists = lists
        self._models: dict[str, LazyModel] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._ollama = _OllamaSearch(find_ollama)

    def use(self, settings: Settings) -> None:
        """Replace the settings; models that were handed out stay as they are."""
        self._settings = settings
        self._models = {}

    def know(self, listed: Mapping[str, Sequence[str]]) -> None:
        """Note the models that servers list, by provider."""
        self._listed = {name: tuple(models) for name, models in listed.items()}

    def first(self) -> ProposedModel:
        """The configured model, else the first available one."""
        return self.proposed(None)[0]

    def proposed(self, name: str | None) -> tuple[ProposedModel, tuple[str, ...]]:
        """Select the model for a session whose last model was ``name``, with notices about it.

        That model if the settings or a local Ollama know it and no other was requested. An
        unavailable model raises when it is asked. A new session begins empty, without notices: the
        screen that connects models says what a provider lacks.
        """
        try:
            choice, notices = choose(
                self._settings, self._environ, name, self._ollama.found_at, self._ollama_names()
            )
        except ModelUnavailable as error:
            return UnavailableModel(self._settings.model or name or "", error), ()
        return self._model(choice), notices if name else ()

    def named(self, name: str) -> LazyModel:
        """Look up a model by its name. Raises ``ModelUnavailable``."""
        return self._model(named(name, self._settings, self._environ, self._ollama.found_at))

    def names(self) -> tuple[str, ...]:
        """The usable models of the settings, those of a local Ollama, and those listed."""
        known = known_names(self._settings, self._environ)
        listed = [f"{name}:{model}" for name, models in self._listed.items() for model in models]
        return tuple(dict.fromkeys([*self._ollama_names(), *known, *listed]))

    def _ollama_names(self) -> list[str]:
        return [f"ollama:{model}" for model in self._ollama.models]

    def look_for_ollama(self, on_found: Callable[[], None] | None = None) -> None:
        """Ask a local Ollama in the background, if the selection depends on its models.

        That is the case without a configured model, key and server, or for ``ollama`` without a
        model. ``on_found`` is called in the thread, once ``first`` returns the model.
        """
        asked: list[str] = []
        # ``first`` reports it, if it is still unavailable then.
        with suppress(ModelUnavailable):
            choose(self._settings, self._environ, find_ollama=asked.append)
        if asked:
            self._ollama.start(asked[0], on_found)

    def ollama_found(self, timeout: float = 0) -> bool:
        """True if a local Ollama has a model; waits at most ``timeout`` seconds for its answer."""
        return self._ollama.wait(timeout)

    def _model(self, choice: ModelChoice) -> LazyModel:
        return self._models.setdefault(
            choice.name, LazyModel(choice, self._search, lists=self._lists)
        )


class _OllamaSearch:
    """One request for the models of a local Ollama, in a thread."""

    def __init__(self, find: FindModels) -> None:
        self._find = find
        self._address = ""
        self._answered = threading.Event()
        self.models: Sequence[str] = ()

    def start(self, address: str, on_found: Callable[[], None] | None) -> None:
        """Start the request, unless started."""
        if self._address:
            return
        self._address = address
        begin("look for ollama", partial(self._ask, on_found))

    def wait(self, timeout: float) -> bool:
        """Wait at most ``timeout`` seconds; true if there is a model."""
        if self._address:
            self._answered.wait(timeout)
        return bool(self.models)

    def found_at(self, address: str) -> str | None:
        """The first model, if known by now."""
        return next(iter(self.models), None) if address == self._address else None

    def _ask(self, on_found: Callable[[], None] | None) -> None:
        try:
            self.models = self._find(self._address)
        finally:
            self._answered.set()
        if self.models and on_found is not None:
            on_found()
