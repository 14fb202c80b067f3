"""The end of an import by its user: asked for wherever reading may take long."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

_Each = TypeVar("_Each")


class Stopped(Exception):
    """The import was stopped by its user."""


_check: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)


def check() -> None:
    """Raise ``Stopped`` if the import is no longer wanted."""
    _check.get()()


def checked(items: Iterable[_Each]) -> Iterator[_Each]:
    """Iterate, and check at each item. Raises ``Stopped``."""
    for item in items:
        check()
        yield item


@contextmanager
def stopped_by(wanted: Callable[[], None]) -> Generator[None]:
    """Let ``check`` call a function that raises ``Stopped`` once it is to end."""
    before = _check.set(wanted)
    try:
        yield
    finally:
        _check.reset(before)
