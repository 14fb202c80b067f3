"""The view model of the model picker and of the connections."""

import msgspec


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
