"""The rules of the debug log, for every module that writes to it.

A module logs with ``logging.getLogger(__name__)`` and at ``INFO`` only: Python prints a warning
that no handler takes on standard error, over the screen. An entry has names of errors, ids, counts
and times, never a message's text, a title, an argument of a tool or a key. Where the user asked for
the log, ``tui.cli.debug_log`` writes it.
"""

import errno
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from tui.domain.journal.records import is_private

_LONGEST_CHAIN = 10
_is_private: ContextVar[bool] = ContextVar("_is_private", default=False)


@contextmanager
def log_of(session_id: str) -> Generator[None]:
    """Log what happens for a session; of a private one nothing, in no thread or task begun here."""
    token = _is_private.set(_is_private.get() or is_private(session_id))
    try:
        yield
    finally:
        _is_private.reset(token)


def may_be_logged(_: object) -> bool:
    """Refuse an entry about a private session; asked where the entry is made."""
    return not _is_private.get()


def milliseconds_since(begun: float) -> int:
    """The time since a reading of ``time.perf_counter``."""
    return round((time.perf_counter() - begun) * 1000)


def error_name(error: BaseException) -> str:
    """The classes of an error and its causes, without their messages, which may quote a text."""
    return " from ".join(map(_class_name, chain(error)))


def chain(error: BaseException) -> list[BaseException]:
    """An error, the one that led to it, and so on."""
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in found and len(found) < _LONGEST_CHAIN:
        found.append(each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return found


def _class_name(error: BaseException) -> str:
    name = type(error).__qualname__
    number = error.errno if isinstance(error, OSError) else None
    return f"{name} {errno.errorcode.get(number, number)}" if number else name
