"""The models of a run: selected by the settings, each created once."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.config import Settings
from tui.errors import ModelUnavailable
from tui.providers.catalog import ModelChoice
from tui.providers.lazy_model import LazyModel, ProposedModel, UnavailableModel
from tui.providers.model_limits import NO_LISTS, ListCache
from tui.providers.selection import choose, known_names, named, ollama_models

if TYPE_CHECKING:
    from tui.providers.guide import Search

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
        lists: ListCache = NO_LISTS,
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
        asking = threading.Thread(
            target=self._ask, args=(on_found,), daemon=True, name="look for ollama"
        )
        asking.start()

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
