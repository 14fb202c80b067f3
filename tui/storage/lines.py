"""Iterators over the lines of a journal, forwards and backwards, in blocks.

Only a line feed ends a line. A line longer than a record may be is not kept in memory: a stand-in
that is no record either takes its place, so that it counts as damaged.
"""

import errno
import os
from collections.abc import Callable, Iterator

from tui.domain.json_text import LINE_BYTES
from tui.files import UnfitFile

FIRST_BLOCK = 64 * 1024
LARGEST_BLOCK = 8 * 1024 * 1024
SEARCHED_BLOCK = 1024 * 1024
_FORWARD_BLOCK = 1024 * 1024
_TOO_LONG = b"\x00"
LINES = 5_000_000
"""The limit of one reading: more lines, however short, take too long."""

Line = tuple[int, bytes]
"""The offset of a line in bytes, and the line without its newline."""

Read = Callable[[int, int], bytes]
"""Reads so many bytes of a journal from an offset on; fewer at its end, as ``os.pread`` does."""


def reader_of(descriptor: int) -> Read:
    """Make the function that reads an open file."""
    return lambda length, offset: os.pread(descriptor, length, offset)


def whole_end(read: Read, size: int) -> int:
    """Find the end of the last whole line: only a torn one follows."""
    end, block_size = size, 1
    while end > 0:
        start = max(0, end - block_size)
        newline = read(end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end, block_size = start, FIRST_BLOCK
    return 0


def lines_forward(read: Read, start: int, end: int) -> Iterator[Line]:
    """Read the lines between two offsets, including a last one without newline.

    Raises ``UnfitFile`` for too many lines.
    """
    count = 0
    position, block_size = start, FIRST_BLOCK
    offset = start
    rest = b""
    while position < end:
        # Growing steps: a long line is not searched again for each of its blocks.
        step = min(max(block_size, min(len(rest), LARGEST_BLOCK)), end - position)
        block = read(step, position)
        if not block:
            break
        position += len(block)
        block_size = min(block_size * 2, _FORWARD_BLOCK)
        if rest is _TOO_LONG and b"\n" not in block:
            offset = position - 1
            continue
        *lines, rest = (rest + block).split(b"\n")
        count = _counted(count + len(lines))
        for line in lines:
            yield offset, line
            offset += len(line) + 1
        if len(rest) > LINE_BYTES:
            offset, rest = position - 1, _TOO_LONG
    if rest:
        yield offset, rest


def lines_backward(read: Read, end: int) -> Iterator[Line]:
    """Read the whole lines before an offset, last first, in doubling blocks.

    Raises ``UnfitFile`` for too many lines.
    """
    count = 0
    position, block_size = end, FIRST_BLOCK
    rest = b""
    first = True
    while position > 0:
        step = min(block_size, position)
        position -= step
        block = read(step, position)
        block_size = min(block_size * 2, LARGEST_BLOCK)
        if rest is _TOO_LONG and b"\n" not in block:
            continue
        # No further line follows the newline that ends the last one.
        data = block.removesuffix(b"\n") if first else block + rest
        first = False
        rest, *lines = data.split(b"\n")
        count = _counted(count + len(lines))
        offset = position + len(data)
        for line in reversed(lines):
            offset -= len(line)
            yield offset, line
            offset -= 1
        if len(rest) > LINE_BYTES:
            rest = _TOO_LONG
    if end > 0:
        yield 0, rest


def line_at(read: Read, offset: int, size: int) -> bytes | None:
    """Read the line that begins at an offset; ``None`` if none begins there."""
    if offset < 0 or offset >= size:
        return None
    if offset and read(1, offset - 1) != b"\n":
        return None
    for _, line in lines_forward(read, offset, min(size, offset + LINE_BYTES + 1)):
        return line
    return None


def _counted(count: int) -> int:
    if count > LINES:
        raise UnfitFile(errno.EOVERFLOW, f"it has more than {LINES:,} lines")
    return count


def lines_with(read: Read, needle: bytes, end: int, begin: int = 0) -> Iterator[Line]:
    """Read the lines between two offsets that contain some bytes, last first.

    Searches whole blocks: the other lines, however many, are not split off. Of a line longer than a
    record may be, only parts are given, which are none either.
    """
    position, size, carried = end, FIRST_BLOCK, b""
    while position > begin:
        start = max(begin, position - max(size, len(carried)))
        data, size = read(position - start, start) + carried, min(2 * size, SEARCHED_BLOCK)
        # The line that begins before this block is searched with the next one.
        first = (data.find(b"\n") + 1 or len(data)) if start > begin else 0
        limit = len(data)
        while (found := data.rfind(needle, first, limit)) >= 0:
            line_end = data.find(b"\n", found, limit)
            limit = max(data.rfind(b"\n", first, found) + 1, first)
            yield start + limit, data[limit : line_end if line_end >= 0 else len(data)]
        position, carried = start, data[:first] if first <= LINE_BYTES else b""
