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

from tui.config.loading import Settings
from tui.domain.providers import OFFLINE
from tui.errors import KeyRefused, ModelError, ModelUnavailable
from tui.logs import milliseconds_since
from tui.providers.catalog import Catalog, ModelChoice
from tui.providers.model_limits import ListCache, ModelLimits
from tui.providers.ollama import chat_models
from tui.providers.protocol import Model, ModelEvent, ModelRequest
from tui.providers.secret import forget_key, stop_key_command
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


def build(choice: ModelChoice, search: "Search | None" = None) -> Model:
    """Create the model; a command for its key takes ten seconds at most."""
    if choice.provider.name == OFFLINE:
        from tui.providers.guide import OfflineGuide

        return OfflineGuide(search)
    from tui.providers.chat_model import ChatModel

    return ChatModel(choice)


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
        self._search = search
        self._build = build
        self._limits = ModelLimits(choice, lists)
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
            if self._choice.provider.key_command:
                # The next request makes the model again, with a new key.
                forget_key(self._choice.provider.key_command)
                self._made = None
            raise

    async def _model(self) -> Model:
        """Wait for the model; a command that prints its key ends with the wait."""
        # Sessions in several threads may need the model at once; after a failure it is made anew.
        with self._making:
            made = self._made
            if made is None or (made.done() and made.exception()):
                made = self._made = Future()
                # Whoever stops waiting takes it from nobody.
                made.set_running_or_notify_cancel()
                begin(f"make {self.name}", partial(self._make, made))
        try:
            return await asyncio.wrap_future(made)
        except asyncio.CancelledError:
            if self._choice.provider.key_command:
                stop_key_command(self._choice.provider.key_command)
            raise

    def _make(self, made: Future[Model]) -> None:
        begun = time.perf_counter()
        error = ModelUnavailable(f"{self.name} could not be loaded.")
        try:
            choice = self._choice.keyed()
            self._limits.look_up(choice)
            choice = msgspec.structs.replace(choice, context_window=self._limits.tokens)
            model = self._build(choice, self._search)
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
        find_ollama: Callable[[str], Sequence[str]] = chat_models,
        lists: ListCache | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._search = search
        self._lists = lists
        self._models: dict[str, LazyModel] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._find_ollama = find_ollama
        self._ollama_asked = ""
        self._ollama_answered = threading.Event()
        self._ollama_models: Sequence[str] = ()

    def use(self, settings: Settings) -> None:
        """Replace the settings; models that were handed out stay as they are."""
        self._settings = settings
        self._models = {}

    def know(self, listed: Mapping[str, Sequence[str]]) -> None:
        """Note the models that servers list, by provider."""
        self._listed = {name: tuple(models) for name, models in listed.items()}

    def first(self) -> LazyModel | UnavailableModel:
        """The configured model, else the first available one."""
        return self.proposed(None)[0]

    def proposed(self, name: str | None) -> tuple[LazyModel | UnavailableModel, tuple[str, ...]]:
        """Select the model for a session whose last model was ``name``, with notices about it.

        That model if the settings or a local Ollama know it and no other was requested. An
        unavailable model raises when it is asked. A new session begins empty, without notices: the
        screen that connects models says what a provider lacks.
        """
        try:
            choice, notices = self._catalog().choose(name, self._ollama_names())
        except ModelUnavailable as error:
            return UnavailableModel(self._settings.model or name or "", error), ()
        return self._model(choice), notices if name else ()

    def named(self, name: str) -> LazyModel:
        """Look up a model by its name. Raises ``ModelUnavailable``."""
        return self._model(self._catalog().named(name))

    def names(self) -> tuple[str, ...]:
        """The usable models of the settings, those of a local Ollama, and those listed."""
        listed = [f"{name}:{model}" for name, models in self._listed.items() for model in models]
        return tuple(dict.fromkeys([*self._ollama_names(), *self._catalog().names(), *listed]))

    def look_for_ollama(self, on_found: Callable[[], None] | None = None) -> None:
        """Ask a local Ollama in the background, if the selection depends on its models.

        That is the case without a configured model, key and server, or for ``ollama`` without a
        model. It is asked once. ``on_found`` is called in the thread, once ``first`` returns the
        model.
        """
        asked: list[str] = []
        # ``first`` reports it, if it is still unavailable then.
        with suppress(ModelUnavailable):
            Catalog(self._settings, self._environ, asked.append).choose()
        if asked and not self._ollama_asked:
            self._ollama_asked = asked[0]
            begin("look for ollama", partial(self._ask_ollama, on_found))

    def ollama_found(self, timeout: float = 0) -> bool:
        """True if a local Ollama has a model; waits at most ``timeout`` seconds for its answer."""
        if self._ollama_asked:
            self._ollama_answered.wait(timeout)
        return bool(self._ollama_models)

    def _ask_ollama(self, on_found: Callable[[], None] | None) -> None:
        try:
            self._ollama_models = self._find_ollama(self._ollama_asked)
        finally:
            self._ollama_answered.set()
        if self._ollama_models and on_found is not None:
            on_found()

    def _ollama_names(self) -> list[str]:
        return [f"ollama:{model}" for model in self._ollama_models]

    def _catalog(self) -> Catalog:
        """The models as configured, with the first one of the Ollama, if known by now."""
        asked, models = self._ollama_asked, self._ollama_models
        return Catalog(
            self._settings,
            self._environ,
            lambda address: next(iter(models), None) if address == asked else None,
        )

    def _model(self, choice: ModelChoice) -> LazyModel:
        return self._models.setdefault(
            choice.name, LazyModel(choice, self._search, lists=self._lists)
        )
