"""Where the screen gets its models from: those that there are, each made once."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.config import Settings
from tui.errors import ModelUnavailable
from tui.providers.catalog import Missing, ModelChoice
from tui.providers.deferred import DeferredModel, LazyModel, UnavailableModel
from tui.providers.selection import choose, known_names, named, ollama_models

if TYPE_CHECKING:
    from tui.providers.guide import Search

FindModels = Callable[[str], Sequence[str]]
"""Asks the Ollama at an address for its models."""


class ModelSource:
    """What answers, as the user's settings and environment have it.

    Nothing here waits: a local Ollama is asked by ``look_for_ollama`` in a thread, and counts from
    when it has answered. All of it may raise ``ConfigError`` for a setting that is wrong.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        search: "Search | None" = None,
        find_ollama: FindModels = ollama_models,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._search = search
        self._models: dict[str, LazyModel] = {}
        self._ollama = _OllamaSearch(find_ollama)
        self.missing: tuple[Missing, ...] = ()
        """What was looked for and not there, when the guide was all that was found."""

    def first(self) -> DeferredModel:
        """The model that was asked for, else the first that is there."""
        return self.proposed(None)[0]

    def proposed(self, name: str | None) -> tuple[DeferredModel, tuple[str, ...]]:
        """The model for a session that was held with ``name``, and what is to be said about it.

        That one if the settings or a local Ollama know it and nothing else was asked for. One that
        cannot be had says so when it is asked.
        """
        try:
            choice, notices = choose(
                self._settings, self._environ, name, self._ollama.found_at, self._ollama_names()
            )
        except ModelUnavailable as error:
            return UnavailableModel(self._settings.config.model or name or "", error), ()
        self.missing = choice.missing
        return self._model(choice), notices

    def named(self, name: str) -> LazyModel:
        """The model that the user named. Raises ``ModelUnavailable`` if there is none."""
        return self._model(named(name, self._settings, self._environ, self._ollama.found_at))

    def names(self) -> tuple[str, ...]:
        """All models that the settings and the keys know, and those of a local Ollama."""
        known = known_names(self._settings, self._environ)
        return tuple(dict.fromkeys([*self._ollama_names(), *known]))

    def _ollama_names(self) -> list[str]:
        return [f"ollama:{model}" for model in self._ollama.models]

    def look_for_ollama(self, on_found: Callable[[], None] | None = None) -> None:
        """Ask a local Ollama for its models if the choice hangs on it; returns at once.

        It does where no model was asked for, no key is there and no server is named, or where
        ``ollama`` was asked for without a model. ``on_found`` is called in the thread that asked,
        once ``first`` gives the model that was found.
        """
        asked: list[str] = []
        # What cannot be had is told by first, if it is still so then.
        with suppress(ModelUnavailable):
            choose(self._settings, self._environ, find_ollama=asked.append)
        if asked:
            self._ollama.start(asked[0], on_found)

    def ollama_found(self, timeout: float = 0) -> bool:
        """Whether a local Ollama has a model; waits for its answer ``timeout`` seconds at most."""
        return self._ollama.wait(timeout)

    def _model(self, choice: ModelChoice) -> LazyModel:
        return self._models.setdefault(choice.name, LazyModel(choice, self._search))


class _OllamaSearch:
    """One question to a local Ollama, and its answer."""

    def __init__(self, find: FindModels) -> None:
        self._find = find
        self._address = ""
        self._answered = threading.Event()
        self.models: Sequence[str] = ()

    def start(self, address: str, on_found: Callable[[], None] | None) -> None:
        """Ask, unless it was asked already."""
        if self._address:
            return
        self._address = address
        asking = threading.Thread(
            target=self._ask, args=(on_found,), daemon=True, name="look for ollama"
        )
        asking.start()

    def wait(self, timeout: float) -> bool:
        """Whether it has a model."""
        if self._address:
            self._answered.wait(timeout)
        return bool(self.models)

    def found_at(self, address: str) -> str | None:
        """Its first model, if that is known by now."""
        return next(iter(self.models), None) if address == self._address else None

    def _ask(self, on_found: Callable[[], None] | None) -> None:
        try:
            self.models = self._find(self._address)
        finally:
            self._answered.set()
        if self.models and on_found is not None:
            on_found()
