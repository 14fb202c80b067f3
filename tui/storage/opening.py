"""The store that the configuration names."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tui.domain.text.labels import listed
from tui.domain.text.patterns import late_pattern
from tui.errors import ConfigError, SibylError, StorageError
from tui.storage.file_store import FileStore
from tui.storage.protocol import SessionReader, SessionStore

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "sibyl_tui.stores"
"""The group of the entry points of other packages' stores."""
_POSTGRES = ("postgresql://", "postgres://")
_NAME = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


@runtime_checkable
class ServerStore(Protocol):
    """A store at a server, besides the verbs of ``SessionStore``."""

    def check(self) -> Sequence[str]:
        """Connect, and return warnings. Raises ``StorageError``."""
        ...

    def report(self) -> Mapping[str, str]:
        """Describe the server. Raises ``StorageError``."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


def open_store(address: str, root: Path, clock: Callable[[], datetime]) -> SessionStore:
    """Open the store of an address; without one, the files below ``root``.

    An address that is not a PostgreSQL server's begins with the name of an entry point: ``name`` or
    ``name:REST``. The entry point is called with the address and the clock. Raises ``ConfigError``,
    and ``StorageError`` for a store that cannot be opened.
    """
    if not address:
        return FileStore(root, clock)
    if address.startswith(_POSTGRES):
        from tui.storage.postgres.store import PostgresStore

        return PostgresStore(address, clock)
    return _open_installed(_entry_point(address.partition(":")[0]), address, clock)


def _entry_point(name: str) -> "EntryPoint":
    # Late: it is slow to import, and hardly anybody names another store.
    from importlib import metadata

    if not _NAME.fullmatch(name):
        # It may be an address with a password: it is not repeated.
        expected = "an address begins with postgresql:// or with the name of an installed store"
        raise ConfigError("settings", "store", expected)
    found = metadata.entry_points(group=GROUP, name=name)
    if len(found) == 1:
        return next(iter(found))
    if found:
        packages = listed(sorted(map(_package, found)))
        raise ConfigError("settings", "store", f'{packages} both have a store "{name}"')
    others = listed(sorted(metadata.entry_points(group=GROUP).names))
    installed = f"installed: {others}" if others else "none is installed"
    raise ConfigError("settings", "store", f'there is no store "{name}" ({installed})')


def _open_installed(
    point: "EntryPoint", address: str, clock: Callable[[], datetime]
) -> SessionStore:
    store = f'The store "{point.name}" of {_package(point)}'
    with _package_errors(f"{store} cannot be loaded"):
        make = point.load()
    with _package_errors(f"{store} cannot be opened"):
        made = make(address, clock)
    missing = [verb for verb in _verbs() if not callable(getattr(made, verb, None))]
    if missing:
        raise StorageError(
            f"{store} does not fit this version of sibyl-tui: it has no {listed(missing, 'or')}."
        )
    return made


@contextmanager
def _package_errors(failure: str) -> Generator[None]:
    """Report any error of another package's code as that of its store, not as our bug."""
    try:
        yield
    except SibylError:
        raise
    except Exception as error:
        raise StorageError(f"{failure}: {type(error).__name__}: {error}") from error


def _package(point: "EntryPoint") -> str:
    return point.dist.name if point.dist is not None else point.value


def _verbs() -> list[str]:
    """List the verbs of the protocol."""
    names = {*vars(SessionReader), *vars(SessionStore)}
    return sorted(name for name in names if not name.startswith("_"))
