"""The rows of sessions: columns and holders, pieces of journals, numbers, and pictures."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tui.domain.journal.records import Record, SessionHeader, Settings, State, checked_id
from tui.domain.journal.session import Holder, Status
from tui.domain.moves import Place as MovePlace
from tui.domain.text import as_bytes
from tui.domain.timestamps import MILLISECOND_NS, format_milliseconds
from tui.errors import SessionBusy, SessionDamaged, SessionNotFound
from tui.files import read_bounded
from tui.storage.journal_lines import decoded
from tui.storage.postgres.tables import scope_key

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    _Lent = Callable[[], AbstractContextManager[Connection]]

Place = Literal["reserved", "kept", "archived", "trashed"]

PLACES: dict[Place, MovePlace] = {"kept": "sessions", "archived": "archive", "trashed": "trash"}
PIECE = 256 * 1024
"""The largest piece of a journal, in bytes: a line may take several."""
_NEAR = 64 * 1024
"""Read with every small part of a journal: others nearby follow."""
_FARTHEST = 2 * 1024 * 1024
_KEPT_BLOCKS = 3
_PROC = Path("/proc")
_BOOT_ID = _PROC / "sys/kernel/random/boot_id"
_MOST_BYTES = 4096
_START_FIELD = 19
"""The field of ``stat`` after the name, which may contain blanks and brackets."""


def _slice_of(session: str, begin: str, end: str) -> str:
    """Make the expression for a part of a journal; each argument is SQL, never a value."""
    return f"""(select string_agg(substring(data from greatest(1, {begin} - at + 1)::int
            for ({end} - greatest({begin}, at))::int), '' order by at)
        from pieces where session = {session} and at < {end} and at >= coalesce((select max(at)
            from pieces where session = {session} and at <= {begin}), 0))"""  # noqa: S608


LEASED = "(holder is not null and coalesce(leased_until > now(), false))"
"""An append may come after the lease was released, and extend it: without a holder it is none."""
COLUMNS = f"""id, number, scope, ordinal, header, place, used_ns, closed_ns, pinned, size, changed,
    last_append::text, epoch, holder, {LEASED} as leased, described_at, described"""
_FIRST = f"least(sessions.size, {_NEAR})"
_LAST = f"greatest({_FIRST}, sessions.size - {_NEAR})"
ENDS = f"""{_slice_of("sessions.id", "0", _FIRST)} as first,
    {_slice_of("sessions.id", _LAST, "sessions.size")} as last"""
"""Both ends of the journals of ``sessions``: usually all that is read of them."""

_ROW = f"select {COLUMNS} from sessions where id = %s"  # noqa: S608 - constants
OPENED = f"select {COLUMNS}, {ENDS} from sessions where id = %s"  # noqa: S608 - constants
"""With both ends of its journal."""
_READ = f"select {_slice_of('%(session)s', '%(begin)s', '%(end)s')}"
_NEXT_NUMBER = """
    insert into scopes (scope, name, highest) values (%s, %s, 1)
    on conflict (scope) do update set highest = scopes.highest + 1 returning highest
"""
_SET_ACTIVE = """
    insert into scopes (scope, name, active) values (%s, %s, %s)
    on conflict (scope) do update set active = excluded.active
"""
SET_FIRST_ACTIVE = f"{_SET_ACTIVE} where scopes.active is null".encode()


class Process(msgspec.Struct, frozen=True):
    """A process among those of other machines and containers.

    A pid is not enough: containers can have equal host names and pids, and pids are used again.
    ``namespace`` is empty on systems without ``/proc``.
    """

    pid: int
    namespace: str
    started: str

    @property
    def is_here(self) -> bool:
        """True if it is of this machine and PID namespace; false where that is not known."""
        return bool(self.namespace) and self.namespace == _namespace()

    @property
    def has_ended(self) -> bool:
        """True if it is of this machine and PID namespace, and has ended."""
        if not self.is_here:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        started = _started(self.pid)
        return bool(started and self.started) and started != self.started


def this_process() -> Process:
    return Process(os.getpid(), _namespace(), _started(os.getpid()))


def _namespace() -> str:
    """Identify the boot of the system and the PID namespace in it."""
    try:
        return f"{_text(_BOOT_ID).strip()} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Read the start time of a process, in clock ticks since boot."""
    try:
        return _text(_PROC / str(pid) / "stat").rpartition(")")[2].split()[_START_FIELD]
    except (OSError, IndexError):
        return ""


