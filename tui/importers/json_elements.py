"""The objects of a JSON file of any size, one at a time: of arrays, or one after the other.

Exports are hundreds of megabytes on a single line. Only the brackets are looked at to find where
an object ends; its bytes are parsed alone. After a damaged object, reading resumes at the next one
that begins as the first one did. A file of one object is read whole, or what is left of it.
"""

import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from tui.domain.json_text import LINE_BYTES
from tui.files import open_regular
from tui.importers import json_lines
from tui.importers.json_lines import UNREADABLE, RawLine, counted_objects, object_of
from tui.importers.protocol import Json, Ledger, Source
from tui.importers.stopping import check

TOO_LARGE = "record over 64 MiB"
HEAD_BYTES = 64 * 1024
_BLOCK = 1024 * 1024
_AGAIN_BYTES = 256 * 1024 * 1024
"""Limit of what is searched for objects behind damaged ones, of each the rest of the window."""

# Possessive: see ``tui.domain.json_text``. A string that is cut off matches nothing.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_BRACKET = re.compile(rb'(?s)[^\[\]{}"]*+(?:' + _STRING + rb'[^\[\]{}"]*+)*+[\[\]{}]')
_OPENING = b"[{"
_SCALAR = rb"(?:" + _STRING + rb"|[-+.\w]++)"
_KEY = rb"\s*+" + _STRING + rb"\s*+:\s*+"
_FIRST_KEYS = re.compile(
    rb"(?s)\{\s*+(" + _STRING + rb")\s*+:(?:\s*+" + _SCALAR + rb"\s*+,\s*+(" + _STRING + rb"))?+"
)


def _array_pattern(within: Sequence[str]) -> re.Pattern[bytes]:
    """Match the beginning of an array, or of an object up to the array of one of its keys."""
    if not within:
        return re.compile(rb"\[")
    keys = b"|".join(re.escape(key.encode()) for key in within)
    wrapper = rb"\{(?:" + _KEY + _SCALAR + rb'\s*+,)*\s*"(?:' + keys + rb')"\s*:\s*'
    return re.compile(rb"(?s)(?:" + wrapper + rb")?\[")


class Element(NamedTuple):
    """An object of a file, and where it stands."""

    value: Json
    array: int
    """The same number for all objects of an array; another one for those of the next array."""
    damage: int
    """The number of damaged objects before it."""


def elements(stream: BinaryIO, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Element]:
    """Read the objects of arrays, of those that a key of ``within`` has, or those side by side.

    Those of an array in an array come one by one. What is no object, damaged or too large is
    counted as skipped.
    """
    scanner = _Scanner(stream, ledger.skipped, within)
    while (data := scanner.next()) is not None:
        value: Any = json_lines.parse(data)
        if isinstance(value, dict):
            keys = () if scanner.level else within
            found = _unwrapped(cast("Json", value), keys, ledger)
        elif isinstance(value, list):
            scanner.arrays += 1
            found = counted_objects(value or [None], ledger)
        else:
            ledger.skipped[UNREADABLE] += 1
            scanner.resume_within(data)
            continue
        for each in found:
            yield Element(each, scanner.arrays, scanner.damage)
        scanner.arrays += isinstance(value, list)


def element_lines(stream: BinaryIO, ledger: Ledger, within: Sequence[str]) -> Iterator[RawLine]:
    """Find the objects of an array that a key of ``within`` has, as if each were a line."""
    scanner = _Scanner(stream, ledger.skipped, within)
    while (data := scanner.next()) is not None:
        yield RawLine(scanner.offset - len(data), len(data), data, last=False)


def _unwrapped(value: Json, within: Sequence[str], ledger: Ledger) -> Iterator[Json]:
    """An object that has its array behind others is read as a whole."""
    items = next((value[key] for key in within if isinstance(value.get(key), list)), None)
    if items is None:
        yield value
    else:
        yield from counted_objects(items, ledger)


