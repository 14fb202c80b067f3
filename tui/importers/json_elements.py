"""The objects of a JSON file of any size, one at a time: of an array, or one after the other.

Exports are hundreds of megabytes on a single line. Only the brackets are looked at to find where
an object ends; its bytes are parsed alone. After a damaged object, reading resumes at the next one
that begins as the first one did.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

from tui.domain.json_limits import LINE_BYTES
from tui.importers.json_lines import UNFINISHED, UNREADABLE, RawLine, parse
from tui.importers.protocol import Json, Ledger

TOO_LARGE = "record over 64 MiB"
HEAD_BYTES = 64 * 1024
_BLOCK = 1024 * 1024
_AGAIN_BYTES = 256 * 1024 * 1024
"""Limit of what is searched for objects behind damaged ones, of each the rest of the window."""

# Possessive: see ``tui.domain.json_limits``. A string that is cut off matches nothing.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_BRACKET = re.compile(rb'(?s)[^\[\]{}"]*+(?:' + _STRING + rb'[^\[\]{}"]*+)*+[\[\]{}]')
_OPENING = b"[{"
_SCALAR = rb"(?:" + _STRING + rb"|[-+.\w]++)"
_SPACE = rb"[\s\xef\xbb\xbf]*+"
_KEY = rb"\s*+" + _STRING + rb"\s*+:\s*+"
_FIRST_KEYS = re.compile(
    rb"(?s)\{\s*+(" + _STRING + rb")\s*+:(?:\s*+" + _SCALAR + rb"\s*+,\s*+(" + _STRING + rb"))?+"
)


def elements(stream: BinaryIO, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Json]:
    """Read the objects of an array, of one that a key of ``within`` has, or those side by side.

    What is no object, damaged or too large is counted as skipped.
    """
    scanner = _Scanner(stream, ledger.skipped)
    array = scanner.enter_array(within)
    for value in scanner.objects():
        if array:
            yield value
        else:
            yield from _unwrapped(value, within, ledger)


def element_lines(stream: BinaryIO, ledger: Ledger, within: Sequence[str]) -> Iterator[RawLine]:
    """Find the objects of an array that a key of ``within`` has, as if each were a line."""
    scanner = _Scanner(stream, ledger.skipped)
    scanner.enter_array(within)
    while (data := scanner.next()) is not None:
        yield RawLine(scanner.offset - len(data), len(data), data, last=False)


def _unwrapped(value: Json, within: Sequence[str], ledger: Ledger) -> Iterator[Json]:
    """An object that has its array behind others is read as a whole."""
    items = next((value[key] for key in within if isinstance(value.get(key), list)), None)
    if items is None:
        yield value
        return
    for item in items:
        if isinstance(item, dict):
            yield cast("Json", item)
        else:
            ledger.skipped[UNREADABLE] += 1


class _Scanner:
    """A window that moves over a stream, from object to object."""

    def __init__(self, stream: BinaryIO, skipped: Counter[str]) -> None:
        self._stream = stream
        self._skipped = skipped
        self._window = stream.read(_BLOCK)
        self._at = 0
        self._passed = 0
        """Bytes before the window."""
        self._begin: int | None = None
        """Where the object that is being read begins in the window."""
        self._depth = 0
        self._level = 0
        """Depth of what stands around the objects."""
        self._start_of_object: re.Pattern[bytes] | None = None
        self._patience = _AGAIN_BYTES
        self._ended = False

    @property
    def offset(self) -> int:
        """How far the stream was looked through, in bytes."""
        return self._passed + self._at

    def enter_array(self, within: Sequence[str]) -> bool:
        """Go to the array at the beginning of the file, if there is one."""
        keys = b"|".join(re.escape(key.encode()) for key in within) or rb"(?!)"
        wrapper = rb"\{(?:" + _KEY + _SCALAR + rb'\s*+,)*\s*"(?:' + keys + rb')"\s*:\s*'
        found = re.compile(rb"(?s)" + _SPACE + rb"(?:" + wrapper + rb")?\[").match(self._window)
        if found:
            self._at = found.end()
            self._depth = self._level = 1
        return found is not None

    def objects(self) -> Iterator[Json]:
        while (data := self.next()) is not None:
            value = parse(data)
            if isinstance(value, dict):
                yield cast("Json", value)
                continue
            self._skipped[UNREADABLE] += 1
            self._resume_within(data)

    def next(self) -> bytes | None:
        """The bytes of the next object; ``None`` at the end."""
        while True:
            found = _BRACKET.match(self._window, self._at)
            if found is None:
                if not self._read_on() and not self._resume():
                    return None
                continue
            end = found.end()
            if self._window[end - 1] in _OPENING:
                self._opened(end - 1)
            elif self._closed(end - 1):
                data = self._window[self._begin : end]
                self._at, self._begin = end, None
                return data
            elif self._ended:
                return None
            self._at = end

    def _opened(self, position: int) -> None:
        if self._depth == self._level:
            self._count_between(self._window[self._at : position])
            self._begin = position
            self._start_of_object = self._start_of_object or self._start_like(position)
        self._depth += 1

    def _closed(self, position: int) -> bool:
        """True if this bracket ends an object; one too many is the end of the array.

        Behind a damaged object it need not be: depths are not known for certain then.
        """
        if self._begin is None:
            self._count_between(self._window[self._at : position])
            self._ended = self._level == 1 and self._patience == _AGAIN_BYTES
        self._depth = max(self._depth - 1, self._level)
        return self._depth == self._level and self._begin is not None

    def _count_between(self, data: bytes) -> None:
        between = data.strip(b", \t\r\n\x00\xef\xbb\xbf")
        if between:
            self._skipped[UNREADABLE] += between.count(b",") + 1

    def _start_like(self, position: int) -> re.Pattern[bytes] | None:
        found = _FIRST_KEYS.match(self._window, position)
        if not found:
            return None
        first, second = re.escape(found[1]), found[2] and re.escape(found[2])
        more = rb"\s*" + _SCALAR + rb"\s*,\s*" + second + rb"\s*:" if second else b""
        # Not behind a colon: objects within an object are not looked for.
        return re.compile(rb"(?s)[,\n}]\s*+(\{)\s*" + first + rb"\s*:" + more)

    def _read_on(self) -> bool:
        keep = self._at if self._begin is None else self._begin
        if len(self._window) - keep > LINE_BYTES:
            return False
        # Growing steps: a long string is not matched again for each of its blocks.
        block = self._stream.read(max(_BLOCK, len(self._window) - keep))
        self._window = self._window[keep:] + block
        self._passed += keep
        self._at -= keep
        self._begin = None if self._begin is None else 0
        return bool(block)

    def _resume(self) -> bool:
        """Go on behind an object without an end; false if nothing follows."""
        if self._begin is None and not self._window[self._at :].strip(b", \t\r\n\x00]"):
            return False
        whole = len(self._window) - (self._begin or 0) <= LINE_BYTES
        self._skipped[UNFINISHED if whole else TOO_LARGE] += 1
        begin = self._at if self._begin is None else self._begin
        self._patience -= len(self._window) - begin
        return self._go_to_start(begin + 1, len(self._window)) or (not whole and self._skip_far())

    def _resume_within(self, data: bytes) -> None:
        """Find the objects that a damaged one has swallowed."""
        self._patience -= len(data)
        self._go_to_start(self._at - len(data) + 1, self._at)

    def _go_to_start(self, start: int, end: int) -> bool:
        pattern = self._start_of_object if self._patience > 0 else None
        found = pattern.search(self._window, start, end) if pattern else None
        if not found:
            return False
        self._at, self._begin, self._depth = found.start(1), None, self._level
        return True

    def _skip_far(self) -> bool:
        """Leave a string or an object that is too large behind."""
        while block := self._stream.read(_BLOCK):
            self._passed += max(len(self._window) - HEAD_BYTES, 0)
            self._window = self._window[-HEAD_BYTES:] + block
            if self._go_to_start(0, len(self._window)):
                return True
        return False