def _text(path: Path) -> str:
    return read_bounded(path, _MOST_BYTES).decode("utf-8", "replace")


class _Block(msgspec.Struct, frozen=True):
    """A part of a journal that was read."""

    begin: int
    data: bytes

    @property
    def end(self) -> int:
        return self.begin + len(self.data)


def pieces_of(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Cut bytes that begin at an offset into pieces."""
    for begin in range(0, len(data), PIECE):
        yield at + begin, data[begin : begin + PIECE]


def insert_pieces(connection: "Connection", session_id: str, at: int, data: bytes) -> None:
    """Write bytes that begin at an offset."""
    pieces = list(pieces_of(data, at))
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
        self._blocks: list[_Block] = []
        self._ahead = _NEAR
        if ends:
            first, last = (end or b"" for end in ends)
            self._blocks = [_Block(0, first), _Block(size - len(last), last)]

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

    def _known(self, offset: int) -> _Block | None:
        return next((each for each in self._blocks if each.begin <= offset < each.end), None)

    def _fetch(self, offset: int, end: int) -> _Block:
        """Read a part that is not known, and more in the direction in which it is read."""
        begin = offset
        later = [each.begin for each in self._blocks if offset < each.begin <= end]
        if any(each.end == offset for each in self._blocks):
            end = min(self._size, end + self._further())
        elif later:
            end = min(later)
            begin = max(0, offset - self._further())
        else:
            begin, end = max(0, offset - _NEAR), min(self._size, end + _NEAR)
        wanted = {"session": self._session_id, "begin": begin, "end": end}
        with self._lent() as connection:
            row = connection.execute(_READ.encode(), wanted, binary=True).fetchone()
        block = _Block(begin, bytes(row[0] or b"") if row else b"")
        # Both ends are read again and again.
        self._blocks = [*self._blocks[:2], *self._blocks[2:][1 - _KEPT_BLOCKS :], block]
        return block

    def _further(self) -> int:
        """Far behind what is read in order: each fetch costs a trip to the server."""
        self._ahead = min(2 * self._ahead, _FARTHEST)
        return self._ahead


class HolderNote(msgspec.Struct, frozen=True):
    """The holder of a lease, as it is written into the row."""

    process: Process
    host: str
    since: datetime
    program: str
    """Of the store object that holds it."""

    @property
    def is_here(self) -> bool:
        """True if it is a process of this machine."""
        known = self.process.namespace
        return self.process.is_here if known else self.host == socket.gethostname()


class Row(msgspec.Struct, frozen=True):
    """A session's row.

    ``scope`` is the key of its scope, and ``beginning`` its header as it was when it was created.
    """

    id: str
    number: int
    scope: bytes
    ordinal: int
    beginning: bytes
    place: Place
    used_ns: int
    closed_ns: int
    pinned: bool
    size: int
    changed: int
    last_append: str | None
    epoch: int
    holder: bytes | None
    leased: bool
    described_at: int | None
    described: bytes | None

    @property
    def status(self) -> Status:
        if self.place in ("archived", "trashed"):
            return self.place
        return "open" if self.leased else "closed"

    @property
    def used(self) -> str:
        return format_milliseconds(self.used_ns // MILLISECOND_NS)

    @property
    def note(self) -> HolderNote | None:
        """The holder of a lease that has not run out."""
        if not self.leased or self.holder is None:
            return None
        return msgspec.json.decode(self.holder, type=HolderNote)

    @property
    def held_by(self) -> Holder | None:
        note = self.note
        if note is None:
            return None
        return Holder(note.process.pid, note.host, note.since, note.is_here)

    @property
    def busy(self) -> SessionBusy:
        """The error of a session that another program holds, or held just now."""
        held = self.held_by
        return SessionBusy(self.id, str(held)) if held else SessionBusy(self.id)

    def is_free(self, unaware: str = "") -> bool:
        """Tell whether nobody holds it: its lease has run out, or its holder has died here.

        ``unaware`` is a program that does not know of its lease: the answer never came.
        """
        note = self.note
        return note is None or note.program == unaware or note.process.has_ended

    def header(self) -> SessionHeader:
        """Read the header as the row has it. Raises ``SessionDamaged``."""
        header = decoded(self.beginning.rstrip(b"\n"))
        if not isinstance(header, SessionHeader):
            raise SessionDamaged(self.id, "its header is gone")
        return msgspec.structs.replace(header, ordinal=self.ordinal)


def row_of(connection: "Connection", session_id: str) -> Row | None:
    """Read the row of a session that was published or is reserved."""
    found = rows_of(connection, _ROW, (session_id,))
    return found[0] if found else None


def published_row(connection: "Connection", session_id: str, *places: Place) -> Row:
    """Read the row of a session, in these places if any. Raises ``SessionNotFound``."""
    row = row_of(connection, checked_id(session_id))
    if row is None or row.place == "reserved" or (places and row.place not in places):
        raise SessionNotFound(session_id)
    return row


def opened(connection: "Connection", session_id: str) -> tuple[Row, PieceReader]:
    """Begin to read a journal: its row and both its ends come at once.

    Raises ``SessionNotFound``, and ``SessionDamaged`` if its pieces are gone.
    """
    found = connection.execute(OPENED.encode(), (checked_id(session_id),), binary=True).fetchone()
    return opened_row(connection, session_id, found)


def opened_row(
    connection: "Connection", session_id: str, found: tuple[Any, ...] | None
) -> tuple[Row, PieceReader]:
    """Begin to read a journal with its row of ``OPENED``. Raises as ``opened``."""
    row = Row(*found[:-2]) if found is not None else None
    if found is None or row is None or row.place == "reserved":
        raise SessionNotFound(session_id)
    reader = PieceReader(connection, row.id, row.size, *found[-2:])
    if not reader.read(1, 0):
        raise SessionDamaged(row.id, "its records are gone")
    return row, reader


def rows_of(connection: "Connection", query: str, values: Any = ()) -> list[Row]:
    """Read the rows of a query for ``COLUMNS``."""
    # The statements are made of constants of this package.
    found = connection.execute(query.encode(), values, binary=True)
    return [Row(*row) for row in found.fetchall()]


def noted(records: Sequence[Record]) -> tuple[bytes | None, bool | None]:
    """Find the last name and pin among records: the columns that they change."""
    name: bytes | None = None
    pinned: bool | None = None
    for record in records:
        match record:
            case State():
                name = as_bytes(record.name)
            case Settings():
                pinned = record.pinned
            case _:
                pass
    return name, pinned


def next_number(connection: "Connection", scope: str, session_id: str) -> int:
    """Give a session the next number of its scope."""
    return give_number(connection, ask_number(connection, scope), scope, session_id)


def ask_number(connection: "Connection", scope: str) -> "Cursor[Any]":
    """Ask for the next number of a scope; in a pipeline, the answer comes with a later one."""
    return connection.execute(_NEXT_NUMBER, scope_columns(scope))


def give_number(connection: "Connection", asked: "Cursor[Any]", scope: str, session_id: str) -> int:
    """Give a session the number that was asked for."""
    found = asked.fetchone()
    ordinal = int(found[0]) if found else 1
    wanted = (scope_key(scope), ordinal, session_id)
    connection.execute("insert into numbers values (%s, %s, %s)", wanted)
    return ordinal


def set_active(
    connection: "Connection", scope: str, session_id: str, *, is_first: bool = False
) -> None:
    """Note the session of a scope that was opened last; with ``is_first`` if it has none."""
    statement = SET_FIRST_ACTIVE if is_first else _SET_ACTIVE.encode()
    connection.execute(statement, (*scope_columns(scope), session_id))


def scope_columns(scope: str) -> tuple[bytes, bytes]:
    """Make the key and the name of a scope."""
    return scope_key(scope), as_bytes(scope)


def note_pictures(connection: "Connection", session_id: str, pictures: Sequence[str]) -> None:
    """Note that a session uses pictures, before a message refers to them."""
    if not pictures:
        return
    # Each once: the server refuses to touch a row a second time.
    connection.execute(
        "insert into picture_uses (sha256, session) select sha256, %s from unnest(%s::text[])"
        " new(sha256) on conflict (sha256, session) do update set noted_at = now()",
        (session_id, list(set(pictures))),
    )
