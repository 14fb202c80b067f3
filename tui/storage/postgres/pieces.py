"""The bytes of a journal in the table of pieces."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tui.errors import SessionDamaged

if TYPE_CHECKING:
    from psycopg import Connection

    _Lent = Callable[[], AbstractContextManager[Connection]]

PIECE = 256 * 1024
"""The largest piece, in bytes: a line may take several."""
NEAR = 64 * 1024
"""Read with every small part of a journal: others nearby follow."""
_FARTHEST = 2 * 1024 * 1024
_KEPT_BLOCKS = 3


def slice_of(session: str, begin: str, end: str) -> str:
    """Make the expression for a part of a journal; each argument is SQL, never a value."""
    return f"""(select string_agg(substring(data from greatest(1, {begin} - at + 1)::int
            for ({end} - greatest({begin}, at))::int), '' order by at)
        from pieces where session = {session} and at < {end} and at >= coalesce((select max(at)
            from pieces where session = {session} and at <= {begin}), 0))"""  # noqa: S608


_READ = f"select {slice_of('%(session)s', '%(begin)s', '%(end)s')}"
_FIRST = f"least(sessions.size, {NEAR})"
_LAST = f"greatest({_FIRST}, sessions.size - {NEAR})"
ENDS = f"""{slice_of("sessions.id", "0", _FIRST)} as first,
    {slice_of("sessions.id", _LAST, "sessions.size")} as last"""
"""Both ends of the journals of ``sessions``: usually all that is read of them."""


class Block(msgspec.Struct, frozen=True):
    """A part of a journal that was read."""

    begin: int
    data: bytes

    @property
    def end(self) -> int:
        return self.begin + len(self.data)


def cut(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Cut bytes that begin at an offset into pieces."""
    for begin in range(0, len(data), PIECE):
        yield at + begin, data[begin : begin + PIECE]


def insert(connection: "Connection", session_id: str, at: int, data: bytes) -> None:
    """Write bytes that begin at an offset."""
    pieces = list(cut(data, at))
    connection.execute(
        "insert into pieces select %s, at, data from unnest(%s::bigint[], %b::bytea[])"
        " new(at, data)",
        (session_id, [place for place, _ in pieces], [piece for _, piece in pieces]),
    )


class PieceReader:
    """Reads a journal at any offset; keeps the parts that it has read last."""

    def __init__(
        self, connection: "Connection", session_id: str, size: int, *ends: bytes | None
    ) -> None:
        """``ends`` are the columns ``ENDS``, if they were read with the session's row."""
        self._lent: _Lent = partial(nullcontext, connection)
        self._session_id = session_id
        self._size = size
        self._blocks: list[Block] = []
        self._ahead = NEAR
        if ends:
            first, last = (end or b"" for end in ends)
            self._blocks = [Block(0, first), Block(size - len(last), last)]

    def lend(self, lent: "_Lent") -> None:
        """Read with another connection each time from now on."""
        self._lent = lent

    def read(self, length: int, offset: int) -> bytes:
        """Read as ``os.pread`` does. Raises ``SessionDamaged`` if bytes are gone."""
        end = min(offset + length, self._size)
        parts: list[bytes] = []
        while offset < end:
            block = self._known(offset) or self._fetch(offset, end)
            part = block.data[offset - block.begin : end - block.begin]
            if not part:
                raise SessionDamaged(self._session_id, "its records are gone")
            parts.append(part)
            offset += len(part)
        return b"".join(parts)

    def _known(self, offset: int) -> Block | None:
        return next((each for each in self._blocks if each.begin <= offset < each.end), None)

    def _fetch(self, offset: int, end: int) -> Block:
        """Read a part that is not known, and more in the direction in which it is read."""
        begin = offset
        later = [each.begin for each in self._blocks if offset < each.begin <= end]
        if any(each.end == offset for each in self._blocks):
            end = min(self._size, end + self._further())
        elif later:
            end = min(later)
            begin = max(0, offset - self._further())
        else:
            begin, end = max(0, offset - NEAR), min(self._size, end + NEAR)
        wanted = {"session": self._session_id, "begin": begin, "end": end}
        with self._lent() as connection:
            row = connection.execute(_READ.encode(), wanted, binary=True).fetchone()
        block = Block(begin, bytes(row[0] or b"") if row else b"")
        # Both ends are read again and again.
        self._blocks = [*self._blocks[:2], *self._blocks[2:][1 - _KEPT_BLOCKS :], block]
        return block

    def _further(self) -> int:
        """Far behind what is read in order: each fetch costs a trip to the server."""
        self._ahead = min(2 * self._ahead, _FARTHEST)
        return self._ahead
