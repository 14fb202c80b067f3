"""Filters of a query: ``in:`` a project, ``from:`` a program, ``before:`` and ``after:`` a date.

A value with blanks is quoted: ``in:"my shop"``. Several projects or programs are alternatives; of
several dates the narrowest counts. A date is a year, a month or a day in local time: ``after:``
begins with it, ``before:`` ends where it begins.
"""

import re
from collections.abc import Sequence
from datetime import datetime

import msgspec

from tui.domain.journal.records import SessionHeader
from tui.domain.journal.session import program_of
from tui.domain.search.tokens import without_points
from tui.domain.text import late_pattern

OWN_PROGRAM = "sibyl-tui"
"""The name of this program, for sessions that were not imported."""

_FILTER = r'(?<!\S)(?P<name>in|from|before|after):(?:"(?P<quoted>[^"]*)"?|(?P<bare>[^\s"]*))'
_PART = re.compile(rf'{_FILTER}|"[^"]*"', re.IGNORECASE)
_DATE = late_pattern("([0-9]{4})(?:-([0-9]{1,2}))?(?:-([0-9]{1,2}))?")
_NEEDS = {
    "in": "a project: in:shop",
    "from": "a program: from:claude-code",
    "before": "a year, month or day: before:2026-05-01",
    "after": "a year, month or day: after:2026-05-01",
}
_DATES = "before", "after"


class Origin(msgspec.Struct, frozen=True):
    """Project and program of a session in the form in which ``origin_of`` compares them."""

    project: str
    program: str


class Filters(msgspec.Struct, frozen=True):
    """The filters of a query. Times are in milliseconds since 1970, ``until`` is the first one out.

    ``fault`` is the message about a filter that cannot be used: then nothing passes.
    """

    projects: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    fault: str = ""

    @property
    def are_none(self) -> bool:
        """True if everything passes."""
        return self == Filters()

    def pass_session(self, origin: Origin) -> bool:
        """Check the project and the program of a session."""
        return self.pass_project(origin.project) and self.pass_program(origin.program)

    def pass_project(self, project: str) -> bool:
        """Check a project, in the form of ``Origin``."""
        return not self.projects or any(each in project for each in self.projects)

    def pass_program(self, program: str) -> bool:
        """Check a program, in the form of ``Origin``."""
        return not self.programs or any(map(program.startswith, self.programs))

    def pass_time(self, milliseconds: int) -> bool:
        """Check a time; an unknown one, 0, passes no date."""
        if self.since is None and self.until is None:
            return True
        return (
            milliseconds > 0
            and milliseconds >= (self.since or 0)
            and (self.until is None or milliseconds < self.until)
        )


def origin_of(header: SessionHeader | None) -> Origin:
    """Make the origin of a session; ``None`` stands for a header that cannot be read."""
    if header is None:
        return Origin("", OWN_PROGRAM)
    path = header.scope.removeprefix("project:")
    places = path if header.project_path == path else f"{path}\n{header.project_path}"
    return Origin(_folded(places), _folded(program_of(header.imported_from) or OWN_PROGRAM))


def split_filters(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a query into its words and its filters, as they were typed."""
    filters = tuple(found[0] for found in _PART.finditer(text) if found["name"])
    return _PART.sub(lambda found: "" if found["name"] else found[0], text), filters


def ends_with_filter(text: str) -> bool:
    """True if the last word of a query belongs to a filter."""
    ends = {found.end() for found in _PART.finditer(text) if found["name"]}
    return len(text) in ends


def parse_filters(filters: Sequence[str]) -> Filters:
    """Parse the filters that ``split_filters`` gives."""
    values: dict[str, list[str]] = {name: [] for name in _NEEDS}
    for each in filters:
        found = _PART.fullmatch(each)
        if found is not None and found["name"]:
            values[found["name"].lower()].append((found["quoted"] or found["bare"] or "").strip())
    dates = {name: [_moment(each) for each in values[name]] for name in _DATES}
    return Filters(
        tuple(map(_folded, values["in"])),
        tuple(map(_folded, values["from"])),
        since=max((date for date in dates["after"] if date is not None), default=None),
        until=min((date for date in dates["before"] if date is not None), default=None),
        fault=_fault(values),
    )


def _fault(values: dict[str, list[str]]) -> str:
    """Describe the first filter that cannot be used."""
    for name, given in values.items():
        for value in given:
            if not value:
                return f"{name}: needs {_NEEDS[name]}"
            if name in _DATES and _moment(value) is None:
                return f"{name}:{value} is not a date. It needs {_NEEDS[name]}"
    return ""


def _moment(value: str) -> int | None:
    """The beginning of a year, month or day, in local time; ``None`` if it is none."""
    found = _DATE.fullmatch(value)
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return int(datetime(year, month, day).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def _folded(text: str) -> str:
    return without_points(text.casefold())
