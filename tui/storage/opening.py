"""The store that the configuration names."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from tui.errors import ConfigError
from tui.storage.file_store import FileStore
from tui.storage.protocol import SessionStore

_POSTGRES = ("postgresql://", "postgres://")


@runtime_checkable
class ServerStore(Protocol):
    """A store at a server, besides the verbs of ``SessionStore``."""

    def check(self) -> Sequence[str]:
        """Connect, and return warnings. Raises ``StorageError``."""
        ...

    def report(self) -> Mapping[str, str]:
        """Describe the server. Raises ``StorageError``."""
        ...


def open_store(address: str, root: Path, clock: Callable[[], datetime]) -> SessionStore:
    """Open the store of an address; without one, the files below ``root``.

    Raises ``ConfigError``, and ``StorageError`` for a store that cannot be opened.
    """
    if not address:
        return FileStore(root, clock)
    if address.startswith(_POSTGRES):
        from tui.storage.postgres.store import PostgresStore

        return PostgresStore(address, clock)
    # It may have a password: it is not repeated.
    raise ConfigError("settings", "store", "an address begins with postgresql://")
