"""The protocol of cleaners, and what they share: an answer's events, one kind for each dialect."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, cast

from tui.providers.server_words import text_in

JsonObject = dict[str, Any]

_LONGEST_COUNT = 16

Breakage = Literal["cut", "failed", "malformed", "no_stream"]


class BrokenStream(Exception):
    """The reason why a stream is no whole answer; ``words`` are the server's, if it has any."""

    def __init__(self, breakage: Breakage, words: str = "") -> None:
        super().__init__(breakage)
        self.breakage: Breakage = breakage
        self.words = words


def malformed() -> BrokenStream:
    """Make the error for an event whose shape is wrong."""
    return BrokenStream("malformed")


def failed(body: Any) -> BrokenStream:
    """Make the error for an event that reports one."""
    return BrokenStream("failed", text_in(body))


def as_object(value: Any) -> JsonObject:
    """Take a value that must be an object. Raises ``BrokenStream``."""
    if not isinstance(value, dict):
        raise malformed()
    return cast("JsonObject", value)


def as_list(value: Any) -> list[Any]:
    """Take a value that must be a list, or missing. Raises ``BrokenStream``."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise malformed()
    return cast("list[Any]", value)


def as_text(value: Any) -> str:
    """Take a value that must be a text, or missing. Raises ``BrokenStream``."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise malformed()
    return value


Merge = Callable[[JsonObject, JsonObject], JsonObject | None]
"""Joins two clean events that continue one text; gives ``None`` for all others."""


def never_merged(_: JsonObject, __: JsonObject) -> None:
    """Join nothing."""


class Cleaner(Protocol):
    """Makes the events of one answer clean, one after another; there is one class a dialect."""

    @property
    def is_finished(self) -> bool:
        """True once the server gave the reason of the end; little follows it, perhaps nothing."""
        ...

    @property
    def is_done(self) -> bool:
        """True once the last event came; nothing is read after it."""
        ...

    def clean(self, event: JsonObject) -> Iterable[JsonObject]:
        """Give the events to pass on instead of one of the server's. Raises ``BrokenStream``.

        A whole answer, which some servers send instead of a stream, is one event, too.
        """
        ...

    def rest(self) -> Iterable[JsonObject]:
        """Give the events to pass on at the end of a whole answer."""
        ...


class Halves:
    """Joins surrogate pairs that a server split over two pieces of a text."""

    def __init__(self) -> None:
        self._held = ""

    def joined(self, text: str) -> str:
        """Give the text, with the half held back before it and without one at its end."""
        if text.isascii() and not self._held:
            return text
        text = self._held + text
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return text.removesuffix(self._held) if self._held else text


def counts(usage: Any) -> JsonObject:
    """The token counts of a usage object, also nested ones, without all that is no count."""
    if not isinstance(usage, dict):
        return {}
    kept = {name: _counted(value) for name, value in cast("JsonObject", usage).items()}
    return {name: value for name, value in kept.items() if value not in (None, {})}


def _counted(value: Any) -> int | JsonObject | None:
    if isinstance(value, dict):
        return counts(value)
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONGEST_COUNT:
        return int(value)
    return value if type(value) is int and value >= 0 else None
