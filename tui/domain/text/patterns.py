"""Regular expressions of which the first screen needs none: compiled when they are first used."""

import re
from functools import cached_property
from typing import Any, cast


class _LatePattern:
    """Stands for a ``re.Pattern``; once used, its methods are those of the compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used; compiling takes up to 1 ms."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))
