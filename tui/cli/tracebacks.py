"""Tracebacks of places and classes only: messages, and lines of a source, may quote a text."""

import traceback
from collections.abc import Iterator
from types import TracebackType

from tui.config.paths import with_tilde
from tui.logs import chain, error_name

_DEEPEST = 5
_FIRST, _LAST = 20, 40


def format_without_messages(error: BaseException, depth: int = 0) -> str:
    """Format an error, its causes and the errors of a group, the first cause first."""
    parts: list[str] = []
    for each in reversed(chain(error)):
        parts += _places(each.__traceback__)
        parts.append(f"{type(each).__module__}.{error_name(each)}\n")
        if isinstance(each, BaseExceptionGroup) and depth < _DEEPEST:
            parts += [format_without_messages(one, depth + 1) for one in each.exceptions]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    return with_tilde("".join(parts))


def _places(end: TracebackType | None) -> Iterator[str]:
    places = [
        f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_name}\n"
        for frame, line in traceback.walk_tb(end)
    ]
    left_out = len(places) - _FIRST - _LAST
    if left_out <= 0:
        yield from places
        return
    # As of a recursion.
    yield from places[:_FIRST]
    yield f"  ({left_out} more)\n"
    yield from places[-_LAST:]