class _Scanner:
    """A window that moves over a stream, from object to object."""

    def __init__(self, stream: BinaryIO, skipped: Counter[str], within: Sequence[str]) -> None:
        self._stream = stream
        self._skipped = skipped
        self._window = stream.read(_BLOCK)
        self._at = 0
        self._passed = 0
        """Bytes before the window."""
        self._begin: int | None = None
        """Where the object that is being read begins in the window."""
        self._depth = 0
        self.level = 0
        """Depth of what stands around the objects: 1 in an array, 0 outside."""
        self._array = _array_pattern(within)
        self._is_wrapped = False
        """True if the array is that of an object."""
        self._behind = 0
        """Depth behind such an array, where all that its object has is passed over."""
        self._start_of_object: re.Pattern[bytes] | None = None
        self._patience = _AGAIN_BYTES
        self.arrays = 0
        """Arrays that began or ended."""
        self.damage = 0
        """Objects that were damaged."""

    @property
    def offset(self) -> int:
        """How far the stream was looked through, in bytes."""
        return self._passed + self._at

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
                end = self._opened(end - 1)
            elif self._closed(end - 1):
                data = self._window[self._begin : end]
                self._at, self._begin = end, None
                return data
            self._at = end

    def _opened(self, position: int) -> int:
        """Note an opening bracket; gives the place to go on at."""
        if self._behind and self._is_passed_over(position):
            self._behind += 1
            return position + 1
        if self._depth == self.level:
            self._count_between(self._window[self._at : position])
            if self.level == 0 and (inside := self._array_at(position)):
                self.level = self._depth = 1
                self.arrays += 1
                return inside
            self._begin = position
            self._start_of_object = self._start_of_object or self._start_like(position)
        self._depth += 1
        return position + 1

    def _is_passed_over(self, position: int) -> bool:
        """Tell whether a bracket behind an array belongs to what is passed over.

        Without a key before it, it is one more object: the end of the array was none.
        """
        if self._behind > 1 or self._window[self._at : position].rstrip().endswith(b":"):
            return True
        self._behind, self.level = 0, 1
        self._depth = 1
        return False

    def _array_at(self, position: int) -> int | None:
        """The beginning of the array that begins here, or within the object that does."""
        if len(self._window) - position < HEAD_BYTES:
            self._window += self._stream.read(_BLOCK)
        found = self._array.match(self._window, position)
        self._is_wrapped = self._window[position : position + 1] == b"{"
        return found and found.end()

    def _closed(self, position: int) -> bool:
        """True if this bracket ends an object.

        Behind a damaged object it need not end the array: depths are not known for certain then.
        """
        if self._behind:
            self._behind -= 1
            return False
        if self._begin is None:
            self._count_between(self._window[self._at : position])
            if self.level == 1 and self._patience == _AGAIN_BYTES:
                self.level = self._depth = 0
                self._behind = int(self._is_wrapped)
                self.arrays += 1
            return False
        self._depth = max(self._depth - 1, self.level)
        return self._depth == self.level

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
        check()
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
        self._skipped[json_lines.UNFINISHED if whole else TOO_LARGE] += 1
        self.damage += 1
        begin = self._at if self._begin is None else self._begin
        self._patience -= len(self._window) - begin
        return self._go_to_start(begin + 1, len(self._window)) or (not whole and self._skip_far())

    def resume_within(self, data: bytes) -> None:
        """Find the objects that a damaged one has swallowed."""
        self.damage += 1
        self._patience -= len(data)
        self._go_to_start(self._at - len(data) + 1, self._at)

    def _go_to_start(self, start: int, end: int) -> bool:
        pattern = self._start_of_object if self._patience > 0 else None
        found = pattern.search(self._window, start, end) if pattern else None
        if not found:
            return False
        self._at, self._begin, self._depth = found.start(1), None, self.level
        return True

    def _skip_far(self) -> bool:
        """Leave a string or an object that is too large behind."""
        while block := self._stream.read(_BLOCK):
            check()
            self._passed += max(len(self._window) - HEAD_BYTES, 0)
            self._window = self._window[-HEAD_BYTES:] + block
            if self._go_to_start(0, len(self._window)):
                return True
        return False


DAMAGED = "damaged file"


class Content(NamedTuple):
    """The object of a file, empty if it is damaged, and its records."""

    fields: Json
    records: list[Json]


def content(path: Path, key: str, ledger: Ledger) -> Content:
    """Read a file whose records are in an array of one key. Raises ``OSError``.

    A file that is damaged is counted, and its records are read that are whole.
    """
    data = json_lines.whole_bytes(path)
    fields = object_of(data)
    if not fields:
        ledger.skipped[DAMAGED] += 1
        start = re.search(rb'"' + re.escape(key.encode()) + rb'"\s*+:\s*+(?=\[)', data)
        return Content({}, _whole_ones(data[start.end() :], ledger) if start else [])
    found = fields.get(key)
    if not isinstance(found, list | None):
        ledger.skipped["unknown format"] += 1
    return Content(fields, counted_objects(found, ledger))


def records_or_rest(path: Path, key: str, ledger: Ledger) -> list[Json]:
    """Read the records of a file that is their array, or an object with it. Raises ``OSError``."""
    data = json_lines.whole_bytes(path)
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return content(path, key, ledger).records
    return _whole_ones(data, ledger)


def _whole_ones(data: bytes, ledger: Ledger) -> list[Json]:
    return [element.value for element in elements(io.BytesIO(data), ledger)]


BEGINNING_BYTES = 256 * 1024
_JSON_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]\s*(?:[\[{\"\]}]|\Z)")


def records(source: Source, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Json]:
    """Read the objects of an export one at a time; see ``json_elements``. Raises ``OSError``."""
    return (element.value for element in placed_records(source, ledger, within))


def placed_records(source: Source, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Element]:
    """Read the same objects with their places. Raises ``OSError``."""
    with _opened(source.path) as stream:
        yield from elements(stream, ledger, within)


def has_key(start: bytes, *names: bytes) -> bool:
    """Tell whether an export begins with objects that have some keys; no text is taken for one."""
    return all(re.search(rb'"(?:' + name + rb')"\s*+:', start) for name in names)


def beginning(path: Path, head: bytes) -> bytes:
    """The first bytes of an export: more than a head has, if the file is at hand.

    None of a file that is no JSON, such as a program that names the keys of one.
    """
    if not _JSON_BEGINS.match(head):
        return b""
    if len(head) >= BEGINNING_BYTES:
        return head
    try:
        with _opened(path) as stream:
            return stream.read(BEGINNING_BYTES)
    except OSError:
        return head


def _opened(path: Path) -> BufferedReader:
    return os.fdopen(open_regular(path, follow=True), "rb")
