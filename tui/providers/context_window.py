"""The context window of a model, as far as it is known by now."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeVar

from tui.domain.providers import OFFLINE, PROVIDERS, ListedModel, Provider
from tui.errors import ModelError
from tui.providers.catalog import ModelChoice, provider_of

if TYPE_CHECKING:
    from tui.providers.model_lists import Connection
    from tui.providers.server_windows import ToldWindow

_SECONDS = 1.5
"""Limit of asking a server, as it may delay the first request."""
_Got = TypeVar("_Got")


class ListCache(Protocol):
    """The lists of servers that are kept between two runs. Its methods block."""

    def window(self, choice: ModelChoice) -> int | None:
        """The window of a model in its server's list, if that has been kept."""
        ...

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Keep the list of a server."""
        ...


class NoLists:
    """No lists are kept."""

    def window(self, choice: ModelChoice) -> int | None:  # noqa: ARG002 - a ListCache's
        return None

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Do nothing."""


NO_LISTS = NoLists()


class ContextWindow:
    """Owns the window of one model.

    The configured one counts, else what a near server says, else what its kept list says, else the
    price list, else a vendor's list, else what is assumed of its provider.
    """

    def __init__(self, choice: ModelChoice, lists: ListCache) -> None:
        self._choice = choice
        self._lists = lists
        self._known: int | None = choice.configured_window
        self._looked_up = self._known is not None
        self._again: Callable[[float], int | None] | None = None

    @property
    def tokens(self) -> int:
        """The window as far as it is known."""
        return self._known or self._choice.context_window

    @property
    def known(self) -> int | None:
        """The window; ``None`` until everybody was asked for it."""
        return self.tokens if self._looked_up else None

    @property
    def changes(self) -> bool:
        """True if it depends on how the server has loaded the model."""
        return self._again is not None

    def look_up(self, choice: ModelChoice) -> None:
        """Look for the window everywhere. Blocks, for two seconds at most."""
        if not (choice.configured_window or choice.provider == OFFLINE):
            self._look_everywhere(choice)
        self._looked_up = True

    def look_again(self) -> None:
        """Ask a server again that may have loaded the model by now. Blocks, for a moment."""
        if self._again:
            self._known = _in_time(self._again) or self._known

    def _look_everywhere(self, choice: ModelChoice) -> None:
        asked = self._ask(choice) if _is_near(choice) else None
        self._known = asked or self._lists.window(choice) or _priced(choice)
        if not self._known and choice.base_url and not _is_near(choice):
            self._known = self._ask(choice)

    def _ask(self, choice: ModelChoice) -> int | None:
        told = _in_time(lambda seconds: self._told(choice, seconds))
        self._again = told.again if told else None
        return told.tokens if told else None

    def _told(self, choice: ModelChoice, seconds: float) -> "ToldWindow":
        from tui.providers.model_lists import Connection
        from tui.providers.server_windows import ask_server

        connection = Connection(provider_of(choice), choice.key)
        return ask_server(connection, choice.model, seconds, self._keep)

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


def _in_time(ask: Callable[[float], _Got]) -> _Got | None:
    """Ask a server; ``None`` without an answer in time."""
    found: list[_Got] = []

    def run() -> None:
        with suppress(ModelError):
            found.append(ask(_SECONDS))

    # The look-up of a name has no limit of its own.
    asking = threading.Thread(target=run, daemon=True, name="context window")
    asking.start()
    asking.join(_SECONDS)
    return found[0] if found else None
