"""Sessions of other programs, added whole, and the log of imports."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.records import Encoded, SessionHeader, encode
from tui.domain.timestamps import storable_ns
from tui.errors import SessionExists
from tui.storage.attachments import used_pictures
from tui.storage.postgres import numbers, pictures, words
from tui.storage.postgres.connection_pool import transaction
from tui.storage.postgres.pieces import insert
from tui.storage.postgres.rows import Place, noted
from tui.storage.postgres.tables import moment_ns, scope_key
from tui.storage.writer import NewJournal

if TYPE_CHECKING:
    from psycopg import Connection

_COMPLETE = (
    "update sessions set size = %s, used_ns = %s, closed_ns = %s, name = %s, name_words = %s,"
    " pinned = %s where id = %s"
)
IMPORT_SECONDS = 3600.0
"""Of one import: its records are made while they are written."""


def add_session(
    connection: "Connection",
    header: SessionHeader,
    records: Iterable[Encoded],
    now: datetime,
    attempt: str,
    *,
    active: bool,
) -> None:
    """Add a session to the archive, in one transaction; without a time in it, it was used now.

    The session's row names the attempt. Raises ``SessionExists``.
    """
    # Before, as the number's scope is locked for it: new sessions there would wait for all records.
    header = numbers.taken_over(connection, header)
    with transaction(connection):
        connection.execute("set local idle_in_transaction_session_timeout = '10min'")
        insert_session(connection, header, "archived", attempt)
        words.note_origin(connection, header)
        seen = _ImportedSession()
        journal = NewJournal(seen.following(chain([(header, b"")], records)))
        size = 0
        for block in journal.blocks():
            insert(connection, header.id, size, block)
            words.insert(connection, header.id, words.lines_of(block, size), header)
            size += len(block)
        used, found = storable_ns(journal.last_use or moment_ns(now)), words.name_words(seen.name)
        wanted = (size, used, used, seen.name, found, seen.pinned, header.id)
        connection.execute(_COMPLETE, wanted)
        if seen.pictures:
            pictures.note(connection, header.id, seen.pictures)
        if active:
            # Last: new sessions of the scope wait from here on.
            numbers.set_active(connection, header.scope, header.id, is_first=True)


class _ImportedSession(msgspec.Struct):
    """The last name and pin of records that pass by, and their pictures."""

    name: bytes = b""
    pinned: bool = False
    pictures: list[str] = msgspec.field(default_factory=list[str])

    def following(self, records: Iterable[Encoded]) -> Iterator[Encoded]:
        for record, line in records:
            name, pinned = noted((record,))
            self.name = self.name if name is None else name
            self.pinned = self.pinned if pinned is None else pinned
            self.pictures += used_pictures((record,))
            yield record, line


def insert_session(
    connection: "Connection", header: SessionHeader, place: Place, attempt: str | None = None
) -> None:
    """Insert the row of a session without records. Raises ``SessionExists``."""
    done = connection.execute(
        "insert into sessions (id, scope, ordinal, header, place, last_append)"
        " values (%s, %s, %s, %s, %s, %s) on conflict do nothing returning id",
        (header.id, scope_key(header.scope), header.ordinal, encode(header), place, attempt),
    )
    if done.fetchone() is None:
        raise SessionExists(header.id)
