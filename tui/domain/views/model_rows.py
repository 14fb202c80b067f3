"""The view model of the model picker and of the connections."""

from collections.abc import Mapping, Sequence

import msgspec

MOST_RECENT = 8


class ModelFacts(msgspec.Struct, frozen=True):
    """The window of a model in tokens, and its prices in dollars for a million tokens."""

    window: int | None = None
    sent: float | None = None
    received: float | None = None

    @property
    def words(self) -> str:
        """The known facts: ``1M · $2 in, $10 out``."""
        window = "" if self.window is None else window_words(self.window)
        known = self.sent is not None and self.received is not None
        price = f"${_amount(self.sent)} in, ${_amount(self.received)} out" if known else ""
        return " · ".join(filter(None, (window, price)))


class ModelRow(msgspec.Struct, frozen=True):
    """A model that can be chosen."""

    name: str
    """``PROVIDER:MODEL``."""
    facts: ModelFacts = ModelFacts()
    current: bool = False
    recent: bool = False


class ModelRows(msgspec.Struct, frozen=True):
    """The models of all connections, and why some are missing."""

    rows: tuple[ModelRow, ...] = ()
    troubles: tuple[str, ...] = ()
    """A line for each server that gave no list."""
    asking: tuple[str, ...] = ()
    """The servers that have not answered yet."""


def arrange(
    listed: Mapping[str, Sequence[str]],
    recent: Sequence[str],
    current: str,
    facts: Mapping[str, ModelFacts],
) -> tuple[ModelRow, ...]:
    """Make the rows: recently chosen models of these servers first, then each server's list.

    ``listed`` are models by server. The current one is among the rows even if no server lists it.
    """
    known = [f"{server}:{model}" for server, models in listed.items() for model in models]
    usable = [name for name in recent if name.partition(":")[0] in listed][:MOST_RECENT]
    unlisted = [current] if current and current not in known else []
    return tuple(
        ModelRow(name, facts.get(name, ModelFacts()), name == current, name in usable)
        for name in dict.fromkeys([*usable, *unlisted, *known])
    )


def matches(text: str, wanted: str) -> bool:
    """True if a text has all words of a filter, in any order and case."""
    folded = text.casefold()
    return all(word in folded for word in wanted.casefold().split())


OWN_SERVER = "own server"
"""The name of the row for a server that no table has; no provider's name has a blank."""


class ProviderRow(msgspec.Struct, frozen=True):
    """A provider that can be connected."""

    name: str
    title: str
    note: str = ""
    """Its state: connected, or found."""
    connected: bool = False
    """True for a connection made on the screen, which can be removed there."""
    found: bool = False
    """True if it can be used without another word: its key, or the server, is there."""
    key_page: str = ""
    address: str = ""
    example_address: str = ""
    """The form of its address, for one whose address only the user knows."""
    wants_key: bool = False
    """True if it wants a key; otherwise an address."""

    @property
    def within(self) -> str:
        """The title within a sentence."""
        return "your own server" if self.name == OWN_SERVER else self.title


def window_words(tokens: int) -> str:
    """Format a context window: ``128K``, ``1M``, ``1.05M``."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens // 1_000}K"
    return f"{tokens / 1_000_000:.3g}M"


def _amount(dollars: float | None) -> str:
    amount = dollars or 0
    return f"{amount:.0f}" if amount == int(amount) else f"{amount:.2f}"
