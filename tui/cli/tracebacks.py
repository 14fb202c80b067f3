"""Tracebacks without the messages of the errors, which may quote a text or a key."""

import traceback

from tui.config.paths import with_tilde
from tui.logs import chain, error_name

_DEEPEST = 5


def format_without_messages(error: BaseException, depth: int = 0) -> str:
    """Format an error, its causes and the errors of a group: places and classes."""
    parts: list[str] = []
    for each in reversed(chain(error)):
        parts += traceback.format_tb(each.__traceback__)
        parts.append(f"{type(each).__module__}.{error_name(each)}\n")
        if isinstance(each, BaseExceptionGroup) and depth < _DEEPEST:
            parts += [format_without_messages(one, depth + 1) for one in each.exceptions]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    return with_tilde("".join(parts))
