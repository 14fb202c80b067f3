"""Files of JSON, an object a line or as a whole, read as leniently as their programs write them."""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from tui.domain.json_text import LINE_BYTES, BeyondLimits, check_limits
from tui.files import open_regular, read_bounded
from tui.importers.protocol import Json, Ledger
from tui.importers.stopping import check

T = TypeVar("T")

UNREADABLE = "unreadable line"
UNFINISHED = "unfinished line"
BLANK = "blank line"
TOO_LONG = "too long line"
FILE_BYTES = 64 * 1024 * 1024
"""Limit of a file that is one JSON value and is parsed as a whole."""
_BLOCK = 1024 * 1024
_HEAD_BYTES = 4096


class RawLine(NamedTuple):
    """A line of a file, without its line feed."""

    offset: int
    length: int
    data: bytes
    """The whole line; its beginning only if it is too long or was not wanted."""
    last: bool
    """True for a last line without line feed, which may still be being written."""

    @property
    def is_whole(self) -> bool:
        return len(self.data) == self.length

    @property
    def damage(self) -> str:
        """The reason to skip a line that is no object."""
        if not self.is_whole:
            return TOO_LONG
        if not self.data.strip(b" \t\r\x00"):
            return BLANK
        return UNFINISHED if self.last else UNREADABLE


class JsonLine(NamedTuple):
    """An object of a file, and its line: where it begins and how long it is, in bytes."""

    offset: int
    length: int
    value: Json


def objects(path: Path, ledger: Ledger) -> Iterator[JsonLine]:
    """Read the objects of a file.

    Lines that are no object are counted as skipped, those without a word too. A last line without
    a line feed is still being written, unless it is whole. Raises ``OSError``.
    """
    for line in raw_lines(path):
        value = parse(line.data) if line.is_whole else None
        if isinstance(value, dict):
            yield JsonLine(line.offset, line.length, cast("Json", value))
        else:
            ledger.skipped[line.damage] += 1


def raw_lines(path: Path, wanted: Callable[[bytes], bool] = lambda _: True) -> Iterator[RawLine]:
    """Read the lines of a file, in blocks. Raises ``OSError``.

    ``wanted`` is asked by the beginnings of lines that are longer than a block: those that are not
    wanted are never in memory as a whole.
    """
    descriptor = open_regular(path, follow=True)
    try:
        yield from lines_in(_blocks(descriptor), wanted)
    finally:
        os.close(descriptor)


def lines_in(
    blocks: Iterable[bytes], wanted: Callable[[bytes], bool] = lambda _: True
) -> Iterator[RawLine]:
    """Divide blocks into lines, as ``raw_lines`` does those of a file."""
    line = _Growing(0)
    for block in blocks:
        check()
        *ended, rest = block.split(b"\n")
        for part in ended:
            if line.length:
                line.add(part, wanted)
                yield line.ended()
                line = _Growing(line.offset + line.length + 1)
            else:
                yield RawLine(line.offset, len(part), part, last=False)
                line.offset += len(part) + 1
        if rest:
            line.add(rest, wanted)
    if line.length:
        yield line.ended(last=True)


class SourceChanged(OSError):
    """A file was overwritten while it was read."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "The file changed while it was read. Import it again.")


class _Growing:
    """A line of which more and more is read."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.length = 0
        self._parts: list[bytes] = []
        self._dropped = False

    def add(self, part: bytes, wanted: Callable[[bytes], bool]) -> None:
        self.length += len(part)
        if self._dropped:
            return
        self._parts.append(part)
        is_long = len(self._parts) == 2 and len(self._parts[0]) < self.length
        if self.length > LINE_BYTES or (is_long and not wanted(b"".join(self._parts))):
            self._parts = [b"".join(self._parts)[: min(_HEAD_BYTES, self.length - 1)]]
            self._dropped = True

    def ended(self, *, last: bool = False) -> RawLine:
        return RawLine(self.offset, self.length, b"".join(self._parts), last)


def _blocks(descriptor: int) -> Iterator[bytes]:
    # A file that grows meanwhile is read as far as it went at first.
    position, size = 0, os.fstat(descriptor).st_size
    while position < size:
        block = os.pread(descriptor, min(_BLOCK, size - position), position)
        if not block:
            return
        position += len(block)
        yield block


def whole_bytes(path: Path) -> bytes:
    """Read a file that is parsed as a whole. Raises ``OSError``."""
    return read_bounded(path, FILE_BYTES, follow=True)


def whole(path: Path) -> Any:
    """Read a file that is one JSON value; ``None`` if it is damaged. Raises ``OSError``."""
    return parse(whole_bytes(path))


def whole_if_there(path: Path) -> Any:
    """Read a JSON file beside a source; ``None`` also if it cannot be read."""
    try:
        return whole(path)
    except OSError:
        return None


def object_if_there(path: Path) -> Json:
    """Read the object of such a file; an empty one without any."""
    return object_in(whole_if_there(path))


def parse_text(text: object) -> Any:
    """Parse JSON that a record or a row has as a text or its bytes; ``None`` of anything else."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return parse(data) if isinstance(data, bytes) else None


def parse(data: bytes) -> Any:
    """Parse JSON; ``None`` if it is none or beyond the limits of depth, digits and length.

    Bytes that are no UTF-8 are replaced, control characters and lone surrogates pass.
    """
    try:
        check_limits(data)
        return json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (BeyondLimits, ValueError, RecursionError):
        return None


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Decode the wanted fields of an object, fast; ``None`` if it is none.

    Its fields are best of type ``Any``: a single one of another type would make it none. What is
    odd in JSON passes as in ``parse``.
    """
    try:
        check_limits(data)
        return decoder.decode(data)
    except (ValueError, RecursionError):
        pass
    try:
        return msgspec.convert(parse(data), decoder.type)
    except (ValueError, RecursionError):
        return None


def items_in(value: Any) -> list[Any]:
    """The array itself; an empty one instead of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects_in(value: Any) -> list[Json]:
    """The objects of an array; none of anything else."""
    return [cast("Json", item) for item in items_in(value) if isinstance(item, dict)]


def counted_objects(value: Any, ledger: Ledger, reason: str = UNREADABLE) -> list[Json]:
    """The objects of an array; whatever else it has is counted as skipped."""
    objects = objects_in(value)
    if others := len(items_in(value)) - len(objects):
        ledger.skipped[reason] += others
    return objects


def object_in(value: Any) -> Json:
    """The object itself; an empty one instead of anything else."""
    return cast("Json", value) if isinstance(value, dict) else {}


def object_of(text: object) -> Json:
    """The object that a text or its bytes have as JSON; an empty one without any."""
    return object_in(parse_text(text))


def text_in(value: Any) -> str:
    """The text itself; an empty one instead of anything else."""
    return value if isinstance(value, str) else ""
