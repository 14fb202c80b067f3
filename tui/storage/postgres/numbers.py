"""The numbers of sessions in their scopes, each given once, and the active session of a scope."""

from typing import TYPE_CHECKING, Any

import msgspec

from tui.domain.journal.records import SessionHeader
from tui.storage.copyable import Numbers, SessionNumber
from tui.storage.postgres.connection_pool import transaction
from tui.storage.postgres.tables import as_bytes, as_text, scope_key

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

_NEXT = """
    insert into scopes (scope, name, highest) values (%s, %s, 1)
    on conflict (scope) do update set highest = scopes.highest + 1 returning highest
"""
_AT_LEAST = """
    insert into scopes (scope, name, highest) values (%s, %s, %s)
    on conflict (scope) do update set highest = greatest(scopes.highest, excluded.highest)
"""
_TAKE_OVER = """
    insert into numbers values (%s, %s, %s)
    on conflict (scope, ordinal) do update set session = numbers.session returning session
"""
_GIVE = """
    insert into numbers select %s, %s, %s
    where not exists (select from numbers where session = %s)
    on conflict (scope, ordinal) do nothing
"""
_ACTIVE = """
    insert into scopes (scope, name, active) values (%s, %s, %s)
    on conflict (scope) do update set active = excluded.active
"""
_FIRST_ACTIVE = f"{_ACTIVE} where scopes.active is null".encode()


def next_number(connection: "Connection", scope: str, session_id: str) -> int:
    """Give a session the next number of its scope."""
    return given(connection, asked(connection, scope), scope, session_id)


def asked(connection: "Connection", scope: str) -> "Cursor[Any]":
    """Ask for the next number of a scope; in a pipeline, the answer comes with a later one."""
    return connection.execute(_NEXT, _named(scope))


def given(connection: "Connection", asked: "Cursor[Any]", scope: str, session_id: str) -> int:
    """Give a session the number that was asked for."""
    found = asked.fetchone()
    ordinal = int(found[0]) if found else 1
    wanted = (scope_key(scope), ordinal, session_id)
    connection.execute("insert into numbers values (%s, %s, %s)", wanted)
    return ordinal


def taken_over(connection: "Connection", header: SessionHeader) -> SessionHeader:
    """Let an imported session keep its number, unless another one had it; without one, it is 0."""
    if not header.ordinal:
        return header
    wanted = (scope_key(header.scope), header.ordinal, header.id)
    with transaction(connection):
        connection.execute(_AT_LEAST, (*_named(header.scope), header.ordinal))
        owner = connection.execute(_TAKE_OVER, wanted).fetchone()
    is_own = owner is not None and owner[0] == header.id
    return header if is_own else msgspec.structs.replace(header, ordinal=0)


def every(connection: "Connection") -> Numbers:
    """Read the numbers of all scopes."""
    numbers = connection.execute("select scope, ordinal, session from numbers").fetchall()
    scopes = connection.execute("select scope, name, highest, active from scopes").fetchall()
    names = {bytes(key): as_text(name) for key, name, _, _ in scopes}
    return Numbers(
        tuple(SessionNumber(names[bytes(key)], number, each) for key, number, each in numbers),
        {names[bytes(key)]: highest for key, _, highest, _ in scopes},
        {names[bytes(key)]: active for key, _, _, active in scopes if active is not None},
    )


def add(connection: "Connection", new: Numbers) -> None:
    """Give sessions of another store their numbers here, within a transaction."""
    # In one order, as rows are locked: two programs would wait for each other.
    raised = sorted((*_named(scope), highest) for scope, highest in new.every_highest.items())
    wanted = sorted((scope_key(each.scope), each.ordinal, each.id, each.id) for each in new.given)
    active = sorted((*_named(scope), session_id) for scope, session_id in new.active.items())
    with connection.cursor() as cursor:
        cursor.executemany(_AT_LEAST, raised)
        cursor.executemany(_GIVE, wanted)
        cursor.executemany(_FIRST_ACTIVE, active)
    known = connection.execute("select session from numbers").fetchall()
    has_number = {str(row[0]) for row in known}
    for each in new.given:
        if each.id not in has_number:
            next_number(connection, each.scope, each.id)


def set_active(
    connection: "Connection", scope: str, session_id: str, *, is_first: bool = False
) -> None:
    """Note the session of a scope that was opened last; with ``is_first`` if it has none."""
    statement = _FIRST_ACTIVE if is_first else _ACTIVE.encode()
    connection.execute(statement, (*_named(scope), session_id))


def _named(scope: str) -> tuple[bytes, bytes]:
    return scope_key(scope), as_bytes(scope)
