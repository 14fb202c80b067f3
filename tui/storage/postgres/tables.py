"""The tables of the store, made by numbered migrations.

A journal is kept byte for byte, cut into pieces: a piece begins where the one before it ends. No
column of text holds anything but ASCII, so that any encoding and collation of the database will do.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from tui.domain.text import as_bytes
from tui.domain.timestamps import MILLISECOND_NS, storable_ns
from tui.errors import StorageError

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "sibyl"
_LOCK = 0x73_69_62_79_6C
"""The advisory lock under which one program at a time migrates."""
CHANNEL = "sibyl"
"""The channel on which the server notifies of each session that changed."""

_MIGRATIONS = (
    """
    create table sessions (
        id text collate "C" primary key,
        number bigint generated always as identity,
        scope bytea not null,
        ordinal bigint not null default 0,
        header bytea not null,
        place text collate "C" not null,
        used_ns bigint not null default 0,
        closed_ns bigint not null default 0,
        name bytea not null default '',
        name_words bytea not null default '',
        pinned boolean not null default false,
        size bigint not null default 0,
        changed bigint not null default 0,
        last_append uuid,
        last_move uuid,
        epoch bigint not null default 0,
        holder bytea,
        leased_until timestamptz,
        described_at bigint,
        described bytea
    );
    create index on sessions (place, used_ns desc, id);
    create index on sessions (scope, place, used_ns desc, id);
    create index on sessions (place, used_ns desc, id) where pinned;
    create index on sessions (sha256(name)) where name <> '';
    create index on sessions (place) where holder is not null;
    create index on sessions (used_ns desc) where name <> '';
    create table pieces (
        session text collate "C" not null references sessions on delete cascade,
        at bigint not null,
        data bytea not null,
        primary key (session, at)
    );
    alter table pieces alter column data set storage external;
    create table words (
        session text collate "C" not null references sessions on delete cascade,
        key bigint not null,
        written bigint not null,
        at bigint,
        length integer not null,
        words tsvector not null,
        primary key (session, key)
    );
    create index on words (written);
    create index on words using gin (words) with (gin_pending_list_limit = 256);
    create table origins (
        project text collate "C" not null,
        program text collate "C" not null,
        project_name bytea not null,
        program_name bytea not null,
        primary key (project, program)
    );
    create table numbers (
        scope bytea not null,
        ordinal bigint not null,
        session text collate "C" not null,
        primary key (scope, ordinal)
    );
    create index on numbers (session);
    create table scopes (
        scope bytea primary key,
        name bytea not null,
        highest bigint not null default 0,
        active text collate "C"
    );
    create table moves (
        number bigint generated always as identity primary key, line bytea not null
    );
    create table imports (
        number bigint generated always as identity primary key, line bytea not null
    );
    create table pictures (sha256 text collate "C" primary key, data bytea not null);
    alter table pictures alter column data set storage external;
    create table picture_uses (
        sha256 text collate "C" not null,
        session text collate "C" not null,
        noted_at timestamptz not null default now(),
        primary key (sha256, session)
    );
    create function notify_of_session() returns trigger language plpgsql as $$
    begin
        perform pg_notify('sibyl', coalesce(new.id, old.id));
        return null;
    end $$;
    create trigger came_or_went after insert or delete on sessions
        for each row execute function notify_of_session();
    create trigger changed after update on sessions for each row
        when ((old.changed, old.place, old.holder) is distinct from
            (new.changed, new.place, new.holder))
        execute function notify_of_session();
    """,
)
VERSION = len(_MIGRATIONS)
_TABLES = "select tablename from pg_tables where schemaname = 'sibyl'"
"""A look-up by name (``to_regclass``) would not see what another program has just committed."""
_ALWAYS = {"schema_version", "sessions"}
"""The tables by which every version is known."""
_SCOPE_BYTES = 1024
"""The longest key; the server's indexes hold up to about 2,600 bytes."""
_FOREIGN = (
    f'The schema "{SCHEMA}" of this database has tables of another program. Name a database of its'
    " own in the address of the store."
)


def migrate(connection: "Connection") -> None:
    """Bring the tables to this program's version.

    Raises ``StorageError`` if they are another program's, or a newer version has changed them.
    """
    if _version(connection) == VERSION:
        return
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        version = _version(connection)
        if version > VERSION:
            raise StorageError(
                "A newer sibyl-tui has changed the tables of this store"
                f" (version {version}; this one knows {VERSION})."
                " Update sibyl-tui on this machine."
            )
        if version == 0:
            connection.execute(f"create schema if not exists {SCHEMA}")
            connection.execute("create table if not exists schema_version (version integer)")
        for migration in _MIGRATIONS[version:]:
            connection.execute(migration)
        connection.execute("delete from schema_version")
        connection.execute("insert into schema_version values (%s)", (VERSION,))


def _version(connection: "Connection") -> int:
    tables = {row[0] for row in connection.execute(_TABLES)}
    if not tables:
        return 0
    if not tables >= _ALWAYS:
        raise StorageError(_FOREIGN)
    # By its full name: without it, a role with no right to the schema is told of no such table.
    row = connection.execute("select version from sibyl.schema_version").fetchone()
    return int(row[0]) if row else 0


def scope_key(scope: str) -> bytes:
    """Make the key of a scope in the tables: its name, or the beginning and hash of a long one."""
    name = as_bytes(scope)
    if len(name) < _SCOPE_BYTES:
        return name
    # Late: it loads OpenSSL.
    from hashlib import sha256

    hashed = sha256(name).digest()
    return name[: _SCOPE_BYTES - len(hashed)] + hashed


def moment_ns(moment: datetime) -> int:
    """Convert a time to a column's nanoseconds, exact to the millisecond."""
    return storable_ns(int(moment.timestamp() * 1000) * MILLISECOND_NS)
