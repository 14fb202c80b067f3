"""The window of a model, and whether it sees pictures, as far as that is known by now."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tui.domain.providers import OFFLINE, PROVIDERS, ListedModel, Provider
from tui.errors import ModelError
from tui.providers.catalog import ModelChoice, provider_of
from tui.threads import begin

if TYPE_CHECKING:
    from tui.providers.model_lists import Connection
    from tui.providers.server_limits import AskAgain

_log = logging.getLogger(__name__)

_SECONDS = 1.5
"""Limit of waiting for a server, as it may delay the first request."""
_PATIENCE = 15.0
"""Limit of a server's answer."""


class ListCache(Protocol):
    """The lists of servers that are kept between two runs. Its methods block."""

    def window(self, choice: ModelChoice) -> int | None:
        """The window of a model in its server's list, if that has been kept."""
        ...

    def sees_images(self, choice: ModelChoice) -> bool | None:
        """Tell whether a model sees pictures, if a list that has been kept says so."""
        ...

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Keep the list of a server."""
        ...


class NoLists:
    """No lists are kept."""

    def window(self, choice: ModelChoice) -> int | None:  # noqa: ARG002 - a ListCache's
        return None

    def sees_images(self, choice: ModelChoice) -> bool | None:  # noqa: ARG002 - a ListCache's
        return None

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Do nothing."""


NO_LISTS = NoLists()


class ModelLimits:
    """Owns what is known of one model: its window, and whether it sees pictures.

    What is configured counts, else what a near server says, else what its kept list says, else the
    price list, else a vendor's list, else what is assumed of its provider. Of pictures nothing is
    assumed.
    """

    def __init__(self, choice: ModelChoice, lists: ListCache) -> None:
        self._choice = choice
        self._lists = lists
        self._told: int | None = None
        self._listed: int | None = None
        self._sees_images: bool | None = None
        self._again: AskAgain | None = None
        self._looked_up = choice.configured_window is not None

    @property
    def tokens(self) -> int:
        """The window as far as it is known."""
        choice = self._choice
        found = choice.configured_window or self._told or self._listed
        return found or choice.context_window

    @property
    def known(self) -> int | None:
        """The window; ``None`` until everybody was asked for it."""
        return self.tokens if self._looked_up else None

    @property
    def sees_images(self) -> bool | None:
        """False for a model that takes no pictures; ``None`` where nobody has said so."""
        if self._choice.provider == OFFLINE:
            return False
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
        if choice.configured_window:
            self._sees_images = self._lists.sees_images(choice)
        elif choice.provider != OFFLINE:
            self._look_everywhere(choice)
        self._looked_up = True

    def look_again(self) -> None:
        """Ask a server again that may have loaded the model by now. Blocks, for a moment."""
        if self._again:
            _in_time(partial(self._ask_again, self._again))

    def _look_everywhere(self, choice: ModelChoice) -> None:
        if _is_near(choice):
            _in_time(partial(self._ask, choice))
        if not self._told:
            self._listed = self._lists.window(choice) or _priced(choice)
        if self._sees_images is None:
            self._sees_images = self._lists.sees_images(choice)
        if not (self._told or self._listed or _is_near(choice)) and choice.base_url:
            _in_time(partial(self._ask, choice))

    def _ask(self, choice: ModelChoice) -> None:
        from tui.providers.model_lists import Connection
        from tui.providers.server_limits import ask_server

        connection = Connection(provider_of(choice), choice.key)
        told = ask_server(connection, choice.model, _PATIENCE, self._keep)
        self._told, self._again = told.tokens, told.again
        if told.sees_images is not None:
            self._sees_images = told.sees_images

    def _ask_again(self, again: "AskAgain") -> None:
        with suppress(ModelError):
            self._told = again(_SECONDS) or self._told

    def _keep(self, connection: "Connection", listed: Sequence[ListedModel]) -> None:
        self._lists.keep(connection.provider, listed)


def _is_near(choice: ModelChoice) -> bool:
    """True for a server that is not the vendor's own: it decides on the window itself."""
    table = PROVIDERS.get(choice.provider)
    is_vendors = choice.needs_key and table is not None and choice.base_url == table.base_url
    return bool(choice.base_url) and not is_vendors


def _priced(choice: ModelChoice) -> int | None:
    from tui.providers.prices import window

    return window(choice.provider, choice.base_url, choice.model)


def _in_time(ask: Callable[[], None]) -> None:
    """Ask a server, and wait for its answer for a moment."""
    # The look-up of a name has no limit of its own.
    wait([begin("window", partial(_quietly, ask))], _SECONDS)


def _quietly(ask: Callable[[], None]) -> None:
    """Ask, and log an error: Python would print it over the screen."""
    try:
        ask()
    except (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        _log.info("a model's window cannot be asked for", exc_info=error)
