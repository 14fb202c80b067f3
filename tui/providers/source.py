"""The models of a run: selected by the settings, and made when they are asked."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec

from tui.config.loading import UserSettings
from tui.domain.providers import OFFLINE, PROVIDERS, AssumedWindow, ListedModel, Provider
from tui.errors import KeyRefused, ModelError, ModelUnavailable
from tui.logs import milliseconds_since
from tui.providers.catalog import Catalog, ModelChoice, chat_models
from tui.providers.protocol import Answering, ModelEvent, ModelRequest
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


_SECONDS = 1.5
"""Limit of waiting for a server's word on a window, as it may delay the first request."""
_PATIENCE = 15.0
"""Limit of its answer."""


def build(choice: ModelChoice, search: "Search | None" = None) -> Answering:
    """Create what answers for a model."""
    if choice.provider.name == OFFLINE:
        from tui.providers.guide import OfflineGuide

        return OfflineGuide(search)
    from tui.providers.chat_model import ChatModel

    return ChatModel(choice)


class ListCache(Protocol):
    """The lists of servers that are kept between two runs. Its methods block."""

    def model(self, provider: Provider, model: str) -> ListedModel:
        """A model in its server's list, as far as that has been kept."""
        ...

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Keep the list of a server."""
        ...


class LazyModel:
    """A model that the first request makes, in a thread; it knows its window, and its sight.

    A command for its key, its server's word on its window and files of certificates take a while.
    Of the window, what is configured counts, else what a near server says, else what its kept list
    says, else the price list, else a vendor's list, else what is assumed of its provider. Of
    pictures nothing is assumed.
    """

    def __init__(
        self,
        choice: ModelChoice,
        search: "Search | None" = None,
        build: Callable[[ModelChoice, "Search | None"], Answering] = build,
        lists: ListCache | None = None,
    ) -> None:
        self.name = choice.name
        self.sees_images = choice.configured_images
        if choice.provider.name == OFFLINE and self.sees_images is None:
            self.sees_images = False
        self._choice = choice
        self._search = search
        self._build = build
        self._lists = lists
        self._told: int | None = None
        self._listed: int | None = None
        self._again: Callable[[float], int | None] | None = None
        """Asks for the window anew, where it depends on how the server has loaded the model."""
        self._looked_up = choice.configured_window is not None
        self._made: Future[Answering] | None = None
        self._making = threading.Lock()

    @property
    def context_window(self) -> int:
        """The window as far as it is known, else an ``AssumedWindow``."""
        choice = self._choice
        found = choice.configured_window or self._told or self._listed
        return found or AssumedWindow(choice.context_window)

    @property
    def known_window(self) -> int | None:
        return self.context_window if self._looked_up else None

    async def window(self) -> int:
        """Wait until the model is made, and give its window. Raises ``ModelError``."""
        await self._model()
        if self._again:
            await asyncio.to_thread(_in_time, partial(self._ask_again, self._again))
        return self.context_window

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

    async def _model(self) -> Answering:
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

    def _make(self, made: Future[Answering]) -> None:
        begun = time.perf_counter()
        error = ModelUnavailable(f"{self.name} could not be loaded.")
        try:
            choice = self._choice.keyed()
            self.look_up(choice)
            choice = msgspec.structs.replace(choice, context_window=self.context_window)
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

    # --- its window and its sight

    def look_up(self, choice: ModelChoice) -> None:
        """Look everywhere, with the key of ``choice``. Blocks, for two seconds at most.

        An answer that comes later counts, too.
        """
        # A server that is not the vendor's own decides on the window itself.
        server, table = choice.provider, PROVIDERS.get(choice.provider.name)
        is_vendors = server.needs_key and table is not None and server.base_url == table.base_url
        is_asked = bool(server.base_url) and not choice.configured_window
        if is_asked and not is_vendors:
            _in_time(partial(self._ask, choice))
        if server.name != OFFLINE:
            self._look_in_lists(choice)
        if is_asked and is_vendors and not self._listed:
            _in_time(partial(self._ask, choice))
        self._looked_up = True

    def _look_in_lists(self, choice: ModelChoice) -> None:
        kept = ListedModel(choice.model)
        if self._lists:
            kept = self._lists.model(choice.provider, choice.model)
        if self.sees_images is None:
            self.sees_images = kept.sees_images
        self._listed = kept.window
        if not (kept.window or self._told or choice.configured_window):
            # Its library is loaded only where nobody else knows the window.
            from tui.providers.prices import window

            self._listed = window(choice.provider.name, choice.provider.base_url, choice.model)

    def _ask(self, choice: ModelChoice) -> None:
        from tui.providers.listed_models import ask_limits

        keep = partial(self._lists.keep, choice.provider) if self._lists else None
        told = ask_limits(choice, choice.model, _PATIENCE, keep)
        self._told, self._again = told.window, told.again
        if told.sees_images is not None and choice.configured_images is None:
            self.sees_images = told.sees_images

    def _ask_again(self, again: Callable[[float], int | None]) -> None:
        with suppress(ModelError):
            self._told = again(_SECONDS) or self._told


def _in_time(ask: Callable[[], None]) -> None:
    """Ask a server, and wait for its answer for a moment."""

    def ask_quietly() -> None:
        try:
            ask()
        except (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
            # Python would print it over the screen.
            _log.info("a model's window cannot be asked for", exc_info=error)

    # The look-up of a name has no limit of its own.
    wait([begin("window", ask_quietly)], _SECONDS)


class UnavailableModel(msgspec.Struct, eq=False):
    """A model that cannot be used; raises the reason when it is asked."""

    name: str
    _reason: ModelUnavailable
    context_window: int = 100_000
    known_window: None = None
    sees_images: bool | None = None

    async def window(self) -> int:
        """Raise the reason."""
        raise self._reason

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:  # noqa: ARG002 - a Model's
        raise self._reason
        yield  # pragma: no cover - makes it a generator


@dataclass(eq=False, repr=False)
class ModelSource:
    """The models by the user's settings and environment.

    Nothing blocks: ``look_for_ollama`` asks a local Ollama in a thread, and its models count once
    it has answered. Every method may raise ``ConfigError``.
    """

    _settings: UserSettings
    _environ: Mapping[str, str]
    _search: "Search | None" = None
    find_ollama: Callable[[str], Sequence[str]] = chat_models
    lists: ListCache | None = None
    _models: dict[str, LazyModel] = field(default_factory=dict[str, LazyModel])
    _listed: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    _ollama_asked: str = ""
    _ollama_models: Sequence[str] = ()

    def use(self, settings: UserSettings) -> None:
        """Replace the settings; models that were handed out stay as they are."""
        self._settings = settings
        self._models = {}

    def know(self, listed: Mapping[str, Sequence[str]]) -> None:
        """Note the models that servers list, by provider."""
        self._listed = listed

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

    def look_for_ollama(self) -> None:
        """Ask a local Ollama in the background, if the selection depends on its models.

        That is the case without a configured model, key and server, or for ``ollama`` without a
        model. It is asked once.
        """
        asked: list[str] = []
        # ``first`` reports it, if it is still unavailable then.
        with suppress(ModelUnavailable):
            Catalog(self._settings, self._environ, asked.append).choose()
        if asked and not self._ollama_asked:
            self._ollama_asked = asked[0]

            def ask() -> None:
                self._ollama_models = self.find_ollama(self._ollama_asked)

            begin("look for ollama", ask)

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
        made = LazyModel(choice, self._search, lists=self.lists)
        return self._models.setdefault(choice.name, made)
