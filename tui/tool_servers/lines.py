"""Lines of a program's output, bounded."""

from tui.domain.text.safe_text import make_visible_line

_TAIL_BYTES = 4096
_LONGEST_SHOWN = 300


class LineTooLong(ValueError):
    """A line that is longer than allowed."""


class LineBuffer:
    """Splits bytes into lines; a byte is looked at once, however long its line is."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes, and take the lines that they complete. Raises ``LineTooLong``."""
        first, *others = data.split(b"\n")
        self._add(first)
        if not others:
            return []
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts, self._size = [], 0
        self._add(others[-1])
        return lines

    @property
    def has_rest(self) -> bool:
        """True if the last line has not ended."""
        return self._size > 0

    @property
    def rest(self) -> bytes:
        """The line that has not ended; a line break ends it."""
        return b"".join(self._parts)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            self._parts.clear()
            raise LineTooLong
        self._parts.append(part)


class Tail:
    """The end of a program's error output."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> None:
        """Add bytes; only the last ones are kept."""
        self._data = (self._data + data[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    @property
    def last_line(self) -> str:
        """The last line with a visible character, sanitised, or nothing."""
        lines = self._data.decode("utf-8", "replace").splitlines()
        shown = (make_visible_line(line).strip() for line in reversed(lines))
        return next(filter(None, shown), "")[:_LONGEST_SHOWN]
