"""The lines of an open file, from its beginning or from its end, without reading it whole.

Lines end in a line feed and nothing else. A line beyond what a record may be is not kept in memory:
what is given in its place is no record either, so that its damage is counted.
"""

import errno
import os
from collections.abc import Iterator

from tui.domain.json_limits import LINE_BYTES
from tui.files import UnfitFile

FIRST_BLOCK = 64 * 1024
LARGEST_BLOCK = 8 * 1024 * 1024
SEARCHED_BLOCK = 1024 * 1024
_FORWARD_BLOCK = 1024 * 1024
_TOO_LONG = b"\x00"
LINES = 5_000_000
"""In one reading; more of them, however short, take longer than anybody waits."""

Line = tuple[int, bytes]
"""Where a line begins, in bytes, and the line without its newline."""


def whole_end(descriptor: int, size: int) -> int:
    """Where the last whole line ends: after this only a torn tail follows."""
    end, block_size = size, 1
    while end > 0:
        start = max(0, end - block_size)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end, block_size = start, FIRST_BLOCK
    return 0


def lines_forward(descriptor: int, start: int, end: int) -> Iterator[Line]:
    """The lines between two places, the last one also if it has no newline.

    Raises ``UnfitFile`` at too many.
    """
    count = 0
    position, block_size = start, FIRST_BLOCK
    offset = start
    rest = b""
    while position < end:
        # A long line is not looked through again for each block of it.
        step = min(max(block_size, min(len(rest), LARGEST_BLOCK)), end - position)
        block = os.pread(descriptor, step, position)
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


def lines_backward(descriptor: int, end: int) -> Iterator[Line]:
    """The whole lines before a place, the last first, read in doubling blocks.

    Raises ``UnfitFile`` at too many.
    """
    count = 0
    position, block_size = end, FIRST_BLOCK
    rest = b""
    first = True
    while position > 0:
        step = min(block_size, position)
        position -= step
        block = os.pread(descriptor, step, position)
        block_size = min(block_size * 2, LARGEST_BLOCK)
        if rest is _TOO_LONG and b"\n" not in block:
            continue
        # The newline that ends the last line opens no further one.
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


def line_at(descriptor: int, offset: int, size: int) -> bytes | None:
    """The whole line that begins at a place; ``None`` if no line begins or ends there."""
    if offset < 0 or offset >= size:
        return None
    if offset and os.pread(descriptor, 1, offset - 1) != b"\n":
        return None
    for _, line in lines_forward(descriptor, offset, min(size, offset + LINE_BYTES + 1)):
        return line
    return None


def _counted(count: int) -> int:
    if count > LINES:
        raise UnfitFile(errno.EOVERFLOW, f"it has more than {LINES:,} lines")
    return count


def lines_with(descriptor: int, needle: bytes, end: int) -> Iterator[Line]:
    """The lines before a place that contain some bytes, the last first.

    Looked for block by block: the others, of which there may be very many, are not cut out.
    """
    position, carried = end, b""
    while position > 0:
        start = max(0, position - SEARCHED_BLOCK)
        data = os.pread(descriptor, position - start, start) + carried
        found = data.rfind(needle)
        if found < 0:
            # It may begin in this block and end in the next.
            position, carried = start, data[: len(needle) - 1]
            continue
        offset = whole_end(descriptor, start + found)
        line = line_at(descriptor, offset, end)
        if line is not None:
            yield offset, line
        position, carried = offset, b""
