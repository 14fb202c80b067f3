"""The window of a model, and whether it sees pictures, as far as that is known by now."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from functools import partial
from typing import Protocol

from tui.domain.providers import OFFLINE, PROVIDERS, AssumedWindow, ListedModel, Provider
from tui.errors import ModelError
from tui.providers.catalog import ModelChoice
from tui.threads import begin

_log = logging.getLogger(__name__)

_SECONDS = 1.5
"""Limit of waiting for a server, as it may delay the first request."""
_PATIENCE = 15.0
"""Limit of a server's answer."""


class ListCache(Protocol):
    """The lists of servers that are kept between two runs. Its methods block."""

    def model(self, choice: ModelChoice) -> ListedModel:
        """A model in its server's list, as far as that has been kept."""
        ...

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Keep the list of a server."""
        ...


class ModelLimits:
    """Owns what is known of one model: its window, and whether it sees pictures.

    What is configured counts, else what a near server says, else what its kept list says, else the
    price list, else a vendor's list, else what is assumed of its provider. Of pictures nothing is
    assumed.
    """

    def __init__(self, choice: ModelChoice, lists: ListCache | None) -> None:
        self._choice = choice
        self._lists = lists
        self._told: int | None = None
        self._listed: int | None = None
        self._sees_images = False if choice.provider.name == OFFLINE else None
        self._again: Callable[[float], int | None] | None = None
        self._looked_up = choice.configured_window is not None

    @property
    def tokens(self) -> int:
        """The window as far as it is known, else an ``AssumedWindow``."""
        choice = self._choice
        found = choice.configured_window or self._told or self._listed
        return found or AssumedWindow(choice.context_window)

    @property
    def known(self) -> int | None:
        """The window; ``None`` until everybody was asked for it."""
        return self.tokens if self._looked_up else None

    @property
    def sees_images(self) -> bool | None:
        """False for a model that takes no pictures; ``None`` where nobody has said so."""
        own = self._choice.configured_images
        return self._sees_images if own is None else own

    @property
    def changes(self) -> bool:
        """True if it depends on how the server has loaded the model."""
        return self._again is not None

    def look_up(self, choice: ModelChoice) -> None:
        """Look everywhere. Blocks, for two seconds at most.

        A server that answers later is heard all the same.
        """
        # A server that is not the vendor's own decides on the window itself.
        server, table = choice.provider, PROVIDERS.get(choice.provider.name)
        is_vendors = server.needs_key and table is not None and server.base_url == table.base_url
        is_asked = bool(server.base_url) and not choice.configured_window
        if is_asked and not is_vendors:
            _in_time(partial(self._ask, choice))
        if choice.provider.name != OFFLINE:
            self._look_in_lists(choice)
        if is_asked and is_vendors and not self._listed:
            _in_time(partial(self._ask, choice))
        self._looked_up = True

    def look_again(self) -> None:
        """Ask a server again that may have loaded the model by now. Blocks, for a moment."""
        if again := self._again:

            def ask_again() -> None:
                with suppress(ModelError):
                    self._told = again(_SECONDS) or self._told

            _in_time(ask_again)

    def _look_in_lists(self, choice: ModelChoice) -> None:
        kept = self._lists.model(choice) if self._lists else ListedModel(choice.model)
        if self._sees_images is None:
            self._sees_images = kept.sees_images
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
        if told.sees_images is not None:
            self._sees_images = told.sees_images


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
