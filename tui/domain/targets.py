"""Which session is meant: a listed number, an id, ``scope#N``, a name or a prefix.

The first kind that matches wins; a tie within a kind is an error that names the candidates.
Digits are the beginning of an id only where they say a whole day: all ids begin with the year.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from tui.domain.journal.ids import is_session_id
from tui.domain.text.labels import scope_name
from tui.errors import AmbiguousSession, SessionNotFound

_PREFIX = "session-"
_DIGITS_OF_A_DAY = 8
_MOST_DIGITS = 9


class Catalog(Protocol):
    """What a target is looked up in; each question is asked only when it comes to it."""

    def has(self, session_id: str) -> bool:
        """Whether a session with this very id is there."""
        ...

    def ids(self) -> Collection[str]:
        """The ids of all sessions."""
        ...

    def numbered(self, scope: str, ordinal: int) -> str | None:
        """The id of the session with this ordinal in this scope, if it is still there."""
        ...

    def scopes(self) -> Collection[str]:
        """All scopes that a number was ever given in."""
        ...

    def named(self, name: str) -> Iterable[str]:
        """The ids of the sessions with exactly this name."""
        ...


def is_number(text: str) -> bool:
    """Whether a text is a number as it is typed, of whatever length."""
    return text.isascii() and text.isdigit()


def listed_number(text: str, listed: Sequence[str]) -> int | None:
    """The number that a text is, if that many were listed; they count from 1."""
    if not is_number(text) or len(text) > _MOST_DIGITS:
        return None
    number = int(text)
    return number if 1 <= number <= len(listed) else None


def resolve(target: str, scope: str, catalog: Catalog, listed: Sequence[str] = ()) -> str:
    """Find the one session that a target means; ``#N`` counts in ``scope``.

    Raises ``SessionNotFound``, whose ``closest`` is left to the caller, or ``AmbiguousSession``.
    """
    number = listed_number(target, listed)
    if number is not None:
        return listed[number - 1]
    if is_session_id(target) and catalog.has(target):
        return target
    for candidates in _candidates(target, scope, catalog):
        if len(candidates) > 1:
            raise AmbiguousSession(target, candidates)
        if candidates:
            return candidates[0]
    raise SessionNotFound(target)


def _candidates(target: str, scope: str, catalog: Catalog) -> Iterator[list[str]]:
    yield _by_ordinal(target, scope, catalog)
    yield _by_ordinal_of_called(target, scope, catalog)
    yield _by_name(target, catalog)
    yield _by_prefix(target, catalog)


def _by_ordinal(target: str, scope: str, catalog: Catalog) -> list[str]:
    named_scope, ordinal = _parted(target)
    if ordinal is None:
        return []
    found = catalog.numbered(named_scope or scope, ordinal)
    return [found] if found else []


def _by_ordinal_of_called(target: str, scope: str, catalog: Catalog) -> list[str]:
    """A project is called by the name of its directory, as it is on screen."""
    called, ordinal = _parted(target)
    if ordinal is None or not called:
        return []
    meant = [each for each in catalog.scopes() if scope_name(each) == called]
    if scope in meant:
        meant = [scope]
    return sorted(filter(None, (catalog.numbered(each, ordinal) for each in meant)))


def _parted(target: str) -> tuple[str, int | None]:
    named_scope, mark, digits = target.rpartition("#")
    if not (mark and is_number(digits) and len(digits) <= _MOST_DIGITS):
        return "", None
    return named_scope, int(digits)


def _by_name(target: str, catalog: Catalog) -> list[str]:
    return sorted(set(catalog.named(target))) if target else []


def _by_prefix(target: str, catalog: Catalog) -> list[str]:
    if not target or (is_number(target) and len(target) < _DIGITS_OF_A_DAY):
        return []
    wanted = (target, _PREFIX + target)
    return sorted(name for name in catalog.ids() if name.startswith(wanted))
