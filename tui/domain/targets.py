"""Resolution of a target: a number, an id, ``scope#N``, a name, an imported id, a prefix, a title.

The first kind that matches wins; a tie within a kind is an error that names the candidates.
Digits count as a prefix only from a whole date on (eight): all ids begin with the year.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from tui.domain.journal.records import is_session_id
from tui.domain.text import make_visible_line, scope_name
from tui.errors import AmbiguousSession, SessionNotFound

_PREFIX = "session-"
_DIGITS_OF_A_DAY = 8
_MOST_DIGITS = 9
_CLOSEST = 3
_COMPARED = 500
_COMPARED_NAMES = 50


class SessionLookups(Protocol):
    """The lookups that a target may need; each is made only when its turn comes."""

    def has(self, session_id: str) -> bool:
        """True if a session has exactly this id."""
        ...

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        """The ids that begin with one of these."""
        ...

    def numbered(self, scope: str, ordinal: int) -> str | None:
        """The id of the session with this number in a scope, if it still exists."""
        ...

    def scopes(self) -> Collection[str]:
        """Every scope in which a number was ever assigned."""
        ...

    def named(self, name: str) -> Iterable[str]:
        """The ids of the sessions with exactly this name."""
        ...

    def imported(self, name: str) -> Iterable[str]:
        """The ids of the sessions that had this id in another program, also of purged ones."""
        ...

    def newest(self, count: int) -> Sequence[str]:
        """The ids of the sessions used last."""
        ...

    def newest_names(self, count: int) -> Mapping[str, str]:
        """The names among the sessions used last, each with the id of the newest that has it."""
        ...


def is_number(text: str) -> bool:
    """True for ASCII digits only, of any length."""
    return text.isascii() and text.isdigit()


def listed_number(text: str, listed: Sequence[str]) -> int | None:
    """Parse the number of a row in a printed list, from 1; ``None`` if there is no such row."""
    if not is_number(text) or len(text) > _MOST_DIGITS:
        return None
    number = int(text)
    return number if 1 <= number <= len(listed) else None


def resolve(target: str, scope: str, catalog: SessionLookups, listed: Sequence[str] = ()) -> str:
    """Find the one session that a target means; ``#N`` is a number in ``scope``.

    Raises ``AmbiguousSession``, or ``SessionNotFound`` with the closest ids.
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
    raise SessionNotFound(target, _closest(target, catalog))


def titled(target: str, titles: Iterable[tuple[str, str]]) -> Sequence[str]:
    """Find the ids whose title, as it is shown, is the target, else those that begin with it.

    Both may be cut, by an ellipsis; case and spaces do not matter. A short number is no beginning.
    """
    wanted, exact, beginning = _plain(target), list[str](), list[str]()
    may_begin = len(wanted) >= _DIGITS_OF_A_DAY or not is_number(wanted)
    for session_id, title in titles if wanted and not target.startswith(_PREFIX) else ():
        plain = _plain(title)
        if plain == wanted or (title.endswith("…") and wanted.startswith(plain)):
            exact.append(session_id)
        elif may_begin and plain.startswith(wanted):
            beginning.append(session_id)
    return exact or beginning


def _plain(title: str) -> str:
    # Notices quote titles.
    line = make_visible_line(title).strip('"').removesuffix("…")
    return " ".join(line.casefold().split())


def _closest(target: str, catalog: SessionLookups) -> Sequence[str]:
    """Find the ids most similar to an unknown target, by name or by id."""
    # Late: only a mistake needs it.
    from difflib import get_close_matches

    if not target.startswith(_PREFIX):
        names = catalog.newest_names(_COMPARED_NAMES)
        found = get_close_matches(target, names, _CLOSEST)
        if found:
            return [names[name] for name in found]
        target = _PREFIX + target
    return get_close_matches(target, catalog.newest(_COMPARED), _CLOSEST)


def _candidates(target: str, scope: str, catalog: SessionLookups) -> Iterator[list[str]]:
    named_scope, mark, digits = target.rpartition("#")
    if mark and is_number(digits) and len(digits) <= _MOST_DIGITS:
        ordinal = int(digits)
        found = catalog.numbered(named_scope or scope, ordinal)
        yield [found] if found else []
        # A project by the name of its directory, as shown on screen.
        scopes = catalog.scopes() if named_scope else ()
        meant = [each for each in scopes if scope_name(each) == named_scope]
        meant = [scope] if scope in meant else meant
        yield sorted(filter(None, (catalog.numbered(each, ordinal) for each in meant)))
    if target:
        yield sorted(set(catalog.named(target)))
    if target and not (is_number(target) and len(target) < _DIGITS_OF_A_DAY):
        yield sorted(filter(catalog.has, catalog.imported(target)))
        yield sorted(catalog.beginning((target, _PREFIX + target)))
